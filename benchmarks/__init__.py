"""One file per cost claim; each prints what it measured on the machine at hand."""
