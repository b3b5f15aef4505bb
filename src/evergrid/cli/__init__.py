"""The `evergrid` command: one file per subcommand, one for manners."""

from evergrid.cli.parser import main

__all__ = ["main"]
