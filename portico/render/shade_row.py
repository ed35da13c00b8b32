"""The colours of one row of pixels. Neighbours mostly see the same triangle, so what depends on it alone is kept from pixel to pixel."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.render.paint import EVEN, MATERIAL, NX, NY, NZ, SUN, TEXTURE, TONE_LIMIT, TONE_STEPS, UV_ROW
from portico.render.textures import footprint, sample
from portico.render.views import View

Triple = tuple[float, float, float]
Quad = tuple[float, float, float, float]

_TONE_SCALE = TONE_STEPS / TONE_LIMIT
# Points are lifted off their surface by this many texels of the shadow map, so that a surface does not shade itself.
_LIFT_TEXELS = 1.5
# Neighbours on one triangle share their texture footprint.
_FOOTPRINT_PX = 4


@njit(cache=True, error_model="numpy")
def shade_row(
    nearness: NDArray[np.float32],
    face: NDArray[np.int32],
    view: View,
    light: NDArray[np.float32],
    look: NDArray[np.int32],
    material: NDArray[np.float32],
    uv: NDArray[np.float32],
    tone: NDArray[np.uint8],
    sky: NDArray[np.float32],
    texels: NDArray[np.uint32],
    levels: NDArray[np.int64],
    tiled: NDArray[np.bool_],
    linear: NDArray[np.float32],
    rays: View,
    lit: NDArray[np.float32],
    out: NDArray[np.uint8],
    row: int,
) -> None:
    """Write row ``row`` of ``out`` (H, W, 3); arguments as in ``shade_rgb``.

    Points are taken in view coordinates (px, py, z), in which texture and shadow coordinates are affine.
    """
    pixel = 1.0 / view.scale
    across, down, forward, origin = _to_sun(view, rays)
    y = (row + 0.5 - view.cy) * pixel
    last, k, texture = -1, -1, 0
    even, sunlight, red, green, blue = 0.0, 0.0, 0.0, 0.0, 0.0
    lift = (0.0, 0.0, 0.0)
    u_of, v_of, dx, dy = (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 0.0, 0.0
    offset, width, height, taps, step_u, step_v = 0, 1, 1, 1, 0.0, 0.0
    for column in range(out.shape[1]):
        f = face[row, column]
        x = (column + 0.5 - view.cx) * pixel
        if f < 0:
            r, g, b = _sky_color(view, x, y, sky)
        else:
            fresh = f != last
            if fresh:
                last = f
                facing = _facing(light, f, x, y, view)
                side = 1 if facing > 0.0 else 0
                m = look[f, MATERIAL]
                even, sunlight = light[f, EVEN + side] + material[m, 3], light[f, SUN + side]
                red, green, blue = material[m, 0], material[m, 1], material[m, 2]
                lift = _lifted(light, f, side, rays)
                k, texture = look[f, UV_ROW], look[f, TEXTURE]
                if k >= 0:
                    u_of, v_of, dx, dy = _texture_plane(uv, k, light, f, view)
            z = 1.0 / nearness[row, column] if view.perspective else view.far - nearness[row, column]
            px, py = (x * z, y * z) if view.perspective else (x, y)
            strength = even
            if sunlight > 0.0:
                sx = across[0] * px + down[0] * py + forward[0] * z + origin[0] + lift[0]
                sy = across[1] * px + down[1] * py + forward[1] * z + origin[1] + lift[1]
                sz = across[2] * px + down[2] * py + forward[2] * z + origin[2] + lift[2]
                strength += sunlight * _in_sun(sx, sy, sz, rays, lit)
            r, g, b = red * strength, green * strength, blue * strength
            if k >= 0:
                u = u_of[0] * px + u_of[1] * py + u_of[2] * z + u_of[3]
                v = v_of[0] * px + v_of[1] * py + v_of[2] * z + v_of[3]
                if fresh or column % _FOOTPRINT_PX == 0:
                    step, zx, zy = (z * pixel, -z * z * dx, -z * z * dy) if view.perspective else (pixel, -dx, -dy)
                    rx, ry = (x, y) if view.perspective else (0.0, 0.0)
                    along_u, along_v = u_of[0] * rx + u_of[1] * ry + u_of[2], v_of[0] * rx + v_of[1] * ry + v_of[2]
                    du_dx, dv_dx = u_of[0] * step + along_u * zx, v_of[0] * step + along_v * zx
                    du_dy, dv_dy = u_of[1] * step + along_u * zy, v_of[1] * step + along_v * zy
                    level, taps, step_u, step_v = footprint(levels[texture, 0, 1], levels[texture, 0, 2], du_dx, dv_dx, du_dy, dv_dy)
                    offset, width, height = levels[texture, level, 0], levels[texture, level, 1], levels[texture, level, 2]
                tr, tg, tb = sample(texels, linear, offset, width, height, tiled[texture], u, v, taps, step_u, step_v)
                r, g, b = r * tr, g * tg, b * tb
        out[row, column, 0] = tone[min(int(r * _TONE_SCALE), TONE_STEPS - 1)]
        out[row, column, 1] = tone[min(int(g * _TONE_SCALE), TONE_STEPS - 1)]
        out[row, column, 2] = tone[min(int(b * _TONE_SCALE), TONE_STEPS - 1)]


@njit(cache=True, error_model="numpy", forceinline=True)
def _facing(light: NDArray[np.float32], f: int, x: float, y: float, view: View) -> float:
    """Positive when the back of a triangle is seen."""
    nx, ny, nz = _in_view(light[f, NX], light[f, NY], light[f, NZ], view)
    return nx * x + ny * y + nz if view.perspective else nz


@njit(cache=True, error_model="numpy", forceinline=True)
def _in_view(x: float, y: float, z: float, view: View) -> Triple:
    """A direction of the world along the view's axes."""
    return view.xx * x + view.xy * y + view.xz * z, view.yx * x + view.yy * y + view.yz * z, view.zx * x + view.zy * y + view.zz * z


@njit(cache=True, error_model="numpy", forceinline=True)
def _to_sun(view: View, rays: View) -> tuple[Triple, Triple, Triple, Triple]:
    """The view's three axes and its origin in the coordinates of the shadow map's view, metres."""
    return (
        _in_view(view.xx, view.xy, view.xz, rays),
        _in_view(view.yx, view.yy, view.yz, rays),
        _in_view(view.zx, view.zy, view.zz, rays),
        _in_view(view.ox - rays.ox, view.oy - rays.oy, view.oz - rays.oz, rays),
    )


@njit(cache=True, error_model="numpy", forceinline=True)
def _lifted(light: NDArray[np.float32], f: int, side: int, rays: View) -> Triple:
    """How far points move off the seen side, in the shadow map's view."""
    lift = (_LIFT_TEXELS if side == 0 else -_LIFT_TEXELS) / rays.scale
    return _in_view(lift * light[f, NX], lift * light[f, NY], lift * light[f, NZ], rays)


@njit(cache=True, error_model="numpy", forceinline=True)
def _texture_plane(uv: NDArray[np.float32], k: int, light: NDArray[np.float32], f: int, view: View) -> tuple[Quad, Quad, float, float]:
    """u and v over view coordinates (three factors and a constant), and how nearness changes per column and row."""
    gx, gy, gz = _in_view(uv[k, 0], uv[k, 1], uv[k, 2], view)
    hx, hy, hz = _in_view(uv[k, 3], uv[k, 4], uv[k, 5], view)
    cx, cy, cz = uv[k, 8] - view.ox, uv[k, 9] - view.oy, uv[k, 10] - view.oz
    u0 = uv[k, 6] - (uv[k, 0] * cx + uv[k, 1] * cy + uv[k, 2] * cz)
    v0 = uv[k, 7] - (uv[k, 3] * cx + uv[k, 4] * cy + uv[k, 5] * cz)
    nx, ny, nz = _in_view(light[f, NX], light[f, NY], light[f, NZ], view)
    reach = light[f, NX] * cx + light[f, NY] * cy + light[f, NZ] * cz if view.perspective else nz
    shrink = 1.0 / (reach * view.scale) if reach != 0.0 else 0.0
    return (gx, gy, gz, u0), (hx, hy, hz, v0), nx * shrink, ny * shrink


@njit(cache=True, error_model="numpy", forceinline=True)
def _in_sun(sx: float, sy: float, sz: float, rays: View, lit: NDArray[np.float32]) -> float:
    """How much of the sun reaches a point of the shadow map's view, 0..1, blended over the four nearest texels."""
    x, y = sx * rays.scale + rays.cx - 0.5, sy * rays.scale + rays.cy - 0.5
    column, row = int(np.floor(x)), int(np.floor(y))
    if column < 0 or row < 0 or column + 1 >= rays.width or row + 1 >= rays.height:
        return 1.0
    nearness = rays.far - sz + 0.5 / rays.scale
    fx, fy = x - column, y - row
    top = (1.0 - fx) * (nearness >= lit[row, column]) + fx * (nearness >= lit[row, column + 1])
    bottom = (1.0 - fx) * (nearness >= lit[row + 1, column]) + fx * (nearness >= lit[row + 1, column + 1])
    return float((1.0 - fy) * top + fy * bottom)


@njit(cache=True, error_model="numpy", forceinline=True)
def _sky_color(view: View, x: float, y: float, sky: NDArray[np.float32]) -> Triple:
    """From the horizon's colour to the zenith's with the root of the ray's height."""
    up = view.xz * x + view.yz * y + view.zz
    blend = np.sqrt(max(up, 0.0) / np.sqrt(x * x + y * y + 1.0))
    if not view.perspective:
        blend = 0.0
    return (
        sky[0, 0] + blend * (sky[1, 0] - sky[0, 0]),
        sky[0, 1] + blend * (sky[1, 1] - sky[0, 1]),
        sky[0, 2] + blend * (sky[1, 2] - sky[0, 2]),
    )
