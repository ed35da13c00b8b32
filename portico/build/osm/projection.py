"""The local metric frame of an extract; see ``portico.world.geodesy``."""

from __future__ import annotations

from portico.world.geodesy import LocalFrame

__all__ = ["LocalFrame", "centre"]


def centre(west: float, south: float, east: float, north: float) -> LocalFrame:
    """The frame of an extract: origin in the middle of its box (``east`` may exceed 180 where it crosses the antimeridian)."""
    longitude = 0.5 * (west + east)
    return LocalFrame(round(0.5 * (south + north), 7), round((longitude + 180.0) % 360.0 - 180.0, 7))
