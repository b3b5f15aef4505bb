"""Child processes, background threads, restarts and locks."""
