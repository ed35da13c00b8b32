"""What blocks bodies whatever they can climb: obstacle pieces, column by column, those that belong together merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.columns import OBSTACLE, RISER, TOP, Pieces

_FLUSH_M = 0.02
_TOUCH_M = 0.02
_SAME_OUTLINE = 3


class Obstacles(NamedTuple):
    """start: (columns + 1,) int32. low, high: (Q,) float32, metres. outline: (Q, 8) uint8 octagons, see ``columns``. kind: (Q,) uint8."""

    start: NDArray[np.int32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    outline: NDArray[np.uint8]
    kind: NDArray[np.uint8]


@njit(cache=True, nogil=True)
def find_risers(pieces, grid):  # type: ignore[no-untyped-def]
    """Turn obstacle pieces whose upper end is flush with a walkable top in or beside their column into risers, in place."""
    for j in range(1, grid.ny - 1):
        for i in range(1, grid.nx - 1):
            k = j * grid.nx + i
            for p in range(pieces.start[k], pieces.start[k + 1]):
                if pieces.kind[p] != OBSTACLE:
                    continue
                for dj in range(-1, 2):
                    for q in range(pieces.start[k + dj * grid.nx - 1], pieces.start[k + dj * grid.nx + 2]):
                        if pieces.kind[q] == TOP and abs(pieces.level[q] - pieces.high[p]) <= _FLUSH_M:
                            pieces.kind[p] = RISER


def gather_obstacles(pieces: Pieces) -> Obstacles:
    """Obstacle pieces alone. Merging never loses matter: it widens an outline only where two pieces share their heights."""
    mine = (pieces.kind == OBSTACLE) | (pieces.kind == RISER)
    start = np.concatenate([[0], np.cumsum(mine)]).astype(np.int32)[pieces.start]
    raw = Obstacles(start, pieces.low[mine], pieces.high[mine], pieces.outline[mine], pieces.kind[mine])
    kept = np.zeros(len(start), np.int32)
    _merge(raw, kept[1:])
    np.cumsum(kept, out=kept)
    return _compact(raw, kept)


@njit(cache=True, nogil=True)
def _merge(raw, kept):  # type: ignore[no-untyped-def]
    """Within each column, in place: stacked pieces of one outline become one, pieces of one height interval share an outline."""
    low, high, outline, kind = raw.low, raw.high, raw.outline, raw.kind
    for k in range(raw.start.size - 1):
        first, count = raw.start[k], 0
        for p in range(first, raw.start[k + 1]):
            home = -1
            for q in range(first, first + count):
                if kind[p] == kind[q] and (_stacked(raw, p, q) or _level(raw, p, q) or _within(raw, p, q)):
                    home = q
                    break
            if home < 0:
                home = first + count
                count += 1
                low[home], high[home], kind[home] = low[p], high[p], kind[p]
                outline[home] = outline[p]
            low[home], high[home] = min(low[home], low[p]), max(high[home], high[p])
            for o in range(4):
                outline[home, 2 * o] = min(outline[home, 2 * o], outline[p, 2 * o])
                outline[home, 2 * o + 1] = max(outline[home, 2 * o + 1], outline[p, 2 * o + 1])
        kept[k] = count


@njit(cache=True, nogil=True)
def _stacked(raw, p, q):  # type: ignore[no-untyped-def]
    if raw.low[p] > raw.high[q] + _TOUCH_M or raw.low[q] > raw.high[p] + _TOUCH_M:
        return False
    apart = 0
    for o in range(8):
        apart = max(apart, abs(int(raw.outline[p, o]) - int(raw.outline[q, o])))
    return apart <= _SAME_OUTLINE


@njit(cache=True, nogil=True)
def _level(raw, p, q):  # type: ignore[no-untyped-def]
    return abs(raw.low[p] - raw.low[q]) <= _TOUCH_M and abs(raw.high[p] - raw.high[q]) <= _TOUCH_M


@njit(cache=True, nogil=True)
def _within(raw, p, q):  # type: ignore[no-untyped-def]
    inside = raw.low[p] >= raw.low[q] and raw.high[p] <= raw.high[q]
    for o in range(4):
        inside = inside and raw.outline[p, 2 * o] >= raw.outline[q, 2 * o] and raw.outline[p, 2 * o + 1] <= raw.outline[q, 2 * o + 1]
    return inside


@njit(cache=True, nogil=True)
def _compact(raw, start):  # type: ignore[no-untyped-def]
    total = start[-1]
    low, high, outline, kind = np.empty(total, np.float32), np.empty(total, np.float32), np.empty((total, 8), np.uint8), np.empty(total, np.uint8)
    for k in range(start.size - 1):
        for a in range(start[k + 1] - start[k]):
            p, q = raw.start[k] + a, start[k] + a
            low[q], high[q], kind[q] = raw.low[p], raw.high[p], raw.kind[p]
            outline[q] = raw.outline[p]
    return Obstacles(start, low, high, outline, kind)
