"""Gaussians on the image: those in view, each as the ellipse that its linearised projection makes (Zwicker et al. 2001).

The ellipse is kept in a form that stays exact for needles across the whole image: rows have centres x(dy) = X + SLOPE dy, and
with u = x - x(dy) the Gaussian at a pixel is opacity * 2^(8 (-A u^2 - E dy^2)). The usual form a dx^2 + 2 b dx dy + c dy^2
cancels large numbers there.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.render.splats.harmonics import color_towards
from portico.render.splats.prepared import FAINTEST, Prepared, Singles, SplatView, kernel

#: Fields of a splat. X, Y: centre, pixels. SLOPE, A, E: see above. LOG: log2(opacity) / 8. DEPTH: metres along z.
#: RX, RY: half width and half height of what is not too faint, pixels; RY is -1 where nothing is seen.
X, Y, SLOPE, A, E, LOG, DEPTH, RED, GREEN, BLUE, RX, RY = range(12)
FIELDS = 12

#: An eighth of the logarithm of the faintest value that counts.
LOG_FAINTEST = np.float32(np.log2(FAINTEST) / 8.0)
# Variance that a pixel's own size adds, pixels squared (Kerbl et al. 2023).
_PIXEL_VARIANCE = np.float32(0.3)
# Takes d^2 / variance to an eighth of a binary logarithm: exp(-q / 2) = 2^(8 (-q / (16 ln 2))).
_TO_LOG = np.float32(1.0 / (16.0 * np.log(2.0)))
_EIGHTH = np.float32(0.125)
_ZERO, _ONE, _HALF, _INFINITE = np.float32(0.0), np.float32(1.0), np.float32(0.5), np.float32(np.inf)
# Wider than the pixel variance reaches at full opacity, so that culling by eye measure drops nothing that is seen.
_MARGIN_PX = np.float32(2.0)
_BLOCK = 4096


def splats_in_view(prepared: Prepared, view: SplatView, threads: int) -> tuple[Singles, Singles, NDArray[np.int32]]:
    """(V, FIELDS) splats in the order of their Gaussians; their depths (V,), inf where nothing is seen; and each one's Gaussian (V,)."""
    count = len(prepared.means)
    kept = np.empty(count, np.int32)
    begin = np.zeros(-(-count // _BLOCK) + 1, np.int64)
    _survey(prepared.means, prepared.reach, view, kept, begin, threads)
    np.cumsum(begin, out=begin)
    splats = np.empty((int(begin[-1]), FIELDS), np.float32)
    depth, gaussian = np.empty(len(splats), np.float32), np.empty(len(splats), np.int32)
    _project(*prepared, view, kept, begin, splats, depth, gaussian, threads)
    return splats, depth, gaussian


@njit(cache=True, parallel=True, error_model="numpy")
def _survey(means: Singles, reach: Singles, view: SplatView, kept: NDArray[np.int32], begin: NDArray[np.int64], threads: int) -> None:
    """Write the Gaussians of every block that may touch the image from its start in ``kept``, their number to ``begin[block + 1]``."""
    for slot in prange(threads):
        for block in range(slot, len(begin) - 1, threads):
            begin[block + 1] = _survey_block(means, reach, view, kept, block * _BLOCK, min((block + 1) * _BLOCK, len(means)))


@kernel
def _survey_block(means, reach, view, kept, first, last):  # type: ignore[no-untyped-def]
    along_x = view.focal * np.float32(np.sqrt(_ONE + view.most_x * view.most_x))
    along_y = view.focal * np.float32(np.sqrt(_ONE + view.most_y * view.most_y))
    left, right = -view.cx - _MARGIN_PX, view.width - view.cx + _MARGIN_PX
    above, below = -view.cy - _MARGIN_PX, view.height - view.cy + _MARGIN_PX
    at = first
    for i in range(first, last):
        px, py, pz = means[i, 0] - view.ox, means[i, 1] - view.oy, means[i, 2] - view.oz
        z = view.zx * px + view.zy * py + view.zz * pz
        x = (view.xx * px + view.xy * py + view.xz * pz) * view.focal
        y = (view.yx * px + view.yy * py + view.yz * pz) * view.focal
        rx, ry = reach[i] * along_x, reach[i] * along_y
        # Written first and kept if it counts: no branch, which would be guessed wrongly at every third one.
        kept[at] = i
        across = (x + rx > left * z) & (x - rx < right * z)
        down = (y + ry > above * z) & (y - ry < below * z)
        at += np.int64((z >= view.near) & (rx >= _ZERO) & across & down)
    return at - first


@njit(cache=True, parallel=True, error_model="numpy")
def _project(
    means: Singles,
    axes: Singles,
    reach: Singles,
    opacity: Singles,
    sh: Singles,
    view: SplatView,
    kept: NDArray[np.int32],
    begin: NDArray[np.int64],
    splats: Singles,
    depth: Singles,
    gaussian: NDArray[np.int32],
    threads: int,
) -> None:
    for slot in prange(threads):
        for block in range(slot, len(begin) - 1, threads):
            for at in range(begin[block], begin[block + 1]):
                i = kept[block * _BLOCK + at - begin[block]]
                gaussian[at] = i
                _project_one(means, axes, opacity, sh, view, i, splats, at)
                depth[at] = splats[at, DEPTH] if splats[at, RY] >= _ZERO else _INFINITE


@kernel
def _project_one(means, axes, opacity, sh, view, i, splats, at):  # type: ignore[no-untyped-def]
    px, py, pz = means[i, 0] - view.ox, means[i, 1] - view.oy, means[i, 2] - view.oz
    z = view.zx * px + view.zy * py + view.zz * pz
    nearness = _ONE / z
    scale = view.focal * nearness
    tx = (view.xx * px + view.xy * py + view.xz * pz) * nearness
    ty = (view.yx * px + view.yy * py + view.yz * pz) * nearness
    sx, sy = min(max(tx, -view.most_x), view.most_x), min(max(ty, -view.most_y), view.most_y)
    # Rows of the projection's derivative in the world frame, then along the Gaussian's axes.
    ux, uy, uz = scale * (view.xx - sx * view.zx), scale * (view.xy - sx * view.zy), scale * (view.xz - sx * view.zz)
    vx, vy, vz = scale * (view.yx - sy * view.zx), scale * (view.yy - sy * view.zy), scale * (view.yz - sy * view.zz)
    u0, v0 = ux * axes[i, 0] + uy * axes[i, 3] + uz * axes[i, 6], vx * axes[i, 0] + vy * axes[i, 3] + vz * axes[i, 6]
    u1, v1 = ux * axes[i, 1] + uy * axes[i, 4] + uz * axes[i, 7], vx * axes[i, 1] + vy * axes[i, 4] + vz * axes[i, 7]
    u2, v2 = ux * axes[i, 2] + uy * axes[i, 5] + uz * axes[i, 8], vx * axes[i, 2] + vy * axes[i, 5] + vz * axes[i, 8]
    xx, xy, yy = u0 * u0 + u1 * u1 + u2 * u2, u0 * v0 + u1 * v1 + u2 * v2, v0 * v0 + v1 * v1 + v2 * v2
    # The determinant of xx yy - xy xy as a sum of squares (Cauchy and Binet), which stays positive for needles.
    a, b, c = u0 * v1 - u1 * v0, u0 * v2 - u2 * v0, u1 * v2 - u2 * v1
    determinant = a * a + b * b + c * c + _PIXEL_VARIANCE * (xx + yy + _PIXEL_VARIANCE)
    xx, yy = xx + _PIXEL_VARIANCE, yy + _PIXEL_VARIANCE
    log = np.float32(np.log2(opacity[i])) * _EIGHTH
    spread = max(log - LOG_FAINTEST, _ZERO) / _TO_LOG
    center_x, center_y, rx, ry = view.cx + tx * view.focal, view.cy + ty * view.focal, np.sqrt(spread * xx), np.sqrt(spread * yy)
    # What is blown up beyond single precision is left out: indices of tiles are made from these numbers.
    covers = determinant < _INFINITE and _covers_a_center(center_x, rx, view.width) and _covers_a_center(center_y, ry, view.height)
    splats[at, X], splats[at, Y], splats[at, SLOPE], splats[at, A], splats[at, E] = center_x, center_y, xy / yy, _TO_LOG * yy / determinant, _TO_LOG / yy
    splats[at, LOG], splats[at, DEPTH], splats[at, RX], splats[at, RY] = log, z, rx, ry if covers else -_ONE
    if covers:
        shrink = _ONE / np.sqrt(px * px + py * py + pz * pz)
        splats[at, RED], splats[at, GREEN], splats[at, BLUE] = color_towards(sh, i, px * shrink, py * shrink, pz * shrink)


@kernel
def _covers_a_center(center, radius, size):  # type: ignore[no-untyped-def]
    """Whether the centre of one of ``size`` pixels lies within a radius."""
    return np.ceil(max(center - radius - _HALF, _ZERO)) <= np.floor(min(center + radius - _HALF, size - _ONE))
