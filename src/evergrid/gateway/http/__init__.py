"""HTTP: tables, rows, exports, health, metrics and their description."""
