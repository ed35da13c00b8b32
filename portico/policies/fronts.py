"""Which fronts of buildings were looked at squarely enough to read what hangs on them, and from where to look at the others."""

from __future__ import annotations

from math import hypot

import numpy as np
from scipy import ndimage

from portico.geometry import Floats
from portico.grids.surface_grid import GROUND
from portico.interface import Frame
from portico.policies.facades import Facades, facades
from portico.policies.local_map import Costs
from portico.policies.pilot import Pilot, Target

_CELL_M, _HALF_M = 0.5, 150.0
#: Signs hang so high; they are read from between these distances, at no more than some 52 degrees off the square.
_SIGN_M, _NEAREST_M, _FARTHEST_M, _LEAST_COSINE = 3.2, 6.0, 14.0, 0.62
_STAND_M, _AROUND_M, _APART_M = 8.5, 1.2, 1.5
_LOOKS = 2
_BEFORE_M, _SMOOTH_M, _LEAST_SLOPE = 1.0, 1.0, 0.01
#: A look is worth a walk when it shows this much unread front; a metre of front is worth so many metres of way.
_LEAST_GAIN, _START_M, _FARTHEST_WALK_M = 6, 6.0, 40.0
_KEPT, _TURN_M_PER_RAD, _SAME_SIDE = 1.5, 0.95, 0.5
#: Before a front a street is looked for so far out; its curb is at least so high; the first samples are the pavement.
_ACROSS_M, _CURB_M, _BEFORE_DOOR, _FEW = (1.0, 11.0), 0.06, 8, 3
_NO_STREET, _UNKNOWN = 0.2, 0.35


class Fronts:
    """Memory of fronts in one episode, by squares of half a metre.

    Args:
        x, y: middle of the memory, metres.
    """

    def __init__(self, x: float, y: float) -> None:
        self._x0, self._y0 = x - _HALF_M, y - _HALF_M
        n = round(2.0 * _HALF_M / _CELL_M)
        self._looks = np.zeros((n, n), np.int16)
        self._points: Floats = np.zeros((0, 2))
        self._normals: Floats = np.zeros((0, 2))
        self._promise: Floats = np.zeros(0)

    def learn(self, pilot: Pilot) -> Facades:
        """Take the fronts, and where their ground is, from the map."""
        walls = facades(pilot.map, pilot.pose.z)
        grid, cell = pilot.map.grid, pilot.map.cell_m
        rows, cols = pilot.map.known()
        level = (np.abs(grid.height[:, rows, cols] - pilot.pose.z) <= 0.6) & (grid.flags[:, rows, cols] & GROUND > 0) & (grid.odds[:, rows, cols] <= 0)
        step = max(1, round(walls.cell_m / cell))
        ground = level.any(axis=0)[::step, ::step].astype(np.float64)
        smooth = ndimage.gaussian_filter(ground, _SMOOTH_M / walls.cell_m)
        dy, dx = np.gradient(smooth)
        building = walls.building[: smooth.shape[0], : smooth.shape[1]] > 0
        i, j = np.nonzero(building)
        across = _across(building.astype(np.float64), _SMOOTH_M / walls.cell_m)[i, j]
        outward = across[:, 0] * dx[i, j] + across[:, 1] * dy[i, j]
        good = np.abs(outward) > _LEAST_SLOPE
        self._points = np.stack([walls.x0 + (j + 0.5) * walls.cell_m, walls.y0 + (i + 0.5) * walls.cell_m], axis=1)[good]
        self._normals = (across * np.sign(outward)[:, None])[good]
        self._promise = self._streets(pilot)
        return walls

    def _streets(self, pilot: Pilot) -> Floats:
        """(M,) how likely a front is one of a shop: shops face streets, which lie a curb below the ground before their doors."""
        grid, cell = pilot.map.grid, pilot.map.cell_m
        reach = np.arange(_ACROSS_M[0], _ACROSS_M[1], 2.0 * cell)
        points = self._points[:, None] + reach[None, :, None] * self._normals[:, None]
        i = np.clip(((points[..., 1] - grid.y0) / cell).astype(int), 0, grid.shape[0] - 1)
        j = np.clip(((points[..., 0] - grid.x0) / cell).astype(int), 0, grid.shape[1] - 1)
        level = np.where((grid.flags[0] & GROUND > 0) & (np.abs(grid.height[0] - pilot.pose.z) < 0.6), grid.height[0], np.nan)[i, j]
        known = np.isfinite(level)
        door = np.where(known, level, -np.inf)[:, :_BEFORE_DOOR].max(axis=1)
        below = known & (np.where(known, level, np.inf) < door[:, None] - _CURB_M)
        seen_far = known[:, len(reach) // 2 :].mean(axis=1) > 0.5
        promise: Floats = np.where(below.sum(axis=1) >= _FEW, 1.0, np.where(seen_far, _NO_STREET, _UNKNOWN))
        return promise

    def look(self, pilot: Pilot, frame: Frame, T_map_camera: Floats) -> None:
        """Count a look at every front that a camera with depth shows squarely, in reading distance, with nothing before it."""
        assert frame.depth is not None
        if not len(self._points):
            return
        near = np.flatnonzero(self._legible(np.array([[pilot.pose.x, pilot.pose.y]]))[0])
        signs = np.column_stack([self._points[near], np.full(len(near), pilot.pose.z + _SIGN_M)])
        x, y, z = ((signs - T_map_camera[:3, 3]) @ T_map_camera[:3, :3]).T
        ahead = z > 1.0
        f, camera = frame.camera.focal_px, frame.camera
        u = np.where(ahead, f * x / np.where(ahead, z, 1.0) + 0.5 * camera.width, -1.0).astype(int)
        v = np.where(ahead, f * y / np.where(ahead, z, 1.0) + 0.5 * camera.height, -1.0).astype(int)
        seen = ahead & (u >= 0) & (v >= 0) & (u < camera.width) & (v < camera.height)
        seen[seen] = frame.depth[v[seen], u[seen]] > z[seen] - _BEFORE_M
        self._count(near[seen])
        self._try(pilot)

    def target(self, pilot: Pilot, costs: Costs) -> Target | None:
        """Ground from which the most unread front can be read for the shortest walk; None when no walk is worth it."""
        unread = self._unread()
        if not len(unread):
            return None
        normals = self._normals[unread]
        stands = self._points[unread] + _STAND_M * normals
        first = _thinned(stands)
        # One side of a street at a time.
        shown = self._legible(stands[first])[:, unread] & (normals[first] @ normals.T > _SAME_SIDE)
        gain = shown @ self._promise[unread]
        best, best_worth = None, 0.0
        for (x, y), worth, which in zip(stands[first].tolist(), gain.tolist(), shown, strict=True):
            if worth < _LEAST_GAIN:
                continue
            near = pilot.map.disc(x, y, pilot.pose.z, _AROUND_M, 0.8)
            near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
            if not len(near):
                continue
            k, i, j = near[int(np.argmin(costs[near[:, 0], near[:, 1], near[:, 2]]))].tolist()
            position, cost = pilot.map.position((k, i, j)), float(costs[k, i, j])
            held = pilot.target is not None and pilot.target.name == "front" and hypot(pilot.target.position[0] - x, pilot.target.position[1] - y) < _APART_M
            turn_m = _TURN_M_PER_RAD * abs(pilot.bearing_to(x, y))
            value = worth / (cost + turn_m + _START_M) * (_KEPT if held else 1.0)
            if cost < _FARTHEST_WALK_M and value > best_worth and not pilot.is_tabu(position):
                best_worth = value
                middle = self._points[unread[which]].mean(axis=0)
                best = Target(near, (x, y, position[2]), "front", look_at=(float(middle[0]), float(middle[1])))
        return best

    def _try(self, pilot: Pilot) -> None:
        """A front that is faced from where it should be legible counts as looked at, whatever hides it."""
        held = pilot.target
        if (
            held is None
            or held.name != "front"
            or held.look_at is None
            or hypot(held.position[0] - pilot.pose.x, held.position[1] - pilot.pose.y) > _AROUND_M + 0.4
        ):
            return
        if abs(pilot.bearing_to(*held.look_at)) < 0.5:
            self._count(np.flatnonzero(self._legible(np.array([[pilot.pose.x, pilot.pose.y]]))[0]))

    def _legible(self, stands: Floats) -> np.ndarray:
        """(S, M) whether a sign on each front could be read from each stand (S, 2)."""
        offset = stands[:, None] - self._points[None]
        gap = np.linalg.norm(offset, axis=2)
        square = (offset * self._normals[None]).sum(axis=2) > _LEAST_COSINE * gap
        legible: np.ndarray = square & (gap >= _NEAREST_M) & (gap <= _FARTHEST_M)
        return legible

    def _unread(self) -> np.ndarray:
        i, j = self._cells(self._points)
        unread: np.ndarray = np.flatnonzero(self._looks[i, j] < _LOOKS)
        return unread

    def _count(self, which: np.ndarray) -> None:
        i, j = self._cells(self._points[which])
        cells = np.unique(np.stack([i, j], axis=1), axis=0)
        self._looks[cells[:, 0], cells[:, 1]] += 1

    def _cells(self, points: Floats) -> tuple[np.ndarray, np.ndarray]:
        i = np.clip(((points[:, 1] - self._y0) / _CELL_M).astype(int), 0, self._looks.shape[0] - 1)
        j = np.clip(((points[:, 0] - self._x0) / _CELL_M).astype(int), 0, self._looks.shape[1] - 1)
        return i, j


def _across(wall: Floats, spread: float) -> Floats:
    """(R, C, 2) unit vectors, x and y, across the wall around every cell: square to the longer axis of its cells nearby."""
    i, j = np.mgrid[: wall.shape[0], : wall.shape[1]].astype(np.float64)
    weight, x, y, xx, xy, yy = (ndimage.gaussian_filter(wall * f, spread) for f in (1.0, j, i, j * j, i * j, i * i))
    weight = np.maximum(weight, 1e-9)
    x, y = x / weight, y / weight
    along = 0.5 * np.arctan2(2.0 * (xy / weight - x * y), (xx / weight - x * x) - (yy / weight - y * y))
    return np.stack([-np.sin(along), np.cos(along)], axis=2)


def _thinned(points: Floats) -> np.ndarray:
    """Indices of one point per square of ``_APART_M``, in a fixed order."""
    _, first = np.unique(np.floor(points / _APART_M).astype(np.int64), axis=0, return_index=True)
    thinned: np.ndarray = np.sort(first)
    return thinned
