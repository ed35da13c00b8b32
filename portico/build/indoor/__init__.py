"""Enterable buildings: floor plans by program, real walls, doors and stairs, and furniture by what rooms are for."""

from portico.build.indoor.generate import add_building, build_indoor
from portico.build.indoor.lot import BuiltBuilding, Lot
from portico.build.indoor.programs import PROGRAMS

__all__ = ["PROGRAMS", "BuiltBuilding", "Lot", "add_building", "build_indoor"]
