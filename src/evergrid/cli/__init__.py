"""The `evergrid` command: one `*_command` module per subcommand."""

from evergrid.cli.parser import main

__all__ = ["main"]
