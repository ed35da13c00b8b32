"""Along a given outdoor route, around what stands in the way, off the road where the route is not on it."""

from __future__ import annotations

import numpy as np

from portico.geometry import Floats, arc_lengths, project_on_polyline, resample
from portico.grids.planning import nearest_sample
from portico.interface import Observation
from portico.policies.local_map import Costs
from portico.policies.pilot import Pilot, Target

_SPACING_M = 0.4
_AHEAD_M, _BEHIND_M = 12.0, 1.0
_OFF_ROUTE_WEIGHT, _OFF_ROUTE_CAP_M = 0.5, 3.0
_ROAD_BELOW_M, _ROAD_WEIGHT = 0.1, 2.0
_DETOUR = 1.5


class RouteSeeker:
    """Follows the route of the stage; arrival ends the stage, so nothing is ever declared."""

    looks_around = False
    reach_m = _AHEAD_M + 2.0

    def __init__(self) -> None:
        self._route: Floats | None = None
        self._samples: Floats = np.zeros((0, 3))
        self._s: Floats = np.zeros(0)
        self._progress_m = 0.0

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Read the route when it is released, and how far along it the robot is."""
        stage = observation.stage
        if self._route is None and stage.route is not None and len(stage.route) > 0:
            points = np.asarray(stage.route, dtype=np.float64)
            if stage.goal is not None and np.hypot(*(points[-1, :2] - stage.goal[:2])) > 0.5:
                points = np.vstack([points, stage.goal])
            self._route = points
            self._samples = resample(points, _SPACING_M) if len(points) > 1 else points
            self._s = arc_lengths(self._samples)
            s, _ = project_on_polyline(pilot.pose.position[:2], points[:, :2])
            self._progress_m = s if len(points) > 1 else 0.0
        if self._route is not None:
            self._advance(pilot)

    def done(self, pilot: Pilot) -> bool:
        """Never: arrival ends the stage."""
        return False

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Every known point of the route ahead, priced by what is left after it; frontiers where none is known yet."""
        if self._route is None:
            return None
        self._prefer_route(pilot, weight)
        ahead = np.flatnonzero((self._s >= self._progress_m - _BEHIND_M) & (self._s <= self._progress_m + _AHEAD_M))
        total = float(self._s[-1])
        goals, offsets = self._known_route(pilot, weight, ahead, total)
        reachable = [n for n, g in enumerate(goals) if np.isfinite(costs[g]) and self._s_of(pilot, g) > self._progress_m + 0.8]
        if not reachable:
            goals, offsets = self._frontier_goals(pilot, costs, ahead, total)
        if not goals:
            return None
        last = self._samples[ahead[-1]]
        return Target(np.array(goals), (float(last[0]), float(last[1]), float(last[2])), "route", offsets_m=np.array(offsets))

    def _advance(self, pilot: Pilot) -> None:
        window = (self._s >= self._progress_m - _BEHIND_M) & (self._s <= self._progress_m + 6.0)
        gaps = np.where(window, np.hypot(self._samples[:, 0] - pilot.pose.x, self._samples[:, 1] - pilot.pose.y), np.inf)
        nearest = int(np.argmin(gaps))
        if gaps[nearest] < 3.0:
            self._progress_m = max(self._progress_m, float(self._s[nearest]))

    def _s_of(self, pilot: Pilot, surface: tuple[int, int, int]) -> float:
        x, y, _ = pilot.map.position(surface)
        return float(self._s[int(np.argmin(np.hypot(self._samples[:, 0] - x, self._samples[:, 1] - y)))])

    def _known_route(self, pilot: Pilot, weight: Costs, ahead: np.ndarray, total: float) -> tuple[list[tuple[int, int, int]], list[float]]:
        goals, offsets = [], []
        for n in ahead:
            x, y, z = self._samples[n]
            i, j = pilot.map.cell(float(x), float(y))
            k = pilot.map.sheet(i, j, float(z), 1.0)
            if k >= 0 and np.isfinite(weight[k, i, j]):
                goals.append((k, i, j))
                offsets.append(_DETOUR * (total - float(self._s[n])))
        return goals, offsets

    def _frontier_goals(self, pilot: Pilot, costs: Costs, ahead: np.ndarray, total: float) -> tuple[list[tuple[int, int, int]], list[float]]:
        goals, offsets = [], []
        route = self._samples[ahead]
        for cluster in pilot.map.frontiers(costs):
            if pilot.is_tabu(cluster.position):
                continue
            gaps = np.hypot(route[:, 0] - cluster.position[0], route[:, 1] - cluster.position[1])
            goals.append(cluster.goal)
            offsets.append(float(np.min(2.0 * gaps + _DETOUR * (total - self._s[ahead]))))
        return goals, offsets

    def _prefer_route(self, pilot: Pilot, weight: Costs) -> None:
        """Make ground off the route dearer, and ground below it, which is the road, dearer still."""
        pose, (rows, cols) = pilot.pose, pilot.map.window(pilot.pose, self.reach_m)
        near = self._samples[(np.abs(self._samples[:, :2] - [pose.x, pose.y]) < self.reach_m + _OFF_ROUTE_CAP_M).all(axis=1)]
        grid = pilot.map.grid
        x0, y0 = grid.x0 + cols.start * grid.cell_m, grid.y0 + rows.start * grid.cell_m
        gaps, level = nearest_sample(near, rows.stop - rows.start, cols.stop - cols.start, x0, y0, grid.cell_m, _OFF_ROUTE_CAP_M)
        level = np.where(np.isnan(level), np.float32(pose.z), level)
        below = (grid.height[:, rows, cols] < level - _ROAD_BELOW_M) & (gaps > 0.8)
        weight[:, rows, cols] *= 1.0 + _OFF_ROUTE_WEIGHT * np.maximum(gaps - np.float32(0.3), 0.0) + np.where(below, np.float32(_ROAD_WEIGHT), np.float32(0.0))
