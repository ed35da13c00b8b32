"""What was seen of the goal: points gathered into candidates, how far each is by the rule of the task, and which proved false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from portico.geometry import Floats, Pose
from portico.interface import Frame
from portico.policies.value_map import back_project

_CELL_M, _JOIN_M = 0.2, 0.7
_FEW_PIXELS, _RANGE_M = 3, 60.0
_MOST_POINTS = 600
#: The half size of an object that is credited in distances: what is seen from one side looks longer or shorter than it is.
_LEAST_HALF_M, _MOST_HALF_M = 0.15, 0.5
#: A shop front's middle is 2 m up and the front at least 4 m wide: NavVerse's distance to a place is to its front [NV 6.5, P].
_FRONT_MIDDLE_M, _FRONT_HALF_M = 2.0, 2.0
_FLOOR_BELOW_M, _FLOOR_ABOVE_M = 3.0, 1.2
_REJECTED_M = 2.5
_NEAREST_M, _BEFORE_M = 0.3, 0.6
#: Things are told from nearer than this, signs are read between these distances and within some 50 degrees of the square.
_CLOSE_M, _READ_M, _SQUARE = 9.0, (5.0, 13.0), 0.65


@dataclass(frozen=True)
class Candidate:
    """Points that belong together.

    Attributes:
        points: (N, 3) metres, frame of the map. middle: (3,) of their box, of a sign the median. half_m: half its longer side, from above.
        frames: in how many images it was seen. nearest_m: from how near.
        front: it is a place, known by its sign.
    """

    points: Floats
    middle: Floats
    half_m: float
    frames: int
    nearest_m: float
    front: bool

    @property
    def z(self) -> float:
        """Height of its lowest point, of the ground before it where it hangs overhead."""
        return float(self.points[:, 2].min())

    @property
    def normal(self) -> Floats:
        """(2,) unit vector across its longer axis, seen from above."""
        _, _, axes = np.linalg.svd(self.points[:, :2] - self.points[:, :2].mean(axis=0), full_matrices=False)
        return np.array([-axes[0, 1], axes[0, 0]])

    def legible_from(self, x: float, y: float) -> bool:
        """Whether it should be told from a place: anything is from nearby, a sign only squarely and from not too near."""
        offset = np.array([x, y]) - self.middle[:2]
        gap = float(np.hypot(offset[0], offset[1]))
        if not self.front:
            return gap <= _CLOSE_M + self.half_m
        return _READ_M[0] <= gap <= _READ_M[1] and abs(float(offset @ self.normal)) > _SQUARE * gap

    def distance_m(self, places: Floats) -> Floats:
        """(N,) estimated distance by NavVerse's rule from foot points (N, 3): to the box's middle less half its longer side, in space [NV 6.5]."""
        if self.front:
            across = np.hypot(places[:, 0] - self.middle[0], places[:, 1] - self.middle[1])
            front: Floats = np.hypot(across, _FRONT_MIDDLE_M) - _FRONT_HALF_M
            return np.maximum(front, 0.0)
        gap = cKDTree(self.points[:, :2]).query(places[:, :2])[0]
        half = min(max(self.half_m, _LEAST_HALF_M), _MOST_HALF_M)
        distance: Floats = np.hypot(gap + half, self.middle[2] - places[:, 2]) - half
        return np.maximum(distance, 0.0)

    def on_level(self, z: float) -> bool:
        """Whether somebody at a height stands on its floor."""
        below = 4.5 if self.front else _FLOOR_BELOW_M
        return -_FLOOR_ABOVE_M < self.z - z < below


class Sightings:
    """Everything seen of one category in an episode.

    Args:
        place: it is a kind of place: what is seen of it are signs.
    """

    def __init__(self, *, place: bool) -> None:
        self._place = place
        self._cells: NDArray[np.int64] = np.zeros((0, 3), np.int64)
        self._frames: NDArray[np.int64] = np.zeros(0, np.int64)
        self._nearest: Floats = np.zeros(0)
        self._rejected: list[tuple[float, float]] = []
        self._candidates: list[Candidate] | None = None

    def see(self, frame: Frame, mask: NDArray[np.bool_], T_map_camera: Floats) -> bool:
        """Enter the pixels of a frame with depth that show the category; returns whether there were any."""
        assert frame.depth is not None
        good = mask & (frame.depth < _RANGE_M)
        if int(good.sum()) < _FEW_PIXELS:
            return False
        points = back_project(frame, good)
        range_m = float(np.median(points[:, 2]))
        if self._place:
            # What hides part of a sign is not on its front.
            points = points[np.abs(points[:, 2] - range_m) < 0.15 * range_m + 0.5]
        world = points @ T_map_camera[:3, :3].T + T_map_camera[:3, 3]
        seen = np.unique(np.floor(world / _CELL_M).astype(np.int64), axis=0)
        cells, which = np.unique(np.vstack([self._cells, seen]), axis=0, return_inverse=True)
        frames, nearest = np.zeros(len(cells), np.int64), np.full(len(cells), np.inf)
        np.add.at(frames, which, np.append(self._frames, np.ones(len(seen), np.int64)))
        np.minimum.at(nearest, which, np.append(self._nearest, np.full(len(seen), range_m)))
        self._cells, self._frames, self._nearest = cells, frames, nearest
        self._candidates = None
        return True

    def reject(self, candidate: Candidate) -> None:
        """It proved to be something else: never come back to it."""
        self._rejected.append((float(candidate.middle[0]), float(candidate.middle[1])))
        kept = np.hypot(*((self._cells[:, :2] + 0.5) * _CELL_M - candidate.middle[:2]).T) >= _REJECTED_M
        self._cells, self._frames, self._nearest = self._cells[kept], self._frames[kept], self._nearest[kept]
        self._candidates = None

    @property
    def candidates(self) -> list[Candidate]:
        """What may be the goal, in a fixed order."""
        if self._candidates is None:
            self._candidates = [c for c in self._gathered() if not self._is_rejected(c)]
        return self._candidates

    def _is_rejected(self, candidate: Candidate) -> bool:
        return any(hypot(candidate.middle[0] - x, candidate.middle[1] - y) < _REJECTED_M for x, y in self._rejected)

    def _gathered(self) -> list[Candidate]:
        """Cells joined where no gap of ``_JOIN_M`` or more is between them."""
        if not len(self._cells):
            return []
        points = (self._cells + 0.5) * _CELL_M
        blocks, which = np.unique(np.floor(points / _JOIN_M).astype(np.int64), axis=0, return_inverse=True)
        pairs = cKDTree(blocks.astype(np.float64)).query_pairs(1.8, output_type="ndarray")
        links = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(blocks), len(blocks)))
        count, label = connected_components(links, directed=False)
        found = []
        for n in range(count):
            mine = label[which] == n
            own = points[mine]
            low, high = own.min(axis=0), own.max(axis=0)
            kept = own if len(own) <= _MOST_POINTS else own[:: len(own) // _MOST_POINTS]
            half = 0.5 * float((high - low)[:2].max())
            middle = np.median(own, axis=0) if self._place else 0.5 * (low + high)
            found.append(Candidate(kept, middle, half, int(self._frames[mine].max()), float(self._nearest[mine].min()), self._place))
        return found


def nearest_of(candidates: Sequence[Candidate], pose: Pose) -> tuple[Candidate, float] | None:
    """Of some candidates the one on the robot's floor with the smallest distance, and that distance."""
    here = np.array([pose.position])
    found = [(float(c.distance_m(here)[0]), n) for n, c in enumerate(candidates) if c.on_level(pose.z)]
    if not found:
        return None
    distance, n = min(found)
    return candidates[n], distance


def in_plain_view(point: Floats, frame: Frame, T_map_camera: Floats) -> bool:
    """Whether a camera with depth looks at a point (3,) of the map with nothing before it."""
    assert frame.depth is not None
    x, y, z = (point - T_map_camera[:3, 3]) @ T_map_camera[:3, :3]
    if z < _NEAREST_M:
        return False
    f = frame.camera.focal_px
    u, v = int(f * x / z + 0.5 * frame.camera.width), int(f * y / z + 0.5 * frame.camera.height)
    return 0 <= u < frame.camera.width and 0 <= v < frame.camera.height and float(frame.depth[v, u]) > z - _BEFORE_M
