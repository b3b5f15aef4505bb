"""The WebSocket endpoint: a session per connection; slow clients get only the newest state."""
