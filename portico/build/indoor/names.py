"""Ids of floors, rooms and objects: the building's id, then the way to the thing."""

from __future__ import annotations

from portico.build.indoor.lot import Lot


def floor_id(lot: Lot, level: int) -> str:
    """The id of a storey."""
    return f"{lot.id}/floor{level}"


def room_id(lot: Lot, level: int, index: int) -> str:
    """The id of a room."""
    return f"{floor_id(lot, level)}/room{index}"


def object_id(lot: Lot, level: int, room: int, category: str, number: int) -> str:
    """The id of an object."""
    return f"{room_id(lot, level, room)}/{category.replace(' ', '-')}{number}"
