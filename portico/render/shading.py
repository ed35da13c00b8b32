"""From the visibility buffer to images, one kernel per channel, each pixel once."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.render.paint import EVEN, MATERIAL, NX, NY, NZ, SUN, TEXTURE, TONE_LIMIT, TONE_STEPS, UV_ROW, Paint
from portico.render.textures import Atlas, sample
from portico.render.views import View

Triple = tuple[float, float, float]

_TONE_SCALE = TONE_STEPS / TONE_LIMIT


@njit(cache=True, error_model="numpy", parallel=True)
def shade_depth(nearness: NDArray[np.float32], view: View, out: NDArray[np.float32], threads: int) -> None:
    """z-depth in metres, inf where nothing is seen."""
    infinite, one, far = np.float32(np.inf), np.float32(1.0), np.float32(view.far)
    for slot in prange(threads):
        for row in range(slot, out.shape[0], threads):
            for column in range(out.shape[1]):
                near = nearness[row, column]
                if view.perspective:
                    out[row, column] = one / near if near > 0.0 else infinite
                else:
                    out[row, column] = far - near if near > 0.0 else infinite


@njit(cache=True, error_model="numpy", parallel=True)
def shade_labels(face: NDArray[np.int32], labels: NDArray[np.int32], out: NDArray[np.int32], threads: int) -> None:
    """The label of the triangle each pixel sees, 0 where it sees none."""
    for slot in prange(threads):
        for row in range(slot, out.shape[0], threads):
            for column in range(out.shape[1]):
                f = face[row, column]
                out[row, column] = labels[f] if f >= 0 else 0


@njit(cache=True, error_model="numpy", parallel=True)
def shade_normals(face: NDArray[np.int32], view: View, light: NDArray[np.float32], out: NDArray[np.float32], threads: int) -> None:
    """Unit normals in the world frame on the side that is seen, zeros where nothing is."""
    for slot in prange(threads):
        for row in range(slot, out.shape[0], threads):
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
            for column in range(out.shape[1]):
                f = face[row, column]
                x, y = column + 0.5, row + 0.5
                ray = _ray(view, x, y)
                if f < 0:
                    r, g, b = _sky_color(ray, sky)
                else:
                    facing = light[f, NX] * ray[0] + light[f, NY] * ray[1] + light[f, NZ] * ray[2]
                    side = 1 if facing > 0.0 else 0
                    depth = 1.0 / nearness[row, column] if view.perspective else view.far - nearness[row, column]
                    point = _point(view, x, y, depth, ray)
                    m = look[f, MATERIAL]
                    strength = light[f, EVEN + side] + material[m, 3]
                    if light[f, SUN + side] > 0.0:
                        strength += light[f, SUN + side] * _in_sun(point, light, f, side, rays, lit)
                    r, g, b = material[m, 0] * strength, material[m, 1] * strength, material[m, 2] * strength
                    k = look[f, UV_ROW]
                    if k >= 0 and facing != 0.0:
                        scale = depth / view.scale if view.perspective else 1.0 / view.scale
                        u, v, du_dx, dv_dx, du_dy, dv_dy = _footprint(uv, k, point, light, f, ray, facing, scale, view)
                        tr, tg, tb = sample(texels, levels, tiled, linear, look[f, TEXTURE], u, v, du_dx, dv_dx, du_dy, dv_dy)
                        r, g, b = r * tr, g * tg, b * tb
                out[row, column, 0] = tone[min(int(r * _TONE_SCALE), TONE_STEPS - 1)]
                out[row, column, 1] = tone[min(int(g * _TONE_SCALE), TONE_STEPS - 1)]
                out[row, column, 2] = tone[min(int(b * _TONE_SCALE), TONE_STEPS - 1)]


@njit(cache=True, error_model="numpy", forceinline=True)
def _ray(view: View, x: float, y: float) -> Triple:
    """The direction through an image point, world frame, one metre of depth long."""
    if not view.perspective:
        return view.zx, view.zy, view.zz
    u, v = (x - view.cx) / view.scale, (y - view.cy) / view.scale
    return view.xx * u + view.yx * v + view.zx, view.xy * u + view.yy * v + view.zy, view.xz * u + view.yz * v + view.zz


@njit(cache=True, error_model="numpy", forceinline=True)
def _point(view: View, x: float, y: float, depth: float, ray: Triple) -> Triple:
    """The world point at a depth behind an image point."""
    px, py, pz = view.ox + depth * ray[0], view.oy + depth * ray[1], view.oz + depth * ray[2]
    if view.perspective:
        return px, py, pz
    u, v = (x - view.cx) / view.scale, (y - view.cy) / view.scale
    return px + u * view.xx + v * view.yx, py + u * view.xy + v * view.yy, pz + u * view.xz + v * view.yz


@njit(cache=True, error_model="numpy", forceinline=True)
def _footprint(
    uv: Floats, k: int, point: Triple, light: NDArray[np.float32], f: int, ray: Triple, facing: float, scale: float, view: View
) -> tuple[float, float, float, float, float, float]:
    """u, v and how they change from pixel to pixel: one column on, the ray meets the plane at point + scale (x - (n.x / n.ray) ray)."""
    px, py, pz = point[0] - uv[k, 8], point[1] - uv[k, 9], point[2] - uv[k, 10]
    gx, gy, gz, hx, hy, hz = uv[k, 0], uv[k, 1], uv[k, 2], uv[k, 3], uv[k, 4], uv[k, 5]
    u_ray = gx * ray[0] + gy * ray[1] + gz * ray[2]
    v_ray = hx * ray[0] + hy * ray[1] + hz * ray[2]
    nx, ny, nz = light[f, NX], light[f, NY], light[f, NZ]
    tilt_x = (nx * view.xx + ny * view.xy + nz * view.xz) / facing
    tilt_y = (nx * view.yx + ny * view.yy + nz * view.yz) / facing
    return (
        uv[k, 6] + gx * px + gy * py + gz * pz,
        uv[k, 7] + hx * px + hy * py + hz * pz,
        scale * (gx * view.xx + gy * view.xy + gz * view.xz - tilt_x * u_ray),
        scale * (hx * view.xx + hy * view.xy + hz * view.xz - tilt_x * v_ray),
        scale * (gx * view.yx + gy * view.yy + gz * view.yz - tilt_y * u_ray),
        scale * (hx * view.yx + hy * view.yy + hz * view.yz - tilt_y * v_ray),
    )


@njit(cache=True, error_model="numpy", forceinline=True)
def _in_sun(point: Triple, light: NDArray[np.float32], f: int, side: int, rays: View, lit: NDArray[np.float32]) -> float:
    """How much of the sun reaches a point, 0..1, blended over the four nearest texels of the shadow map.

    The point is lifted off its surface by a texel and a half, so that a surface does not shade itself.
    """
    texel_m = 1.0 / rays.scale
    lift = (1.5 if side == 0 else -1.5) * texel_m
    px = point[0] + lift * light[f, NX] - rays.ox
    py = point[1] + lift * light[f, NY] - rays.oy
    pz = point[2] + lift * light[f, NZ] - rays.oz
    x = (rays.xx * px + rays.xy * py + rays.xz * pz) * rays.scale + rays.cx - 0.5
    y = (rays.yx * px + rays.yy * py + rays.yz * pz) * rays.scale + rays.cy - 0.5
    nearness = rays.far - (rays.zx * px + rays.zy * py + rays.zz * pz) + 0.5 * texel_m
    column, row = int(np.floor(x)), int(np.floor(y))
    if column < 0 or row < 0 or column + 1 >= rays.width or row + 1 >= rays.height:
        return 1.0
    fx, fy = x - column, y - row
    top = (1.0 - fx) * (nearness >= lit[row, column]) + fx * (nearness >= lit[row, column + 1])
    bottom = (1.0 - fx) * (nearness >= lit[row + 1, column]) + fx * (nearness >= lit[row + 1, column + 1])
    return float((1.0 - fy) * top + fy * bottom)


@njit(cache=True, error_model="numpy", forceinline=True)
def _sky_color(ray: Triple, sky: NDArray[np.float32]) -> Triple:
    height = max(ray[2], 0.0) / np.sqrt(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2])
    blend = np.sqrt(height)
    return (
        sky[0, 0] + blend * (sky[1, 0] - sky[0, 0]),
        sky[0, 1] + blend * (sky[1, 1] - sky[0, 1]),
        sky[0, 2] + blend * (sky[1, 2] - sky[0, 2]),
    )
