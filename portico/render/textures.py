"""Textures with mip-maps in one array, and how a texel footprint is read from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_LEVELS = 13


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
        texels: (N,) uint32, sRGB, 0xBBGGRR. levels: (T, 13, 3) int64, offset, width, height of every mip level.
        tiled: (T,) bool, whether the texture repeats beyond 0..1, or its border goes on.
        linear: (1021,) float32, linear light of an encoded value in quarter steps.
    """

    texels: NDArray[np.uint32]
    levels: NDArray[np.int64]
    tiled: NDArray[np.bool_]
    linear: NDArray[np.float32]


def pack(textures: list[NDArray[np.uint8]], tiled: list[bool]) -> Atlas:
    """An atlas of textures (H, W, 3), each halved down to one texel by averaging light."""
    decoded = to_linear(np.arange(256) / 255.0).astype(np.float32)
    encoded = np.round(to_srgb(np.arange(4096) / 4095.0) * 255.0).astype(np.uint32)
    levels = np.zeros((max(len(textures), 1), _LEVELS, 3), np.int64)
    parts: list[NDArray[np.uint32]] = []
    offset = 0
    for t, texture in enumerate(textures):
        codes = np.ascontiguousarray(texture[..., :3]).astype(np.uint32)
        image: NDArray[np.float32] = decoded[codes]
        for level in range(_LEVELS):
            levels[t, level] = offset, image.shape[1], image.shape[0]
            parts.append(np.asarray(codes[..., 0] | codes[..., 1] << 8 | codes[..., 2] << 16, np.uint32).ravel())
            offset += len(parts[-1])
            if image.shape[:2] == (1, 1):
                levels[t, level:] = levels[t, level]
                break
            image = _halve(image)
            codes = encoded[(image * 4095.0 + 0.5).astype(np.int32)]
    texels = np.concatenate(parts) if parts else np.zeros(1, np.uint32)
    return Atlas(texels, levels, np.array(tiled or [False]), to_linear(np.arange(1021) / 1020.0).astype(np.float32))


def _halve(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Half as wide and high, each side at least 1; an odd last row or column is left out."""
    height, width = image.shape[:2]
    if height > 1:
        image = 0.5 * (image[0 : height - 1 : 2] + image[1:height:2])
    if width > 1:
        image = 0.5 * (image[:, 0 : width - 1 : 2] + image[:, 1:width:2])
    return image


@njit(cache=True, error_model="numpy", forceinline=True)
def footprint(width: int, height: int, du_dx: float, dv_dx: float, du_dy: float, dv_dy: float) -> tuple[int, int, float, float]:
    """How to read a texture where a pixel's sides step by (du_dx, dv_dx) and (du_dy, dv_dy): level, samples, step along them.

    A row of up to four samples along the footprint's longer side, from the mip level that fits its shorter one, keeps
    signs and paving sharp when they are seen at a slant.
    """
    x_side = (du_dx * width) ** 2 + (dv_dx * height) ** 2
    y_side = (du_dy * width) ** 2 + (dv_dy * height) ** 2
    longer, shorter = max(x_side, y_side), max(min(x_side, y_side), 1.0)
    taps = 1 + (longer > 2.25 * shorter) + (longer > 6.25 * shorter) + (longer > 12.25 * shorter)
    # Half the exponent of the squared side: the level whose texels are nearest in size.
    exponent = (np.float64(max(shorter, longer / (taps * taps))).view(np.int64) >> 52) - 1023
    level = min(int(exponent + 1) >> 1, _LEVELS - 1)
    if x_side >= y_side:
        return level, taps, du_dx / taps, dv_dx / taps
    return level, taps, du_dy / taps, dv_dy / taps


@njit(cache=True, error_model="numpy", forceinline=True)
def sample(
    texels: NDArray[np.uint32],
    linear: NDArray[np.float32],
    offset: int,
    width: int,
    height: int,
    tiled: bool,
    u: float,
    v: float,
    taps: int,
    step_u: float,
    step_v: float,
) -> tuple[float, float, float]:
    """Linear colour of a mip level: the mean of bilinear samples in a row centred on (u, v), v upwards from the bottom row.

    Texels are weighed as encoded values, in fixed point.
    """
    r = g = b = np.int64(0)
    u, v = u - 0.5 * (taps - 1) * step_u, v - 0.5 * (taps - 1) * step_v
    for _ in range(taps):
        i, j, k, m, fx, fy = _corners(offset, width, height, tiled, u, v)
        p, q, s, t = np.int64(texels[i]), np.int64(texels[j]), np.int64(texels[k]), np.int64(texels[m])
        wi, wj, wk, wm = (256 - fx) * (256 - fy), fx * (256 - fy), (256 - fx) * fy, fx * fy
        r += wi * (p & 255) + wj * (q & 255) + wk * (s & 255) + wm * (t & 255)
        g += wi * (p >> 8 & 255) + wj * (q >> 8 & 255) + wk * (s >> 8 & 255) + wm * (t >> 8 & 255)
        b += wi * (p >> 16) + wj * (q >> 16) + wk * (s >> 16) + wm * (t >> 16)
        u, v = u + step_u, v + step_v
    quarter_steps = 4.0 / (65536.0 * taps)
    return linear[int(r * quarter_steps + 0.5)], linear[int(g * quarter_steps + 0.5)], linear[int(b * quarter_steps + 0.5)]


@njit(cache=True, error_model="numpy", forceinline=True)
def _corners(offset: int, width: int, height: int, tiled: bool, u: float, v: float) -> tuple[int, int, int, int, int, int]:
    """Places of the four texels around (u, v), and the position between them in 256ths."""
    if tiled:
        u, v = u - np.floor(u), v - np.floor(v)
    else:
        u, v = min(max(u, 0.0), 1.0), min(max(v, 0.0), 1.0)
    x, y = int((u * width + 0.5) * 256.0), int(((1.0 - v) * height + 0.5) * 256.0)
    fx, fy = x & 255, y & 255
    x0, y0 = (x >> 8) - 1, (y >> 8) - 1
    x1, y1 = x0 + 1, y0 + 1
    if tiled:
        x0, y0 = x0 if x0 >= 0 else width - 1, y0 if y0 >= 0 else height - 1
        x1, y1 = x1 if x1 < width else x1 - width, y1 if y1 < height else y1 - height
    else:
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, width - 1), min(y1, height - 1)
    return offset + y0 * width + x0, offset + y0 * width + x1, offset + y1 * width + x0, offset + y1 * width + x1, fx, fy
