"""The ground under physics: one height field around the robot, cut out of the world anew as it moves.

A height field costs the same in a cell and in a city, needs no compilation, and takes every world: meshes, captures, maps. What
stands in the robot's way below its head is a column as tall as itself; what hangs above its head is not there. Floors
above and below are told apart by walking outwards from where the robot stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.robots.physics.nearby import Nearby
from portico.space.columns import GROUND, OBSTACLE, TOP, Grid, cut
from portico.world import WALKABLE, Surface

#: Side of a cell, metres: a foot's diameter is 0.07.
CELL_M = 0.05
#: Vertices along a side, an odd number: the window reaches 2 m to all sides.
SIDE = 81
#: The window follows when the robot has come this far from its middle.
_FOLLOW_M = 0.6
#: Columns end this far above the ground they stand on, and holes this far below what surrounds them.
TALL_M, DEEP_M = 1.2, 1.0
#: The height field spans this much, half above and half below the middle of its window.
SPAN_M = 8.0
#: Anything higher above the ground than this is an obstacle, not an unevenness.
_LIP_M = 0.02

FREE, SOLID, HOLE = 0, 1, 2
_STAIRS, _CURB = int(Surface.STAIRS), int(Surface.CURB)


@dataclass(frozen=True)
class Reach:
    """What a body takes for ground.

    Attributes:
        step_m: between neighbouring ground up to this height the walk goes on. head_m: nothing above this height over the ground matters.
        slope_rad: steeper than this is no ground.
    """

    step_m: float
    head_m: float
    slope_rad: float = radians(50.0)


class LocalGround:
    """Heights, surfaces and obstacles in a window of the world that follows a robot.

    Vertices lie on multiples of ``CELL_M`` in the world, so that what lies under the robot does not change when the window moves.

    Attributes:
        height: (SIDE, SIDE) float64, metres, rows along y. surface: (SIDE, SIDE) uint8, a ``Surface``.
        kind: (SIDE, SIDE) uint8: FREE, SOLID or HOLE.
    """

    def __init__(self, nearby: Nearby, reach: Reach) -> None:
        self._nearby, self._reach = nearby, reach
        self.height = np.zeros((SIDE, SIDE))
        self.surface = np.zeros((SIDE, SIDE), np.uint8)
        self.kind = np.zeros((SIDE, SIDE), np.uint8)
        self._corner: tuple[int, int] | None = None

    def clear(self) -> None:
        """Forget the window: what comes next does not depend on what was before."""
        self._corner = None

    @property
    def middle(self) -> Floats:
        """(2,) middle of the window, metres."""
        assert self._corner is not None, "follow() places the window"
        return (np.array(self._corner) + SIDE // 2) * CELL_M

    def follow(self, position: Floats) -> bool:
        """Move the window along if the foot point (3,) has come far enough from its middle; whether it moved."""
        if self._corner is not None and np.abs(position[:2] - self.middle).max() < _FOLLOW_M:
            return False
        i, j = (np.round(position[:2] / CELL_M).astype(int) - SIDE // 2).tolist()
        self._corner = (i, j)
        grid = Grid((i - 0.5) * CELL_M, (j - 0.5) * CELL_M, CELL_M, SIDE, SIDE)
        low = np.array([grid.x0, grid.y0])
        matter = self._nearby.within(low, low + SIDE * CELL_M)
        pieces = cut(matter.triangles, _kinds(matter.triangles, matter.surface, self._reach.slope_rad), matter.surface, grid, matter.boxes)
        _survey(pieces, SIDE, float(position[2]), self._reach.step_m, self._reach.head_m, self.height, self.surface, self.kind)
        return True

    def heights(self, points: Floats) -> Floats:
        """Heights at points (N, 2), (N,) metres; bilinear, beyond the window those of its border."""
        out = np.empty(len(points))
        assert self._corner is not None, "follow() places the window"
        _interpolate(self.height, self._corner[0], self._corner[1], np.ascontiguousarray(points, np.float64), out)
        return out

    def kind_at(self, points: Floats) -> NDArray[np.uint8]:
        """(N,) FREE, SOLID or HOLE at the vertices nearest to points (N, 2+)."""
        return self._nearest(self.kind, points)

    def is_solid(self, points: Floats) -> NDArray[np.bool_]:
        """(N,) whether points (N, 3) on the height field lie on an obstacle, its flank included, and not on the ground beside it."""
        assert self._corner is not None, "follow() places the window"
        out = np.empty(len(points), np.bool_)
        _on_obstacle(self.kind, self.height, self._corner[0], self._corner[1], points, out)
        return out

    def surface_at(self, points: Floats) -> NDArray[np.uint8]:
        """(N,) surface at the vertices nearest to points (N, 2+)."""
        return self._nearest(self.surface, points)

    def roughest(self, foot: Floats, reach_m: float) -> int:
        """The surface that most troubles a body within ``reach_m`` of its foot point (3,): of the largest step up or down there, if it is one.

        Where all is level, what lies under the foot point.
        """
        assert self._corner is not None, "follow() places the window"
        return int(_roughest(self.kind, self.height, self.surface, self._corner[0], self._corner[1], foot[0], foot[1], reach_m))

    def _nearest(self, values: NDArray[np.uint8], points: Floats) -> NDArray[np.uint8]:
        assert self._corner is not None, "follow() places the window"
        out = np.empty(len(points), np.uint8)
        _look_up(values, self._corner[0], self._corner[1], points, out)
        return out


def _kinds(triangles: Floats, surface: NDArray[np.uint8], slope_rad: float) -> NDArray[np.uint8]:
    """Piece kinds of triangles (F, 3, 3), see ``space.columns``."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    upright = normal[:, 2] >= np.linalg.norm(normal, axis=1) * cos(slope_rad)
    walkable = _WALKABLE[surface]
    kinds = np.full(len(triangles), OBSTACLE, np.uint8)
    kinds[walkable] = GROUND
    kinds[walkable & upright & (normal[:, 2] > 0.0)] = TOP
    return kinds


_WALKABLE = np.isin(np.arange(256), [int(s) for s in WALKABLE])


@njit(cache=True, nogil=True)
def _survey(pieces, side, z, step, head, height, surface, kind):  # type: ignore[no-untyped-def]
    """Fill the window, walking outwards from its middle, where the ground is near z: over ground first, then across what blocks it."""
    seen = np.zeros(side * side, np.bool_)
    came_from = np.empty(side * side, np.float64)
    near, far = np.empty(side * side, np.int64), np.empty(side * side, np.int64)
    near_first, near_end, far_first, far_end = 0, 1, 0, 0
    middle = side // 2 * side + side // 2
    near[0], seen[middle], came_from[middle] = middle, True, z
    while near_first < near_end or far_first < far_end:
        if near_first < near_end:
            k = near[near_first]
            near_first += 1
        else:
            k = far[far_first]
            far_first += 1
        row, column = k // side, k % side
        ground, top, what, made_of = _column(pieces, k, came_from[k], step, head)
        height[row, column], kind[row, column], surface[row, column] = top, what, made_of
        for d in range(4):
            r, c = row + (d == 0) - (d == 1), column + (d == 2) - (d == 3)
            if r < 0 or c < 0 or r >= side or c >= side or seen[r * side + c]:
                continue
            n = r * side + c
            seen[n] = True
            came_from[n] = ground
            if what == FREE:
                near[near_end] = n
                near_end += 1
            else:
                far[far_end] = n
                far_end += 1


@njit(cache=True, nogil=True, forceinline=True)
def _column(pieces, k, reference, step, head):  # type: ignore[no-untyped-def]
    """Ground level of a column, its top, its kind and what it is made of, seen from ground at the height of ``reference``.

    The ground is the highest walkable surface that does not lie more than a step above it. Obstacles are what reaches above that
    ground and begins below head height.
    """
    first, end = pieces.start[k], pieces.start[k + 1]
    ground, made_of, found = reference - DEEP_M, 0, False
    for p in range(first, end):
        if pieces.kind[p] == TOP and pieces.cover[p] > 0.0 and ground < pieces.level[p] <= reference + step:
            ground, made_of, found = np.float64(pieces.level[p]), pieces.surface[p], True
    base = ground if found else reference
    top, solid = base, False
    for p in range(first, end):
        # Walkable matter stands in the way from a step's height on: the side of a flight of stairs, the faces of a plinth.
        lip = _LIP_M if pieces.kind[p] == OBSTACLE or not found else step
        if pieces.low[p] < base + head and pieces.high[p] > base + lip and pieces.high[p] > top:
            top, solid = np.float64(pieces.high[p]), True
            if not found:
                made_of = pieces.surface[p]
    if solid:
        return base, min(top, base + TALL_M), SOLID, made_of
    if not found:
        return base, base - DEEP_M, HOLE, 0
    return ground, ground, FREE, made_of


@njit(cache=True, nogil=True)
def _interpolate(height, i0, j0, points, out):  # type: ignore[no-untyped-def]
    side = height.shape[0]
    for n in range(points.shape[0]):
        x = min(max(points[n, 0] / CELL_M - i0, 0.0), side - 1.000001)
        y = min(max(points[n, 1] / CELL_M - j0, 0.0), side - 1.000001)
        i, j = int(x), int(y)
        u, v = x - i, y - j
        out[n] = (1 - v) * ((1 - u) * height[j, i] + u * height[j, i + 1]) + v * ((1 - u) * height[j + 1, i] + u * height[j + 1, i + 1])


@njit(cache=True, nogil=True)
def _look_up(values, i0, j0, points, out):  # type: ignore[no-untyped-def]
    side = values.shape[0]
    for n in range(points.shape[0]):
        i, j = int(np.round(points[n, 0] / CELL_M)) - i0, int(np.round(points[n, 1] / CELL_M)) - j0
        out[n] = values[min(max(j, 0), side - 1), min(max(i, 0), side - 1)]


@njit(cache=True, nogil=True)
def _on_obstacle(kind, height, i0, j0, points, out):  # type: ignore[no-untyped-def]
    """A cell with a solid corner is its flank, down to just above the nearest corner that is no obstacle."""
    side = kind.shape[0]
    for n in range(points.shape[0]):
        x = min(max(points[n, 0] / CELL_M - i0, 0.0), side - 1.000001)
        y = min(max(points[n, 1] / CELL_M - j0, 0.0), side - 1.000001)
        i, j = int(x), int(y)
        solid, nearest, ground = False, 9.0, -np.inf
        for c in range(4):
            di, dj = c & 1, c >> 1
            if kind[j + dj, i + di] == SOLID:
                solid = True
            else:
                apart = (x - i - di) ** 2 + (y - j - dj) ** 2
                if apart < nearest:
                    nearest, ground = apart, height[j + dj, i + di]
        out[n] = solid and points[n, 2] > ground + _LIP_M


@njit(cache=True, nogil=True)
def _roughest(kind, height, surface, i0, j0, x, y, reach):  # type: ignore[no-untyped-def]
    """Of neighbouring vertices near (x, y), neither an obstacle, those whose heights differ most; the one whose class is rarer around them tells."""
    side, most = kind.shape[0], _LIP_M
    middle_i = min(max(int(np.round(x / CELL_M)) - i0, 1), side - 2)
    middle_j = min(max(int(np.round(y / CELL_M)) - j0, 1), side - 2)
    found = surface[middle_j, middle_i]
    cells = int(reach / CELL_M)
    for j in range(max(middle_j - cells, 0), min(middle_j + cells, side - 2) + 1):
        for i in range(max(middle_i - cells, 0), min(middle_i + cells, side - 2) + 1):
            for d in range(2):
                n, m = j + d, i + 1 - d
                if kind[j, i] == SOLID or kind[n, m] == SOLID:
                    continue
                step = abs(height[j, i] - height[n, m])
                if step > most + 1e-6:
                    most = step
                    found = _edge(surface[j, i], surface[n, m])
    return found


@njit(cache=True, nogil=True, forceinline=True)
def _edge(a, b):  # type: ignore[no-untyped-def]
    """Which of two surfaces a step belongs to: stairs and curbs are made of steps, of others the later class."""
    for special in (_STAIRS, _CURB):
        if a == special or b == special:
            return special
    return max(a, b)
