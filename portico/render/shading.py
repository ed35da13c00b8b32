"""From the visibility buffer to images, each pixel once."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.render.paint import NX, NY, NZ, Paint
from portico.render.shade_row import shade_row
from portico.render.textures import Atlas
from portico.render.views import View

Triple = tuple[float, float, float]


@njit(cache=True, error_model="numpy", parallel=True)
def shade_measures(
    nearness: NDArray[np.float32],
    face: NDArray[np.int32],
    view: View,
    instances: NDArray[np.int32],
    categories: NDArray[np.int32],
    light: NDArray[np.float32],
    depth: NDArray[np.float32],
    instance: NDArray[np.int32],
    semantic: NDArray[np.int32],
    normal: NDArray[np.float32],
    threads: int,
) -> None:
    """All channels but colour, in one go; an output without rows is not wanted."""
    for slot in prange(threads):
        for row in range(slot, nearness.shape[0], threads):
            if len(depth):
                _depth_row(nearness, view, depth, row)
            if len(instance):
                _label_row(face, instances, instance, row)
            if len(semantic):
                _label_row(face, categories, semantic, row)
            if len(normal):
                _normal_row(face, view, light, normal, row)


@njit(cache=True, error_model="numpy")
def _depth_row(nearness: NDArray[np.float32], view: View, out: NDArray[np.float32], row: int) -> None:
    """z-depth in metres, inf where nothing is seen."""
    infinite, one, far = np.float32(np.inf), np.float32(1.0), np.float32(view.far)
    for column in range(out.shape[1]):
        near = nearness[row, column]
        if view.perspective:
            out[row, column] = one / near if near > 0.0 else infinite
        else:
            out[row, column] = far - near if near > 0.0 else infinite


@njit(cache=True, error_model="numpy")
def _label_row(face: NDArray[np.int32], labels: NDArray[np.int32], out: NDArray[np.int32], row: int) -> None:
    """The label of the triangle each pixel sees, 0 where it sees none."""
    for column in range(out.shape[1]):
        f = face[row, column]
        out[row, column] = labels[f] if f >= 0 else 0


@njit(cache=True, error_model="numpy")
def _normal_row(face: NDArray[np.int32], view: View, light: NDArray[np.float32], out: NDArray[np.float32], row: int) -> None:
    """Unit normals in the world frame on the side that is seen, zeros where nothing is."""
    for column in range(out.shape[1]):
        f = face[row, column]
        if f < 0:
            out[row, column, 0] = out[row, column, 1] = out[row, column, 2] = 0.0
            continue
        ray = _ray(view, column + 0.5, row + 0.5)
        nx, ny, nz = light[f, NX], light[f, NY], light[f, NZ]
        if nx * ray[0] + ny * ray[1] + nz * ray[2] > 0.0:
            nx, ny, nz = -nx, -ny, -nz
        out[row, column, 0], out[row, column, 1], out[row, column, 2] = nx, ny, nz


@njit(cache=True, error_model="numpy", parallel=True)
def shade_rgb(
    nearness: NDArray[np.float32],
    face: NDArray[np.int32],
    view: View,
    paint: Paint,
    atlas: Atlas,
    rays: View,
    lit: NDArray[np.float32],
    out: NDArray[np.uint8],
    threads: int,
) -> None:
    """sRGB colour: texture times material times light, plus what glows; the sky where nothing is seen.

    ``rays`` and ``lit`` are the sun's shadow map: its view and the nearness it sees.
    """
    light, look, material, uv, tone, sky = paint
    texels, levels, tiled, linear = atlas
    for slot in prange(threads):
        for row in range(slot, out.shape[0], threads):
            shade_row(nearness, face, view, light, look, material, uv, tone, sky, texels, levels, tiled, linear, rays, lit, out, row)


@njit(cache=True, error_model="numpy", forceinline=True)
def _ray(view: View, x: float, y: float) -> Triple:
    """The direction through an image point, world frame, one metre of depth long."""
    if not view.perspective:
        return view.zx, view.zy, view.zz
    u, v = (x - view.cx) / view.scale, (y - view.cy) / view.scale
    return view.xx * u + view.yx * v + view.zx, view.xy * u + view.yy * v + view.zy, view.xz * u + view.yz * v + view.zz
