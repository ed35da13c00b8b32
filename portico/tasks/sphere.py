"""Distances on the sphere that satellite worlds are measured on: one radius for motion and measurement."""

from __future__ import annotations

from portico.world.geodesy import EARTH_RADIUS_M, great_circle_m

__all__ = ["EARTH_RADIUS_M", "great_circle_m"]
