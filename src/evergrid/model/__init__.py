"""The types that all rooms share: table, source, join, generation, errors. Imports no room."""
