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

#: Ends this far inside a goal's radius, so that rounding never decides.
_INSIDE_M = 0.05
_ROUTE_SPACING_M = 1.0
#: The I2O route starts this far from the building it leaves: its first waypoint earns nothing [I2 3.3].
_ROUTE_STARTS_M = 4.0


@dataclass
class Planner:
    """Distance fields over the ground of one world, each computed once."""

    grounds: Grounds
    _fields: dict[str, DistanceField] = field(default_factory=dict)

    def exit_field(self) -> DistanceField:
        """To the nearest allowed outdoor cell."""
        return self._field("exit", np.flatnonzero(self.grounds.usable & self.grounds.allowed))

    def entrance_field(self, building: int) -> DistanceField:
        """To the nearest cell inside a building."""
        return self._field(f"entrance {building}", np.flatnonzero(self.grounds.inside(building)))

    def object_field(self, stage: StageSpec) -> DistanceField | None:
        """To the nearest cell from which stopping at an object of the category succeeds; None when there is none."""
        name = f"{stage.kind} {stage.rule} {stage.building} {stage.category}"
        if name in self._fields:
            return self._fields[name]
        stops = self.grounds.stops_for(stage)
        return self._field(name, np.flatnonzero(stops)) if stops.any() else None

    def point_field(self, point: Floats) -> DistanceField:
        """To one point."""
        nodes = self.grounds.space.locate(point[None])
        return self._field(f"point {int(nodes[0])}", nodes)

    def _field(self, name: str, goals: Mask | np.ndarray) -> DistanceField:
        if name not in self._fields:
            self._fields[name] = self.grounds.space.distance_field(goals, mask=self.grounds.usable)
        return self._fields[name]

    def to_stage(self, start: Floats, stage: StageSpec) -> Floats | None:
        """Shortest path from a point into a stage's success set."""
        annotations = self.grounds.annotations
        match stage.kind:
            case "exit":
                chosen = self.exit_field()
            case "entrance":
                chosen = self.entrance_field(annotations.building_index(stage.building))
            case "ovon" | "object":
                found = self.object_field(stage)
                if found is None:
                    return None
                chosen = found
            case "outdoor" | "point":
                chosen = self.point_field(np.array(stage.goal))
            case _:
                raise EpisodeError(f"no reference can be planned for a stage of kind {stage.kind!r}")
        path = chosen.path_from(start)
        if path is None:
            return None
        points = np.asarray(path.points, dtype=np.float64)
        return _cut_at_radius(points, stage) if stage.goal is not None else points

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
        axes = 3 if stages[0].kind == "object" and stages[0].rule == "navverse" else 2
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
    radius = float(stage.radius_m or 0.0) - _INSIDE_M
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
