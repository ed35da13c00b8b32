"""Real spherical harmonics of degree 0 to 3, in the order and sign of the INRIA reference code, and how a rotation mixes them.

Formulas: github.com/graphdeco-inria/gaussian-splatting, utils/sh_utils.py; P. Sloan, "Efficient Spherical Harmonic Evaluation" (2013).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from portico.world.gaussians import SH_C0, SH_COEFFICIENTS

_C1 = 0.4886025119029199
_C2 = (1.0925484305920792, -1.0925484305920792, 0.31539156525252005, -1.0925484305920792, 0.5462742152960396)
_C3 = (-0.5900435899266435, 2.890611442640554, -0.4570457994644658, 0.3731763325901154, -0.4570457994644658, 1.445305721320277, -0.5900435899266435)


def evaluate_basis(directions: NDArray[np.floating], degree: int) -> NDArray[np.float64]:
    """Values of the harmonics up to a degree in unit directions (M, 3), from camera to Gaussian: (M, K).

    The colour of a Gaussian in them is ``0.5 + evaluate_basis(directions, degree) @ sh``, before clipping at 0.
    """
    x, y, z = np.asarray(directions, np.float64).T
    xx, yy, zz = x * x, y * y, z * z
    columns = [np.full_like(x, SH_C0)]
    if degree >= 1:
        columns += [-_C1 * y, _C1 * z, -_C1 * x]
    if degree >= 2:
        columns += [_C2[0] * x * y, _C2[1] * y * z, _C2[2] * (2.0 * zz - xx - yy), _C2[3] * x * z, _C2[4] * (xx - yy)]
    if degree >= 3:
        columns += [_C3[0] * y * (3.0 * xx - yy), _C3[1] * x * y * z, _C3[2] * y * (4.0 * zz - xx - yy)]
        columns += [_C3[3] * z * (2.0 * zz - 3.0 * xx - 3.0 * yy), _C3[4] * x * (4.0 * zz - xx - yy)]
        columns += [_C3[5] * z * (xx - yy), _C3[6] * x * (xx - 3.0 * yy)]
    return np.stack(columns, axis=1)


def band_rotations(rotation: NDArray[np.float64], degree: int) -> list[NDArray[np.float64]]:
    """For each degree l from 1: the (2l+1, 2l+1) matrix that turns its coefficients along with a rotation (3, 3).

    A rotation maps the harmonics of one degree onto each other, so that asking for the old colour in the turned direction, at more
    directions than coefficients, is a linear system without residual: least squares gives its exact solution.
    """
    directions = _spread_directions()
    before, after = evaluate_basis(directions, degree), evaluate_basis(directions @ rotation.T, degree)
    bands = [slice(start, end) for start, end in pairwise(SH_COEFFICIENTS[: degree + 1])]
    return [np.linalg.lstsq(after[:, band], before[:, band], rcond=None)[0].astype(np.float64) for band in bands]


def _spread_directions(count: int = 64) -> NDArray[np.float64]:
    """Unit vectors spread evenly over the sphere along a golden spiral: (count, 3)."""
    index = np.arange(count) + 0.5
    z = 1.0 - 2.0 * index / count
    azimuth = np.pi * (1.0 + np.sqrt(5.0)) * index
    radius = np.sqrt(1.0 - z * z)
    return np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), z])
