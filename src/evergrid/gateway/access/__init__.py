"""Who may use the gateway and how much: keys, hosts and origins, limits, certificates."""
