"""Tables in memory: columns, rows by id, rows in order, retention. No I/O."""
