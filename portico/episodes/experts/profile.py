"""The time law along a way: jerk-limited changes of speed between stretches of constant speed.

Between two speeds the acceleration ramps up, holds and ramps down (the S-curve of Biagiotti and Melchiorri, "Trajectory
Planning for Automatic Machines and Robots", 2008, section 3.4); corners are taken at one speed each. A profile is a list of
phases of constant jerk: (P, 4) duration, and speed, acceleration and jerk at its beginning. Metres, radians, seconds.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from numba import njit

_HALVINGS = 60
#: Phases of one stretch: three to speed up, one at the top, three to slow down.
STRETCH_PHASES = 7
_INSTANT_S = 1e-12


@njit(cache=True, nogil=True)
def change_length(before, after, acceleration, jerk):  # type: ignore[no-untyped-def]
    """Metres that a change from one speed to another takes, with no acceleration at either end."""
    change = abs(after - before)
    full = acceleration * acceleration / jerk
    duration = 2.0 * sqrt(change / jerk) if change <= full else change / acceleration + acceleration / jerk
    return 0.5 * (before + after) * duration


@njit(cache=True, nogil=True)
def reachable(before, length, most, acceleration, jerk):  # type: ignore[no-untyped-def]
    """The highest speed, at most ``most``, that can be had after a length; ``before`` itself after none."""
    if most <= before or change_length(before, most, acceleration, jerk) <= length:
        return most
    low, high = before, most
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if change_length(before, middle, acceleration, jerk) <= length:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def peak_speed(before, after, length, most, acceleration, jerk):  # type: ignore[no-untyped-def]
    """The highest speed in between on a stretch that begins and ends at given speeds, which its length allows."""
    low, high = max(before, after), most
    if change_length(before, most, acceleration, jerk) + change_length(most, after, acceleration, jerk) <= length:
        return most
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if change_length(before, middle, acceleration, jerk) + change_length(middle, after, acceleration, jerk) <= length:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def knot_speeds(lengths, most, acceleration, jerk):  # type: ignore[no-untyped-def]
    """Speeds at the knots (K + 1,) between stretches (K,), none above ``most`` (K + 1,), such that every stretch can be driven."""
    speeds = most.copy()
    for k in range(lengths.size):
        speeds[k + 1] = reachable(speeds[k], lengths[k], speeds[k + 1], acceleration, jerk)
    for k in range(lengths.size - 1, -1, -1):
        speeds[k] = reachable(speeds[k + 1], lengths[k], speeds[k], acceleration, jerk)
    return speeds


@njit(cache=True, nogil=True)
def _add_change(phases, n, before, after, acceleration, jerk):  # type: ignore[no-untyped-def]
    """Append the phases that lead from one speed to another; returns how many phases there are then."""
    change, sign = abs(after - before), 1.0 if after > before else -1.0
    if change == 0.0:
        return n
    ramp = min(acceleration / jerk, sqrt(change / jerk))
    top = sign * jerk * ramp
    hold = max(0.0, change / (jerk * ramp) - ramp)
    phases[n] = (ramp, before, 0.0, sign * jerk)
    phases[n + 1] = (hold, before + 0.5 * top * ramp, top, 0.0)
    phases[n + 2] = (ramp, after - 0.5 * top * ramp, top, -sign * jerk)
    return n + 3


@njit(cache=True, nogil=True)
def add_stretch(phases, n, before, after, length, most, acceleration, jerk):  # type: ignore[no-untyped-def]
    """Append a stretch of exactly a length between two speeds, no faster than ``most``; returns how many phases there are then."""
    peak = peak_speed(before, after, length, most, acceleration, jerk)
    rest = length - change_length(before, peak, acceleration, jerk) - change_length(peak, after, acceleration, jerk)
    n = _add_change(phases, n, before, peak, acceleration, jerk)
    if rest > 0.0 and peak > 0.0:
        phases[n] = (rest / peak, peak, 0.0, 0.0)
        n += 1
    return _add_change(phases, n, peak, after, acceleration, jerk)


@njit(cache=True, nogil=True)
def steps_of(phases, dt):  # type: ignore[no-untyped-def]
    """Whole steps that the phases take."""
    return ceil(phases[:, 0].sum() / dt - _INSTANT_S / dt)


@njit(cache=True, nogil=True)
def sampled(phases, dt, total):  # type: ignore[no-untyped-def]
    """Lengths (N + 1,) covered at every step of dt; the last one is ``total``."""
    count = steps_of(phases, dt)
    covered = np.empty(count + 1)
    p, began, before = 0, 0.0, 0.0
    for k in range(count):
        t = k * dt
        while p < phases.shape[0] and t > began + phases[p, 0]:
            d, v, a, j = phases[p]
            began += d
            before += d * (v + d * (0.5 * a + d * j / 6.0))
            p += 1
        covered[k] = total
        if p < phases.shape[0]:
            d, v, a, j = phases[p]
            d = t - began
            covered[k] = min(total, before + d * (v + d * (0.5 * a + d * j / 6.0)))
    covered[count] = total
    return covered


@njit(cache=True, nogil=True)
def turned(angle, most, acceleration, dt):  # type: ignore[no-untyped-def]
    """Angles (N + 1,) from 0 to ``angle`` at every step of a turn on the spot, from rest to rest."""
    size, sign = abs(angle), 1.0 if angle > 0.0 else -1.0
    phases = np.zeros((3, 4))
    ramp = min(most / acceleration, sqrt(size / acceleration))
    top = acceleration * ramp
    hold = max(0.0, size / top - ramp) if top > 0.0 else 0.0
    phases[0] = (ramp, 0.0, acceleration, 0.0)
    phases[1] = (hold, top, 0.0, 0.0)
    phases[2] = (ramp, top, -acceleration, 0.0)
    return sign * sampled(phases, dt, size)
