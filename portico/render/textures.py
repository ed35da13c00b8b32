"""Textures with mip-maps in one array, and how a texel footprint is read from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_LEVELS = 14
#: Samples along the long side of a footprint: keeps signs and paving sharp when seen at a slant.
_MOST_TAPS = 4


def to_linear(encoded: NDArray[Any]) -> NDArray[np.float64]:
    """sRGB values 0..1 to linear light (IEC 61966-2-1)."""
    encoded = np.asarray(encoded, np.float64)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((np.maximum(encoded, 0.0) + 0.055) / 1.055) ** 2.4)


def to_srgb(linear: NDArray[Any]) -> NDArray[np.float64]:
    """Linear light 0..1 to sRGB values (IEC 61966-2-1)."""
    linear = np.asarray(linear, np.float64)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-12) ** (1.0 / 2.4) - 0.055)


class Atlas(NamedTuple):
    """Packed textures.

    Attributes:
        texels: (N, 3) uint8, sRGB. levels: (T, 14, 3) int64, offset, width, height of every mip level.
        tiled: (T,) bool, whether the texture repeats beyond 0..1, or its border goes on.
        linear: (256,) float32, linear light of an encoded value.
    """

    texels: NDArray[np.uint8]
    levels: NDArray[np.int64]
    tiled: NDArray[np.bool_]
    linear: NDArray[np.float32]


def pack(textures: list[NDArray[np.uint8]], tiled: list[bool]) -> Atlas:
    """An atlas of textures (H, W, 3), each halved down to one texel by averaging light."""
    linear = to_linear(np.arange(256) / 255.0).astype(np.float32)
    levels = np.zeros((max(len(textures), 1), _LEVELS, 3), np.int64)
    parts: list[NDArray[np.uint8]] = []
    offset = 0
    for t, texture in enumerate(textures):
        image: NDArray[np.float32] = linear[np.ascontiguousarray(texture[..., :3])]
        for level in range(_LEVELS):
            encoded = np.round(to_srgb(image) * 255.0).astype(np.uint8)
            levels[t, level] = offset, image.shape[1], image.shape[0]
            parts.append(encoded.reshape(-1, 3))
            offset += len(parts[-1])
            if image.shape[:2] == (1, 1):
                levels[t, level:] = levels[t, level]
                break
            image = _halve(image)
    texels = np.concatenate(parts) if parts else np.zeros((1, 3), np.uint8)
    return Atlas(texels, levels, np.array(tiled or [False]), linear)


def _halve(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Half as wide and high, each side at least 1; an odd last row or column joins its neighbour."""
    for axis in (0, 1):
        size = image.shape[axis]
        if size == 1:
            continue
        starts = np.arange(0, size - size % 2, 2)
        counts = np.diff(np.append(starts, size))
        shape = [1, 1, 1]
        shape[axis] = len(starts)
        image = (np.add.reduceat(image, starts, axis=axis) / counts.reshape(shape)).astype(np.float32)
    return image


@njit(cache=True, error_model="numpy", forceinline=True)
def sample(
    texels: NDArray[np.uint8],
    levels: NDArray[np.int64],
    tiled: NDArray[np.bool_],
    linear: NDArray[np.float32],
    texture: int,
    u: float,
    v: float,
    du_dx: float,
    dv_dx: float,
    du_dy: float,
    dv_dy: float,
) -> tuple[float, float, float]:
    """Linear colour at (u, v), averaged over a pixel whose sides step by (du_dx, dv_dx) and (du_dy, dv_dy).

    The footprint is read as a row of up to four bilinear samples along its longer side, from the mip level that fits
    its shorter one. v runs upwards from the bottom row.
    """
    width, height = levels[texture, 0, 1], levels[texture, 0, 2]
    x_side = np.sqrt((du_dx * width) ** 2 + (dv_dx * height) ** 2)
    y_side = np.sqrt((du_dy * width) ** 2 + (dv_dy * height) ** 2)
    long_side, short_side = max(x_side, y_side), min(x_side, y_side)
    taps = max(1, int(min(float(_MOST_TAPS), np.ceil(long_side / max(short_side, 1.0)))))
    fineness = max(short_side, long_side / taps, 1.0)
    level = 0
    while fineness > 1.41421356 and level < _LEVELS - 1:
        fineness *= 0.5
        level += 1
    step_u, step_v = (du_dx, dv_dx) if x_side >= y_side else (du_dy, dv_dy)
    r = g = b = 0.0
    for tap in range(taps):
        along = (tap + 0.5) / taps - 0.5
        red, green, blue = _bilinear(texels, levels, tiled[texture], linear, texture, level, u + along * step_u, v + along * step_v)
        r, g, b = r + red, g + green, b + blue
    return r / taps, g / taps, b / taps


@njit(cache=True, error_model="numpy", forceinline=True)
def _bilinear(
    texels: NDArray[np.uint8], levels: NDArray[np.int64], tiled: bool, linear: NDArray[np.float32], texture: int, level: int, u: float, v: float
) -> tuple[float, float, float]:
    offset, width, height = levels[texture, level, 0], levels[texture, level, 1], levels[texture, level, 2]
    if tiled:
        u, v = u - np.floor(u), v - np.floor(v)
    x, y = u * width - 0.5, (1.0 - v) * height - 0.5
    x0, y0 = int(np.floor(x)), int(np.floor(y))
    fx, fy = x - x0, y - y0
    x1, y1 = x0 + 1, y0 + 1
    if tiled:
        x0, y0 = x0 if x0 >= 0 else width - 1, y0 if y0 >= 0 else height - 1
        x1, y1 = x1 if x1 < width else 0, y1 if y1 < height else 0
    else:
        x0, y0 = min(max(x0, 0), width - 1), min(max(y0, 0), height - 1)
        x1, y1 = min(max(x1, 0), width - 1), min(max(y1, 0), height - 1)
    i, j, k, m = offset + y0 * width + x0, offset + y0 * width + x1, offset + y1 * width + x0, offset + y1 * width + x1
    wi, wj, wk, wm = (1.0 - fx) * (1.0 - fy), fx * (1.0 - fy), (1.0 - fx) * fy, fx * fy
    return (
        wi * linear[texels[i, 0]] + wj * linear[texels[j, 0]] + wk * linear[texels[k, 0]] + wm * linear[texels[m, 0]],
        wi * linear[texels[i, 1]] + wj * linear[texels[j, 1]] + wk * linear[texels[k, 1]] + wm * linear[texels[m, 1]],
        wi * linear[texels[i, 2]] + wj * linear[texels[j, 2]] + wk * linear[texels[k, 2]] + wm * linear[texels[m, 2]],
    )
