"""Benchmark definitions as data: YAML files here or anywhere, checked on load.

A suite says which worlds, tasks, counts, budgets and measures; it holds no code.
"""

from portico.suites.suite import Actions, Difficulty, Grid, Suite, WorldEntry, available, load_suite, parse_suite

__all__ = ["Actions", "Difficulty", "Grid", "Suite", "WorldEntry", "available", "load_suite", "parse_suite"]
