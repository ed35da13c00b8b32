"""Stepping: when feet lift, what they find, and where they land; compiled parts of the walker, working on its memory."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.robots.physics.controller import CONTROL_PERIOD_S
from portico.robots.physics.legs.body import sense
from portico.robots.physics.legs.footholds import (
    AHEAD,
    AROUND,
    ASIDE,
    BEHIND,
    COLUMNS,
    PATCH_POINTS,
    SPACING_M,
    choose,
    ground_normal,
    nearest_point,
    patch_points,
    unevenness,
)
from portico.robots.physics.legs.gait import all_down, gait_period, leg_phase
from portico.robots.physics.legs.kinematics import ABDUCTION_M, FOOT_RADIUS_M, HIPS_M, SIDES
from portico.robots.physics.legs.swing import PATH_POINTS, apex_over, path_points, time_flight

_DT = CONTROL_PERIOD_S
#: Terrain points looked at for a leg in flight.
LOOKED_AT = PATCH_POINTS + PATH_POINTS


@njit(cache=True, nogil=True)
def look(qpos, qvel, touch, command, gait, steps, flight, posture, m, points):  # type: ignore[no-untyped-def]
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
            path_points(m.lift[leg], m.land[leg] if m.chosen[leg] >= 0 else m.wanted[leg], points[count + PATCH_POINTS : count + LOOKED_AT])
            count += LOOKED_AT
    return count


@njit(cache=True, nogil=True)
def _follow_command(qpos, command, steps, posture, m):  # type: ignore[no-untyped-def]
    """Let the followed command approach the given one, and move the anchor along with it."""
    quick = min(max(1.0 - (m.rough[0] - 0.05) / 0.1, 0.0), 1.0)
    m.firm[0] = min(max((m.grip[0] - steps.least_grip) / 0.15, 0.0), 1.0)
    ahead = (steps.rough_speed + quick * (steps.speed[0] - steps.rough_speed)) * (0.6 + 0.4 * m.firm[0])
    limits = (ahead, min(ahead, steps.speed[1]), steps.rough_turn + quick * (steps.turn - steps.rough_turn))
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
def feel(seen, touch, qpos, gait, steps, m):  # type: ignore[no-untyped-def]
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
def notice_slides(qpos, qvel, touch, steps, grip, m):  # type: ignore[no-untyped-def]
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
def aim(seen, qpos, gait, steps, flight, ground, m):  # type: ignore[no-untyped-def]
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
        patch, path = seen[first : first + PATCH_POINTS], seen[first + PATCH_POINTS : first + LOOKED_AT]
        first += LOOKED_AT
        rough = max(rough, unevenness(patch))
        dx, dy = m.wanted[leg, 0] - m.anchor[0], m.wanted[leg, 1] - m.anchor[1]
        hip[0], hip[1] = -0.5 * gait.stance_s * m.command[0], -SIDES[leg] * ABDUCTION_M - 0.5 * gait.stance_s * m.command[1]
        hip[2] = qpos[2] + m.rotation[2, 0] * HIPS_M[leg, 0] + m.rotation[2, 1] * HIPS_M[leg, 1]
        level = m.plane[0] + m.plane[1] * (c * dx + s * dy) + m.plane[2] * (c * dy - s * dx) - FOOT_RADIUS_M
        last = nearest_point(m.land[leg], m.wanted[leg], yaw) if m.chosen[leg] >= 0 else -1
        best = choose(patch, level, hip, travel, steps.reach_m, last, ground)
        m.chosen[leg] = best
        if best < 0:
            m.land[leg] = m.lift[leg]
            m.apex[leg] = m.lift[leg, 2] + flight.clearance_m
            continue
        x, y = (best // COLUMNS - BEHIND - AHEAD) * SPACING_M, (best % COLUMNS - AROUND - ASIDE) * SPACING_M
        m.land[leg, 0] = m.wanted[leg, 0] + c * x - s * y
        m.land[leg, 1] = m.wanted[leg, 1] + s * x + c * y
        m.land[leg, 2] = patch[best] + FOOT_RADIUS_M
        ground_normal(patch, best, yaw, m.normal[leg])
        time_flight(m.lift[leg], m.land[leg], path, FOOT_RADIUS_M, flight, m.timing[leg])
        m.apex[leg] = apex_over(m.lift[leg, 2], m.land[leg, 2], path, flight.clearance_m, FOOT_RADIUS_M, ground.highest_rise_m)
    m.rough[0] = max(rough, m.rough[0] * 0.985)
