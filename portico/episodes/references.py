"""Reference paths: the shortest way that satisfies every stage in order [I2 C.4].

They run over indoor cells and outdoor cells where walking is allowed, so exit and entrance pass through real doors,
and end inside the success set: just outdoors, within the goal's tolerance, just indoors, or where a stop at the object counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from portico.episodes.grounds import Grounds, Mask
from portico.errors import EpisodeError
from portico.geometry import Floats, polyline_length, resample
from portico.space import DistanceField
from portico.tasks.episode import Reference, StageSpec
from portico.tasks.predicates import success_radius_m

#: Ends this far inside a goal's radius, so that rounding never decides.
_INSIDE_M = 0.05
_ROUTE_SPACING_M = 1.0
#: Most references end within this distance of their goals; farther ones cost a second, unbounded search.
_NEARBY_M = 60.0
#: The I2O route starts this far from the building it leaves: its first waypoint earns nothing [I2 3.3].
_ROUTE_STARTS_M = 4.0


@dataclass
class Planner:
    """Distance fields over the ground of one world, each computed once."""

    grounds: Grounds
    _fields: dict[str, DistanceField] = field(default_factory=dict)

    def to_stage(self, start: Floats, stage: StageSpec) -> Floats | None:
        """Shortest path (M, 3) from a point into a stage's success set, None when there is none.

        Raises:
            EpisodeError: references of that kind of stage are not planned here.
        """
        if stage.kind in ("outdoor", "point", "image"):
            way = self.grounds.space.path(start, np.array(stage.goal), mask=self.grounds.usable)
            return None if way is None else _cut_at_radius(np.asarray(way.points, dtype=np.float64), stage)
        for limit_m in (_NEARBY_M, np.inf):
            way = self._field(stage, limit_m).path_from(start)
            if way is not None:
                return np.asarray(way.points, dtype=np.float64)
        return None

    def distances_m(self, stage: StageSpec, points: Floats) -> Floats:
        """(K,) lengths of the ways from points (K, 3) into a stage's success set, up to 60 m; inf beyond and where there is none."""
        return self._field(stage, _NEARBY_M).at(points)

    def _field(self, stage: StageSpec, limit_m: float) -> DistanceField:
        name = f"{stage.kind} {stage.rule} {stage.building if stage.kind != 'exit' else ''} {stage.category} {stage.instances} {stage.tolerance_m} {limit_m}"
        if name not in self._fields:
            goals = np.flatnonzero(self._success_set(stage))
            self._fields[name] = self.grounds.space.distance_field(goals, mask=self.grounds.usable, limit_m=limit_m)
        return self._fields[name]

    def _success_set(self, stage: StageSpec) -> Mask:
        """Nodes at which the stage's predicate holds, its crossing aside."""
        match stage.kind:
            case "exit":
                return self.grounds.usable & self.grounds.allowed
            case "entrance":
                return self.grounds.inside(self.grounds.annotations.building_index(stage.building))
            case "ovon" | "object" | "place" | "vln":
                return self.grounds.stops_for(stage)
            case _:
                raise EpisodeError(f"no reference can be planned for a stage of kind {stage.kind!r}")

    def reference(self, start: Floats, stages: list[StageSpec]) -> Reference | None:
        """The reference through every stage in order, or None when one cannot be reached.

        An exit followed by an outdoor goal is planned in one go: the shortest way to the goal leaves the building where it
        should, which the nearest exit need not be.
        """
        points, ends = np.asarray(start, dtype=np.float64)[None], []
        k = 0
        while k < len(stages):
            through = k + 1 if stages[k].kind in ("exit", "entrance") and k + 1 < len(stages) else k
            leg = self.to_stage(points[-1], stages[through])
            if leg is None:
                return None
            if through > k:
                crossing = self._crossing(leg, stages[k])
                if crossing is None:
                    return None
                leg, at = crossing
                ends.append(len(points) - 1 + at)
            points = np.concatenate([points, leg[1:]])
            ends.append(len(points) - 1)
            k = through + 1
        # NavVerse measures lengths in space, I2O2I-Nav and NavArena on the ground; reference and executed path must agree.
        axes = 3 if stages[0].by_navverse else 2
        length = polyline_length(points[:, :axes])
        if length <= 0.0:
            return None
        return Reference(path=[tuple(p) for p in points.tolist()], length_m=length, stage_ends=ends)

    def _crossing(self, leg: Floats, stage: StageSpec) -> tuple[Floats, int] | None:
        """The leg with a vertex added where the stage's predicate first holds, and that vertex's index."""
        fine = resample(leg, self.grounds.space.cell_m)
        annotations = self.grounds.annotations
        indoors = annotations.building_index(stage.building)
        holds = annotations.allowed(fine) if stage.kind == "exit" else annotations.inside(fine) == indoors
        if not holds.any():
            return None
        first = int(np.argmax(holds))
        beyond = min(first + 1, len(fine) - 1)
        # One cell beyond the first that holds, where there is one, so that the centre is clearly across the line.
        return _with_vertex(leg, fine[beyond if holds[beyond] else first])


def dense(reference: Reference, spacing_m: float) -> Reference:
    """The same way with points at most ``spacing_m`` apart, as warping measures ask for; its corners stay."""
    points = np.array(reference.path)
    legs = [resample(points[i : i + 2], spacing_m) for i in range(len(points) - 1)]
    parts = [leg[1:] if len(leg) > 1 else points[i + 1 : i + 2] for i, leg in enumerate(legs)]
    ends = np.cumsum([0, *(len(part) for part in parts)])
    path = np.concatenate([points[:1], *parts])
    return Reference(path=[tuple(p) for p in path.tolist()], length_m=reference.length_m, stage_ends=[int(ends[k]) for k in reference.stage_ends])


def outdoor_route(reference: Reference, stages: list[StageSpec], k: int) -> list[tuple[float, float, float]]:
    """The route handed out for outdoor stage ``k``: its part of the reference, starting away from a building just left."""
    begin = reference.stage_ends[k - 1] if k else 0
    points = np.array(reference.path[begin : reference.stage_ends[k] + 1])
    goal = np.array(stages[k].goal)
    if np.linalg.norm(points[-1, :2] - goal[:2]) > 1e-6:
        points = np.concatenate([points, goal[None]])
    route = resample(points, _ROUTE_SPACING_M)
    if k and stages[k - 1].kind == "exit":
        keep = max(1, min(len(route) - 2, int(np.ceil(_ROUTE_STARTS_M / _ROUTE_SPACING_M))))
        route = route[keep:]
    return [tuple(p) for p in np.round(route, 3).tolist()]


def _cut_at_radius(points: Floats, stage: StageSpec) -> Floats:
    """End a path where it first comes within the stage's radius of the goal."""
    goal = np.array(stage.goal)[:2]
    radius = success_radius_m(stage) - _INSIDE_M
    distances = np.linalg.norm(points[:, :2] - goal, axis=1)
    if distances[0] <= radius:
        return points[:1]
    for i in range(1, len(points)):
        if distances[i] <= radius:
            a, b = points[i - 1], points[i]
            d, f = (b - a)[:2], (a[:2] - goal)
            qa, qb, qc = float(d @ d), 2.0 * float(f @ d), float(f @ f) - radius**2
            t = (-qb - np.sqrt(max(0.0, qb * qb - 4.0 * qa * qc))) / (2.0 * qa)
            return np.concatenate([points[:i], (a + t * (b - a))[None]])
    return points


def _with_vertex(points: Floats, vertex: Floats) -> tuple[Floats, int]:
    """Insert a point that lies on a polyline as a vertex of its own; returns the polyline and the vertex's index."""
    for i in range(1, len(points)):
        a, b = points[i - 1], points[i]
        along = float(np.linalg.norm(b[:2] - a[:2]))
        reach = float(np.linalg.norm(vertex[:2] - a[:2])) + float(np.linalg.norm(b[:2] - vertex[:2]))
        if reach - along < 1e-6:
            if np.linalg.norm(vertex[:2] - b[:2]) < 1e-6:
                return points, i
            return np.concatenate([points[:i], vertex[None], points[i:]]), i
    return points, len(points) - 1
