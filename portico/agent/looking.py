"""Looking left and right where the robot stopped, for a verification that wants to see more than what is ahead."""

from __future__ import annotations

from collections import deque
from math import copysign, pi

from portico.agent.contract import Occasion, View
from portico.geometry import Pose
from portico.interface import Action, ActionSpace, Body, Move, Observation, Velocity, Waypoints

#: Left, then right, then back to where it looked before; a hair less than half a turn between them, which as one pose would be ambiguous.
_HAIR = 0.02
_TURNS: tuple[tuple[float, View | None], ...] = ((pi / 2, "left"), (_HAIR - pi, "right"), (pi / 2 - _HAIR, None))


class Looking:
    """One look around: turns, and the observations that they bring. Its actions are executed actions like any others.

    Args:
        start: what was seen when the step began. here: what is seen now, ahead.
    """

    def __init__(self, occasion: Occasion, start: Observation, here: Observation, space: ActionSpace, body: Body) -> None:
        self.occasion = occasion
        self.views: dict[View, Observation] = {"start": start, "forward": here}
        self._queue: deque[tuple[Action, View | None]] = deque()
        for angle, view in _TURNS:
            actions = _turn(angle, space, body)
            self._queue.extend((action, view if n == len(actions) - 1 else None) for n, action in enumerate(actions))
        self._awaited: View | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def next(self, observation: Observation) -> Action | None:
        """The next turn; None once every view is there."""
        if self._awaited is not None:
            self.views[self._awaited] = observation
            self._awaited = None
        if not self._queue:
            return None
        action, self._awaited = self._queue.popleft()
        return action


def _turn(angle_rad: float, space: ActionSpace, body: Body) -> list[Action]:
    """Actions that turn on the spot; nothing where the space knows no turns."""
    if "waypoints" in space.accepts:
        return [Waypoints((Pose(0.0, 0.0, 0.0, angle_rad),))]
    if "move" in space.accepts:
        return [Move("turn_left" if angle_rad > 0 else "turn_right")] * round(abs(angle_rad) / space.turn_rad)
    if "velocity" in space.accepts:
        return [Velocity(0.0, 0.0, copysign(body.max_turn_radps, angle_rad), abs(angle_rad) / body.max_turn_radps)]
    return []
