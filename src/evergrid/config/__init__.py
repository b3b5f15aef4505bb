"""Configuration: one YAML file and the environment, checked once, frozen from then on."""

from evergrid.config.join_section import retyped
from evergrid.config.load import load
from evergrid.config.problems import ConfigProblems
from evergrid.config.settings import Settings
from evergrid.config.show import show

__all__ = ["ConfigProblems", "Settings", "load", "retyped", "show"]
