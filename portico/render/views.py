"""How points of the world land on an image: perspective for cameras, orthographic for maps and shadows.

Both store a *nearness* per pixel that is affine in the image plane and grows towards the viewer: 1/z in perspective,
``far - z`` in orthographic views. One rasteriser serves both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portico.geometry import Floats
from portico.interface import Camera

#: Nothing nearer than this to a pinhole is seen.
NEAR_M = 0.05


class View(NamedTuple):
    """A projection. Pixel (row r, column c) has its centre at (c + 0.5, r + 0.5). Plain numbers, so kernels keep it in registers.

    Attributes:
        xx, xy, xz, yx, ... zz: the view's x (right), y (down) and z (forward) axes in the world frame.
        ox, oy, oz: world position of the pinhole, or of the image centre on the plane z = 0.
        scale: pixels per unit of X/Z (focal length), or pixels per metre.
        cx, cy: image position of the optical axis.
        near, far: metres along z; ``far`` matters for orthographic views only.
    """

    xx: float
    xy: float
    xz: float
    yx: float
    yy: float
    yz: float
    zx: float
    zy: float
    zz: float
    ox: float
    oy: float
    oz: float
    scale: float
    cx: float
    cy: float
    width: int
    height: int
    near: float
    far: float
    perspective: bool


def perspective_view(T_world_camera: Floats, camera: Camera, *, samples: int = 1) -> View:
    """The view of a pinhole camera; ``samples`` multiplies both image sides (supersampling).

    Raises:
        ValueError: the pose holds NaN or infinity, as that of a robot whose simulation has diverged.
    """
    T = np.asarray(T_world_camera, dtype=np.float64)
    if not np.isfinite(T).all():
        raise ValueError(f"the camera pose is not finite: {T.tolist()}")
    width, height = camera.width * samples, camera.height * samples
    axes, center = T[:3, :3].T.ravel().tolist(), T[:3, 3].tolist()
    return View._make((*axes, *center, camera.focal_px * samples, 0.5 * width, 0.5 * height, width, height, NEAR_M, 0.0, True))


def orthographic_view(axes: Floats, center: Floats, pixels_per_m: float, width: int, height: int, depth_m: float) -> View:
    """A parallel view along ``axes[2]`` whose image is centred on ``center`` and sees ``depth_m`` deep from there.

    axes (3, 3): rows are the view's right, down and forward, world frame. center (3,).
    """
    numbers = np.concatenate([np.ravel(axes), np.ravel(center)]).astype(np.float64).tolist()
    return View._make((*numbers, float(pixels_per_m), 0.5 * width, 0.5 * height, width, height, 0.0, float(depth_m), False))
