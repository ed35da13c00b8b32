"""What blocks bodies whatever they can climb: obstacle pieces, column by column, those that belong together merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.columns import OBSTACLE, Pieces

_TOUCH_M = 0.02
_SAME_OUTLINE = 3


class Obstacles(NamedTuple):
    """start: (columns + 1,) int32. low, high: (Q,) float32, metres. outline: (Q, 8) uint8 octagons, see ``columns``."""

    start: NDArray[np.int32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    outline: NDArray[np.uint8]


def gather_obstacles(pieces: Pieces) -> Obstacles:
    """Obstacle pieces alone. Merging never loses matter: it widens an outline only where two pieces share their heights."""
    mine = pieces.kind == OBSTACLE
    start = np.concatenate([[0], np.cumsum(mine)]).astype(np.int32)[pieces.start]
    low, high, outline = pieces.low[mine], pieces.high[mine], pieces.outline[mine]
    kept = np.zeros(len(start), np.int32)
    _merge(start, low, high, outline, kept[1:])
    np.cumsum(kept, out=kept)
    return Obstacles(kept, *_compact(start, kept, low, high, outline))


@njit(cache=True, nogil=True)
def _merge(start, low, high, outline, kept):  # type: ignore[no-untyped-def]
    """Within each column: stacked pieces of one outline become one, pieces of one height interval share an outline."""
    for k in range(start.size - 1):
        count = 0
        first = start[k]
        for p in range(first, start[k + 1]):
            home = -1
            for q in range(first, first + count):
                if _stacked(low, high, outline, p, q) or _level(low, high, p, q) or _within(low, high, outline, p, q):
                    home = q
                    break
            if home < 0:
                home = first + count
                count += 1
                low[home], high[home] = low[p], high[p]
                outline[home] = outline[p]
            low[home], high[home] = min(low[home], low[p]), max(high[home], high[p])
            for o in range(4):
                outline[home, 2 * o] = min(outline[home, 2 * o], outline[p, 2 * o])
                outline[home, 2 * o + 1] = max(outline[home, 2 * o + 1], outline[p, 2 * o + 1])
        kept[k] = count


@njit(cache=True, nogil=True)
def _stacked(low, high, outline, p, q):  # type: ignore[no-untyped-def]
    if low[p] > high[q] + _TOUCH_M or low[q] > high[p] + _TOUCH_M:
        return False
    apart = 0
    for o in range(8):
        apart = max(apart, abs(int(outline[p, o]) - int(outline[q, o])))
    return apart <= _SAME_OUTLINE


@njit(cache=True, nogil=True)
def _level(low, high, p, q):  # type: ignore[no-untyped-def]
    return abs(low[p] - low[q]) <= _TOUCH_M and abs(high[p] - high[q]) <= _TOUCH_M


@njit(cache=True, nogil=True)
def _within(low, high, outline, p, q):  # type: ignore[no-untyped-def]
    inside = low[p] >= low[q] and high[p] <= high[q]
    for o in range(4):
        inside = inside and outline[p, 2 * o] >= outline[q, 2 * o] and outline[p, 2 * o + 1] <= outline[q, 2 * o + 1]
    return inside


@njit(cache=True, nogil=True)
def _compact(start, kept, low, high, outline):  # type: ignore[no-untyped-def]
    total = kept[-1]
    new_low, new_high, new_outline = np.empty(total, np.float32), np.empty(total, np.float32), np.empty((total, 8), np.uint8)
    for k in range(start.size - 1):
        for a in range(kept[k + 1] - kept[k]):
            new_low[kept[k] + a], new_high[kept[k] + a] = low[start[k] + a], high[start[k] + a]
            new_outline[kept[k] + a] = outline[start[k] + a]
    return new_low, new_high, new_outline
