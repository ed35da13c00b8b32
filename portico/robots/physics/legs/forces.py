"""How the feet share the force and torque that the body needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Grip(NamedTuple):
    """Limits and weights of the forces at the feet.

    Attributes:
        friction: force along the ground over force into it stays below this. highest_n: force of one foot into the ground.
        torque_weight: squared error of 1 N m against that of 1 N; ease: squared force of a foot against a squared error.
        sweeps: of the block descent.
    """

    friction: float = 0.42
    highest_n: float = 450.0
    torque_weight: float = 16.0
    ease: float = 2e-3
    sweeps: int = 25


@njit(cache=True, nogil=True)
def share_forces(feet, normals, carrying, wrench, friction, grip, forces):  # type: ignore[no-untyped-def]
    """Improve forces (4, 3) until they add up to a wrench (6,) of force and torque at the centre of mass, as well as friction allows.

    Minimises |force error|^2 + torque_weight |torque error|^2 + ease |forces|^2 over friction cones by block coordinate descent, one
    foot after the other; starts from the given forces, those of the last period.

    Args:
        feet: (4, 3) metres from the centre of mass, axes of the world. normals: (4, 3) of the ground under them. carrying: (4,) 0 to 1, how far a foot may be used.
        friction: counted on now, at most ``grip.friction``. forces: (4, 3) newtons on the body, changed in place.
    """
    error = wrench.copy()
    for leg in range(4):
        if carrying[leg] <= 0.0:
            forces[leg, :] = 0.0
        _add(error, feet[leg], forces[leg], -1.0)
    inverse = np.empty((4, 3, 3))
    for leg in range(4):
        x, y, z = feet[leg, 0], feet[leg, 1], feet[leg, 2]
        w, d = grip.torque_weight, 1.0 + grip.ease
        h = np.array(
            [
                [d + w * (y * y + z * z), -w * x * y, -w * x * z],
                [-w * x * y, d + w * (x * x + z * z), -w * y * z],
                [-w * x * z, -w * y * z, d + w * (x * x + y * y)],
            ]
        )
        inverse[leg] = np.linalg.inv(h)
    g, step = np.empty(3), np.empty(3)
    for _ in range(grip.sweeps):
        for leg in range(4):
            if carrying[leg] <= 0.0:
                continue
            r, f = feet[leg], forces[leg]
            w = grip.torque_weight
            g[0] = error[0] + w * (r[2] * error[4] - r[1] * error[5]) - grip.ease * f[0]
            g[1] = error[1] + w * (r[0] * error[5] - r[2] * error[3]) - grip.ease * f[1]
            g[2] = error[2] + w * (r[1] * error[3] - r[0] * error[4]) - grip.ease * f[2]
            for i in range(3):
                step[i] = f[i]
                for j in range(3):
                    step[i] += inverse[leg, i, j] * g[j]
            _within(step, normals[leg], friction, grip.highest_n * carrying[leg])
            for i in range(3):
                step[i], f[i] = step[i] - f[i], step[i]
            _add(error, r, step, -1.0)


@njit(cache=True, nogil=True, forceinline=True)
def _add(wrench, r, force, sign):  # type: ignore[no-untyped-def]
    wrench[0] += sign * force[0]
    wrench[1] += sign * force[1]
    wrench[2] += sign * force[2]
    wrench[3] += sign * (r[1] * force[2] - r[2] * force[1])
    wrench[4] += sign * (r[2] * force[0] - r[0] * force[2])
    wrench[5] += sign * (r[0] * force[1] - r[1] * force[0])


@njit(cache=True, nogil=True, forceinline=True)
def _within(force, normal, friction, highest):  # type: ignore[no-untyped-def]
    """Cut a force down to what the foot can push against ground with this normal."""
    into = force[0] * normal[0] + force[1] * normal[1] + force[2] * normal[2]
    kept = min(max(into, 0.0), highest)
    x, y, z = force[0] - into * normal[0], force[1] - into * normal[1], force[2] - into * normal[2]
    across, limit = np.sqrt(x * x + y * y + z * z), friction * kept
    share = limit / across if across > limit else 1.0
    force[0], force[1], force[2] = kept * normal[0] + share * x, kept * normal[1] + share * y, kept * normal[2] + share * z
