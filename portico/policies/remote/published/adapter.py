"""What adapters of published models share: one decision at a time, its moves queued on this side, and the frames in between shown where a model wants them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

import numpy as np

from portico.errors import PolicyRefused, UserError
from portico.geometry import Floats, Pose
from portico.interface import Action, Body, Brief, Observation, PolicySpec, StageBrief


class Adapter(ABC):
    """A policy whose server speaks a shape of its own. Subclasses give ``spec``, ``_begin``, ``_decide``, and ``_show`` where there is a way.

    Args:
        spec: what the model is and needs. url: of its server. default: address that the model's own documents use, named when there is none.
    """

    def __init__(self, spec: PolicySpec, url: str, default: str) -> None:
        if not url:
            raise UserError(
                f"the policy {spec.name!r} needs the address of its server",
                why="its weights run elsewhere",
                next_step=f"for example --policy '{spec.name}?url={default}'",
            )
        self.spec, self.url = spec, url
        self._brief: Brief | None = None
        self._stage = -1
        self._queue: deque[Action] = deque()
        self._answered: tuple[tuple[int, int, float], Action] | None = None

    def reset(self, brief: Brief) -> None:
        """Forget the last episode; the server is told with the first observation, which says what is asked."""
        self._brief, self._stage, self._answered = brief, -1, None
        self._queue.clear()

    def act(self, observation: Observation) -> Action:
        """The next queued move, else ask the server. The same observation again gets the same answer: no server sees a frame twice.

        Raises:
            PolicyRefused: the policy was not reset, or a channel is missing. PolicyFailure: the server has no decision.
        """
        if self._brief is None:
            raise PolicyRefused("the policy was not reset", next_step="call reset(brief) before act(observation)")
        seen = (observation.number, observation.step, observation.time_s)
        if self._answered is not None and self._answered[0] == seen:
            return self._answered[1]
        action = self._next(observation)
        self._answered = (seen, action)
        return action

    def _next(self, observation: Observation) -> Action:
        if observation.stage.index != self._stage:
            self._queue.clear()
            self._begin(observation)
            self._stage = observation.stage.index
        if self._queue:
            if self.spec.history.every_step:
                self._show(observation)
            return self._queue.popleft()
        first, *rest = self._decide(observation)
        self._queue.extend(rest)
        return first

    def observe(self, observation: Observation) -> None:
        """Show the model a frame that needs no decision."""
        if self._brief is not None and self.spec.history.every_step and observation.stage.index == self._stage:
            self._show(observation)

    def close(self) -> None:  # noqa: B027  (most adapters hold nothing open)
        """Nothing to release."""

    @property
    def body(self) -> Body:
        """The robot's body."""
        assert self._brief is not None
        return self._brief.body

    @abstractmethod
    def _begin(self, observation: Observation) -> None:
        """Start the server on a stage, without anything of what came before."""

    @abstractmethod
    def _decide(self, observation: Observation) -> Sequence[Action]:
        """Ask the server; at least one action."""

    def _show(self, observation: Observation) -> None:  # noqa: B027  (most servers take no frames)
        """Give the model a frame for its memory; most servers have no way to."""


def choice(name: str, value: str, choices: Sequence[str]) -> str:
    """One of several words.

    Raises:
        UserError: none of them.
    """
    if value not in choices:
        raise UserError(f"the option {name} is none of {', '.join(choices)}", where=f"{name}={value}")
    return value


def required_pose(observation: Observation, policy: str, *, world: bool) -> Pose:
    """Where the body is: in the world, or in the frame of the start.

    Raises:
        PolicyRefused: it is not told.
    """
    pose = observation.pose if world else observation.odometry
    if pose is None:
        needed = "its pose in the world, which this stage does not release" if world else "odometry"
        raise PolicyRefused(f"{policy} needs {needed}", next_step="choose stages that release the pose, or a track with odometry: --track rgbd")
    return pose


def local_points(points: Floats, pose: Pose) -> Floats:
    """(N, 2) points of a pose's parent frame, relative to the pose: x forward, y left."""
    found = [Pose(float(p[0]), float(p[1])).relative_to(Pose(pose.x, pose.y, 0.0, pose.yaw_rad)) for p in points]
    return np.array([(p.x, p.y) for p in found])


def goal_of(stage: StageBrief, policy: str) -> tuple[float, float, float]:
    """The goal point of a stage in the world.

    Raises:
        PolicyRefused: it has none.
    """
    if stage.goal is not None:
        return stage.goal
    if stage.route is not None and len(stage.route):
        x, y, z = stage.route[-1]
        return float(x), float(y), float(z)
    raise PolicyRefused(f"{policy} needs a goal point", where=f"stage {stage.kind}", next_step="choose point or outdoor tasks")
