"""Sample data, and the demo that shows it: everything made up, everything repeatable."""
