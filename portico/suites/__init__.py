"""Benchmark definitions as data: YAML files here or anywhere, checked on load.

A suite says which worlds, tasks, counts, budgets and measures; it holds no code.
"""

from portico.suites.conditions import under
from portico.suites.splits import Placed, check_disjoint, placed
from portico.suites.suite import Actions, AskedOf, Difficulty, Grid, NavVerse, Suite, WorldEntry, available, load_suite, parse_suite

__all__ = [
    "Actions",
    "AskedOf",
    "Difficulty",
    "Grid",
    "NavVerse",
    "Placed",
    "Suite",
    "WorldEntry",
    "available",
    "check_disjoint",
    "load_suite",
    "parse_suite",
    "placed",
    "under",
]
