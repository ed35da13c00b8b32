"""Where the agent thinks it has moved: odometry where the track gives it, else its own actions added up."""

from __future__ import annotations

from portico.geometry import Pose
from portico.interface import Action, ActionSpace, Move, Observation, Velocity, Waypoints


class Reckoning:
    """Pose in a frame of its own; without odometry, an action that touched something counts as not having moved.

    Attributes:
        pose: the estimate.
    """

    def __init__(self, actions: ActionSpace) -> None:
        self._actions = actions
        self.pose = Pose(0.0, 0.0)
        self._last: Action | None = None

    def observe(self, observation: Observation) -> Pose:
        """Take the newest observation; the estimate."""
        if observation.odometry is not None:
            self.pose = observation.odometry
        elif self._last is not None:
            moved = _motion(self._last, self._actions)
            self.pose = self.pose.compose(Pose(0.0, 0.0, 0.0, moved.yaw_rad) if observation.collided else moved)
        self._last = None
        return self.pose

    def act(self, action: Action) -> None:
        """Remember what will be done."""
        self._last = action


def _motion(action: Action, space: ActionSpace) -> Pose:
    """Where an action leads, in the base frame before it; its pose in world or odometry is not known here."""
    match action:
        case Move():
            amount = space.amount_of(action) * (-1.0 if action.name in ("backward", "turn_right") else 1.0)
            return Pose(amount, 0.0) if action.name in ("forward", "backward") else Pose(0.0, 0.0, 0.0, amount)
        case Waypoints(poses, "base") if poses:
            return poses[-1]
        case Velocity():
            return Pose(action.vx_mps * action.duration_s, action.vy_mps * action.duration_s, 0.0, action.wz_radps * action.duration_s)
        case _:
            return Pose(0.0, 0.0)
