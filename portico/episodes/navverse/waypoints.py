"""A reference path as a person would tell it: few legs, each straight enough to walk without a word [NV 8.3]."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from portico.geometry import Floats, arc_lengths, wrap_angle

#: Turns below this are not worth a word, legs shorter than this not worth a sentence; corners may be cut by so much [P].
STRAIGHT_RAD = float(np.deg2rad(20.0))
SHORTEST_LEG_M = 1.5
CUT_M = 0.6
_SHORT_LAST_M = 0.5


@dataclass(frozen=True)
class Leg:
    """A straight stretch between two waypoints of a path.

    Attributes:
        turn_rad: from the heading before, counter-clockwise, in [-pi, pi). heading_rad: of the leg, seen from above.
        start_m, end_m: arc lengths of the path at its ends. way: (M, 3) the vertices of the path from start to end, both included.
    """

    turn_rad: float
    heading_rad: float
    start_m: float
    end_m: float
    way: Floats

    @property
    def start(self) -> Floats:
        """(3,) where it begins."""
        point: Floats = self.way[0]
        return point

    @property
    def end(self) -> Floats:
        """(3,) where it ends."""
        point: Floats = self.way[-1]
        return point

    @property
    def length_m(self) -> float:
        """Along the path, which may bend a little."""
        return self.end_m - self.start_m


def legs(path: Floats, start_yaw_rad: float) -> list[Leg]:
    """Legs of a path (N, 3), N >= 2, walked by a robot that first looks along ``start_yaw_rad``."""
    kept = _simplified(path)
    along = arc_lengths(path)
    found, before = [], start_yaw_rad
    for a, b in pairwise(kept):
        heading = heading_rad(path[a], path[b], before)
        found.append(Leg(wrap_angle(heading - before), heading, float(along[a]), float(along[b]), path[a : b + 1]))
        before = heading
    return found


def heading_rad(a: Floats, b: Floats, otherwise_rad: float) -> float:
    """Heading from one point to another, seen from above; the other one where they are the same."""
    dx, dy = float(b[0] - a[0]), float(b[1] - a[1])
    return float(np.arctan2(dy, dx)) if np.hypot(dx, dy) > 1e-9 else otherwise_rad


def _simplified(path: Floats) -> list[int]:
    """Indices of the vertices that stay: corners beyond ``CUT_M``, less those of short legs and slight turns."""
    kept = _peucker(path[:, :2], CUT_M)
    while len(kept) > 2:
        worst = min(range(1, len(kept) - 1), key=lambda k: _worth(path, kept, k))
        if _worth(path, kept, worst) >= 1.0:
            break
        kept.pop(worst)
    return kept


def _worth(path: Floats, kept: list[int], k: int) -> float:
    """How much an inner waypoint matters; below 1 it goes."""
    a, b, c = (path[kept[k + i], :2] for i in (-1, 0, 1))
    turn = abs(wrap_angle(heading_rad(b, c, 0.0) - heading_rad(a, b, 0.0)))
    leg = min(float(np.linalg.norm(b - a)) / SHORTEST_LEG_M, float(np.linalg.norm(c - b)) / (_SHORT_LAST_M if k + 2 == len(kept) else SHORTEST_LEG_M))
    return min(turn / STRAIGHT_RAD, leg)


def _peucker(points: Floats, tolerance_m: float) -> list[int]:
    """Douglas and Peucker's simplification of a polyline (N, 2): indices of the points kept, both ends among them."""
    kept, todo = {0, len(points) - 1}, [(0, len(points) - 1)]
    while todo:
        a, b = todo.pop()
        if b - a < 2:
            continue
        line, rest = points[b] - points[a], points[a + 1 : b] - points[a]
        length = float(np.linalg.norm(line))
        off = np.linalg.norm(rest, axis=1) if length < 1e-9 else np.abs(line[0] * rest[:, 1] - line[1] * rest[:, 0]) / length
        k = a + 1 + int(np.argmax(off))
        if off[k - a - 1] > tolerance_m:
            kept.add(k)
            todo += [(a, k), (k, b)]
    return sorted(kept)
