"""Many polygons at once: which one holds a point, and where segments cross their borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats

Ints = NDArray[np.int64]


#: Most bins along an axis.
_MOST_BINS = 256


class Bins(NamedTuple):
    """Polygons by square of a grid over all of them.

    Attributes:
        start: (rows * cols + 1,) int64, square s lists members start[s] to start[s + 1]. members: polygon indices, rising.
        x0, y0: lower corner. size_m: edge of a square. rows, cols: how many.
    """

    start: Ints
    members: Ints
    x0: float
    y0: float
    size_m: float
    rows: int
    cols: int


@dataclass(frozen=True)
class PolygonSet:
    """Simple polygons in one flat array, in the order they were listed.

    Attributes:
        vertices: (V, 2) float64, metres. first: (P + 1,) int64, polygon p owns vertices first[p] to first[p + 1].
        boxes: (P, 4) float64, x_min, y_min, x_max, y_max.
        bins: which polygons may hold a point.
    """

    vertices: Floats
    first: Ints
    boxes: Floats
    bins: Bins

    @staticmethod
    def of(polygons: Sequence[Sequence[tuple[float, float]]]) -> PolygonSet:
        """From rings without a repeated last point."""
        rings = [np.asarray(ring, dtype=np.float64).reshape(-1, 2) for ring in polygons]
        first = np.cumsum([0] + [len(ring) for ring in rings]).astype(np.int64)
        boxes = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for ring in rings], dtype=np.float64).reshape(-1, 4)
        vertices = np.concatenate(rings) if rings else np.zeros((0, 2))
        return PolygonSet(vertices, first, boxes, _bins(boxes))

    def __len__(self) -> int:
        return len(self.boxes)

    def last_holding(self, points: Floats) -> Ints:
        """(N,) index of the last listed polygon that holds each point (N, 2+), or -1. Half-open on the border, as in ``geometry.points_in_polygon``."""
        found: Ints = _last_holding(_planar(points), self.vertices, self.first, self.boxes, self.bins)
        return found

    def crossings(self, starts: Floats, ends: Floats) -> tuple[Ints, Floats]:
        """Where segments (N, 2+) meet polygon borders: segment indices (M,) and fractions along them (M,), 0 < fraction < 1.

        A border point may be reported more than once; a run along a border is reported by its ends.
        """
        segments, fractions = _crossings(_planar(starts), _planar(ends), self.vertices, self.first, self.boxes)
        return segments, fractions


def _planar(points: Floats) -> Floats:
    return np.ascontiguousarray(np.asarray(points, dtype=np.float64)[:, :2])


@njit(cache=True)
def holds(x: float, y: float, vertices: Floats, start: int, stop: int) -> bool:
    """Even-odd rule for one polygon, half-open on the border."""
    inside = False
    x1, y1 = vertices[stop - 1, 0], vertices[stop - 1, 1]
    for i in range(start, stop):
        x2, y2 = vertices[i, 0], vertices[i, 1]
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
        x1, y1 = x2, y2
    return inside


@njit(cache=True)
def in_box(x: float, y: float, boxes: Floats, p: int) -> bool:
    """Whether a point lies in box p (x_min, y_min, x_max, y_max), border included."""
    return bool(boxes[p, 0] <= x and x <= boxes[p, 2] and boxes[p, 1] <= y and y <= boxes[p, 3])


def _bins(boxes: Floats) -> Bins:
    if not len(boxes):
        return Bins(np.zeros(2, np.int64), np.zeros(0, np.int64), 0.0, 0.0, 1.0, 1, 1)
    (x0, y0), high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    width, height = float(high[0] - x0), float(high[1] - y0)
    size = max(width, height, 1e-6) / min(_MOST_BINS, max(1, round(2.0 * len(boxes) ** 0.5)))
    rows, cols = int(height / size) + 1, int(width / size) + 1
    start, members = _fill_bins(boxes, x0, y0, size, rows, cols)
    return Bins(start, members, float(x0), float(y0), size, rows, cols)


@njit(cache=True)
def _fill_bins(boxes: Floats, x0: float, y0: float, size: float, rows: int, cols: int) -> tuple[Ints, Ints]:
    start, used = np.zeros(rows * cols + 1, np.int64), np.zeros(rows * cols, np.int64)
    members = np.empty(0, np.int64)
    for counting in (True, False):
        for p in range(len(boxes)):
            for i in range(int((boxes[p, 1] - y0) / size), min(int((boxes[p, 3] - y0) / size), rows - 1) + 1):
                for j in range(int((boxes[p, 0] - x0) / size), min(int((boxes[p, 2] - x0) / size), cols - 1) + 1):
                    square = i * cols + j
                    if not counting:
                        members[start[square] + used[square]] = p
                    used[square] += 1
        if counting:
            start[1:] = np.cumsum(used)
            members = np.empty(start[-1], np.int64)
            used[:] = 0
    return start, members


@njit(cache=True)
def square_of(x: float, y: float, bins: Bins) -> int:
    """The square of the grid that a point lies in, -1 for none."""
    i, j = np.floor((y - bins.y0) / bins.size_m), np.floor((x - bins.x0) / bins.size_m)
    return int(i * bins.cols + j) if 0 <= i < bins.rows and 0 <= j < bins.cols else -1


@njit(cache=True)
def _last_holding(points: Floats, vertices: Floats, first: Ints, boxes: Floats, bins: Bins) -> Ints:
    found = np.full(len(points), -1, dtype=np.int64)
    for n in range(len(points)):
        x, y = points[n, 0], points[n, 1]
        square = square_of(x, y, bins)
        if square < 0:
            continue
        for m in range(bins.start[square + 1] - 1, bins.start[square] - 1, -1):
            p = bins.members[m]
            if in_box(x, y, boxes, p) and holds(x, y, vertices, first[p], first[p + 1]):
                found[n] = p
                break
    return found


@njit(cache=True)
def _crossings(starts: Floats, ends: Floats, vertices: Floats, first: Ints, boxes: Floats) -> tuple[Ints, Floats]:
    segments, fractions = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)]
    for n in range(len(starts)):
        x, y = starts[n, 0], starts[n, 1]
        dx, dy = ends[n, 0] - x, ends[n, 1] - y
        for p in range(len(boxes)):
            if max(x, x + dx) < boxes[p, 0] or min(x, x + dx) > boxes[p, 2] or max(y, y + dy) < boxes[p, 1] or min(y, y + dy) > boxes[p, 3]:
                continue
            ax, ay = vertices[first[p + 1] - 1, 0], vertices[first[p + 1] - 1, 1]
            for i in range(first[p], first[p + 1]):
                bx, by = vertices[i, 0], vertices[i, 1]
                ex, ey = bx - ax, by - ay
                area = dx * ey - dy * ex
                if area != 0.0:
                    t = ((ax - x) * ey - (ay - y) * ex) / area
                    u = ((ax - x) * dy - (ay - y) * dx) / area
                    if 0.0 < t < 1.0 and -1e-9 <= u <= 1.0 + 1e-9:
                        segments.append(np.int64(n))
                        fractions.append(t)
                ax, ay = bx, by
    return np.array(segments, dtype=np.int64), np.array(fractions, dtype=np.float64)
