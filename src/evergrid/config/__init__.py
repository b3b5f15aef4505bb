"""Configuration: one YAML file and the environment, checked once, frozen from then on."""

from evergrid.config.join_section import join_columns, retyped
from evergrid.config.load import load
from evergrid.config.problems import ConfigProblems, Location, Problem
from evergrid.config.settings import Connection, Settings
from evergrid.config.show import show

__all__ = [
    "ConfigProblems",
    "Connection",
    "Location",
    "Problem",
    "Settings",
    "join_columns",
    "load",
    "retyped",
    "show",
]
