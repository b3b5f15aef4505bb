"""Filter, search, order, windows and their differences. No I/O."""
