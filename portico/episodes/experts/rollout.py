"""An expert's rollout: a shortest way, its corners rounded, driven under the limits of motion and sampled step by step.

States and controls belong together exactly. A step moves the body straight along its heading and then turns it, which is how a
velocity command (v, w, dt) is carried out: x += v dt cos(yaw), y += v dt sin(yaw), yaw += w dt. So every heading is that of the chord
to the next state, and commanding the controls one after the other leads along the states.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, hypot, isnan

import numpy as np
from numba import njit

from portico.episodes.experts.corners import (
    STRAIGHT_RAD,
    angles_and_lengths,
    corner_speed,
    curve_lengths,
    distinct,
    drawn_together,
    moved,
    on_corner,
    wrapped,
)
from portico.episodes.experts.limits import Limits
from portico.episodes.experts.profile import STRETCH_PHASES, add_stretch, knot_speeds, sampled, turned
from portico.geometry import Floats
from portico.space import GeodesicPath, Space


@dataclass(frozen=True)
class Rollout:
    """T steps of an expert.

    Attributes:
        states: (T + 1, 4) x, y, z in metres and yaw in [-pi, pi), world frame.
        velocities: (T, 2) controls as forward metres per second and radians per second, each held for a step.
        dt_s: duration of a step.
        free: whether the body, swept from state to state, touched nothing.
    """

    states: Floats
    velocities: Floats
    dt_s: float
    free: bool

    @property
    def waypoints(self) -> Floats:
        """(T, 3) controls as relative waypoints: forward and left in metres, turn in radians, in the frame of the state they start from."""
        steps, yaw = np.diff(self.states, axis=0), self.states[:-1, 3]
        c, s = np.cos(yaw), np.sin(yaw)
        turns = (steps[:, 3] + np.pi) % (2.0 * np.pi) - np.pi
        return np.column_stack([c * steps[:, 0] + s * steps[:, 1], c * steps[:, 1] - s * steps[:, 0], turns])

    @property
    def duration_s(self) -> float:
        """Seconds from the first state to the last."""
        return (len(self.states) - 1) * self.dt_s

    @property
    def length_m(self) -> float:
        """Metres driven."""
        return float(np.hypot(*np.diff(self.states[:, :2], axis=0).T).sum())


def roll_out(space: Space, way: GeodesicPath, start_yaw_rad: float, goal_yaw_rad: float | None, limits: Limits) -> Rollout:
    """Drive a way (which is not checked for its length): turn on the spot to where it leads, drive, and turn to the goal's heading if there is one."""
    points = np.ascontiguousarray(way.points)
    goal_yaw = np.nan if goal_yaw_rad is None else float(goal_yaw_rad)
    states, velocities, free = _roll_out(space.ground, points, space.locate(points), float(start_yaw_rad), goal_yaw, limits.motion())
    return Rollout(states, velocities, limits.dt_s, bool(free))


@njit(cache=True, nogil=True)
def _roll_out(g, points, nodes, start_yaw, goal_yaw, motion):  # type: ignore[no-untyped-def]
    xy, nodes = distinct(points[:, :2], nodes)
    first = nodes[0]
    states, count = np.empty((1024, 4)), 1
    states[0] = (xy[0, 0], xy[0, 1], 0.0, start_yaw)
    if nodes.size > 1:
        xy, nodes = drawn_together(g, xy, nodes)
        ahead, lengths, angles = angles_and_lengths(xy)
        curves, tangents = curve_lengths(g, xy, nodes, ahead, lengths, angles, motion)
        begin = 0
        for k in range(1, nodes.size):
            if k == nodes.size - 1 or (curves[k] == 0.0 and abs(angles[k]) > STRAIGHT_RAD):
                states, count = _turn(states, count, atan2(ahead[begin, 1], ahead[begin, 0]), motion)
                states, count = _drive(states, count, xy, ahead, lengths, angles, curves, tangents, begin, k, motion)
                begin = k
    if not isnan(goal_yaw):
        states, count = _turn(states, count, goal_yaw, motion)
    states = states[:count].copy()
    return states, _controls(states, motion.dt), _swept(g, states, first)


@njit(cache=True, nogil=True)
def _grown(states, count):  # type: ignore[no-untyped-def]
    while count > states.shape[0]:
        states = np.concatenate((states, np.empty_like(states)))
    return states


@njit(cache=True, nogil=True)
def _turn(states, count, yaw, motion):  # type: ignore[no-untyped-def]
    """Append a turn on the spot to a heading."""
    now = states[count - 1, 3]
    angles = turned(wrapped(yaw - now), motion.turn, motion.turn_acceleration, motion.dt)
    states = _grown(states, count + angles.size)
    for k in range(1, angles.size):
        states[count] = states[count - 1]
        states[count, 3] = wrapped(now + angles[k])
        count += 1
    return states, count


@njit(cache=True, nogil=True)
def _drive(states, count, xy, ahead, lengths, angles, curves, tangents, begin, end, motion):  # type: ignore[no-untyped-def]
    """Append the motion from rest at corner ``begin`` to rest at corner ``end``, through the curves between them."""
    segments = end - begin
    straights, most = np.empty(segments), np.zeros(segments + 1)
    for k in range(segments):
        a, b = begin + k, begin + k + 1
        straights[k] = max(0.0, lengths[a] - (tangents[a] if k > 0 else 0.0) - (tangents[b] if b < end else 0.0))
        if b < end:
            most[k + 1] = corner_speed(abs(angles[b]), curves[b], motion) if curves[b] > 0.0 else motion.speed
    speeds = knot_speeds(straights, most, motion.acceleration, motion.jerk)
    phases, n = np.zeros((segments * (STRETCH_PHASES + 1), 4)), 0
    reached, total = np.empty(2 * segments - 1), 0.0
    for k in range(segments):
        n = add_stretch(phases, n, speeds[k], speeds[k + 1], straights[k], motion.speed, motion.acceleration, motion.jerk)
        total += straights[k]
        reached[2 * k] = total
        if k + 1 < segments:
            curve = 2.0 * curves[begin + k + 1]
            phases[n, 0], phases[n, 1] = curve / speeds[k + 1], speeds[k + 1]
            n += 1
            total += curve
            reached[2 * k + 1] = total
    covered = sampled(phases[:n], motion.dt, total)
    states = _grown(states, count + covered.size)
    return _follow(states, count, covered, reached, xy, ahead, angles, curves, tangents, begin, end)


@njit(cache=True, nogil=True)
def _follow(states, count, covered, reached, xy, ahead, angles, curves, tangents, begin, end):  # type: ignore[no-untyped-def]
    """Append the places at lengths ``covered`` along straights and curves that end at ``reached``, each heading for the next one."""
    piece, before = 0, 0
    for step in range(1, covered.size):
        s = covered[step]
        while piece + 1 < reached.size and s > reached[piece]:
            piece += 1
        k = begin + piece // 2
        if piece % 2 == 0:
            rest = s - reached[piece] - (tangents[k + 1] if k + 1 < end else 0.0)
            x, y = xy[k + 1, 0] + rest * ahead[k, 0], xy[k + 1, 1] + rest * ahead[k, 1]
        else:
            c, run = k + 1, s - reached[piece - 1]
            entry, leave = xy[c] - tangents[c] * ahead[k], xy[c] + tangents[c] * ahead[c]
            x, y = on_corner(run, angles[c], curves[c], entry, ahead[k], leave, ahead[c])
        yaw = atan2(ahead[k, 1], ahead[k, 0]) if piece == before and piece % 2 == 0 else atan2(y - states[count - 1, 1], x - states[count - 1, 0])
        states[count - 1, 3] = yaw
        states[count] = (x, y, 0.0, yaw)
        count += 1
        before = piece
    return states, count


@njit(cache=True, nogil=True)
def _controls(states, dt):  # type: ignore[no-untyped-def]
    """Velocities (T, 2) between states (T + 1, 4)."""
    velocities = np.empty((states.shape[0] - 1, 2))
    for k in range(velocities.shape[0]):
        velocities[k, 0] = hypot(states[k + 1, 0] - states[k, 0], states[k + 1, 1] - states[k, 1]) / dt
        velocities[k, 1] = wrapped(states[k + 1, 3] - states[k, 3]) / dt
    return velocities


@njit(cache=True, nogil=True)
def _swept(g, states, n):  # type: ignore[no-untyped-def]
    """Sweep the body from node n along the states, and set their heights; False where something is in the way."""
    links, fit, row_start, contacts, z, everywhere = g.links, g.fit, g.row_start, g.contacts, g.z, np.empty(0, np.bool_)
    radius, x0, y0, per = g.radius, g.x0, g.y0, 1.0 / g.cell
    if n < 0:
        return False
    states[0, 2] = z[n]
    for k in range(1, states.shape[0]):
        if states[k, 0] != states[k - 1, 0] or states[k, 1] != states[k - 1, 1]:
            n = moved(links, fit, row_start, contacts, radius, x0, y0, per, everywhere, n, states[k - 1, 0], states[k - 1, 1], states[k, 0], states[k, 1])
            if n < 0:
                return False
        states[k, 2] = z[n]
    return True
