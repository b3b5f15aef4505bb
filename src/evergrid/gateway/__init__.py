"""The gateway: tables in memory, served live over WebSocket and over HTTP."""
