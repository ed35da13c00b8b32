"""Signs on fronts: which were read and say something else, and which are worth a walk to be read."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np

from portico.geometry import Floats
from portico.interface import Frame
from portico.policies.detectors import Labels
from portico.policies.local_map import Costs
from portico.policies.pilot import Pilot, Target
from portico.policies.place_words import SIGN_WORDS
from portico.policies.sightings import Candidate, Sightings

_SIGN = "sign"
_SAME_M, _ONE_SIGN_M, _STAND_M, _AROUND_M = 2.0, 3.5, 7.0, 2.5
_LOOKS = 3
_FARTHEST_M, _FEW = 35.0, 3
_FACING_RAD = 0.35


@dataclass
class _Read:
    """A place that was read: where, what, and how often."""

    x: float
    y: float
    category: str
    times: int


class Signboards:
    """Memory of signs in one episode.

    Args:
        category: the place that is looked for.
    """

    def __init__(self, category: str) -> None:
        self._category = category
        self._read: list[_Read] = []
        self._unread = Sightings(place=True)
        self._looks: dict[tuple[int, int], int] = {}

    def see(self, frame: Frame, labels: Labels, T_map_camera: Floats) -> None:
        """Enter the signs that a detector names in a frame with depth."""
        for number, name in labels.names.items():
            if name != _SIGN and name not in SIGN_WORDS:
                continue
            mask = labels.ids == number
            if not mask.any():
                continue
            if name == _SIGN:
                self._unread.see(frame, mask, T_map_camera)
                continue
            seen = Sightings(place=True)
            seen.see(frame, mask, T_map_camera)
            for candidate in seen.candidates:
                self._note(float(candidate.middle[0]), float(candidate.middle[1]), name)

    def contradict(self, candidate: Candidate) -> bool:
        """Whether a sign at a candidate was read as something else at least as often as what was looked for."""
        there = [r for r in self._read if hypot(r.x - candidate.middle[0], r.y - candidate.middle[1]) < _SAME_M]
        return sum(r.times for r in there if r.category != self._category) > sum(r.times for r in there if r.category == self._category)

    def target(self, pilot: Pilot, costs: Costs) -> Target | None:
        """Ground from which the cheapest sign that was not read yet can be read; facing it for a while in vain counts as read."""
        best, best_cost = None, np.inf
        for sign in self._unread.candidates:
            x, y = float(sign.middle[0]), float(sign.middle[1])
            if any(hypot(r.x - x, r.y - y) < _ONE_SIGN_M for r in self._read) or sign.frames < _FEW or not sign.on_level(pilot.pose.z):
                continue
            if self._looked_in_vain(pilot, x, y):
                self._unread.reject(sign)
                continue
            target = self._before(pilot, costs, sign)
            if target is None:
                continue
            k, i, j = target.surfaces.T
            cost = float(costs[k, i, j].min())
            if cost < min(best_cost, _FARTHEST_M):
                best, best_cost = target, cost
        return best

    def _looked_in_vain(self, pilot: Pilot, x: float, y: float) -> bool:
        near = hypot(x - pilot.pose.x, y - pilot.pose.y) < _STAND_M + _AROUND_M + 0.5
        key = (round(x), round(y))
        if near and abs(pilot.bearing_to(x, y)) < _FACING_RAD:
            self._looks[key] = self._looks.get(key, 0) + 1
        return self._looks.get(key, 0) >= _LOOKS

    def _before(self, pilot: Pilot, costs: Costs, sign: Candidate) -> Target | None:
        """Reachable ground some metres before a sign, on the robot's side of it."""
        x, y = float(sign.middle[0]), float(sign.middle[1])
        normal = sign.normal
        if normal @ (np.array([pilot.pose.x, pilot.pose.y]) - sign.middle[:2]) < 0.0:
            normal = -normal
        for stand, around in ((_STAND_M, _AROUND_M), (0.6 * _STAND_M, _AROUND_M)):
            near = pilot.map.disc(x + stand * normal[0], y + stand * normal[1], pilot.pose.z, around, 0.8)
            near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
            if len(near):
                k, i, j = near[int(np.argmin(costs[near[:, 0], near[:, 1], near[:, 2]]))]
                position = pilot.map.position((int(k), int(i), int(j)))
                return None if pilot.is_tabu(position) else Target(near, position, "sign", look_at=(x, y))
        return None

    def _note(self, x: float, y: float, category: str) -> None:
        for read in self._read:
            if read.category == category and hypot(read.x - x, read.y - y) < _SAME_M:
                read.times += 1
                return
        self._read.append(_Read(x, y, category, 1))
