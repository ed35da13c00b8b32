"""What each stage looks for: where to go next, and when to declare it done."""

from __future__ import annotations

from math import inf
from typing import Protocol, runtime_checkable

import numpy as np

from portico.interface import Action, Observation, StageBrief
from portico.policies.explore import best_frontier, unvisited
from portico.policies.local_map import Costs
from portico.policies.optimism import optimistic_distance_m
from portico.policies.pilot import Pilot, Target

_STOP_WITHIN_M = 0.3
#: What is not known yet turns out longer than it looks.
_AHEAD_WEIGHT = 1.5


class Seeker(Protocol):
    """The part of a policy that knows a stage.

    Attributes:
        looks_around: whether to turn once about itself before the first move.
        reach_m: how far around the robot plans are made.
    """

    looks_around: bool
    reach_m: float

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Take in the newest observation; the map holds it already."""

    def done(self, pilot: Pilot) -> bool:
        """Whether to declare the stage complete, here and now."""

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Where to go: ``weight`` is the cost of standing (may be changed), ``costs`` that of getting there."""


@runtime_checkable
class Glancing(Protocol):
    """A seeker that now and then wants to look at something rather than move on."""

    def glance(self, pilot: Pilot) -> Action | None:
        """An action that looks, or None to move on."""


class PointSeeker:
    """To a point given in the frame of the map."""

    looks_around = True
    reach_m = inf

    def __init__(self, stage: StageBrief, *, stops: bool) -> None:
        self._goal, self._stops = stage.goal, stops
        self._stop_within_m = _STOP_WITHIN_M

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Read the goal."""
        self._goal = observation.stage.goal

    def done(self, pilot: Pilot) -> bool:
        """Within 0.3 m of the point; each time that this changed nothing, half as far."""
        if self._goal is None or not self._stops or pilot.frame_name != "world":
            return False
        near = bool(np.hypot(self._goal[0] - pilot.pose.x, self._goal[1] - pilot.pose.y) < self._stop_within_m and abs(self._goal[2] - pilot.pose.z) < 1.0)
        if near:
            self._stop_within_m *= 0.5
        return near

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """The point once its surroundings are known, until then the frontier that leads there."""
        if self._goal is None or pilot.frame_name != "world":
            return best_frontier(pilot, costs, lambda c: 0.0)
        x, y, z = self._goal
        near = pilot.map.disc(x, y, z, 0.6, 1.0)
        near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
        if len(near):
            places = pilot.map.positions(near)
            return Target(near, (x, y, z), "point", offsets_m=8.0 * np.hypot(places[:, 0] - x, places[:, 1] - y))
        ahead_m = optimistic_distance_m(pilot, weight, self._goal)
        frontier = best_frontier(pilot, costs, lambda c: _AHEAD_WEIGHT * ahead_m(c.position))
        if frontier is not None or not pilot.relaxed:
            return frontier
        # A door seen from afar may look too narrow: go and look closer, first where the goal is near.
        return unvisited(pilot, costs, lambda p: _AHEAD_WEIGHT * float(np.hypot(p[0] - x, p[1] - y)) + abs(p[2] - z))
