"""Distances on the sphere that satellite worlds are measured on: one radius for motion and measurement."""

from __future__ import annotations

import numpy as np

from portico.geometry import Floats

#: Mean earth radius (2a + b) / 3 of WGS84.
EARTH_RADIUS_M = 6_371_008.8


def great_circle_m(a: Floats, b: Floats) -> Floats:
    """Distance in metres between (longitude °, latitude °, ...) positions (..., 2+), by the haversine formula; altitude is not counted."""
    lon_a, lat_a = np.deg2rad(a[..., 0]), np.deg2rad(a[..., 1])
    lon_b, lat_b = np.deg2rad(b[..., 0]), np.deg2rad(b[..., 1])
    h = np.sin(0.5 * (lat_b - lat_a)) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin(0.5 * (lon_b - lon_a)) ** 2
    distance: Floats = 2.0 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.clip(h, 0.0, 1.0)))
    return distance
