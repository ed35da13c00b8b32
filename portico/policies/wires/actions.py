"""Whether an action can be carried out, whoever returned it."""

from __future__ import annotations

from math import isfinite, pi
from sys import float_info
from typing import get_args

from portico.interface import Move, MoveName, Stop, Velocity, Waypoints

#: Longer lists of waypoints are a mistake.
MOST_WAYPOINTS = 1024


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
            numbers = (action.vx_mps, action.vy_mps, action.wz_radps, action.duration_s)
            return "" if _all_finite(numbers) and action.duration_s > 0.0 else f"Velocity is not finite, or its duration is not positive: {action}"
        case _:
            return f"{action!r:.200} is none of Stop, Move, Waypoints, Velocity"


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
    return all(isinstance(n, int | float) and abs(n) <= float_info.max and isfinite(n) for n in numbers)
