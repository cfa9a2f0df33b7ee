"""What `inctnp demo` shows."""
