"""Is there a roof over the robot? Judged from its own images and map, never from a label."""

from __future__ import annotations

from math import hypot

import numpy as np

from portico.geometry import Floats
from portico.policies.pilot import Pilot

_BINS = 24
_HIGH_M = 5.0
_REMEMBER_M = 2.0


class Surroundings:
    """Remembers, per compass direction, whether the view upwards was open at places close to where the robot is now."""

    def __init__(self) -> None:
        self._open = np.zeros(_BINS)
        self._x = np.full(_BINS, np.inf)
        self._y = np.full(_BINS, np.inf)

    def update(self, pilot: Pilot) -> None:
        """Enter the last image."""
        sight, pose = pilot.sight, pilot.pose
        if sight is None:
            return
        bins = np.floor((pose.yaw_rad + sight.bearing_rad) / (2.0 * np.pi) * _BINS).astype(int) % _BINS
        for b in np.unique(bins):
            inside = bins == b
            self._open[b] = float(np.mean(sight.top_m[inside] > _HIGH_M))
            self._x[b], self._y[b] = pose.x, pose.y

    def open_share(self, pilot: Pilot) -> float:
        """Share of the directions seen from around here in which the view rises above 5 m without a ceiling."""
        near = np.hypot(self._x - pilot.pose.x, self._y - pilot.pose.y) < _REMEMBER_M
        return float(self._open[near].mean()) if near.any() else 0.0

    def open_directions(self, pilot: Pilot) -> float:
        """The same as an angle, radians."""
        near = np.hypot(self._x - pilot.pose.x, self._y - pilot.pose.y) < _REMEMBER_M
        return float(self._open[near].sum()) * 2.0 * np.pi / _BINS


def roof_votes(pilot: Pilot, radius_m: float) -> Floats:
    """Roof evidence of the surfaces around the robot that have any: positive under a ceiling, negative under the sky."""
    p = pilot.pose
    around = pilot.map.disc(p.x, p.y, p.z, radius_m, 0.6)
    votes = pilot.map.grid.roof[around[:, 0], around[:, 1], around[:, 2]].astype(np.float64)
    return votes[votes != 0.0]


def distance_walked(pilot: Pilot) -> float:
    """Straight distance from where the map began."""
    first = pilot.trail[0]
    return hypot(first.x - pilot.pose.x, first.y - pilot.pose.y)
