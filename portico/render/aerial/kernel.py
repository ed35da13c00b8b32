"""Samples a picture out of tiles: every pixel from the four around its place, black where there is no tile or no data."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats


@njit(cache=True, nogil=True)
def sample_tiles(slots: NDArray[np.uint8], pages: NDArray[np.int32], affine: Floats, size: tuple[int, int], out: NDArray[np.uint8]) -> None:
    """Fill ``out`` (H, W, 3).

    Args:
        slots: (S, T, T, 4) tiles. pages: (rows, columns) slot of each tile, -1 for none.
        affine: (2, 3), column and row of an output pixel (u, v at its centre) to column and row in the level that the tiles are of.
        size: height and width of that level.
    """
    side = slots.shape[1]
    height, width = size
    for i in range(out.shape[0]):
        v = i + 0.5
        # Pixel centres are at half integers; neighbours are counted from them.
        x = affine[0, 0] * 0.5 + affine[0, 1] * v + affine[0, 2] - 0.5
        y = affine[1, 0] * 0.5 + affine[1, 1] * v + affine[1, 2] - 0.5
        for j in range(out.shape[1]):
            fx, fy = np.floor(x), np.floor(y)
            c, r = int(fx), int(fy)
            if c < -1 or r < -1 or c >= width or r >= height:
                out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = 0
            else:
                wx, wy = int((x - fx) * 256.0), int((y - fy) * 256.0)
                tc, tr = c // side, r // side
                ic, ir = c - tc * side, r - tr * side
                inside = c >= 0 and r >= 0 and ic < side - 1 and ir < side - 1 and c < width - 1 and r < height - 1
                slot = pages[tr, tc] if inside else -1
                if inside and slot >= 0:
                    for k in range(3):
                        top = slots[slot, ir, ic, k] * (256 - wx) + slots[slot, ir, ic + 1, k] * wx
                        low = slots[slot, ir + 1, ic, k] * (256 - wx) + slots[slot, ir + 1, ic + 1, k] * wx
                        out[i, j, k] = (top * (256 - wy) + low * wy + 32768) >> 16
                elif inside:
                    out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = 0
                else:
                    _across(slots, pages, c, r, wx, wy, height, width, out[i, j])
            x += affine[0, 0]
            y += affine[1, 0]


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
