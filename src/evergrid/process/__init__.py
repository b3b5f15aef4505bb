"""Child processes, background threads, restarts with backoff, locks, and where Java is."""
