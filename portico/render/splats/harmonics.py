"""Colour that depends on the direction of view: real spherical harmonics to degree 3, red, green and blue at once."""

from __future__ import annotations

import numpy as np

from portico.render.splats.prepared import kernel

_C0 = np.float32(0.28209479177387814)
_C1 = np.float32(0.4886025119029199)
_C2 = tuple(np.float32(c) for c in (1.0925484305920792, -1.0925484305920792, 0.31539156525252005, -1.0925484305920792, 0.5462742152960396))
_C2_0, _C2_1, _C2_2, _C2_3, _C2_4 = _C2
_C3 = (-0.5900435899266435, 2.890611442640554, -0.4570457994644658, 0.3731763325901154, -0.4570457994644658, 1.445305721320277, -0.5900435899266435)
_C3_0, _C3_1, _C3_2, _C3_3, _C3_4, _C3_5, _C3_6 = (np.float32(c) for c in _C3)
_ZERO, _HALF, _TWO, _THREE, _FOUR = np.float32(0.0), np.float32(0.5), np.float32(2.0), np.float32(3.0), np.float32(4.0)


@kernel
def color_towards(sh, i, x, y, z):  # type: ignore[no-untyped-def]
    """Red, green and blue of Gaussian i of sh (N, K, 3), seen along the unit direction (x, y, z) from the camera to it.

    Basis, order and signs are those that captures are trained with (Kerbl et al. 2023): orders from -l to l, odd ones negated;
    0.5 is added and negative values are cut to 0. 1 is full brightness, already in sRGB.
    """
    r, g, b = _HALF + _C0 * sh[i, 0, 0], _HALF + _C0 * sh[i, 0, 1], _HALF + _C0 * sh[i, 0, 2]
    if sh.shape[1] > 1:
        r, g, b = _add(sh, i, 1, -_C1 * y, r, g, b)
        r, g, b = _add(sh, i, 2, _C1 * z, r, g, b)
        r, g, b = _add(sh, i, 3, -_C1 * x, r, g, b)
    if sh.shape[1] > 4:
        xx, yy, zz = x * x, y * y, z * z
        r, g, b = _add(sh, i, 4, _C2_0 * x * y, r, g, b)
        r, g, b = _add(sh, i, 5, _C2_1 * y * z, r, g, b)
        r, g, b = _add(sh, i, 6, _C2_2 * (_TWO * zz - xx - yy), r, g, b)
        r, g, b = _add(sh, i, 7, _C2_3 * x * z, r, g, b)
        r, g, b = _add(sh, i, 8, _C2_4 * (xx - yy), r, g, b)
        if sh.shape[1] > 9:
            r, g, b = _add(sh, i, 9, _C3_0 * y * (_THREE * xx - yy), r, g, b)
            r, g, b = _add(sh, i, 10, _C3_1 * x * y * z, r, g, b)
            r, g, b = _add(sh, i, 11, _C3_2 * y * (_FOUR * zz - xx - yy), r, g, b)
            r, g, b = _add(sh, i, 12, _C3_3 * z * (_TWO * zz - _THREE * (xx + yy)), r, g, b)
            r, g, b = _add(sh, i, 13, _C3_4 * x * (_FOUR * zz - xx - yy), r, g, b)
            r, g, b = _add(sh, i, 14, _C3_5 * z * (xx - yy), r, g, b)
            r, g, b = _add(sh, i, 15, _C3_6 * x * (xx - _THREE * yy), r, g, b)
    return max(r, _ZERO), max(g, _ZERO), max(b, _ZERO)


@kernel
def _add(sh, i, k, weight, r, g, b):  # type: ignore[no-untyped-def]
    return r + weight * sh[i, k, 0], g + weight * sh[i, k, 1], b + weight * sh[i, k, 2]
