"""Measures the figures that the documentation gives, on the product as users run it."""
