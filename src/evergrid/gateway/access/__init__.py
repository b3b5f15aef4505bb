"""Who may come in: keys, hosts and origins, limits, and how everyone is refused."""
