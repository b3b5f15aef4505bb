"""WebSocket: one session per connection, and the newest state of its windows on the way out."""
