"""Positions on earth: how far, which way, and where one comes to. Degrees, WGS84 longitude first; metres; float64.

``SPHERE`` is Portico's own: one sphere for motion and for measurement, so that a step of 10 m measures 10 m. ``SATNAV`` reproduces
SatNav [SN]: it moves in web Mercator on a sphere of 6,378,137 m, measures on one of 6,371,000 m together with the height, and passes
every position through float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, atan, atan2, cos, degrees, exp, log, pi, radians, sin, sqrt, tan
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from portico.geometry import Floats, Pose, wrap_angle

GeodesyName = Literal["sphere", "satnav"]

#: Mean earth radius (2a + b) / 3 of WGS84.
EARTH_RADIUS_M = 6_371_008.8
_SATNAV_RADIUS_M, _MERCATOR_RADIUS_M = 6_371_000.0, 6_378_137.0
_SEMI_MAJOR_M, _FLATTENING = 6_378_137.0, 1.0 / 298.257223563
_E2 = _FLATTENING * (2.0 - _FLATTENING)


def great_circle_m(a: Floats, b: Floats, radius_m: float = EARTH_RADIUS_M) -> Floats:
    """Distance in metres between (longitude °, latitude °, ...) positions (..., 2+), by the haversine formula; altitude is not counted."""
    lon_a, lat_a = np.deg2rad(a[..., 0]), np.deg2rad(a[..., 1])
    lon_b, lat_b = np.deg2rad(b[..., 0]), np.deg2rad(b[..., 1])
    h = np.sin(0.5 * (lat_b - lat_a)) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin(0.5 * (lon_b - lon_a)) ** 2
    distance: Floats = 2.0 * radius_m * np.arcsin(np.sqrt(np.clip(h, 0.0, 1.0)))
    return distance


@dataclass(frozen=True)
class Geodesy:
    """One way to move and to measure.

    Attributes:
        radius_m: of the sphere that distances are measured on. single: positions are read in float32 and heights count, as in SatNav.
    """

    name: GeodesyName
    radius_m: float
    single: bool = False

    def distance_m(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """Distance between positions (..., 2+); with the difference of heights where this geodesy counts it."""
        a, b = self.reported(a), self.reported(b)
        flat = great_circle_m(a, b, self.radius_m)
        if not self.single or a.shape[-1] < 3 or b.shape[-1] < 3:
            return flat
        distance: Floats = np.hypot(flat, a[..., 2] - b[..., 2])
        return distance

    def reported(self, position: ArrayLike) -> Floats:
        """Positions as they are measured: through float32 in SatNav."""
        exact = np.asarray(position, np.float64)
        return exact.astype(np.float32).astype(np.float64) if self.single else exact

    def moved(self, lon_deg: float, lat_deg: float, yaw_rad: float, distance_m: float) -> tuple[float, float]:
        """Where a straight move along ``yaw_rad`` (counter-clockwise from east) leads: longitude and latitude in degrees."""
        bearing = 0.5 * pi - yaw_rad
        if self.name == "satnav":
            return _mercator_moved(lon_deg, lat_deg, bearing, distance_m)
        lat, arc = radians(lat_deg), distance_m / self.radius_m
        height = sin(lat) * cos(arc) + cos(lat) * sin(arc) * cos(bearing)
        east = atan2(sin(bearing) * sin(arc) * cos(lat), cos(arc) - sin(lat) * height)
        return wrapped_longitude(lon_deg + degrees(east)), degrees(asin(max(-1.0, min(1.0, height))))

    def offset_m(self, origin: ArrayLike, points: ArrayLike) -> Floats:
        """(..., 2) metres east and north from an origin (2+,) to points (..., 2+), by the cosine of the latitude in the middle."""
        origin, points = np.asarray(origin, np.float64), np.asarray(points, np.float64)
        east = np.deg2rad((points[..., 0] - origin[0] + 180.0) % 360.0 - 180.0)
        north = np.deg2rad(points[..., 1] - origin[1])
        middle = np.deg2rad(0.5 * (points[..., 1] + origin[1]))
        return self.radius_m * np.stack([east * np.cos(middle), north], axis=-1)

    def at_offset(self, origin: ArrayLike, offsets_m: ArrayLike) -> Floats:
        """(..., 2) degrees of points at offsets (..., 2) in metres east and north of an origin (2+,): the inverse of ``offset_m``."""
        origin, offsets = np.asarray(origin, np.float64), np.asarray(offsets_m, np.float64)
        latitude = origin[1] + np.rad2deg(offsets[..., 1] / self.radius_m)
        middle = np.deg2rad(0.5 * (latitude + origin[1]))
        longitude = origin[0] + np.rad2deg(offsets[..., 0] / (self.radius_m * np.cos(middle)))
        return np.stack([(longitude + 180.0) % 360.0 - 180.0, latitude], axis=-1)


SPHERE = Geodesy("sphere", EARTH_RADIUS_M)
SATNAV = Geodesy("satnav", _SATNAV_RADIUS_M, single=True)
GEODESIES: dict[GeodesyName, Geodesy] = {"sphere": SPHERE, "satnav": SATNAV}


@dataclass(frozen=True)
class GeoPose(Pose):
    """A pose on earth: ``x`` longitude and ``y`` latitude in degrees, ``z`` altitude in metres, yaw counter-clockwise from east."""

    def relative_to(self, origin: Pose) -> Pose:
        """This pose in metres in the frame of ``origin``: x ahead, y to the left."""
        east, north = SPHERE.offset_m(origin.position, self.position).tolist()
        c, s = cos(origin.yaw_rad), sin(origin.yaw_rad)
        return Pose(c * east + s * north, -s * east + c * north, self.z - origin.z, wrap_angle(self.yaw_rad - origin.yaw_rad))


def wrapped_longitude(lon_deg: float) -> float:
    """The same longitude in [-180, 180)."""
    return (lon_deg + 180.0) % 360.0 - 180.0


def heading_deg(yaw_rad: float) -> float:
    """A yaw as a compass heading: 0 north, clockwise, in [0, 360)."""
    return (90.0 - degrees(yaw_rad)) % 360.0


def yaw_of(heading_deg: float) -> float:
    """A compass heading as a yaw in [-pi, pi)."""
    return wrap_angle(0.5 * pi - radians(heading_deg))


def _mercator_moved(lon_deg: float, lat_deg: float, bearing: float, distance_m: float) -> tuple[float, float]:
    """SatNav's step: in web Mercator, stretched by 1 / cos(latitude) of where it starts."""
    x = _MERCATOR_RADIUS_M * radians(lon_deg)
    y = _MERCATOR_RADIUS_M * log(tan(0.25 * pi + 0.5 * radians(lat_deg)))
    stretch = 1.0 / cos(2.0 * atan(exp(y / _MERCATOR_RADIUS_M)) - 0.5 * pi)
    x, y = x + stretch * distance_m * sin(bearing), y + stretch * distance_m * cos(bearing)
    return wrapped_longitude(degrees(x / _MERCATOR_RADIUS_M)), degrees(2.0 * atan(exp(y / _MERCATOR_RADIUS_M)) - 0.5 * pi)


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
        """(N, 2) metres to (N, 2) longitude, from -180 to 180, and latitude in degrees; the inverse of ``to_local`` by fixed-point steps."""
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
        # Only what lies beyond the antimeridian: the sum would cost all others their last digits.
        lon = geographic[:, 0]
        geographic[:, 0] = np.where(np.abs(lon) > 180.0, (lon + 180.0) % 360.0 - 180.0, lon)
        return geographic
