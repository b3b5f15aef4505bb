"""Tables in memory, the views over them, and the hub that shares views between subscribers."""
