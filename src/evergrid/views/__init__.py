"""Which rows a screen sees: filter, search, order, window, difference. Values in, values out."""
