"""The path tracker: from a path and the pose now to a body velocity, 50 times a second [NV 6.3]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, cos, hypot, pi, sin

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats, Pose, wrap_angle

#: Lookahead, and when a waypoint counts as reached [NV 6.3].
LOOKAHEAD_M = 0.3
ARRIVED_M, ARRIVED_RAD = 0.03, float(np.deg2rad(3.0))
#: Limits of the command: forward, sideways, turning [NV 6.3].
MAX_FORWARD_MPS, MAX_LATERAL_MPS, MAX_TURN_RADPS = 1.5, 0.3, 1.5
#: Beyond this heading error a body turns on the spot first; it does not translate where it is not looking.
_FACE_RAD = float(np.deg2rad(60.0))
#: Distance from the last waypoint within which its heading is taken up.
_DOCK_M = 0.12
#: Farther from its lookahead than this a body heads for it.
_ASTRAY_M = 0.6
#: A place where the path doubles back counts as passed this far before it.
_ROUNDED_M = 0.05
#: An overshoot of up to this much is made good backwards.
_BACK_M = 0.15
_CONTROL_PERIOD_S = 0.02


@dataclass(frozen=True)
class Limits:
    """Highest speeds of a body, each at most those of the shared tracker."""

    forward_mps: float = MAX_FORWARD_MPS
    lateral_mps: float = MAX_LATERAL_MPS
    turn_radps: float = MAX_TURN_RADPS

    def clipped(self, forward: float, lateral: float, turn: float) -> Floats:
        """(vx, vy, wz) within the limits."""
        most = (self.forward_mps, self.lateral_mps, self.turn_radps)
        return np.array([min(max(v, -m), m) for v, m in zip((forward, lateral, turn), most, strict=True)])


@dataclass
class _Pid:
    """One axis; the integral is bounded, so that a robot held by an obstacle does not wind up."""

    kp: float
    ki: float
    kd: float
    bound: float
    _sum: float = 0.0
    _last: float | None = None

    def __call__(self, error: float) -> float:
        slope = 0.0 if self._last is None else (error - self._last) / _CONTROL_PERIOD_S
        self._last = error
        self._sum = min(max(self._sum + self.ki * error * _CONTROL_PERIOD_S, -self.bound), self.bound)
        return self.kp * error + self._sum + self.kd * slope


def _ahead() -> _Pid:
    return _Pid(2.4, 0.3, 0.0, 0.05)


def _aside() -> _Pid:
    return _Pid(1.2, 0.1, 0.0, 0.03)


def _turning() -> _Pid:
    # A legged body answers a turn about 0.2 s late: a higher gain makes it swing.
    return _Pid(1.6, 0.1, 0.0, 0.05)


@dataclass
class Tracker:
    """Follows one path; make a new one for the next.

    Attributes:
        path: waypoints in the world frame, in order; the last one's heading counts, those before are passed on the way.
        start: where the body is when the path is handed over.
        limits: of the body.
        keep_heading: move without turning to face the way, as the discrete moves do.
    """

    path: Sequence[Pose]
    start: Pose
    limits: Limits
    keep_heading: bool = False
    _along: float = 0.0
    _forward: _Pid = field(default_factory=_ahead)
    _sideways: _Pid = field(default_factory=_aside)
    _turn: _Pid = field(default_factory=_turning)

    def __post_init__(self) -> None:
        points = np.array([[p.x, p.y] for p in (self.start, *self.path)])
        # A waypoint given twice has no direction, and hides that the path doubles back there.
        moves = np.linalg.norm(np.diff(points, axis=0), axis=1) > 0.0
        self._points = points[np.concatenate([[True], moves])] if moves.any() else points[:2]
        legs = np.linalg.norm(np.diff(self._points, axis=0), axis=1)
        self._arcs = np.concatenate([[0.0], np.cumsum(legs)])
        self._turning_points = [*self._arcs[1:-1][_doubles_back(self._points)].tolist(), self.length_m]

    @property
    def length_m(self) -> float:
        """Of the whole path."""
        return float(self._arcs[-1])

    @property
    def progress_m(self) -> float:
        """Arc length of the path that lies behind the body."""
        return self._along

    @property
    def turning_time_s(self) -> float:
        """What half a turn takes at most."""
        return pi / self.limits.turn_radps

    def near_end(self, pose: Pose) -> bool:
        """Whether only the last centimetres and the last turn are missing."""
        goal = self.path[-1]
        return self._along >= self.length_m - LOOKAHEAD_M and hypot(goal.x - pose.x, goal.y - pose.y) < LOOKAHEAD_M

    def arrived(self, pose: Pose) -> bool:
        """Within 0.03 m and 3 degrees of the last waypoint, all others passed."""
        goal = self.path[-1]
        near = hypot(goal.x - pose.x, goal.y - pose.y) <= ARRIVED_M
        return near and self._along >= self.length_m - LOOKAHEAD_M and abs(wrap_angle(goal.yaw_rad - pose.yaw_rad)) <= ARRIVED_RAD

    def command(self, pose: Pose) -> Floats:
        """(vx, vy, wz) in the body's heading frame, within the limits."""
        self._advance(pose)
        x, y = _at(self._points, self._arcs, self._ahead_m())
        dx, dy = x - pose.x, y - pose.y
        off = self._heading_error(pose, dx, dy)
        turning = self._turn(off)
        if abs(off) > _FACE_RAD:
            return self.limits.clipped(0.0, 0.0, turning)
        c, s = cos(pose.yaw_rad), sin(pose.yaw_rad)
        # Slower the more the path bends away from where the body looks.
        pull = cos(off) ** 2
        return self.limits.clipped(pull * self._forward(c * dx + s * dy), self._sideways(-s * dx + c * dy), turning)

    def _heading_error(self, pose: Pose, dx: float, dy: float) -> float:
        """What is missing to the heading wanted now: along the path, at its end the last waypoint's, and that all the time when told to keep it."""
        goal = self.path[-1]
        rest = hypot(goal.x - pose.x, goal.y - pose.y)
        last = self._along >= self.length_m - LOOKAHEAD_M
        # A body that cannot move sideways must be there before it turns.
        if self.keep_heading or (last and rest < (_DOCK_M if self.limits.lateral_mps > 0.0 else 0.8 * ARRIVED_M)):
            return wrap_angle(goal.yaw_rad - pose.yaw_rad)
        # The lookahead is a pose: a body that moves sideways turns as the path does there, and comes back to it sideways. To aim at a point
        # that near instead makes a body that answers late swing about the path.
        if self.limits.lateral_mps > 0.0 and hypot(dx, dy) < _ASTRAY_M:
            return wrap_angle(self._tangent() - pose.yaw_rad)
        off = wrap_angle(atan2(dy, dx) - pose.yaw_rad)
        if last and rest < _BACK_M and abs(off) > 0.5 * pi:
            return wrap_angle(off + pi)
        return off

    def _tangent(self) -> float:
        """Direction of the path at the lookahead."""
        n = int(np.searchsorted(self._arcs, self._ahead_m()))
        legs = np.diff(self._points[max(n - 1, 0) : max(n, 1) + 1], axis=0)[0]
        return atan2(legs[1], legs[0])

    def _ahead_m(self) -> float:
        """Arc length of the lookahead: not beyond where the path doubles back before the body has been there."""
        return float(min(self._along + LOOKAHEAD_M, self._turning_points[0]))

    def _advance(self, pose: Pose) -> None:
        """Move on to the nearest point of the path that is no further along than twice the lookahead."""
        if len(self._turning_points) > 1 and self._along > self._turning_points[0] - _ROUNDED_M:
            self._along = self._turning_points.pop(0)
        end = min(self._along + 2.0 * LOOKAHEAD_M, self._turning_points[0])
        self._along = _nearest(self._points, self._arcs, self._along, end, pose.x, pose.y)


def _doubles_back(points: Floats) -> NDArray[np.bool_]:
    """(N - 2,) at which inner points of a polyline (N, 2) it turns by more than 120 degrees."""
    legs = np.diff(points, axis=0)
    turns = np.arctan2(legs[:-1, 0] * legs[1:, 1] - legs[:-1, 1] * legs[1:, 0], (legs[:-1] * legs[1:]).sum(axis=1))
    sharp: NDArray[np.bool_] = np.abs(turns) > np.deg2rad(120.0)
    return sharp


@njit(cache=True)
def _nearest(points, arcs, low, high, x, y):  # type: ignore[no-untyped-def]
    """Arc length between ``low`` and ``high`` at which a polyline (N, 2) comes nearest to (x, y), the earliest of equals."""
    best, least = low, np.inf
    for n in range(len(points) - 1):
        if arcs[n + 1] < low or arcs[n] > high:
            continue
        length = arcs[n + 1] - arcs[n]
        if length <= 0.0:
            continue
        ux, uy = (points[n + 1, 0] - points[n, 0]) / length, (points[n + 1, 1] - points[n, 1]) / length
        along = (x - points[n, 0]) * ux + (y - points[n, 1]) * uy
        along = min(max(along, max(low - arcs[n], 0.0)), min(high - arcs[n], length))
        gap = hypot(points[n, 0] + along * ux - x, points[n, 1] + along * uy - y)
        if gap < least - 1e-9:
            best, least = arcs[n] + along, gap
    return best


@njit(cache=True)
def _at(points, arcs, arc):  # type: ignore[no-untyped-def]
    """Point of a polyline (N, 2) at an arc length, the last one beyond its end."""
    for n in range(len(points) - 1):
        if arcs[n + 1] >= arc and arcs[n + 1] > arcs[n]:
            t = (arc - arcs[n]) / (arcs[n + 1] - arcs[n])
            return points[n, 0] + t * (points[n + 1, 0] - points[n, 0]), points[n, 1] + t * (points[n + 1, 1] - points[n, 1])
    return points[-1, 0], points[-1, 1]
