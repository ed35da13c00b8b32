"""Is there a roof over the robot? Judged from its own images and map, never from a label."""

from __future__ import annotations

import numpy as np

from portico.geometry import Floats
from portico.policies.pilot import Pilot

_BINS = 24
_HIGH_M = 5.0
_REMEMBER_M = 2.0
_MOST_EVIDENCE = 40.0


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
    found: Floats = votes[votes != 0.0]
    return found


def outdoor_evidence(pilot: Pilot, position: tuple[float, float, float], reach_m: float = 0.5) -> float:
    """0 to 40: how much around a place speaks for outdoors: long views and sky across its ground, no roof."""
    grid, (i, j) = pilot.map.grid, pilot.map.cell(position[0], position[1])
    n = round(reach_m / pilot.map.cell_m)
    near = (slice(None), slice(max(i - n, 0), i + n + 1), slice(max(j - n, 0), j + n + 1))
    level = np.abs(grid.height[near] - position[2]) < 0.6
    glow = float(grid.glow[near][level].sum())
    opened = float((grid.roof[near][level] < 0).sum())
    return min(glow + opened, _MOST_EVIDENCE)
