"""How a foot flies: up, over what lies between lift-off and landing, and down."""

from __future__ import annotations

from numba import njit

#: Points of the terrain looked at between lift-off and landing.
PATH_POINTS = 9
#: Share of the flight after which the foot is up, begins to come down, and those between which it moves across.
_UP, _DOWN = 0.42, 0.55
_LEAVE, _ARRIVE = 0.08, 0.9


@njit(cache=True, nogil=True, forceinline=True)
def _smooth(t):  # type: ignore[no-untyped-def]
    """0 to 1 with rest at both ends (fifth order)."""
    t = min(max(t, 0.0), 1.0)
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))


@njit(cache=True, nogil=True)
def swing_position(lift, land, apex_z, t, out):  # type: ignore[no-untyped-def]
    """Write where a foot (3,) is at a share t of its flight between two points (3,), going over ``apex_z``."""
    across = _smooth((t - _LEAVE) / (_ARRIVE - _LEAVE))
    out[0] = lift[0] + across * (land[0] - lift[0])
    out[1] = lift[1] + across * (land[1] - lift[1])
    if t < _UP:
        out[2] = lift[2] + (apex_z - lift[2]) * _smooth(t / _UP)
    elif t < _DOWN:
        out[2] = apex_z
    else:
        out[2] = land[2] + (apex_z - land[2]) * (1.0 - _smooth((t - _DOWN) / (1.0 - _DOWN)))


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
