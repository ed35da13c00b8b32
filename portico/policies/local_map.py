"""A policy's own map: fed with depth images and poses, asked for costs, paths and frontiers."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from portico.geometry import Floats, Pose, leaning
from portico.grids.frontiers import cluster_frontiers, frontier_surfaces, unknown_beyond
from portico.grids.mapping import View, integrate_depth, integrate_sky
from portico.grids.planning import clearance_map, standing_cost, travel_cost
from portico.grids.surface_grid import GROUND, MERGE_M, SPENT, SurfaceGrid, empty_grid, find_surface, grown, stand_on
from portico.interface import Body, Camera, Frame

Costs = NDArray[np.float32]
Surfaces = NDArray[np.int64]
Window = tuple[slice, slice]

_MARGIN_M, _PAD_M = 15.0, 12.0
_GROUND_RANGE_M, _SOLID_RANGE_M = 7.0, 15.0
_COMFORT_M = 0.35
_NEAR_WEIGHT = 3.0
_BLOCKED_BY_CONTACT = 12
_BEYOND_CELLS, _BEYOND_MOST, _BEYOND_LEAST = 18, 600, 15


@dataclass(frozen=True)
class Sight:
    """What one image says about each of its columns, left to right. All arrays (W,).

    Attributes:
        bearing_rad: relative to the robot's heading, counter-clockwise.
        solid_m: range of the first obstacle. ground_m: of the farthest ground. far_m: of the farthest hit near the horizon.
        sky: sky is seen. top_m: height above the robot's feet of the topmost hit, inf for sky. ceiling: ceiling pixels.
        lowest_m: height of the lowest hit, 0 or less.
    """

    bearing_rad: Floats
    solid_m: Floats
    ground_m: Floats
    far_m: Floats
    sky: NDArray[np.bool_]
    top_m: Floats
    ceiling: Floats
    lowest_m: Floats


@dataclass(frozen=True)
class FrontierCluster:
    """Frontier surfaces that belong together.

    Attributes:
        surfaces: (N, 3) sheet, row, column. goal: the member to walk to. position: its (x, y, z), metres.
        cost_m: path cost from the robot. size: number of members. beyond: unknown cells behind it, up to a limit.
    """

    surfaces: Surfaces
    goal: tuple[int, int, int]
    position: tuple[float, float, float]
    cost_m: float
    size: int
    beyond: int


class LocalMap:
    """Surfaces around the robot at 0.1 m, grown as it goes.

    Args:
        body: the robot.
        cell_m: edge of a cell.

    Attributes:
        grid: the surfaces. frame: how many images went in.
        slack_m: how much closer than its radius the body may come to a blocked cell; cells are coarse and doors narrow.
        smallest_frontier: fewer cells than this are no frontier.
    """

    def __init__(self, body: Body, cell_m: float = 0.1) -> None:
        self.body, self.cell_m = body, cell_m
        self.grid: SurfaceGrid = empty_grid(-_MARGIN_M, -_MARGIN_M, _MARGIN_M, _MARGIN_M, cell_m)
        self.frame = 0
        self._started = False
        self._rays: dict[Camera, Floats] = {}
        self.slack_m, self.smallest_frontier = 0.0, 2
        self.slope = 0.8 if body.climb_m >= 0.15 else 0.2

    @property
    def climb_m(self) -> float:
        """Height difference up to which neighbouring cells are joined."""
        return self.body.climb_m + 0.02

    @property
    def guess_climb_m(self) -> float:
        """The same where one of the two cells was filled in rather than seen, and its height is a guess."""
        return min(1.6 * self.body.climb_m + 0.02, MERGE_M)

    def see(self, frame: Frame, pose: Pose, tilt_rad: tuple[float, float] = (0.0, 0.0)) -> Sight:
        """Enter a depth image taken at a pose by a body that leans by ``tilt_rad`` (roll, pitch)."""
        assert frame.depth is not None
        self._make_room(pose)
        self.frame += 1
        camera, g = frame.camera, self.grid
        rays = self._camera_rays(camera)
        origin = (leaning(pose, *tilt_rad, self.body.pivot_m) @ camera.T_base_camera()[:, 3])[:3]
        if any(tilt_rad):
            rays = rays @ leaning(Pose(0.0, 0.0), *tilt_rad, 0.0)[:3, :3].T
        view = View(
            origin, pose.position, pose.yaw_rad, self.body.climb_m, self.body.height_m + 0.1, self.slope, ground_m=_GROUND_RANGE_M, solid_m=_SOLID_RANGE_M
        )
        columns = np.zeros((camera.width, 7))
        stand_on(g, pose.x, pose.y, pose.z, self.body.radius_m - 0.5 * g.cell_m)
        integrate_depth(g, view, frame.depth, rays, self.frame, columns)
        integrate_sky(g, view, frame.depth, rays, _MARGIN_M)
        bearing = np.arctan2(rays[0, :, 1], rays[0, :, 0])
        return Sight(bearing, columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3] > 0.0, columns[:, 4], columns[:, 5], columns[:, 6])

    def block(self, x: float, y: float, z: float) -> None:
        """Something solid was touched there."""
        i, j = self.cell(x, y)
        k = self.sheet(i, j, z, MERGE_M)
        if k >= 0:
            self.grid.odds[k, i, j] = _BLOCKED_BY_CONTACT

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Row and column of a position."""
        return floor((y - self.grid.y0) / self.cell_m), floor((x - self.grid.x0) / self.cell_m)

    def sheet(self, i: int, j: int, z: float, tolerance_m: float) -> int:
        """Sheet of the surface nearest to z, or -1."""
        rows, cols = self.grid.shape
        if not (0 <= i < rows and 0 <= j < cols):
            return -1
        return int(find_surface(self.grid, i, j, z, tolerance_m))

    def position(self, surface: tuple[int, int, int]) -> tuple[float, float, float]:
        """Centre of a surface, metres."""
        k, i, j = surface
        return self.grid.x0 + (j + 0.5) * self.cell_m, self.grid.y0 + (i + 0.5) * self.cell_m, float(self.grid.height[k, i, j])

    def positions(self, surfaces: Surfaces) -> Floats:
        """(N, 3) centres of surfaces (N, 3)."""
        k, i, j = surfaces[:, 0], surfaces[:, 1], surfaces[:, 2]
        return np.stack([self.grid.x0 + (j + 0.5) * self.cell_m, self.grid.y0 + (i + 0.5) * self.cell_m, self.grid.height[k, i, j].astype(np.float64)], axis=1)

    def weights(self, pose: Pose, window: Window) -> Costs:
        """Cost per metre of standing on the surfaces of a window; the robot's own place is always passable."""
        part, radius = self.grid.window(*window), self.body.radius_m - self.slack_m
        clearance = clearance_map(part, radius + _COMFORT_M)
        weight: Costs = standing_cost(part, clearance, radius, radius + _COMFORT_M, _NEAR_WEIGHT)
        self._loosen(weight, clearance, pose, window[0].start, window[1].start)
        return weight

    def known(self) -> Window:
        """Rows and columns that hold anything."""
        some = ~np.isnan(self.grid.height[0])
        rows, cols = np.flatnonzero(some.any(axis=1)), np.flatnonzero(some.any(axis=0))
        return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)

    def window(self, pose: Pose, reach_m: float) -> Window:
        """Rows and columns around the robot."""
        i, j = self.cell(pose.x, pose.y)
        n = ceil(reach_m / self.cell_m)
        rows, cols = self.grid.shape
        return slice(max(i - n, 0), min(i + n + 1, rows)), slice(max(j - n, 0), min(j + n + 1, cols))

    def costs_from(self, weight: Costs, pose: Pose, limit_m: float = 1e4) -> Costs:
        """Path cost from the robot to every surface."""
        i, j = self.cell(pose.x, pose.y)
        k = max(self.sheet(i, j, pose.z, 2.0), 0)
        return self.costs_to(weight, np.array([[k, i, j]]), np.zeros(1), limit_m)

    def costs_to(self, weight: Costs, goals: Surfaces, offsets: Floats | None = None, limit_m: float = 1e4) -> Costs:
        """Path cost from every surface to the cheapest of the goals (N, 3), each with its own offset."""
        offsets = np.zeros(len(goals)) if offsets is None else offsets
        seeds = np.ascontiguousarray(goals, dtype=np.int64)
        costs: Costs = travel_cost(self.grid, weight, seeds, offsets, self.climb_m, self.guess_climb_m, limit_m)
        return costs

    def frontiers(self, costs: Costs, *, largest: int = 24) -> list[FrontierCluster]:
        """Frontier clusters that can be reached and are no smaller than ``smallest_frontier``, in the order of the grid."""
        g = self.grid
        surfaces = frontier_surfaces(g, costs)
        labels = cluster_frontiers(g, surfaces, self.climb_m, largest)
        count = int(labels.max(initial=-1)) + 1
        beyond = unknown_beyond(g, surfaces, labels, count, _BEYOND_CELLS, _BEYOND_MOST)
        clusters = []
        for label in range(count):
            members = surfaces[labels == label]
            if len(members) < self.smallest_frontier or beyond[label] < _BEYOND_LEAST * self.smallest_frontier:
                continue
            middle = members[:, 1:].mean(axis=0)
            best = members[int(np.argmin(((members[:, 1:] - middle) ** 2).sum(axis=1)))]
            goal = (int(best[0]), int(best[1]), int(best[2]))
            clusters.append(FrontierCluster(members, goal, self.position(goal), float(costs[goal]), len(members), int(beyond[label])))
        return clusters

    def spend(self, surfaces: Surfaces) -> None:
        """These are no frontiers any more, whatever lies behind them."""
        self.grid.flags[surfaces[:, 0], surfaces[:, 1], surfaces[:, 2]] |= SPENT

    def forget_spent(self) -> None:
        """Every frontier counts again."""
        self.grid.flags[...] &= np.uint8(255 - SPENT)

    def disc(self, x: float, y: float, z: float, radius_m: float, tolerance_m: float) -> Surfaces:
        """Surfaces within a radius whose height is within the tolerance of z: (N, 3); none where the map has not got to."""
        rows, cols = self.grid.shape
        i0, j0 = self.cell(x, y)
        n = ceil(radius_m / self.cell_m)
        low_i, high_i, low_j, high_j = (min(max(v, 0), most) for v, most in ((i0 - n, rows), (i0 + n + 1, rows), (j0 - n, cols), (j0 + n + 1, cols)))
        i, j = np.mgrid[low_i:high_i, low_j:high_j]
        near = np.hypot(self.grid.x0 + (j + 0.5) * self.cell_m - x, self.grid.y0 + (i + 0.5) * self.cell_m - y) <= radius_m
        i, j = i[near], j[near]
        k, n_ = np.nonzero(np.abs(self.grid.height[:, i, j] - z) <= tolerance_m)
        return np.stack([k, i[n_], j[n_]], axis=1)

    def _make_room(self, pose: Pose) -> None:
        if not self._started:
            self.grid = empty_grid(pose.x - _PAD_M, pose.y - _PAD_M, pose.x + _PAD_M, pose.y + _PAD_M, self.cell_m)
            self._started = True
        g, (rows, cols) = self.grid, self.grid.shape
        lows = [pose.x - _MARGIN_M, pose.y - _MARGIN_M]
        highs = [pose.x + _MARGIN_M, pose.y + _MARGIN_M]
        starts, ends = (g.x0, g.y0), (g.x0 + cols * g.cell_m, g.y0 + rows * g.cell_m)
        if all(low >= start for low, start in zip(lows, starts, strict=True)) and all(high <= end for high, end in zip(highs, ends, strict=True)):
            return
        grow = [low - _PAD_M if low < start else low for low, start in zip(lows, starts, strict=True)]
        grow += [high + _PAD_M if high > end else high for high, end in zip(highs, ends, strict=True)]
        self.grid = grown(g, *grow)

    def _loosen(self, weight: Costs, clearance: Costs, pose: Pose, row0: int, col0: int) -> None:
        """Let the robot out of a place tighter than it should be in, at a price, towards no tighter ones."""
        g = self.grid
        i, j = self.cell(pose.x, pose.y)
        k = self.sheet(i, j, pose.z, self.climb_m)
        if k < 0 or np.isfinite(weight[k, i - row0, j - col0]):
            return
        around = self.disc(pose.x, pose.y, pose.z, self.body.radius_m + 0.4, 2.0 * self.climb_m)
        ks, rows, cols = around[:, 0], around[:, 1], around[:, 2]
        local = (ks, rows - row0, cols - col0)
        standable = (g.odds[ks, rows, cols] <= 0) & (g.flags[ks, rows, cols] & GROUND > 0)
        tight = standable & (clearance[local] >= clearance[k, i - row0, j - col0] - 0.05) & ~np.isfinite(weight[local])
        weight[ks[tight], rows[tight] - row0, cols[tight] - col0] = 2.0 * (1.0 + _NEAR_WEIGHT)

    def _camera_rays(self, camera: Camera) -> Floats:
        if camera not in self._rays:
            v, u = np.mgrid[0 : camera.height, 0 : camera.width] + 0.5
            f = camera.focal_px
            directions = np.stack([(u - 0.5 * camera.width) / f, (v - 0.5 * camera.height) / f, np.ones_like(u)], axis=2)
            self._rays[camera] = np.ascontiguousarray(directions @ camera.T_base_camera()[:3, :3].T)
        return self._rays[camera]
