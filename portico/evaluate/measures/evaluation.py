"""What measures are functions of: one episode, its trajectory and the world's ground truth, with shared intermediate results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal

import numpy as np

from portico.evaluate.measures.warping import warped
from portico.geometry import Floats
from portico.tasks.annotations import Annotations, Bools
from portico.tasks.episode import Episode, StageSpec
from portico.tasks.machine import Outcome
from portico.tasks.polygons import Ints
from portico.tasks.predicates import BodySize, Ground, Predicate, SamePlane, predicate
from portico.tasks.replay import replay
from portico.tasks.trajectory import Trajectory
from portico.world.geodesy import GEODESIES, SPHERE, Geodesy

#: Whose conventions count: how lengths are measured and what zero-length references mean.
ScoringProtocol = Literal["navverse", "navarena", "i2o2i", "satnav"]


@dataclass(frozen=True)
class Unscored:
    """A measure that this episode has no value for, and why. Never averaged, always counted."""

    reason: str


Value = float | Unscored


@dataclass(frozen=True)
class Context:
    """The world as measures may see it.

    Attributes:
        annotations: ground truth. body: the robot's sizes.
        protocol: scoring protocol, or None to take each episode's own (``protocol_of``).
        same_plane: see ``portico.tasks.predicates.Ground``.
        clearance_m: (N, 3) base positions -> (N,) distance to the nearest obstacle or non-traversable geometry.
        navigable: (N, 3) base positions -> (N,) whether the base is on a valid or preferred surface.
    """

    annotations: Annotations
    body: BodySize
    protocol: ScoringProtocol | None = None
    same_plane: SamePlane | None = None
    clearance_m: Callable[[Floats], Floats] | None = None
    navigable: Callable[[Floats], Bools] | None = None


def protocol_of(episode: Episode) -> ScoringProtocol:
    """The protocol that an episode's task comes from."""
    first = episode.stages[0]
    match episode.task:
        case "boundary" | "landmark" | "route":
            return "satnav"
        case "object" | "place" | "vln" if first.by_navverse:
            return "navverse"
        case "object" | "point" | "image":
            return "navarena"
        case _:
            return "i2o2i"


def segment_lengths_m(points: Floats, protocol: ScoringProtocol, geodesy: Geodesy = SPHERE) -> Floats:
    """(N - 1,) lengths between consecutive points (N, 3): in space for NavVerse, over the earth for SatNav, else horizontal."""
    if len(points) < 2:
        return np.zeros(0)
    if protocol == "satnav":
        return geodesy.distance_m(points[1:], points[:-1])
    columns = 3 if protocol == "navverse" else 2
    lengths: Floats = np.linalg.norm(np.diff(points[:, :columns], axis=0), axis=1)
    return lengths


def path_length_m(points: Floats, protocol: ScoringProtocol, geodesy: Geodesy = SPHERE) -> float:
    """Length of a path (N, 3) in the protocol's convention; references must be measured by it too [I2 D.2]."""
    return float(segment_lengths_m(points, protocol, geodesy).sum())


class Evaluation:
    """One episode under evaluation. The trajectory is cut at the end of the episode.

    Args:
        episode, trajectory, context: what happened and where.
        outcome: how it went; replayed from the trajectory when absent.
    """

    def __init__(self, episode: Episode, trajectory: Trajectory, context: Context, outcome: Outcome | None = None) -> None:
        self.episode, self.context = episode, context
        self.protocol: ScoringProtocol = context.protocol or protocol_of(episode)
        self.outcome = outcome or replay(episode, trajectory, context.annotations, context.body, same_plane=context.same_plane)
        self.trajectory = cut(trajectory, 0, self.outcome.end)

    @property
    def positions(self) -> Floats:
        """(T, 3) base positions."""
        return self.trajectory.position

    @property
    def success(self) -> bool:
        """All stages confirmed."""
        return self.outcome.success

    @property
    def geodesy(self) -> Geodesy:
        """How a satellite map is measured."""
        return GEODESIES[self.episode.stages[-1].geodesy]

    @cached_property
    def path_length_m(self) -> float:
        """P, the executed length."""
        return path_length_m(self.positions, self.protocol, self.geodesy)

    @cached_property
    def goal(self) -> Predicate:
        """Predicate of the last stage: the mission's goal."""
        start = self.outcome.stages[-1].start or 0
        return predicate(self.episode.stages[-1], self.positions[start], Ground(self.context.annotations, self.context.body, self.context.same_plane))

    @cached_property
    def goal_distance_m(self) -> Floats:
        """(T,) d_t, distance to the mission's goal; inf where there is none to reach."""
        return self.goal.distance_m(self.positions)

    @cached_property
    def reference_path(self) -> Floats | None:
        """(N, 3) reference polyline, None when the episode has none."""
        if self.episode.reference is None or not self.episode.reference.path:
            return None
        return np.array(self.episode.reference.path, dtype=np.float64)

    @cached_property
    def warped(self) -> tuple[float, int] | None:
        """Warping cost between path and reference, metres, and the points of the reference; None without one."""
        return None if self.reference_path is None else warped(self.positions, self.reference_path, self.protocol)

    @cached_property
    def reference_length_m(self) -> Value:
        """L. SatNav measures the reference path, or start to goal when it has fewer than two points [SN 4]."""
        if self.protocol == "satnav":
            path = self.reference_path
            return path_length_m(path, "satnav", self.geodesy) if path is not None and len(path) > 1 else float(self.goal_distance_m[0])
        if self.episode.reference is None:
            return Unscored("no_reference")
        length = float(self.episode.reference.length_m)
        return length if np.isfinite(length) else Unscored("unreachable_reference")

    @cached_property
    def inside(self) -> Ints:
        """(T,) index of the building that holds each state, -1 outdoors."""
        return self.context.annotations.inside(self.positions)

    @cached_property
    def oracle_outcome(self) -> Outcome:
        """How it would have gone had every stage ended on arrival: a perfect sense of when to declare, the same motion."""
        return self._replay(lambda spec: True)

    def _replay(self, arrives: Callable[[StageSpec], bool]) -> Outcome:
        silent = replace(self.trajectory, stop_steps=np.zeros(0, dtype=np.int32))
        context = self.context
        return replay(self.episode, silent, context.annotations, context.body, same_plane=context.same_plane, arrives=arrives)


def cut(trajectory: Trajectory, start: int, end: int, stops: tuple[int, ...] | None = None) -> Trajectory:
    """States ``start`` to ``end``, both included; ``stops`` (indices of the original) replaces the declarations."""
    part = slice(start, end + 1)
    declared = trajectory.stop_steps[(trajectory.stop_steps >= start) & (trajectory.stop_steps <= end)] if stops is None else np.array(stops)
    columns = {f.name: getattr(trajectory, f.name)[part] for f in fields(Trajectory) if f.name != "stop_steps"}
    return Trajectory(stop_steps=(declared - start).astype(np.int32), **columns)
