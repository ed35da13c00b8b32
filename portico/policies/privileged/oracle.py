"""The trajectory oracle: walks the episode's reference path and stops where each stage's success set begins."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from portico.errors import PolicyRefused
from portico.geometry import Floats, Pose
from portico.interface import Action, Brief, Observation, PolicySpec, Stop, Waypoints
from portico.sim import Simulator
from portico.tasks.episode import Episode

_ARRIVED_M = 0.02


@runtime_checkable
class Privileged(Protocol):
    """A policy that is shown the simulator and the episode before it is reset."""

    def attach(self, simulator: Simulator, episode: Episode) -> None:
        """Take the answer."""


class OracleTrajectory:
    """Follows the reference path vertex by vertex; plans again from where it stands when contact throws it off.

    At the end of an image stage it faces the way of the goal image.
    """

    spec = PolicySpec("privileged/oracle-trajectory", needs=frozenset({"oracle"}))

    def __init__(self) -> None:
        self._simulator: Simulator | None = None

    def attach(self, simulator: Simulator, episode: Episode) -> None:
        """Take the reference path.

        Raises:
            PolicyRefused: the episode has none.
        """
        if episode.reference is None:
            raise PolicyRefused(
                "the oracle needs a reference path", where=f"episode {episode.id}", next_step="generate the episodes with Portico, or drop the oracle"
            )
        self._simulator = simulator
        ends = [0, *episode.reference.stage_ends]
        path = np.array(episode.reference.path, dtype=np.float64)
        self._legs = [path[a : b + 1] for a, b in pairwise(ends)]
        self._stages = episode.stages

    def reset(self, brief: Brief) -> None:
        """Start at the first vertex."""
        self._stage = -1
        self._todo: list[Floats] = []

    def act(self, observation: Observation) -> Action:
        """The next vertex as a waypoint, or STOP at the end of a stage."""
        assert self._simulator is not None
        here = self._simulator.robot.pose
        if observation.stage.index != self._stage:
            self._stage = observation.stage.index
            self._todo = list(self._legs[self._stage][1:])
        if observation.collided and self._todo:
            self._todo = self._around(here, self._todo[-1])
        while self._todo and np.linalg.norm(self._todo[0][:2] - here.position[:2]) < _ARRIVED_M and len(self._todo) > 1:
            self._todo.pop(0)
        if not self._todo:
            return Stop()
        x, y, z = (float(v) for v in self._todo.pop(0))
        yaw = float(np.arctan2(y - here.y, x - here.x)) if (x - here.x, y - here.y) != (0.0, 0.0) else here.yaw_rad
        goal_yaw_rad = self._stages[self._stage].goal_yaw_rad
        if not self._todo and goal_yaw_rad is not None:
            yaw = goal_yaw_rad
        return Waypoints((Pose(x, y, z, yaw),), frame="world")

    def close(self) -> None:
        """Let go of the simulator."""
        self._simulator = None

    def _around(self, here: Pose, target: Floats) -> list[Floats]:
        assert self._simulator is not None
        path = self._simulator.space.path(here.position, target)
        return list(path.points[1:]) if path is not None else [target]
