"""How motion is cut into actions: discrete moves, or short waypoints that turn and walk in one action."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

from portico.errors import PolicyRefused
from portico.geometry import Pose
from portico.interface import STREAM, Action, ActionSpace, Move, Waypoints

#: Long enough that the way to the last pose of a walk is not done, so that the body does not slow down for it.
_STREAM_S = 0.8


@dataclass(frozen=True)
class Pace:
    """What one action does, and how many of them mean something.

    Attributes:
        waypoints: an action may turn and walk; otherwise it is a ``Move``.
        turn_rad: resolution of headings. step_m: resolution of straight motion.
        most_turn_rad, most_steps: what one action does at most, so that enough is seen on the way.
        replan_every: actions between two plans.
        stuck, pushes, idle: of the last ``stuck`` actions ``pushes`` walked, or ``idle`` passed, without getting anywhere.
        patience, patience_per_m: actions that a target is pursued, plus per metre of the way to it.
        stream_s: the next action is due after this long, on the way or not; None waits for the end of this one.
    """

    waypoints: bool
    turn_rad: float
    step_m: float
    most_turn_rad: float
    most_steps: int
    replan_every: int
    stuck: int
    pushes: int
    idle: int
    patience: float
    patience_per_m: float
    stream_s: float | None = None

    def action(self, turn_rad: float, distance_m: float) -> Action:
        """Turn left by an angle, then walk; a discrete pace does one of the two."""
        if self.waypoints:
            return Waypoints((Pose(distance_m * cos(turn_rad), distance_m * sin(turn_rad), 0.0, turn_rad),), duration_s=self.stream_s)
        if turn_rad == 0.0:
            return Move("forward")
        return Move("turn_left" if turn_rad > 0.0 else "turn_right")


def pace_of(actions: ActionSpace) -> Pace:
    """Waypoints of two steps where they are accepted, streamed ones of four for a body that walks on meanwhile, discrete moves otherwise.

    Raises:
        PolicyRefused: neither is accepted.
    """
    if STREAM in actions.accepts:
        return Pace(True, 0.5 * actions.turn_rad, actions.step_m, pi / 3.0, 4, 3, 12, 8, 32, 24.0, 4.0, stream_s=_STREAM_S)
    if "waypoints" in actions.accepts:
        return Pace(True, 0.5 * actions.turn_rad, actions.step_m, pi / 3.0, 2, 3, 8, 4, 24, 16.0, 3.0)
    if "move" in actions.accepts:
        return Pace(False, actions.turn_rad, actions.step_m, actions.turn_rad, 1, 5, 16, 6, 60, 40.0, 8.0)
    raise PolicyRefused("a map-building policy moves by waypoints or discrete moves", why=f"only {', '.join(sorted(actions.accepts))} are accepted")
