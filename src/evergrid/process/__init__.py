"""Child processes, restarts with backoff, locks, and the Java that processes run on."""
