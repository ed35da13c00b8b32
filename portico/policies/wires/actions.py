"""Whether an action can be carried out, whoever returned it, and its numbers as Python's own."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, pi
from numbers import Real
from sys import float_info
from typing import Any, get_args

from portico.geometry import Pose
from portico.interface import Action, Move, MoveName, Stop, Velocity, Waypoints

#: Longer lists of waypoints are a mistake.
MOST_WAYPOINTS = 1024


def in_floats(action: Action) -> Action:
    """The same action with numbers of Python's own: a model's float32 would carry its precision into every pose that follows."""
    match action:
        case Velocity():
            return Velocity(_own(action.vx_mps), _own(action.vy_mps), _own(action.wz_radps), _own(action.duration_s))
        case Move():
            return replace(action, amount=_own(action.amount))
        case Waypoints():
            poses = tuple(Pose(_own(p.x), _own(p.y), _own(p.z), _own(p.yaw_rad)) for p in action.poses)
            return replace(action, poses=poses, duration_s=_own(action.duration_s))
        case _:
            return action


def breach_of(action: object) -> str:
    """What is wrong with an action, in words; empty where nothing is."""
    match action:
        case Stop():
            return ""
        case Move():
            return _breach_of_move(action)
        case Waypoints():
            return _breach_of_waypoints(action)
        case Velocity():
            return _breach_of_velocity(action)
        case _:
            return f"{action!r:.200} is none of Stop, Move, Waypoints, Velocity"


def _breach_of_velocity(velocity: Velocity) -> str:
    numbers = (velocity.vx_mps, velocity.vy_mps, velocity.wz_radps, velocity.duration_s)
    if others := [n for n in numbers if not isinstance(n, Real)]:
        return f"Velocity holds {others[0]!r:.100} of type {type(others[0]).__name__}, not a number"
    return "" if _all_finite(numbers) and velocity.duration_s > 0.0 else f"Velocity is not finite, or its duration is not positive: {velocity}"


def _breach_of_move(move: Move) -> str:
    if move.name not in get_args(MoveName):
        return f"Move has the name {move.name!r}"
    if move.amount is None:
        return ""
    if not _all_finite((move.amount,)) or move.amount <= 0.0:
        return f"the amount of Move({move.name!r}) is {move.amount!r}, not a number above zero"
    return f"the amount of Move({move.name!r}) is {move.amount} rad, more than half a turn" if move.name.startswith("turn") and move.amount > pi + 1e-9 else ""


def _breach_of_waypoints(waypoints: Waypoints) -> str:
    poses = waypoints.poses
    if not poses or len(poses) > MOST_WAYPOINTS:
        return f"Waypoints hold {len(poses)} poses, not 1 to {MOST_WAYPOINTS}"
    bad = next((i for i, p in enumerate(poses) if not _all_finite((p.x, p.y, p.z, p.yaw_rad))), None)
    if bad is not None:
        return f"Waypoints hold a pose that is not finite: number {bad}, {poses[bad]}"
    due = waypoints.duration_s
    if due is not None and (not _all_finite((due,)) or due <= 0.0):
        return f"the duration of Waypoints is {due}, not a number above zero"
    return "" if waypoints.frame in ("base", "odometry", "world") else f"Waypoints are in the frame {waypoints.frame!r}"


def _all_finite(numbers: tuple[object, ...]) -> bool:
    return all(isinstance(n, int | float) and abs(n) <= float_info.max and isfinite(n) for n in map(_own, numbers))


def _own(number: Any) -> Any:
    return float(number) if isinstance(number, Real) and not isinstance(number, int | float) else number
