"""Memory of contacts: where a body was stopped, heading where, and what that makes the ground ahead cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np

from portico.geometry import Floats, Pose, wrap_angle
from portico.policies.local_map import Costs, LocalMap, Window

_SAME_PLACE_M, _SAME_SPOT_M = 0.15, 0.4
_EXPLAINED_RAD, _EXPLAINED_M = 1.4, 0.2
#: So many contacts within ``_SAME_SPOT_M`` mean that what the map shows there is not all there is.
_TOO_MANY = 5
_AHEAD_M, _PENALTY, _PENALTY_MOST = 0.2, 4.0, 64.0


@dataclass(frozen=True)
class Contact:
    """One contact: pose of the body, and the step at which it is forgotten."""

    pose: Pose
    until: int


class Contacts:
    """The contacts of the last while.

    Args:
        memory: how many steps a contact is remembered.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._contacts: list[Contact] = []

    def add(self, pose: Pose, step: int, map_: LocalMap) -> None:
        """Remember a contact; where nothing that is known explains it, something unknown is entered ahead."""
        self._contacts = [*self._recent(step), Contact(pose, step + self._memory)]
        radius = map_.body.radius_m
        near = map_.disc(pose.x, pose.y, pose.z, radius + _EXPLAINED_M, 0.6)
        solid = map_.positions(near[map_.grid.odds[near[:, 0], near[:, 1], near[:, 2]] > 0])
        bearings = np.arctan2(solid[:, 1] - pose.y, solid[:, 0] - pose.x)
        explained = any(abs(wrap_angle(float(b) - pose.yaw_rad)) < _EXPLAINED_RAD for b in bearings)
        if not explained or self.count(pose) >= _TOO_MANY:
            reach = radius + 0.6 * map_.cell_m
            map_.block(pose.x + reach * cos(pose.yaw_rad), pose.y + reach * sin(pose.yaw_rad), pose.z)

    def count(self, pose: Pose) -> int:
        """Contacts around a place."""
        return sum(hypot(c.pose.x - pose.x, c.pose.y - pose.y) < _SAME_SPOT_M for c in self._contacts)

    def forbidden_headings(self, pose: Pose, step: int) -> Floats:
        """(N,) headings that led into a contact from here."""
        self._contacts = self._recent(step)
        here = [c.pose.yaw_rad for c in self._contacts if hypot(c.pose.x - pose.x, c.pose.y - pose.y) < _SAME_PLACE_M]
        return np.array(here, dtype=np.float64)

    def raise_costs(self, weight: Costs, window: Window, map_: LocalMap) -> None:
        """Make the ground that contacts kept the body from dearer, the more so the more contacts there were."""
        rows, cols = window
        for c in self._contacts:
            p = c.pose
            ahead = map_.disc(p.x + _AHEAD_M * cos(p.yaw_rad), p.y + _AHEAD_M * sin(p.yaw_rad), p.z, _AHEAD_M, 0.5)
            inside = (ahead[:, 1] >= rows.start) & (ahead[:, 1] < rows.stop) & (ahead[:, 2] >= cols.start) & (ahead[:, 2] < cols.stop)
            k, i, j = ahead[inside].T
            here = (k, i - rows.start, j - cols.start)
            weight[here] = np.where(weight[here] < _PENALTY_MOST, weight[here] * _PENALTY, weight[here])

    def clear(self) -> None:
        """Forget all."""
        self._contacts.clear()

    def _recent(self, step: int) -> list[Contact]:
        return [c for c in self._contacts if c.until > step]
