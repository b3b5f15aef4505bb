"""The engine: changelogs in, stores and views up to date, new states of windows out."""
