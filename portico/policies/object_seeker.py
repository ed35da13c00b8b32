"""Search for an object: explore until the detector sees it, then walk up to it."""

from __future__ import annotations

from math import hypot, inf

import numpy as np

from portico.geometry import Floats
from portico.interface import Observation
from portico.policies.detectors import Detector
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target, depth_frame
from portico.policies.surroundings import outdoor_evidence

_SIGHTING_RANGE_M = 12.0
_FLOOR_BELOW_M, _FLOOR_ABOVE_M, _SIGN_BELOW_M = 2.6, 0.4, 4.5
_FEW_PIXELS = 3
_STOP_M = 0.8
_BESIDE_M = 0.2
_OUTDOORS, _RELAXED_BEFORE_LEAVING = 12.0, 3
_STEP_M, _OTHER_FLOOR_M = 0.3, 25.0
#: Sightings are gathered at this spacing.
_COARSE_M = 0.2


class ObjectSeeker:
    """Any instance of a category will do: the nearest one that was seen is approached to 0.8 m.

    Args:
        detector: finds the category in images; None explores for ever and declares nothing.
        category: what to look for.
        closely: walk up to it as far as the body allows, where the distance to its middle counts.
        roams: it may be outdoors as well as inside. overhead: what is seen of it may hang higher than a room, as signs do.
    """

    looks_around = True
    reach_m = inf

    def __init__(self, detector: Detector | None, category: str, *, closely: bool = False, roams: bool = False, overhead: bool = False) -> None:
        self._detector, self._category, self._closely = detector, category, closely
        self._roams, self._below_m = roams, _SIGN_BELOW_M if overhead else _FLOOR_BELOW_M
        self._ignored = 0
        self._seen: dict[tuple[int, int, int], int] = {}
        self._points: Floats = np.zeros((0, 3))
        self._thwarted = False

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Look for the category and remember where its surface is, in cells of 0.1 m."""
        self._category = observation.stage.category or self._category
        if self._detector is None or not self._category:
            return
        frame = depth_frame(observation)
        assert frame.depth is not None
        mask = self._detector.detect(frame, self._category) & np.isfinite(frame.depth) & (frame.depth < _SIGHTING_RANGE_M)
        if int(mask.sum()) < _FEW_PIXELS:
            return
        points = _back_project(frame.depth, mask, frame.camera.focal_px)
        T = pilot.base @ frame.camera.T_base_camera()
        world = points @ T[:3, :3].T + T[:3, 3]
        for i, j, k in np.unique(np.floor(world / pilot.map.cell_m).astype(int), axis=0):
            key = (int(i), int(j), int(k))
            self._seen[key] = self._seen.get(key, 0) + 1
        cells = np.array(sorted(self._seen), dtype=np.float64)
        self._points = (cells + 0.5) * pilot.map.cell_m

    def done(self, pilot: Pilot) -> bool:
        """Close enough to something seen on this floor; each time that this changed nothing, half as far."""
        near = self._distance(pilot) <= self._stop_m(pilot)
        self._ignored += near
        return near

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """The nearest place to stand beside something seen, else the next frontier; outdoors only after all else."""
        approach = self._approach(pilot, costs)
        if approach is not None:
            return approach
        frontier = best_frontier(pilot, costs, lambda c: self._charge(pilot, c))
        if frontier is None or self._roams or pilot.relaxed >= _RELAXED_BEFORE_LEAVING or self._inside(pilot, frontier):
            return frontier
        return None

    def _inside(self, pilot: Pilot, frontier: Target) -> bool:
        """Whether nothing around a frontier speaks for outdoors."""
        return outdoor_evidence(pilot, frontier.position, reach_m=2.0) < _OUTDOORS

    def _stop_m(self, pilot: Pilot) -> float:
        """Closer than the 1.0 m beyond the body's radius that count [I2 3.3]; less so where coming closer failed."""
        radius = pilot.brief.body.radius_m
        wanted = radius + _BESIDE_M if self._closely else max(_STOP_M, radius + 0.35)
        return (0.85 + radius if self._thwarted else wanted) * 0.5**self._ignored

    def _distance(self, pilot: Pilot) -> float:
        p, points = pilot.pose, self._points
        level = points[(points[:, 2] > p.z - _FLOOR_ABOVE_M) & (points[:, 2] < p.z + self._below_m)]
        return float(np.hypot(level[:, 0] - p.x, level[:, 1] - p.y).min()) if len(level) else np.inf

    def _approach(self, pilot: Pilot, costs: Costs) -> Target | None:
        """Reachable surfaces near the points, judged by path cost plus what is missing in closeness."""
        if len(self._points) == 0:
            return None
        reach = 1.2 + pilot.brief.body.radius_m
        # Feet are so far below and a little above what is approached.
        middle_m, half_m = 0.5 * (self._below_m - _FLOOR_ABOVE_M), 0.5 * (self._below_m + _FLOOR_ABOVE_M)
        gaps: dict[tuple[int, int, int], float] = {}
        for x, y, z in np.unique(np.round(self._points / _COARSE_M) * _COARSE_M, axis=0):
            near = pilot.map.disc(float(x), float(y), float(z) - middle_m, reach, half_m)
            near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
            places = pilot.map.positions(near)
            for surface, gap in zip(near.tolist(), np.hypot(places[:, 0] - x, places[:, 1] - y), strict=True):
                key = (surface[0], surface[1], surface[2])
                gaps[key] = min(gaps.get(key, np.inf), float(gap))
        if not gaps:
            return self._towards(pilot, costs)
        surfaces = np.array(sorted(s for s in gaps if not pilot.is_tabu(pilot.map.position(s)))).reshape(-1, 3)
        self._thwarted = self._thwarted or len(surfaces) < len(gaps)
        if len(surfaces) == 0:
            return None
        offsets = 6.0 * np.maximum(np.array([gaps[tuple(s)] for s in surfaces.tolist()]) - self._stop_m(pilot) + 0.1, 0.0)
        best = surfaces[int(np.argmin(costs[surfaces[:, 0], surfaces[:, 1], surfaces[:, 2]] + offsets))]
        position = pilot.map.position((int(best[0]), int(best[1]), int(best[2])))
        return Target(surfaces, position, "object", offsets_m=offsets)

    def _towards(self, pilot: Pilot, costs: Costs) -> Target | None:
        """Seen across ground that is not mapped yet: the frontier nearest to it."""
        x, y, z = self._points[int(np.argmin(np.hypot(self._points[:, 0] - pilot.pose.x, self._points[:, 1] - pilot.pose.y)))]
        return best_frontier(pilot, costs, lambda c: 2.0 * hypot(c.position[0] - x, c.position[1] - y) + 2.0 * abs(c.position[2] - z))

    def _charge(self, pilot: Pilot, cluster: FrontierCluster) -> float:
        """Stay on this floor while it has frontiers, and inside."""
        other_floor = abs(cluster.position[2] - pilot.floor_z) > _STEP_M
        if self._roams:
            return _OTHER_FLOOR_M if other_floor else 0.0
        return (_OTHER_FLOOR_M if other_floor else 0.0) + 2.0 * outdoor_evidence(pilot, cluster.position, reach_m=2.0)


def _back_project(depth: np.ndarray, mask: np.ndarray, focal_px: float) -> Floats:
    """(N, 3) points in the camera's frame of the masked pixels."""
    rows, cols = depth.shape
    v, u = np.nonzero(mask)
    d = depth[v, u].astype(np.float64)
    return np.stack([(u + 0.5 - 0.5 * cols) / focal_px * d, (v + 0.5 - 0.5 * rows) / focal_px * d, d], axis=1)
