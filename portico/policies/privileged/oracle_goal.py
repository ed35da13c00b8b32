"""The goal oracle: told where each stage ends, not how to get there. The "oracle goal" row of a feasibility study [NV 10]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portico.errors import PolicyRefused
from portico.geometry import Floats
from portico.interface import Action, Brief, Observation, PolicySpec, Stop
from portico.policies.frontier import IMAGE_SIZE, MappingPolicy
from portico.sim import Simulator
from portico.tasks.episode import Episode, StageSpec
from portico.tasks.predicates import Ground, predicate

_STOP_WITHIN_M = 0.3
#: How often the explorer may halve the distance that it stops at, while its stop would not count.
_NEARER = 4
#: How far beyond the end of the reference a place to stop is looked for.
_FARTHER_IN_M = 1.5


class OracleGoal:
    """Explores its own depth map as ``frontier`` does, but towards the end of the stage's reference, and stops there."""

    spec = PolicySpec("privileged/oracle-goal", needs=frozenset({"depth", "odometry", "oracle"}), image_size=IMAGE_SIZE)

    def __init__(self) -> None:
        self._explorer = MappingPolicy(PolicySpec("explorer", needs=frozenset({"depth", "odometry"})))
        self._simulator: Simulator | None = None

    def attach(self, simulator: Simulator, episode: Episode) -> None:
        """Take the end point of every stage.

        Raises:
            PolicyRefused: the episode has no reference.
        """
        if episode.reference is None:
            raise PolicyRefused(
                "the oracle needs a reference path", where=f"episode {episode.id}", next_step="generate the episodes with Portico, or drop the oracle"
            )
        path = np.array(episode.reference.path, dtype=np.float64)
        self._simulator = simulator
        self._stages = episode.stages
        ends = [path[i] for i in episode.reference.stage_ends]
        self._goals: list[Floats] = [_stand(simulator, spec, end) for spec, end in zip(episode.stages, ends, strict=True)]

    def reset(self, brief: Brief) -> None:
        """An empty map."""
        self._explorer.reset(brief)

    def act(self, observation: Observation) -> Action:
        """Towards the goal, or STOP beside it."""
        assert self._simulator is not None
        goal, pose = self._goals[observation.stage.index], self._simulator.robot.pose
        counts = self._counts(observation.stage.index)
        if counts and np.linalg.norm(goal[:2] - pose.position[:2]) < _STOP_WITHIN_M and abs(goal[2] - pose.z) < 1.0:
            return Stop()
        stage = replace(observation.stage, kind="point", goal=(float(goal[0]), float(goal[1]), float(goal[2])), route=None)
        action = self._explorer.act(replace(observation, stage=stage, pose=pose))
        for _ in range(_NEARER):
            if counts or not isinstance(action, Stop):
                break
            # The explorer takes a stop that changed nothing for one that was too far off.
            action = self._explorer.act(replace(observation, stage=stage, pose=pose))
        return action

    def _counts(self, index: int) -> bool:
        """Whether a STOP where the robot is would count, for stages by NavVerse's rule; the others end where their references do."""
        assert self._simulator is not None
        spec, here = self._stages[index], self._simulator.robot.pose.position
        if not spec.by_navverse:
            return True
        ground = Ground(self._simulator.annotations, self._simulator.body)
        return bool(predicate(spec, here, ground).holds(here[None])[0])

    def close(self) -> None:
        """Let go of the simulator."""
        self._simulator = None
        self._explorer.close()


def _stand(simulator: Simulator, spec: StageSpec, end: Floats) -> Floats:
    """(3,) where to stop for a stage whose reference ends at a point: by NavVerse's rule farther in, since whoever stops just short has failed."""
    if not spec.by_navverse:
        return end
    space = simulator.space
    near = space.nodes_xyz[(np.abs(space.nodes_xyz - end) <= _FARTHER_IN_M).all(axis=1)]
    goal = predicate(spec, end, Ground(simulator.annotations, simulator.body))
    near = near[goal.distance_m(near) <= goal.tolerance_m - _STOP_WITHIN_M]
    near = near[space.sweep(np.broadcast_to(end, near.shape), near).reached] if len(near) else near
    return end if not len(near) else near[int(np.argmin(np.linalg.norm(near - end, axis=1)))]
