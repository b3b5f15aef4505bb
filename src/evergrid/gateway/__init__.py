"""Live windows of the tables for many viewers: hub, keys, limits, HTTP and WebSocket."""
