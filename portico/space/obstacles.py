"""What blocks bodies whatever they can climb: obstacle pieces, column by column, those that belong together merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.columns import GROUND, OBSTACLE, TOP, Pieces

#: A face ends flush with a surface within the first; the face of a step, or of the slab at the head of a stair, is no taller than the second.
_FLUSH_M, _FACE_M = 0.02, 0.6
_TOUCH_M = 0.02
_SAME_OUTLINE = 3


class Obstacles(NamedTuple):
    """start: (columns + 1,) int32. low, high: (Q,) float32, metres. outline: (Q, 8) uint8 octagons, see ``columns``."""

    start: NDArray[np.int32]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    outline: NDArray[np.uint8]


@njit(cache=True, nogil=True)
def yield_risers(pieces, grid, climb):  # type: ignore[no-untyped-def]
    """Make ground, in place, of obstacle pieces that are the face of a step, whatever they are made of.

    They are low, and end flush with a walkable top in or beside their column or lie less than the climb beneath one in it.
    """
    start, kind, low, high, level = pieces.start, pieces.kind, pieces.low, pieces.high, pieces.level
    most = 0
    for k in range(start.size - 1):
        most = max(most, start[k + 1] - start[k])
    above, beside = np.empty(most, np.float32), np.empty(9 * most, np.float32)
    for j in range(1, grid.ny - 1):
        for i in range(1, grid.nx - 1):
            k = j * grid.nx + i
            own, around = 0, 0
            for dj in range(-1, 2):
                for q in range(start[k + dj * grid.nx - 1], start[k + dj * grid.nx + 2]):
                    if kind[q] == TOP:
                        around = _note(beside, around, level[q])
                        if start[k] <= q < start[k + 1]:
                            own = _note(above, own, level[q])
            if around == 0:
                continue
            for p in range(start[k], start[k + 1]):
                if kind[p] != OBSTACLE or high[p] - low[p] > _FACE_M:
                    continue
                face = False
                for n in range(own):
                    face = face or 0.0 <= above[n] - high[p] <= climb
                for n in range(around):
                    face = face or abs(beside[n] - high[p]) <= _FLUSH_M
                if face:
                    kind[p] = GROUND


@njit(cache=True, nogil=True, forceinline=True)
def _note(heights, count, height):  # type: ignore[no-untyped-def]
    """Add a height to the first ``count`` of a list unless it is there; the new count."""
    for n in range(count):
        if heights[n] == height:
            return count
    heights[count] = height
    return count + 1


def gather_obstacles(pieces: Pieces) -> Obstacles:
    """Obstacle pieces alone. Merging never loses matter: it widens an outline only where two pieces share their heights."""
    mine = pieces.kind == OBSTACLE
    start = np.concatenate([[0], np.cumsum(mine)]).astype(np.int32)[pieces.start]
    raw = Obstacles(start, pieces.low[mine], pieces.high[mine], pieces.outline[mine])
    kept = np.zeros(len(start), np.int32)
    _merge(raw, kept[1:])
    np.cumsum(kept, out=kept)
    obstacles: Obstacles = _compact(raw, kept)
    return obstacles


@njit(cache=True, nogil=True)
def _merge(raw, kept):  # type: ignore[no-untyped-def]
    """Within each column, in place: stacked pieces of one outline become one, pieces of one height interval share an outline."""
    low, high, outline = raw.low, raw.high, raw.outline
    for k in range(raw.start.size - 1):
        first, count = raw.start[k], 0
        for p in range(first, raw.start[k + 1]):
            home = -1
            for q in range(first, first + count):
                if _stacked(low, high, outline, p, q) or _level(low, high, p, q) or _within(low, high, outline, p, q):
                    home = q
                    break
            if home < 0:
                home = first + count
                count += 1
                low[home], high[home] = low[p], high[p]
                for o in range(8):
                    outline[home, o] = outline[p, o]
            low[home], high[home] = min(low[home], low[p]), max(high[home], high[p])
            for o in range(4):
                outline[home, 2 * o] = min(outline[home, 2 * o], outline[p, 2 * o])
                outline[home, 2 * o + 1] = max(outline[home, 2 * o + 1], outline[p, 2 * o + 1])
        kept[k] = count


@njit(cache=True, nogil=True, forceinline=True)
def _stacked(low, high, outline, p, q):  # type: ignore[no-untyped-def]
    if low[p] > high[q] + _TOUCH_M or low[q] > high[p] + _TOUCH_M:
        return False
    apart = 0
    for o in range(8):
        apart = max(apart, abs(int(outline[p, o]) - int(outline[q, o])))
    return apart <= _SAME_OUTLINE


@njit(cache=True, nogil=True, forceinline=True)
def _level(low, high, p, q):  # type: ignore[no-untyped-def]
    return abs(low[p] - low[q]) <= _TOUCH_M and abs(high[p] - high[q]) <= _TOUCH_M


@njit(cache=True, nogil=True, forceinline=True)
def _within(low, high, outline, p, q):  # type: ignore[no-untyped-def]
    inside = low[p] >= low[q] and high[p] <= high[q]
    for o in range(4):
        inside = inside and outline[p, 2 * o] >= outline[q, 2 * o] and outline[p, 2 * o + 1] <= outline[q, 2 * o + 1]
    return inside


@njit(cache=True, nogil=True)
def _compact(raw, start):  # type: ignore[no-untyped-def]
    total = start[-1]
    low, high, outline = np.empty(total, np.float32), np.empty(total, np.float32), np.empty((total, 8), np.uint8)
    old_start, old_low, old_high, old_outline = raw.start, raw.low, raw.high, raw.outline
    for k in range(start.size - 1):
        for a in range(start[k + 1] - start[k]):
            p, q = old_start[k] + a, start[k] + a
            low[q], high[q] = old_low[p], old_high[p]
            for o in range(8):
                outline[q, o] = old_outline[p, o]
    return Obstacles(start, low, high, outline)
