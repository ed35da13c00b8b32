"""Goals that must be come near to: things on a floor, balls around instances, points on a plane, locations on the sphere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from portico.geometry import Floats
from portico.tasks.annotations import Bools
from portico.tasks.predicates.ground import PLANE_MARGIN_M, REACH_M, SLACK_M, Ground
from portico.world.geodesy import SPHERE, Geodesy
from portico.world.semantics import ObjectInstance


class Boxed(Protocol):
    """Something with an upright box: an object or a place."""

    @property
    def center(self) -> tuple[float, float, float]:
        """Middle of the box."""

    @property
    def size(self) -> tuple[float, float, float]:
        """Lengths of its sides."""


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
            found |= on_floor & (planar <= self.tolerance_m + SLACK_M)
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
class ReachInstance:
    """Within a tolerance of an instance's ball: d = max(0, |p - p_goal| - r_goal) with r_goal = max(x_size, y_size) / 2 [NV 6.5].

    Attributes:
        centers: (M, 3) of the accepted instances. radii_m: (M,) r_goal of each.
        tolerance_m: 1.0 m plus the robot's radius [NV 6.5], unless the stage names another.
    """

    centers: Floats
    radii_m: Floats
    tolerance_m: float

    @staticmethod
    def of(instances: Sequence[Boxed], tolerance_m: float) -> ReachInstance:
        """Any of some instances."""
        centers = np.array([i.center for i in instances], dtype=np.float64).reshape(-1, 3)
        return ReachInstance(centers, np.array([0.5 * max(i.size[:2]) for i in instances], dtype=np.float64), tolerance_m)

    def distance_m(self, positions: Floats) -> Floats:
        """Distance to the nearest instance, in space."""
        best = np.full(len(positions), np.inf)
        for center, radius_m in zip(self.centers, self.radii_m, strict=True):
            distance = np.linalg.norm(positions - center, axis=1) - radius_m
            np.minimum(best, np.maximum(0.0, distance), out=best)
        return best

    def holds(self, positions: Floats) -> Bools:
        """Within the tolerance of any instance."""
        return self.distance_m(positions) <= self.tolerance_m + SLACK_M

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
        near: Bools = self.distance_m(positions) <= self.tolerance_m + SLACK_M
        if self.ground is None or not near.any():
            return near
        goal = self.points[0]
        near = near & (np.abs(positions[:, 2] - goal[2]) <= self.ground.body.climb_m + PLANE_MARGIN_M + SLACK_M)
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
    geodesy: Geodesy = SPHERE

    def distance_m(self, positions: Floats) -> Floats:
        """Distance to the goal over the earth, as the stage's geodesy measures it."""
        return self.geodesy.distance_m(positions, self.goal)

    def holds(self, positions: Floats) -> Bools:
        """Strictly within the radius."""
        return self.distance_m(positions) < self.tolerance_m

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """For loops: at the start, then strictly further than 2r from it."""
        if not bool(self.holds(self.start[None])[0]):
            return None
        return np.ones(len(positions), dtype=bool), self.geodesy.distance_m(positions, self.start) > 2.0 * self.tolerance_m


def footprint_distance_m(positions: Floats, item: ObjectInstance) -> Floats:
    """(N,) planar distance from positions (N, 2+) to an object's turned rectangle, 0 within it."""
    dx, dy = positions[:, 0] - item.center[0], positions[:, 1] - item.center[1]
    c, s = np.cos(item.yaw_rad), np.sin(item.yaw_rad)
    outside_x = np.maximum(0.0, np.abs(c * dx + s * dy) - 0.5 * item.size[0])
    outside_y = np.maximum(0.0, np.abs(-s * dx + c * dy) - 0.5 * item.size[1])
    distance: Floats = np.hypot(outside_x, outside_y)
    return distance
