"""How good predictions are on streams of real data, beside what one would otherwise put there."""
