"""Where feet land: near where the balance of the body wants them, and on ground that holds.

Candidates are the points of a grid aligned with the heading around the wanted place. Terrain is looked at on the same grid with a margin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from portico.robots.physics.legs.kinematics import FOOT_RADIUS_M, SHANK_M, THIGH_M

#: Distance of candidates, metres, and how many lie on each side of the wanted place, forward and sideways.
SPACING_M = 0.035
AHEAD, ASIDE = 5, 3
#: Margin of the looked-at grid: behind, where the shank leans, and to all other sides.
BEHIND, AROUND = 6, 2
ROWS, COLUMNS = BEHIND + 2 * AHEAD + 1 + AROUND, 2 * ASIDE + 1 + 2 * AROUND
PATCH_POINTS = ROWS * COLUMNS
#: Number of the wanted place itself.
CENTRE = (BEHIND + AHEAD) * COLUMNS + AROUND + ASIDE
#: Candidates that cost more than this are no place for a foot.
_HOPELESS = 40.0
#: Ramps on which a foot expects to stand: tangent, and unevenness over a few cells.
STEEPEST, BENT_M = 0.6, 0.02


class Ground(NamedTuple):
    """What is good ground for a foot.

    Attributes:
        near_m, far_m: unevenness within one and two cells that costs nothing. near_cost, far_cost: of 0.1 m beyond that.
        distance_cost: of 0.1 m from the wanted place, squared. highest_rise_m: no foot lands farther above or below the plane of the others.
        lean_cost: of 0.1 m of terrain in the way of the shank, which leans backwards from the foot.
        stay_cost: a new place must be better than the last by this. reach_cost: of 0.1 m that the foot is too far from its hip.
    """

    near_m: float = 0.03
    far_m: float = 0.06
    near_cost: float = 10.0
    far_cost: float = 1.5
    distance_cost: float = 1.0
    highest_rise_m: float = 0.32
    lean_cost: float = 3.0
    stay_cost: float = 0.3
    reach_cost: float = 10.0


@njit(cache=True, nogil=True)
def patch_points(wanted, yaw, out):  # type: ignore[no-untyped-def]
    """Write the points (PATCH_POINTS, 2) of the grid around a wanted place (2,), rows from back to front, columns from right to left."""
    c, s = np.cos(yaw), np.sin(yaw)
    for i in range(ROWS):
        for j in range(COLUMNS):
            x, y = (i - BEHIND - AHEAD) * SPACING_M, (j - AROUND - ASIDE) * SPACING_M
            out[i * COLUMNS + j, 0] = wanted[0] + c * x - s * y
            out[i * COLUMNS + j, 1] = wanted[1] + s * x + c * y


@njit(cache=True, nogil=True)
def nearest_point(place, wanted, yaw):  # type: ignore[no-untyped-def]
    """Number of the candidate nearest to a place (2,), -1 when the grid around the wanted place does not reach it."""
    c, s = np.cos(yaw), np.sin(yaw)
    dx, dy = place[0] - wanted[0], place[1] - wanted[1]
    i, j = int(np.round((c * dx + s * dy) / SPACING_M)), int(np.round((c * dy - s * dx) / SPACING_M))
    if abs(i) > AHEAD or abs(j) > ASIDE:
        return -1
    return (i + BEHIND + AHEAD) * COLUMNS + j + AROUND + ASIDE


@njit(cache=True, nogil=True)
def unevenness(patch):  # type: ignore[no-untyped-def]
    """Height of the patch (PATCH_POINTS,) between its lowest and highest point, metres, walls not counted."""
    middle = patch[CENTRE]
    low, high = middle, middle
    for n in range(PATCH_POINTS):
        if abs(patch[n] - middle) < 0.5:
            low, high = min(low, patch[n]), max(high, patch[n])
    return high - low


@njit(cache=True, nogil=True)
def choose(patch, level, hip, travel, reach, last, ground):  # type: ignore[no-untyped-def]
    """Number of the best point of a patch, -1 when there is no place for a foot.

    Args:
        patch: (PATCH_POINTS,) heights. level: z of the plane under the feet. hip: (3,) of the abduction joint from the
            wanted place at landing, x along the heading, z in the world. travel: (3,) how far it moves until the foot lifts off again.
        reach: farthest a foot may be from it. last: number of the point nearest to the place chosen before, or -1. ground: a ``Ground``.
    """
    best, best_cost = -1, _HOPELESS
    if patch.max() - patch.min() < 1e-3 and abs(patch[CENTRE] - level) < ground.highest_rise_m:
        return CENTRE
    for i in range(BEHIND, BEHIND + 2 * AHEAD + 1):
        for j in range(AROUND, AROUND + 2 * ASIDE + 1):
            n = i * COLUMNS + j
            cost = foothold_cost(patch, i, j, level, hip, travel, reach, ground)
            if n == last:
                cost -= ground.stay_cost
            if cost < best_cost:
                best, best_cost = n, cost
    return best


@njit(cache=True, nogil=True, forceinline=True)
def shank_lean(ahead, below):  # type: ignore[no-untyped-def]
    """Angle of the shank from the vertical, backwards from the foot, that is this far ahead of and below its hip; at least 0.1 rad."""
    length = np.hypot(ahead, below)
    length = min(max(length, 0.2), THIGH_M + SHANK_M - 1e-3)
    bend = np.arccos((SHANK_M * SHANK_M + length * length - THIGH_M * THIGH_M) / (2.0 * SHANK_M * length))
    return min(max(np.arctan2(ahead, max(below, 0.1)) + bend, 0.1), 1.4)


@njit(cache=True, nogil=True)
def foothold_cost(patch, i, j, level, hip, travel, reach, ground):  # type: ignore[no-untyped-def]
    """Cost of the point in row i and column j, see ``choose``; 0 in the wanted place on flat ground."""
    h = patch[i * COLUMNS + j]
    x, y = (i - BEHIND - AHEAD) * SPACING_M, (j - AROUND - ASIDE) * SPACING_M
    cost = ground.distance_cost * 100.0 * (x * x + y * y)
    near, far = 0.0, 0.0
    for a in range(-2, 3):
        for b in range(-2, 3):
            rough = abs(patch[(i + a) * COLUMNS + j + b] - h)
            far = max(far, rough)
            if abs(a) < 2 and abs(b) < 2:
                near = max(near, rough)
    cost += 10.0 * ground.near_cost * min(max(near - ground.near_m, 0.0), 0.15)
    cost += 10.0 * ground.far_cost * min(max(far - ground.far_m, 0.0), 0.15)
    steepness = 1.0 / np.tan(shank_lean(x - hip[0], hip[2] - h - FOOT_RADIUS_M))
    for k in range(1, BEHIND + 1):
        # Where the shank passes above a point k cells behind the foot; its own width is left out.
        in_the_way = patch[(i - k) * COLUMNS + j] - h - FOOT_RADIUS_M - max(k * SPACING_M - 0.03, 0.0) * steepness
        if in_the_way > 0.0:
            cost += 10.0 * ground.lean_cost * min(in_the_way, 0.1)
    rise = h - level
    if abs(rise) > ground.highest_rise_m:
        cost += 50.0 + 100.0 * (abs(rise) - ground.highest_rise_m)
    for end in range(2):
        dx, dy, dz = hip[0] + end * travel[0] - x, hip[1] + end * travel[1] - y, hip[2] + end * travel[2] - h - FOOT_RADIUS_M
        too_far = np.sqrt(dx * dx + dy * dy + dz * dz) - reach
        if too_far > 0.0:
            cost += 10.0 * ground.reach_cost * too_far
    return cost


@njit(cache=True, nogil=True)
def ground_normal(patch, n, yaw, out):  # type: ignore[no-untyped-def]
    """Write the normal (3,) in the world of the ground at candidate n; what is no even ramp counts as level."""
    front, back, left, right = patch[n + 2 * COLUMNS], patch[n - 2 * COLUMNS], patch[n + 2], patch[n - 2]
    ahead, aside = (front - back) / (4.0 * SPACING_M), (left - right) / (4.0 * SPACING_M)
    bent = max(abs(front + back - 2.0 * patch[n]), abs(left + right - 2.0 * patch[n]))
    if max(abs(ahead), abs(aside)) > STEEPEST or bent > BENT_M:
        ahead, aside = 0.0, 0.0
    c, s, length = np.cos(yaw), np.sin(yaw), np.sqrt(1.0 + ahead * ahead + aside * aside)
    out[0], out[1], out[2] = (s * aside - c * ahead) / length, (-s * ahead - c * aside) / length, 1.0 / length
