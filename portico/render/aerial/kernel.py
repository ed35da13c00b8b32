"""Samples a picture out of tiles: every pixel from the four around its place, black where there is no tile or no data."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats

#: Places are whole numbers of so many parts of a pixel: a row of a picture drifts by less than a thousandth of one.
_SHIFT = 22
_ONE = 1 << _SHIFT
_HALF = 1 << 15


@njit(cache=True, nogil=True)
def sample_tiles(slots: NDArray[np.uint8], pages: NDArray[np.int32], affine: Floats, size: tuple[int, int], out: NDArray[np.uint8]) -> None:
    """Fill ``out`` (H, W, 3).

    Args:
        slots: (S, T, T, 4) tiles, T a power of two. pages: (rows, columns) slot of each tile, -1 for none.
        affine: (2, 3), column and row of an output pixel (u, v at its centre) to column and row in the level that the tiles are of.
        size: height and width of that level.
    """
    side, flat = slots.shape[1], slots.reshape(-1)
    bits = 0
    while (1 << bits) < side:
        bits += 1
    mask = side - 1
    height, width = size
    step_x, step_y = np.int64(np.rint(affine[0, 0] * _ONE)), np.int64(np.rint(affine[1, 0] * _ONE))
    for i in range(out.shape[0]):
        # Pixel centres are at half integers; neighbours are counted from them.
        x = np.int64(np.floor((affine[0, 0] * 0.5 + affine[0, 1] * (i + 0.5) + affine[0, 2] - 0.5) * _ONE))
        y = np.int64(np.floor((affine[1, 0] * 0.5 + affine[1, 1] * (i + 0.5) + affine[1, 2] - 0.5) * _ONE))
        tile_r, tile_c, base = np.int64(-1), np.int64(-1), np.int64(-1)
        for j in range(out.shape[1]):
            c, r = x >> _SHIFT, y >> _SHIFT
            ic, ir = c & mask, r & mask
            if c >= 0 and r >= 0 and c < width - 1 and r < height - 1 and ic != mask and ir != mask:
                if (c >> bits) != tile_c or (r >> bits) != tile_r:
                    tile_c, tile_r = c >> bits, r >> bits
                    slot = np.int64(pages[tile_r, tile_c])
                    base = slot * side * side * 4 if slot >= 0 else np.int64(-1)
                if base < 0:
                    out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = 0
                else:
                    wx, wy = np.uint32((x >> (_SHIFT - 8)) & 255), np.uint32((y >> (_SHIFT - 8)) & 255)
                    a, b = (np.uint32(256) - wx) * (np.uint32(256) - wy), wx * (np.uint32(256) - wy)
                    d, e = (np.uint32(256) - wx) * wy, wx * wy
                    at = np.uint64(base + ((ir << bits) + ic) * 4)
                    low = at + np.uint64(side * 4)
                    for k in range(3):
                        q = np.uint64(k)
                        total = flat[at + q] * a + flat[at + q + np.uint64(4)] * b + flat[low + q] * d + flat[low + q + np.uint64(4)] * e
                        out[i, j, k] = np.uint8((total + np.uint32(_HALF)) >> np.uint32(16))
            elif c < -1 or r < -1 or c >= width or r >= height:
                out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = 0
            else:
                _across(slots, pages, c, r, (x >> (_SHIFT - 8)) & 255, (y >> (_SHIFT - 8)) & 255, height, width, out[i, j])
            x += step_x
            y += step_y


@njit(cache=True, nogil=True)
def _across(slots, pages, c, r, wx, wy, height, width, out):  # type: ignore[no-untyped-def]
    """One pixel whose neighbours lie on several tiles, or beyond the border: there the border's pixels go on for half a pixel."""
    side = slots.shape[1]
    for k in range(3):
        total = 0
        for dy in range(2):
            for dx in range(2):
                cc, rr = min(max(c + dx, 0), width - 1), min(max(r + dy, 0), height - 1)
                slot = pages[rr // side, cc // side]
                value = slots[slot, rr % side, cc % side, k] if slot >= 0 else 0
                total += value * (wx if dx else 256 - wx) * (wy if dy else 256 - wy)
        out[k] = (total + 32768) >> 16
