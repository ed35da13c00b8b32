"""Gaussians made ready for the renderer, and the numbers of a view in the precision that its kernels count in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.interface import Camera
from portico.render.views import perspective_view
from portico.world.gaussians import Gaussians

#: Fainter than this a Gaussian does not count at a pixel.
FAINTEST = 1.0 / 255.0
#: What is nearer to the pinhole is not drawn: Gaussians around the camera would fill the image with fog.
NEAR_M = 0.2
# Beyond this multiple of the image's half width the linearised projection no longer holds and is frozen.
_FREEZE_AT = 1.3
#: 3.33 standard deviations: where a Gaussian of opacity 1 falls to FAINTEST.
_FARTHEST_SIGMAS = float(np.sqrt(2.0 * np.log(255.0)))

Singles = NDArray[np.float32]

#: For what kernels call in their loops: without reference counts of arrays, division by zero as in numpy, and products
#: and sums fused where the machine can.
_PLAIN: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "_nrt": False}
kernel = njit(**_PLAIN)


class Prepared(NamedTuple):
    """N Gaussians.

    Attributes:
        means: (N, 3), metres, world frame.
        axes: (N, 9), the three principal axes as columns of a 3 x 3 matrix, each as long as its standard deviation.
        reach: (N,), metres within which it may be seen from its centre; -1 where it is too faint ever to be seen.
        opacity: (N,). sh: (N, K, 3).
    """

    means: Singles
    axes: Singles
    reach: Singles
    opacity: Singles
    sh: Singles


class SplatView(NamedTuple):
    """A pinhole view; ``views.View`` in single precision, which halves the time of projecting.

    Attributes:
        xx ... zz: the camera's x (right), y (down) and z (forward) axes in the world frame. ox, oy, oz: the pinhole.
        focal, cx, cy: pixels. width, height: pixels. near: metres.
        most_x, most_y: |X/Z| and |Y/Z| at which the linearised projection is frozen.
    """

    xx: np.float32
    xy: np.float32
    xz: np.float32
    yx: np.float32
    yy: np.float32
    yz: np.float32
    zx: np.float32
    zy: np.float32
    zz: np.float32
    ox: np.float32
    oy: np.float32
    oz: np.float32
    focal: np.float32
    cx: np.float32
    cy: np.float32
    width: np.float32
    height: np.float32
    near: np.float32
    most_x: np.float32
    most_y: np.float32


def splat_view(T_world_camera: Floats, camera: Camera, near_m: float) -> SplatView:
    """The view of a camera at ``T_world_camera`` (4, 4).

    Raises:
        ValueError: the pose holds NaN or infinity.
    """
    view = perspective_view(T_world_camera, camera)
    most = (_FREEZE_AT * view.cx / view.scale, _FREEZE_AT * view.cy / view.scale)
    return SplatView._make(np.float32(v) for v in (*view[:15], view.width, view.height, near_m, *most))


def prepare(gaussians: Gaussians) -> Prepared:
    """Everything about Gaussians that no camera changes."""
    axes = np.empty((len(gaussians), 9), np.float32)
    rotations, scales = (np.ascontiguousarray(a, np.float32) for a in (gaussians.rotations_wxyz, gaussians.scales_m))
    _scaled_axes(rotations, scales, axes)
    opacity = np.minimum(gaussians.opacity, 1.0).astype(np.float32)
    means, sh = (np.ascontiguousarray(a, np.float32) for a in (gaussians.means, gaussians.sh))
    # What holds NaN or infinity is never seen: kernels make indices of tiles from these numbers.
    sound = np.isfinite(means).all(axis=1) & np.isfinite(axes).all(axis=1) & (opacity >= FAINTEST)
    reach = np.where(sound, _FARTHEST_SIGMAS * scales.max(axis=1, initial=0.0), -1.0).astype(np.float32)
    return Prepared(means, axes, reach, opacity, sh)


@njit(cache=True, parallel=True)
def _scaled_axes(rotations: Singles, scales: Singles, axes: Singles) -> None:
    for i in prange(len(rotations)):
        w, x, y, z = float(rotations[i, 0]), float(rotations[i, 1]), float(rotations[i, 2]), float(rotations[i, 3])
        s = 2.0 / (w * w + x * x + y * y + z * z)
        axes[i, 0], axes[i, 1], axes[i, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
        axes[i, 3], axes[i, 4], axes[i, 5] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
        axes[i, 6], axes[i, 7], axes[i, 8] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)
        for k in range(9):
            axes[i, k] *= scales[i, k % 3]
