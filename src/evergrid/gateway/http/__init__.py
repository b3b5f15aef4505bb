"""The HTTP interface: tables, rows, control messages, health, metrics, and the web page."""
