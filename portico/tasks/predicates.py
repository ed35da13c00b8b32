"""When a stage is done: one predicate per kind of stage, judged on the states of that stage and on nothing else.

A predicate has a momentary part (``holds``) and, for boundary crossings and loops, a gate that its history must have
opened: a state ``before`` the border, then one ``beyond`` it. A declaration is the stage machine's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import shapely

from portico.errors import EpisodeError
from portico.geometry import Floats
from portico.interface import StageKind
from portico.tasks.annotations import Annotations, Bools
from portico.tasks.episode import StageSpec
from portico.tasks.sphere import great_circle_m
from portico.world.semantics import ObjectInstance

#: Success radius where a stage names none: outdoor [P], point, image and object by NavArena's rule [NA], the satellite families [SN 5].
DEFAULT_RADIUS_M: dict[StageKind, float] = {
    "outdoor": 3.0,
    "point": 0.5,
    "image": 1.0,
    "object": 1.0,
    "boundary": 10.0,
    "landmark": 30.0,
    "route": 10.0,
}
#: Reach of an object beyond the robot's own radius [NV 6.5, P].
REACH_M = 1.0
#: Two points of one navigation plane differ in height by at most the climb plus this [P].
PLANE_MARGIN_M = 0.5
#: Slack of inclusive bounds, far below any map's resolution: 4.0 - 3.5 must count as 0.5 whatever the rounding.
_SLACK_M = 1e-9

SamePlane = Callable[[Floats, Floats], bool]


class BodySize(Protocol):
    """What predicates ask of an embodiment."""

    @property
    def radius_m(self) -> float:
        """Radius of its disc."""

    @property
    def climb_m(self) -> float:
        """Highest step it takes."""


@dataclass(frozen=True)
class Ground:
    """What predicates judge against.

    Attributes:
        annotations: the world's ground truth. body: the robot's sizes.
        same_plane: whether two points (3,) lie on connected surfaces, from the space; None takes any two of like height as connected.
    """

    annotations: Annotations
    body: BodySize
    same_plane: SamePlane | None = None


class Predicate(Protocol):
    """The success condition of one stage, over positions (N, 3) of the base's foot point."""

    @property
    def tolerance_m(self) -> float:
        """Goal distance that still counts as there."""

    def distance_m(self, positions: Floats) -> Floats:
        """(N,) distance to the goal; inf where there is none."""

    def holds(self, positions: Floats) -> Bools:
        """(N,) whether the momentary part is true."""

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """(N,) before and (N,) beyond the border that must be crossed; None when nothing must."""


def predicate(spec: StageSpec, start: Floats, ground: Ground) -> Predicate:
    """The predicate of a stage that starts at ``start`` (3,).

    Raises:
        EpisodeError: the stage lacks the field its kind needs, or names a building that the world does not have.
    """
    match spec.kind:
        case "exit":
            building = _building(spec, ground) if spec.building else int(ground.annotations.inside(start[None])[0])
            return Exit(ground, building)
        case "entrance":
            return Entrance(ground, _building(spec, ground))
        case "ovon":
            return FindOnFloor(ground, ground.annotations.instances(_category(spec)))
        case "object" if spec.rule == "navverse":
            return ReachObject(ground, ground.annotations.instances(_category(spec)))
        case "object":
            centers = [o.center for o in ground.annotations.instances(_category(spec))]
            return ReachPoint(np.array(centers, dtype=np.float64).reshape(-1, 3), success_radius_m(spec))
        case "point" | "image":
            return ReachPoint(_goal(spec)[None], success_radius_m(spec))
        case "outdoor":
            return ReachPoint(_goal(spec)[None], success_radius_m(spec), ground)
        case _:
            return ReachLocation(_goal(spec), success_radius_m(spec), np.asarray(start, dtype=np.float64))


def opened(before: Bools, beyond: Bools, *, armed: bool = False) -> Bools:
    """(N,) whether a gate stands open at each state: some earlier state was ``before``, then one up to here ``beyond``.

    ``armed`` says that a state before these was already ``before``.
    """
    seen = np.logical_or.accumulate(np.concatenate([[armed], before[:-1]]))
    passed: Bools = np.logical_or.accumulate(beyond & seen)
    return passed


def satisfied(goal: Predicate, positions: Floats) -> Bools:
    """(N,) whether a stage whose states so far are ``positions`` (N, 3) could be declared complete at each of them."""
    gate = goal.gate(positions)
    return goal.holds(positions) if gate is None else goal.holds(positions) & opened(*gate)


@dataclass(frozen=True)
class Exit:
    """Left the start building during the stage, centre in an allowed outdoor region [I2 3.3]."""

    ground: Ground
    building: int

    @property
    def tolerance_m(self) -> float:
        """No radius is part of this predicate; a reach serves where a scale is asked for [P]."""
        return REACH_M + self.ground.body.radius_m

    def distance_m(self, positions: Floats) -> Floats:
        """Planar distance to the nearest allowed outdoor ground."""
        area = self.ground.annotations.allowed_area
        distances = np.full(len(positions), np.inf)
        if len(area.geometries):
            pairs, nearest = area.query_nearest(shapely.points(positions[:, :2]), return_distance=True, all_matches=False)
            distances[pairs[0]] = nearest
        return distances

    def holds(self, positions: Floats) -> Bools:
        """In an allowed outdoor region."""
        return self.ground.annotations.allowed(positions)

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """From inside the building to outside it."""
        inside = (self.ground.annotations.inside(positions) == self.building) & (self.building >= 0)
        return inside, ~inside


@dataclass(frozen=True)
class Entrance:
    """Entered the target building during the stage, centre inside it [I2 3.3]; where a robot stands, the surface is traversable."""

    ground: Ground
    building: int

    @property
    def tolerance_m(self) -> float:
        """As for ``Exit``."""
        return REACH_M + self.ground.body.radius_m

    def distance_m(self, positions: Floats) -> Floats:
        """Planar distance to the building's footprint, 0 within it."""
        footprint = self.ground.annotations.footprint_shapes[self.building]
        return np.asarray(shapely.distance(footprint, shapely.points(positions[:, :2])), dtype=np.float64)

    def holds(self, positions: Floats) -> Bools:
        """Inside the building."""
        inside: Bools = self.ground.annotations.inside(positions) == self.building
        return inside

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """From outside the building to inside it."""
        inside = self.holds(positions)
        return ~inside, inside


@dataclass(frozen=True)
class FindOnFloor:
    """On an accepted instance's floor, centre within reach of its footprint [I2 3.3, P]; any instance counts."""

    ground: Ground
    instances: tuple[ObjectInstance, ...]

    @property
    def tolerance_m(self) -> float:
        """1.0 m plus the robot's radius [P]."""
        return REACH_M + self.ground.body.radius_m

    def distance_m(self, positions: Floats) -> Floats:
        """Planar distance to the nearest footprint; an instance on another floor is further by the difference in height [P]."""
        best = np.full(len(positions), np.inf)
        for on_floor, planar, height in self._views(positions):
            best = np.minimum(best, np.hypot(planar, np.where(on_floor, 0.0, height)))
        return best

    def holds(self, positions: Floats) -> Bools:
        """Within reach of an instance on its floor."""
        found = np.zeros(len(positions), dtype=bool)
        for on_floor, planar, _ in self._views(positions):
            found |= on_floor & (planar <= self.tolerance_m + _SLACK_M)
        return found

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """None: nothing must be crossed."""
        return None

    def _views(self, positions: Floats) -> Iterator[tuple[Bools, Floats, Floats]]:
        """For each instance, (N,) arrays: on its floor (outdoors: its plane), planar distance to its footprint, height to its floor."""
        annotations, standing = self.ground.annotations, self.ground.annotations.floor(positions)
        for item in self.instances:
            floor = annotations.floor_of_object(item)
            base = annotations.floors[floor].z_m if floor >= 0 else item.center[2] - 0.5 * item.size[2]
            height = np.abs(positions[:, 2] - base)
            on_floor = standing == floor
            if floor < 0:
                on_floor &= height <= self.ground.body.climb_m + PLANE_MARGIN_M
            yield on_floor, footprint_distance_m(positions, item), height


@dataclass(frozen=True)
class ReachObject:
    """Within 1.0 m plus the robot's radius of an instance's ball: d = max(0, |p - p_goal| - max(x_size, y_size) / 2) [NV 6.5]."""

    ground: Ground
    instances: tuple[ObjectInstance, ...]

    @property
    def tolerance_m(self) -> float:
        """1.0 m plus the robot's radius [NV 6.5]."""
        return REACH_M + self.ground.body.radius_m

    def distance_m(self, positions: Floats) -> Floats:
        """Distance to the nearest instance, in space."""
        best = np.full(len(positions), np.inf)
        for item in self.instances:
            distance = np.linalg.norm(positions - np.asarray(item.center), axis=1) - 0.5 * max(item.size[:2])
            best = np.minimum(best, np.maximum(0.0, distance))
        return best

    def holds(self, positions: Floats) -> Bools:
        """Within the tolerance of any instance."""
        return self.distance_m(positions) <= self.tolerance_m + _SLACK_M

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """None: nothing must be crossed."""
        return None


@dataclass(frozen=True)
class ReachPoint:
    """Within a radius of any of the points (M, 3), seen from above; on the point's navigation plane when ``ground`` is given."""

    points: Floats
    tolerance_m: float
    ground: Ground | None = None

    def distance_m(self, positions: Floats) -> Floats:
        """Planar distance to the nearest point."""
        squared = np.full(len(positions), np.inf)
        for x, y in self.points[:, :2]:
            np.minimum(squared, (positions[:, 0] - x) ** 2 + (positions[:, 1] - y) ** 2, out=squared)
        nearest: Floats = np.sqrt(squared)
        return nearest

    def holds(self, positions: Floats) -> Bools:
        """Within the radius, and on the plane when one is asked for."""
        near: Bools = self.distance_m(positions) <= self.tolerance_m + _SLACK_M
        if self.ground is None or not near.any():
            return near
        goal = self.points[0]
        near = near & (np.abs(positions[:, 2] - goal[2]) <= self.ground.body.climb_m + PLANE_MARGIN_M + _SLACK_M)
        if self.ground.same_plane is not None:
            near[near] = [self.ground.same_plane(p, goal) for p in positions[near]]
        return near

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """None: nothing must be crossed."""
        return None


@dataclass(frozen=True)
class ReachLocation:
    """On the sphere: d(p, goal) < r, strict; leave-and-return beyond 2r when the start lies within r of the goal [SN 3]."""

    goal: Floats
    tolerance_m: float
    start: Floats

    def distance_m(self, positions: Floats) -> Floats:
        """Great-circle distance to the goal."""
        return great_circle_m(positions, self.goal)

    def holds(self, positions: Floats) -> Bools:
        """Strictly within the radius."""
        return self.distance_m(positions) < self.tolerance_m

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """For loops: at the start, then strictly further than 2r from it."""
        if not bool(self.holds(self.start[None])[0]):
            return None
        return np.ones(len(positions), dtype=bool), great_circle_m(positions, self.start) > 2.0 * self.tolerance_m


def footprint_distance_m(positions: Floats, item: ObjectInstance) -> Floats:
    """(N,) planar distance from positions (N, 2+) to an object's turned rectangle, 0 within it."""
    dx, dy = positions[:, 0] - item.center[0], positions[:, 1] - item.center[1]
    c, s = np.cos(item.yaw_rad), np.sin(item.yaw_rad)
    outside_x = np.maximum(0.0, np.abs(c * dx + s * dy) - 0.5 * item.size[0])
    outside_y = np.maximum(0.0, np.abs(-s * dx + c * dy) - 0.5 * item.size[1])
    distance: Floats = np.hypot(outside_x, outside_y)
    return distance


def success_radius_m(spec: StageSpec) -> float:
    """The radius a stage names, else the one of its kind; for kinds that are judged by a radius."""
    return DEFAULT_RADIUS_M[spec.kind] if spec.radius_m is None else float(spec.radius_m)


def _goal(spec: StageSpec) -> Floats:
    if spec.goal is None:
        raise EpisodeError(f"a stage of kind {spec.kind!r} has no goal point", next_step="give the stage a `goal`")
    return np.array(spec.goal, dtype=np.float64)


def _category(spec: StageSpec) -> str:
    if spec.category is None:
        raise EpisodeError(f"a stage of kind {spec.kind!r} names no category", next_step="give the stage a `category`")
    return spec.category


def _building(spec: StageSpec, ground: Ground) -> int:
    index = ground.annotations.building_index(spec.building)
    if index < 0:
        raise EpisodeError(
            f"a stage of kind {spec.kind!r} names no building of this world",
            where=f"building {spec.building!r}",
            next_step="give the stage the id of a building in semantics.json",
        )
    return index
