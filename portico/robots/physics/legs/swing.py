"""How a foot flies: up, over what lies between lift-off and landing, and down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

#: Points of the terrain looked at between lift-off and landing.
PATH_POINTS = 9


class Flight(NamedTuple):
    """Timing of a flight, in shares of it, and its height.

    Attributes:
        up: the foot is up by then. down: it begins to come down then. leave, arrive: it moves across between these.
        soonest_up, latest_down: limits when a step on the way asks for being up earlier or longer.
        clearance_m: above the ground on the way.
    """

    up: float = 0.42
    down: float = 0.55
    leave: float = 0.08
    arrive: float = 0.88
    soonest_up: float = 0.42
    latest_down: float = 0.72
    clearance_m: float = 0.07


#: A step up or down begins where the ground differs by this much, metres.
_EDGE_M = 0.03


@njit(cache=True, nogil=True, forceinline=True)
def _smooth(t):  # type: ignore[no-untyped-def]
    """0 to 1 with rest at both ends (fifth order)."""
    t = min(max(t, 0.0), 1.0)
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))


@njit(cache=True, nogil=True, forceinline=True)
def _reached(share):  # type: ignore[no-untyped-def]
    """When ``_smooth`` reaches a share, to 0.02."""
    return np.arccos(1.0 - 2.0 * min(max(share, 0.0), 1.0)) / np.pi


@njit(cache=True, nogil=True)
def swing_position(lift, land, apex_z, timing, t, out):  # type: ignore[no-untyped-def]
    """Write where a foot (3,) is at a share t of its flight between two points (3,), going over ``apex_z``; timing as ``time_flight`` writes it."""
    up, down, leave, arrive = timing[0], timing[1], timing[2], timing[3]
    across = _smooth((t - leave) / (arrive - leave))
    out[0] = lift[0] + across * (land[0] - lift[0])
    out[1] = lift[1] + across * (land[1] - lift[1])
    if t < up:
        out[2] = lift[2] + (apex_z - lift[2]) * _smooth(t / up)
    elif t < down:
        out[2] = apex_z
    else:
        out[2] = land[2] + (apex_z - land[2]) * (1.0 - _smooth((t - down) / (1.0 - down)))


@njit(cache=True, nogil=True)
def path_points(lift, land, out):  # type: ignore[no-untyped-def]
    """Write where the terrain between lift-off and landing is looked at, (PATH_POINTS, 2)."""
    for n in range(PATH_POINTS):
        share = n / (PATH_POINTS - 1)
        out[n, 0] = lift[0] + share * (land[0] - lift[0])
        out[n, 1] = lift[1] + share * (land[1] - lift[1])


@njit(cache=True, nogil=True)
def apex_over(lift_z, land_z, ground, clearance, foot_radius, highest_rise):  # type: ignore[no-untyped-def]
    """Height of the flight above all of the ground (PATH_POINTS,) on its way, metres; walls do not raise it beyond ``highest_rise``."""
    top = max(lift_z, land_z)
    for n in range(ground.shape[0]):
        if ground[n] + foot_radius < lift_z + highest_rise:
            top = max(top, ground[n] + foot_radius)
    return top + clearance


@njit(cache=True, nogil=True)
def time_flight(lift, land, ground, foot_radius, flight, timing):  # type: ignore[no-untyped-def]
    """Write up, down, leave, arrive (4,): up before the first edge on the way, not down before the last one; ground: (PATH_POINTS,) heights."""
    timing[0], timing[1], timing[2], timing[3] = flight.up, flight.down, flight.leave, flight.arrive
    length = np.hypot(land[0] - lift[0], land[1] - lift[1])
    if length < 0.02:
        return
    margin = foot_radius / length
    first, last = 2.0, -1.0
    for n in range(PATH_POINTS):
        share = n / (PATH_POINTS - 1)
        if ground[n] > lift[2] - foot_radius + _EDGE_M:
            first = min(first, share - margin)
        if ground[n] > land[2] - foot_radius + _EDGE_M:
            last = max(last, share + margin)
    across = flight.arrive - flight.leave
    if first < 1.5:
        timing[0] = min(max(flight.leave + across * _reached(first), flight.soonest_up), flight.up)
    if last > -0.5:
        timing[1] = min(max(flight.leave + across * _reached(last), flight.down), flight.latest_down)
