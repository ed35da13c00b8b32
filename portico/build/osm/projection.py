"""WGS84 degrees to local metres and back: an orthographic projection onto the ellipsoid's tangent plane."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_SEMI_MAJOR_M = 6_378_137.0
_FLATTENING = 1.0 / 298.257223563
_E2 = _FLATTENING * (2.0 - _FLATTENING)


@dataclass(frozen=True)
class LocalFrame:
    """x east, y north, metres on the plane that touches the WGS84 ellipsoid at the origin.

    The plane's coordinates are the east and north components of the earth-centred offset (IOGP guidance note 7-2,
    "geocentric/topocentric conversion", with the height dropped). Lengths shrink by at most r^2 / 2R^2 at r from the
    origin: 5e-8 at 2 km, 3e-6 at 15 km. No seam at the antimeridian.
    """

    latitude_deg: float
    longitude_deg: float

    def to_local(self, longitude_deg: ArrayLike, latitude_deg: ArrayLike) -> Floats:
        """(N,), (N,) degrees to (N, 2) metres."""
        lat, lon = np.radians(np.asarray(latitude_deg, np.float64)), np.radians(np.asarray(longitude_deg, np.float64) - self.longitude_deg)
        lat0 = radians(self.latitude_deg)
        normal = _SEMI_MAJOR_M / np.sqrt(1.0 - _E2 * np.sin(lat) ** 2)
        normal0 = _SEMI_MAJOR_M / sqrt(1.0 - _E2 * sin(lat0) ** 2)
        # Differences are written so that they vanish smoothly at the origin; X, Z are meridian-plane components.
        meridian_x = normal * np.cos(lat) * np.cos(lon) - normal0 * cos(lat0)
        polar_z = (1.0 - _E2) * (normal * np.sin(lat) - normal0 * sin(lat0))
        return np.stack([normal * np.cos(lat) * np.sin(lon), cos(lat0) * polar_z - sin(lat0) * meridian_x], axis=-1)

    def to_geographic(self, points: ArrayLike) -> Floats:
        """(N, 2) metres to (N, 2) longitude and latitude in degrees; the inverse of ``to_local`` by fixed-point steps."""
        target = np.asarray(points, np.float64).reshape(-1, 2)
        lat0 = radians(self.latitude_deg)
        w = sqrt(1.0 - _E2 * sin(lat0) ** 2)
        per_degree_y = np.radians(_SEMI_MAJOR_M * (1.0 - _E2) / w**3)
        per_degree_x = np.radians(_SEMI_MAJOR_M / w)
        geographic = np.tile([self.longitude_deg, self.latitude_deg], (len(target), 1)).astype(np.float64)
        for _ in range(12):
            residual = target - self.to_local(geographic[:, 0], geographic[:, 1])
            geographic[:, 1] += residual[:, 1] / per_degree_y
            geographic[:, 0] += residual[:, 0] / (per_degree_x * np.cos(np.radians(np.clip(geographic[:, 1], -89.99, 89.99))))
        return geographic


def centre(west: float, south: float, east: float, north: float) -> LocalFrame:
    """The frame of an extract: origin in the middle of its box (``east`` may exceed 180 where it crosses the antimeridian)."""
    longitude = 0.5 * (west + east)
    return LocalFrame(round(0.5 * (south + north), 7), round((longitude + 180.0) % 360.0 - 180.0, 7))
