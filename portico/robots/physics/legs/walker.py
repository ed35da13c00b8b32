"""A quadruped that trots over what it can see: feedback places the feet, forces at the feet hold the body."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.robots.physics.controller import CONTROL_PERIOD_S, Heights, foot_touch
from portico.robots.physics.legs.body import Posture, needed_wrench, plane_through, reference_rotation, sense
from portico.robots.physics.legs.footholds import (
    AHEAD,
    AROUND,
    ASIDE,
    BEHIND,
    COLUMNS,
    PATCH_POINTS,
    SPACING_M,
    Ground,
    choose,
    ground_normal,
    nearest_point,
    patch_points,
    unevenness,
)
from portico.robots.physics.legs.forces import Grip, share_forces
from portico.robots.physics.legs.gait import Gait, all_down, leg_phase
from portico.robots.physics.legs.kinematics import ABDUCTION_M, FOOT_RADIUS_M, HIPS_M, SIDES, inverse, leg_joints
from portico.robots.physics.legs.swing import PATH_POINTS, Flight, apex_over, path_points, swing_position, time_flight

Floats = NDArray[np.float64]
_DT = CONTROL_PERIOD_S
_LOOKED_AT = PATCH_POINTS + PATH_POINTS


class Steps(NamedTuple):
    """How the robot steps.

    Attributes:
        feedback_s: a foot lands this many seconds of velocity error farther out.
        aim_until: share of the flight until which the landing is chosen anew; land_from: share after which touching ground ends it.
        speed, turn: largest command (ahead, aside; m/s, rad/s); rough_speed: ahead on ground as uneven as stairs.
        accelerate: changes of the command per second (m/s^2, m/s^2, rad/s^2).
        reach_m: farthest a foot may be from its abduction joint. search_mps: speed with which a foot feels for ground.
        slide_mps: a foot on the ground that is faster than this slides: the friction counted on shrinks by ``distrust`` each period, down to
            ``least_grip``, and grows by ``trust`` per second otherwise.
    """

    feedback_s: float = 0.12
    aim_until: float = 0.45
    land_from: float = 0.5
    speed: tuple[float, float] = (1.3, 0.5)
    turn: float = 1.5
    rough_speed: float = 0.5
    accelerate: tuple[float, float, float] = (1.5, 1.5, 4.0)
    reach_m: float = 0.62
    search_mps: float = 0.7
    slide_mps: float = 0.15
    distrust: float = 0.93
    trust: float = 0.05
    least_grip: float = 0.22


class Memory(NamedTuple):
    """What the walker remembers from one period to the next, arrays changed in place; feet are centres, in the world."""

    phase: Floats  # (1,)
    moving: NDArray[np.bool_]  # (1,)
    idle_s: Floats  # (1,) since the command became zero
    swinging: NDArray[np.bool_]  # (4,)
    aiming: NDArray[np.bool_]  # (4,) whose landing is being chosen
    lift: Floats  # (4, 3)
    land: Floats  # (4, 3)
    apex: Floats  # (4,)
    timing: Floats  # (4, 4) of the flights
    normal: Floats  # (4, 3) of the ground under the feet
    chosen: NDArray[np.int64]  # (4,)
    wanted: Floats  # (4, 2) where balance wants the feet
    nudge: Floats  # (4, 2) added to it, metres ahead and aside
    foot: Floats  # (4, 3) where the feet are or should be
    down: NDArray[np.bool_]  # (4,) feet that carry
    anchor: Floats  # (3,) x, y, yaw to hold
    plane: Floats  # (3,) height at the anchor, slopes ahead and aside
    command: Floats  # (3,) as followed
    rough: Floats  # (1,) unevenness of the ground, metres
    grip: Floats  # (1,) friction that the ground seems to have
    held: Floats  # (4,) seconds for which a foot has carried
    forces: Floats  # (4, 3)
    rates: Floats  # (12,) wanted joint velocities
    rotation: Floats  # (3, 3)
    feet: Floats  # (4, 3) from the base, its axes
    jacobians: Floats  # (4, 3, 3)
    motion: Floats  # (3, 3)


def _memory() -> Memory:
    shapes: dict[str, int | tuple[int, ...]] = {
        "phase": 1,
        "idle_s": 1,
        "apex": 4,
        "anchor": 3,
        "plane": 3,
        "command": 3,
        "rough": 1,
        "rates": 12,
        "grip": 1,
        "held": 4,
    }
    shapes |= {
        "lift": (4, 3),
        "land": (4, 3),
        "foot": (4, 3),
        "forces": (4, 3),
        "feet": (4, 3),
        "normal": (4, 3),
        "timing": (4, 4),
        "wanted": (4, 2),
        "nudge": (4, 2),
    }
    shapes |= {"rotation": (3, 3), "motion": (3, 3), "jacobians": (4, 3, 3)}
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    return Memory(
        moving=np.zeros(1, np.bool_), swinging=np.zeros(4, np.bool_), aiming=np.zeros(4, np.bool_), down=np.ones(4, np.bool_), chosen=np.full(4, -1), **arrays
    )


def standing_joints(height_m: float = Posture().height_m) -> Floats:
    """Joints (12,) of a robot that stands with its hips this high above the centres of its feet."""
    feet = np.stack([np.full(4, -0.02), SIDES * ABDUCTION_M, np.full(4, -height_m)], axis=1)
    return inverse(feet, SIDES)[0].ravel()


class Walker:
    """Trots, stands and turns a robot of ``models/spot.xml``; a ``Controller``.

    Feet follow a fixed trot. A foot lands under its hip, ahead by half of what the body travels while it stands, and farther out by the
    error of the velocity (M. Raibert, Legged Robots That Balance, 1986), moved to the nearest good ground. The feet on the ground share
    the force and torque that carry the body and pull it to its velocity, height and attitude (as in G. Bledt et al., MIT Cheetah 3,
    IROS 2018, without the horizon); joint torques follow by the transposed Jacobian and reach the position actuators as offsets.

    Args:
        model: of the robot, free joint first, then legs fl, fr, hl, hr with hx, hy, kn.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        gait: Gait = Gait(),
        steps: Steps = Steps(),
        flight: Flight = Flight(),
        posture: Posture = Posture(),
        grip: Grip = Grip(),
        ground: Ground = Ground(),
    ) -> None:
        self._settings = (gait, steps, flight, posture, grip, ground)
        self._touch = foot_touch(model)
        self._stiffness, self._damping = model.actuator_gainprm[:12, 0].copy(), -model.actuator_biasprm[:12, 2].copy()
        self.memory = _memory()
        self._points = np.zeros((4 * _LOOKED_AT, 2))

    def reset(self, data: mujoco.MjData) -> None:
        """Start from rest, in the pose of data."""
        _reset(data.qpos, self._settings[4].friction, self.memory)

    def control(self, data: mujoco.MjData, command: Floats, heights: Heights) -> None:
        """Write ``data.ctrl``, see ``Controller``."""
        gait, steps, flight, posture, grip, ground = self._settings
        memory, touch = self.memory, data.sensordata[self._touch]
        qpos, qvel = data.qpos, data.qvel
        count = _look(qpos, qvel, touch, command, gait, steps, flight, posture, memory, self._points)
        seen = heights(self._points[:count])
        _feel(seen, touch, qpos, gait, steps, memory)
        _grip(qpos, qvel, touch, steps, grip, memory)
        _aim(seen, qpos, gait, steps, flight, ground, memory)
        _act(qpos, qvel, data.qfrc_bias, gait, steps, posture, grip, self._stiffness, self._damping, memory, data.ctrl)


@njit(cache=True, nogil=True)
def _reset(qpos, friction, m):  # type: ignore[no-untyped-def]
    sense(qpos, np.zeros(18), m.rotation, m.feet, m.jacobians, m.motion)
    _world_feet(qpos, m)
    m.phase[0], m.moving[0], m.idle_s[0], m.rough[0] = 0.0, False, 10.0, 0.0
    m.grip[0], m.held[:] = friction, 0.0
    m.swinging[:], m.down[:], m.chosen[:] = False, True, -1
    m.lift[:], m.land[:] = m.foot, m.foot
    m.wanted[:] = m.foot[:, :2]
    m.normal[:] = np.array([0.0, 0.0, 1.0])
    m.forces[:], m.rates[:], m.command[:], m.nudge[:] = 0.0, 0.0, 0.0, 0.0
    m.anchor[0], m.anchor[1], m.anchor[2] = qpos[0], qpos[1], np.arctan2(m.rotation[1, 0], m.rotation[0, 0])
    plane_through(m.foot, qpos[0], qpos[1], m.anchor[2], m.plane)


@njit(cache=True, nogil=True)
def _world_feet(qpos, m):  # type: ignore[no-untyped-def]
    for leg in range(4):
        for i in range(3):
            m.foot[leg, i] = qpos[i] + m.rotation[i, 0] * m.feet[leg, 0] + m.rotation[i, 1] * m.feet[leg, 1] + m.rotation[i, 2] * m.feet[leg, 2]


@njit(cache=True, nogil=True)
def _look(qpos, qvel, touch, command, gait, steps, flight, posture, m, points):  # type: ignore[no-untyped-def]
    """Advance the gait and write the points at which swinging legs need the terrain; how many points."""
    sense(qpos, qvel, m.rotation, m.feet, m.jacobians, m.motion)
    actual = np.empty((4, 3))
    for leg in range(4):
        actual[leg] = qpos[:3] + m.rotation @ m.feet[leg]
    _follow_command(qpos, command, steps, posture, m)
    _advance(touch, actual, gait, steps, flight, m)
    yaw = np.arctan2(m.rotation[1, 0], m.rotation[0, 0])
    points[:4] = actual[:, :2]
    count = 4
    for leg in range(4):
        _want(leg, qpos, yaw, gait, steps, m)
        m.aiming[leg] = m.swinging[leg] and leg_phase(m.phase[0], leg) * gait_period(gait) < steps.aim_until * gait.swing_s
        if m.aiming[leg]:
            patch_points(m.wanted[leg], yaw, points[count : count + PATCH_POINTS])
            path_points(m.lift[leg], m.land[leg] if m.chosen[leg] >= 0 else m.wanted[leg], points[count + PATCH_POINTS : count + _LOOKED_AT])
            count += _LOOKED_AT
    return count


@njit(cache=True, nogil=True, forceinline=True)
def gait_period(gait):  # type: ignore[no-untyped-def]
    """Seconds of a period, for compiled code."""
    return gait.swing_s + gait.stance_s


@njit(cache=True, nogil=True)
def _follow_command(qpos, command, steps, posture, m):  # type: ignore[no-untyped-def]
    """Let the followed command approach the given one, and move the anchor along with it."""
    quick = min(max(1.0 - (m.rough[0] - 0.05) / 0.1, 0.0), 1.0)
    ahead = steps.rough_speed + quick * (steps.speed[0] - steps.rough_speed)
    limits = (ahead, min(ahead, steps.speed[1]), steps.turn)
    zero = True
    for i in range(3):
        goal = min(max(command[i], -limits[i]), limits[i])
        zero = zero and abs(goal) < 0.02
        change = steps.accelerate[i] * _DT
        m.command[i] += min(max(goal - m.command[i], -change), change)
    m.idle_s[0] = m.idle_s[0] + _DT if zero else 0.0
    c, s = np.cos(m.anchor[2]), np.sin(m.anchor[2])
    m.plane[0] += _DT * (m.plane[1] * m.command[0] + m.plane[2] * m.command[1])
    m.anchor[0] += _DT * (c * m.command[0] - s * m.command[1])
    m.anchor[1] += _DT * (s * m.command[0] + c * m.command[1])
    m.anchor[2] += _DT * m.command[2]
    dx, dy = m.anchor[0] - qpos[0], m.anchor[1] - qpos[1]
    away = np.hypot(dx, dy)
    if away > posture.leash_m:
        m.anchor[0], m.anchor[1] = qpos[0] + dx * posture.leash_m / away, qpos[1] + dy * posture.leash_m / away
    yaw = np.arctan2(m.rotation[1, 0], m.rotation[0, 0])
    turn = m.anchor[2] - yaw
    turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
    m.anchor[2] = yaw + min(max(turn, -posture.leash_rad), posture.leash_rad)


@njit(cache=True, nogil=True)
def _advance(touch, actual, gait, steps, flight, m):  # type: ignore[no-untyped-def]
    """Start and end steps: which feet are in the air, and where the others stand."""
    share = gait.swing_s / gait_period(gait)
    if not m.moving[0]:
        if m.idle_s[0] == 0.0 or _uneasy(actual, m, 0.10, 0.25):
            m.moving[0] = True
            m.phase[0] = 1.0 - 0.5 * _DT / gait_period(gait) if _left_first(m) else 0.5 - 0.5 * _DT / gait_period(gait)
    elif all_down(m.phase[0], share) and m.idle_s[0] > 0.1 and (m.idle_s[0] > 2.0 or not _uneasy(actual, m, 0.06, 0.1)) and not _uneasy(actual, m, 0.25, 0.25):
        m.moving[0] = False
    if m.moving[0]:
        m.phase[0] = (m.phase[0] + _DT / gait_period(gait)) % 1.0
    for leg in range(4):
        p = leg_phase(m.phase[0], leg)
        in_flight = m.moving[0] and p < share
        if in_flight and not m.swinging[leg] and p < 0.3 * share:
            m.swinging[leg], m.chosen[leg] = True, -1
            m.lift[leg], m.land[leg], m.timing[leg] = actual[leg], actual[leg], np.array([flight.up, flight.down, flight.leave, flight.arrive])
            m.apex[leg] = actual[leg, 2] + flight.clearance_m
        elif m.swinging[leg] and not in_flight:
            m.swinging[leg] = False
            m.foot[leg] = actual[leg]
        if not m.swinging[leg]:
            m.down[leg] = touch[leg] > 0.0
            if m.down[leg]:
                m.foot[leg] = actual[leg]
            else:
                m.foot[leg, 2] = max(m.foot[leg, 2] - steps.search_mps * _DT, actual[leg, 2] - 0.04)
        else:
            m.down[leg] = False


@njit(cache=True, nogil=True, forceinline=True)
def _left_first(m):  # type: ignore[no-untyped-def]
    """Whether the front left foot should step first: that of the pair that is farther from where it is wanted."""
    away = np.empty(4)
    for leg in range(4):
        away[leg] = np.hypot(m.foot[leg, 0] - m.wanted[leg, 0], m.foot[leg, 1] - m.wanted[leg, 1])
    return away[0] + away[3] >= away[1] + away[2]


@njit(cache=True, nogil=True)
def _uneasy(actual, m, away, speed):  # type: ignore[no-untyped-def]
    """Whether a robot that should stand still must step: a foot is far from where it is wanted, or the body moves."""
    for leg in range(4):
        if np.hypot(actual[leg, 0] - m.wanted[leg, 0], actual[leg, 1] - m.wanted[leg, 1]) > away:
            return True
    return np.hypot(m.motion[0, 0], m.motion[0, 1]) > speed


@njit(cache=True, nogil=True)
def _want(leg, qpos, yaw, gait, steps, m):  # type: ignore[no-untyped-def]
    """Where balance wants a foot to land, in the world."""
    wait = max(gait.swing_s - leg_phase(m.phase[0], leg) * gait_period(gait), 0.0) if m.swinging[leg] else 0.0
    half = 0.5 * gait.stance_s if m.moving[0] else 0.0
    turned = yaw + m.command[2] * (wait + half)
    c, s = np.cos(turned), np.sin(turned)
    level = 1.0 / np.sqrt(1.0 + m.plane[1] * m.plane[1])
    x, y = HIPS_M[leg, 0] * level, HIPS_M[leg, 1] + SIDES[leg] * ABDUCTION_M
    heading_c, heading_s = np.cos(yaw), np.sin(yaw)
    vx = heading_c * m.command[0] - heading_s * m.command[1]
    vy = heading_s * m.command[0] + heading_c * m.command[1]
    for i in range(2):
        wanted_v = vx if i == 0 else vy
        ahead, aside = x + m.nudge[leg, 0], y + m.nudge[leg, 1]
        arm = c * ahead - s * aside if i == 0 else s * ahead + c * aside
        v = m.motion[0, i]
        m.wanted[leg, i] = qpos[i] + m.motion[2, i] + arm + wait * v + half * wanted_v + steps.feedback_s * (v - wanted_v)


@njit(cache=True, nogil=True)
def _feel(seen, touch, qpos, gait, steps, m):  # type: ignore[no-untyped-def]
    """End flights early where feet meet ground as high as their landing from above; hitting a riser does not count."""
    for leg in range(4):
        share = leg_phase(m.phase[0], leg) * gait_period(gait) / gait.swing_s
        if m.swinging[leg] and share > steps.land_from and touch[leg] > 5.0:
            z = qpos[2] + m.rotation[2, 0] * m.feet[leg, 0] + m.rotation[2, 1] * m.feet[leg, 1] + m.rotation[2, 2] * m.feet[leg, 2]
            level = abs(seen[leg] + FOOT_RADIUS_M - m.land[leg, 2]) < 0.035
            if level and z < seen[leg] + FOOT_RADIUS_M + 0.04:
                m.swinging[leg], m.down[leg] = False, True
                for i in range(3):
                    m.foot[leg, i] = qpos[i] + m.rotation[i, 0] * m.feet[leg, 0] + m.rotation[i, 1] * m.feet[leg, 1] + m.rotation[i, 2] * m.feet[leg, 2]


@njit(cache=True, nogil=True)
def _grip(qpos, qvel, touch, steps, grip, m):  # type: ignore[no-untyped-def]
    """Believe less in the ground's friction while feet slide, and slowly more again."""
    m.grip[0] = min(m.grip[0] + steps.trust * _DT, grip.friction)
    moved = np.empty(3)
    for leg in range(4):
        m.held[leg] = m.held[leg] + _DT if m.down[leg] and touch[leg] > 20.0 else 0.0
        if m.held[leg] < 0.05:
            continue
        local = m.jacobians[leg] @ qvel[6 + 3 * leg : 9 + 3 * leg]
        w, r = qvel[3:6], m.feet[leg]
        local[0] += w[1] * r[2] - w[2] * r[1]
        local[1] += w[2] * r[0] - w[0] * r[2]
        local[2] += w[0] * r[1] - w[1] * r[0]
        for i in range(3):
            moved[i] = qvel[i] + m.rotation[i, 0] * local[0] + m.rotation[i, 1] * local[1] + m.rotation[i, 2] * local[2]
        into = moved[0] * m.normal[leg, 0] + moved[1] * m.normal[leg, 1] + moved[2] * m.normal[leg, 2]
        if np.sqrt(max(moved[0] ** 2 + moved[1] ** 2 + moved[2] ** 2 - into * into, 0.0)) > steps.slide_mps:
            m.grip[0] = max(m.grip[0] * steps.distrust, steps.least_grip)


@njit(cache=True, nogil=True)
def _aim(seen, qpos, gait, steps, flight, ground, m):  # type: ignore[no-untyped-def]
    """Choose where swinging feet land and how high they fly."""
    yaw = np.arctan2(m.rotation[1, 0], m.rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    first = 4
    hip, travel = np.empty(3), np.empty(3)
    for i in range(2):
        travel[i] = gait.stance_s * m.command[i]
    travel[2] = m.plane[1] * travel[0] + m.plane[2] * travel[1]
    rough = 0.0
    for leg in range(4):
        if not m.aiming[leg]:
            continue
        patch, path = seen[first : first + PATCH_POINTS], seen[first + PATCH_POINTS : first + _LOOKED_AT]
        first += _LOOKED_AT
        rough = max(rough, unevenness(patch))
        dx, dy = m.wanted[leg, 0] - m.anchor[0], m.wanted[leg, 1] - m.anchor[1]
        hip[0], hip[1] = -0.5 * gait.stance_s * m.command[0], -SIDES[leg] * ABDUCTION_M - 0.5 * gait.stance_s * m.command[1]
        hip[2] = qpos[2] + m.rotation[2, 0] * HIPS_M[leg, 0] + m.rotation[2, 1] * HIPS_M[leg, 1]
        level = m.plane[0] + m.plane[1] * (c * dx + s * dy) + m.plane[2] * (c * dy - s * dx) - FOOT_RADIUS_M
        last = nearest_point(m.land[leg], m.wanted[leg], yaw) if m.chosen[leg] >= 0 else -1
        best = choose(patch, level, hip, travel, steps.reach_m, last, ground)
        m.chosen[leg] = best
        x, y = (best // COLUMNS - BEHIND - AHEAD) * SPACING_M, (best % COLUMNS - AROUND - ASIDE) * SPACING_M
        m.land[leg, 0] = m.wanted[leg, 0] + c * x - s * y
        m.land[leg, 1] = m.wanted[leg, 1] + s * x + c * y
        m.land[leg, 2] = patch[best] + FOOT_RADIUS_M
        ground_normal(patch, best, yaw, m.normal[leg])
        time_flight(m.lift[leg], m.land[leg], path, FOOT_RADIUS_M, flight, m.timing[leg])
        m.apex[leg] = apex_over(m.lift[leg, 2], m.land[leg, 2], path, flight.clearance_m, FOOT_RADIUS_M, ground.highest_rise_m)
    m.rough[0] = max(rough, m.rough[0] * 0.985)


@njit(cache=True, nogil=True)
def _act(qpos, qvel, bias, gait, steps, posture, grip, stiffness, damping, m, ctrl):  # type: ignore[no-untyped-def]
    """Write the controls: feet that carry push, the others fly or feel for the ground."""
    _settle(gait, posture, m)
    wanted, velocity, rate, wrench = np.empty(3), np.empty(3), np.zeros(3), np.empty(6)
    upright = np.empty((3, 3))
    ahead = min(max(posture.follow * m.plane[1], -posture.steepest), posture.steepest)
    aside = min(max(posture.follow * m.plane[2], -posture.steepest), posture.steepest)
    reference_rotation(m.anchor[2], ahead, aside, upright)
    wanted[0], wanted[1], wanted[2] = m.anchor[0], m.anchor[1], m.plane[0] + posture.height_m
    c, s = np.cos(m.anchor[2]), np.sin(m.anchor[2])
    velocity[0], velocity[1] = c * m.command[0] - s * m.command[1], s * m.command[0] + c * m.command[1]
    velocity[2] = m.plane[1] * m.command[0] + m.plane[2] * m.command[1]
    rate[2] = m.command[2]
    needed_wrench(qpos[:3], m.rotation, m.motion, wanted, upright, velocity, rate, posture, m.grip[0], wrench)
    arms, carrying = np.empty((4, 3)), np.zeros(4)
    for leg in range(4):
        arms[leg] = m.rotation @ m.feet[leg] - m.motion[2]
        if m.down[leg]:
            left = (1.0 - leg_phase(m.phase[0], leg)) * gait_period(gait) if m.moving[0] else 1.0
            carrying[leg] = min(1.0, 0.15 + left / 0.08)
    share_forces(arms, m.normal, carrying, wrench, m.grip[0], grip, m.forces)
    here, there, joints, later = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for leg in range(4):
        a = 3 * leg
        if m.down[leg]:
            torque = -(m.jacobians[leg].T @ (m.rotation.T @ m.forces[leg]))
            for j in range(3):
                q, v = qpos[7 + a + j], qvel[6 + a + j]
                ctrl[a + j] = q + 0.5 * _DT * v + (damping[a + j] * v + torque[j] + bias[6 + a + j]) / stiffness[a + j]
                m.rates[a + j] = v
            continue
        if m.swinging[leg]:
            t = leg_phase(m.phase[0], leg) * gait_period(gait) / gait.swing_s
            swing_position(m.lift[leg], m.land[leg], m.apex[leg], m.timing[leg], t, here)
            swing_position(m.lift[leg], m.land[leg], m.apex[leg], m.timing[leg], t + _DT / gait.swing_s, there)
            m.foot[leg] = here
        else:
            here[:], there[:] = m.foot[leg], m.foot[leg]
            there[2] -= steps.search_mps * _DT
        _leg_frame(here, qpos, m, leg, 0.0, joints)
        _leg_frame(there, qpos, m, leg, _DT, later)
        for j in range(3):
            v = (later[j] - joints[j]) / _DT
            a_j = min(max((v - m.rates[a + j]) / _DT, -150.0), 150.0)
            ctrl[a + j] = 0.5 * (joints[j] + later[j]) + (damping[a + j] * v + bias[6 + a + j] + 0.12 * a_j) / stiffness[a + j]
            m.rates[a + j] = v


@njit(cache=True, nogil=True)
def _leg_frame(foot, qpos, m, leg, ahead_s, joints):  # type: ignore[no-untyped-def]
    """Write the joints (3,) that put a foot at a place in the world in ``ahead_s`` seconds, while the body moves on."""
    r = np.empty(3)
    v, w = m.motion[0], m.motion[1]
    for i in range(3):
        r[i] = foot[i] - qpos[i] - v[i] * ahead_s
    # Turning the body by w is turning what it sees by -w.
    x = r[0] - ahead_s * (w[1] * r[2] - w[2] * r[1])
    y = r[1] - ahead_s * (w[2] * r[0] - w[0] * r[2])
    z = r[2] - ahead_s * (w[0] * r[1] - w[1] * r[0])
    local = np.empty(3)
    for i in range(3):
        local[i] = m.rotation[0, i] * x + m.rotation[1, i] * y + m.rotation[2, i] * z - HIPS_M[leg, i]
    leg_joints(local, SIDES[leg], joints)


@njit(cache=True, nogil=True)
def _settle(gait, posture, m):  # type: ignore[no-untyped-def]
    """Let the plane under the body follow the feet; a foot in the air counts ever more where it will land."""
    feet, fit = np.empty((4, 3)), np.empty(3)
    for leg in range(4):
        feet[leg] = m.foot[leg]
        if m.swinging[leg]:
            t = min(leg_phase(m.phase[0], leg) * gait_period(gait) / gait.swing_s, 1.0)
            for i in range(3):
                feet[leg, i] = m.lift[leg, i] + t * (m.land[leg, i] - m.lift[leg, i])
    plane_through(feet, m.anchor[0], m.anchor[1], m.anchor[2], fit)
    for i in range(3):
        m.plane[i] += (fit[i] - m.plane[i]) * min(_DT / posture.settle_s, 1.0)
