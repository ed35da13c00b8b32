"""Splats in depth order for every tile of the image.

A stable sort by depth, then a stable counting sort by tile: of splats at the same depth the one with the lower index comes
first, whatever the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.render.splats.prepared import Singles, kernel
from portico.render.splats.project import FIELDS, LOG, LOG_FAINTEST, RX, RY, SLOPE, A, E, X, Y

#: Side of a tile, pixels.
TILE = 16
_DIGIT = 11
_DIGITS = 1 << _DIGIT
_ZERO, _HALF = np.float32(0.0), np.float32(0.5)
_TILE = np.float32(TILE)
_LAST_CENTER = np.float32(TILE - 0.5)

Indices = NDArray[np.int32]


def in_depth_order(splats: Singles, depth: Singles, gaussian: Indices, threads: int) -> tuple[Singles, Indices]:
    """Those of splats (V, FIELDS) whose depth (V,) is not inf, nearest first, and their Gaussians.

    A radix sort of the bits of the depths, which order as the depths themselves since those are positive.
    """
    keys, order = depth.view(np.uint32), np.arange(len(depth), dtype=np.int32)
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    for shift in range(0, 32, _DIGIT):
        counts = np.zeros((threads, _DIGITS), np.int64)
        _count_digits(keys, counts, np.uint32(shift), threads)
        places = _first_places(counts)[0]
        _move(keys, order, other_keys, other_order, places, np.uint32(shift), threads)
        keys, other_keys, order, other_order = other_keys, keys, other_order, order
    order = order[: np.searchsorted(keys.view(np.float32), np.float32(np.inf))]
    in_order, gaussian_in_order = np.empty((len(order), FIELDS), np.float32), np.empty(len(order), np.int32)
    _copy(splats, gaussian, order, in_order, gaussian_in_order, threads)
    return in_order, gaussian_in_order


def _first_places(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each thread's share of each bin begins, from counts (threads, B); and where the bins begin and the last one ends, (B + 1,)."""
    start = np.zeros(counts.shape[1] + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=start[1:])
    return start[:-1] + np.cumsum(counts, axis=0) - counts, start


@njit(cache=True, parallel=True)
def _count_digits(keys: NDArray[np.uint32], places: NDArray[np.int64], shift: np.uint32, threads: int) -> None:
    for slot in prange(threads):
        for k in range(len(keys) * slot // threads, len(keys) * (slot + 1) // threads):
            places[slot, (keys[k] >> shift) & np.uint32(_DIGITS - 1)] += 1


@njit(cache=True, parallel=True)
def _move(
    keys: NDArray[np.uint32], order: Indices, to_keys: NDArray[np.uint32], to_order: Indices, places: NDArray[np.int64], shift: np.uint32, threads: int
) -> None:
    for slot in prange(threads):
        for k in range(len(keys) * slot // threads, len(keys) * (slot + 1) // threads):
            digit = (keys[k] >> shift) & np.uint32(_DIGITS - 1)
            at = places[slot, digit]
            places[slot, digit] = at + 1
            to_keys[at] = keys[k]
            to_order[at] = order[k]


@njit(cache=True, parallel=True)
def _copy(splats: Singles, gaussian: Indices, order: Indices, in_order: Singles, gaussian_in_order: Indices, threads: int) -> None:
    for slot in prange(threads):
        for k in range(len(order) * slot // threads, len(order) * (slot + 1) // threads):
            gaussian_in_order[k] = gaussian[order[k]]
            for field in range(FIELDS):
                in_order[k, field] = splats[order[k], field]


def bin_by_tile(splats: Singles, width: int, height: int, threads: int) -> tuple[Indices, NDArray[np.int64]]:
    """Members of tiles for splats in depth order.

    Returns:
        Indices of splats (P,), tile by tile along the rows of the image, nearest first; and where each tile's begin, (tiles + 1,).
    """
    columns, rows = -(-width // TILE), -(-height // TILE)
    counts = np.zeros((threads, rows * columns), np.int64)
    _count(splats, columns, rows, counts, threads)
    cursor, start = _first_places(counts)
    members = np.empty(int(start[-1]), np.int32)
    _fill(splats, columns, rows, cursor, members, threads)
    return members, start


@njit(cache=True, parallel=True, error_model="numpy")
def _count(splats: Singles, columns: int, rows: int, counts: NDArray[np.int64], threads: int) -> None:
    for slot in prange(threads):
        _count_share(splats, columns, rows, counts, slot, threads)


@kernel
def _count_share(splats, columns, rows, counts, slot, threads):  # type: ignore[no-untyped-def]
    for i in range(len(splats) * slot // threads, len(splats) * (slot + 1) // threads):
        first_row, last_row = _tiles_across(splats[i, Y], splats[i, RY], rows)
        for row in range(first_row, last_row + 1):
            first, last = _tiles_of_row(splats, i, row, columns)
            for tile in range(row * columns + first, row * columns + last + 1):
                counts[slot, tile] += 1


@njit(cache=True, parallel=True, error_model="numpy")
def _fill(splats: Singles, columns: int, rows: int, cursor: NDArray[np.int64], members: Indices, threads: int) -> None:
    for slot in prange(threads):
        _fill_share(splats, columns, rows, cursor, members, slot, threads)


@kernel
def _fill_share(splats, columns, rows, cursor, members, slot, threads):  # type: ignore[no-untyped-def]
    for i in range(len(splats) * slot // threads, len(splats) * (slot + 1) // threads):
        first_row, last_row = _tiles_across(splats[i, Y], splats[i, RY], rows)
        for row in range(first_row, last_row + 1):
            first, last = _tiles_of_row(splats, i, row, columns)
            for tile in range(row * columns + first, row * columns + last + 1):
                members[cursor[slot, tile]] = i
                cursor[slot, tile] += 1


@kernel
def _tiles_across(center, radius, tiles):  # type: ignore[no-untyped-def]
    """First and last of a number of tiles in line with a pixel centre within a radius; 0 and -1 where there is none."""
    first = np.ceil(max(center - radius - _HALF, _ZERO))
    last = np.floor(min(center + radius - _HALF, np.float32(tiles * TILE - 1)))
    # Asked this way round, NaN ends here too and makes no index.
    if last >= first:
        return np.int64(first) // TILE, np.int64(last) // TILE
    return np.int64(0), np.int64(-1)


@kernel
def _tiles_of_row(splats, i, row, columns):  # type: ignore[no-untyped-def]
    """First and last tile of a row of tiles with a pixel centre in the ellipse of splat i; 0 and -1 where there is none.

    The ellipse's edge right of the rows' centres, x(dy) + sqrt((LOG - faintest - E dy^2) / A), is a concave function of dy, so
    within a band of rows it is farthest where the whole ellipse is, or at the end of the band nearest to that; likewise left.
    """
    ry, rx, top = splats[i, RY], splats[i, RX], np.float32(row) * _TILE - splats[i, Y]
    first, last = _tiles_across(splats[i, X], rx, columns)
    if first >= last or (top <= -ry and top + _TILE >= ry):
        return first, last
    slope, a, e, spread = splats[i, SLOPE], splats[i, A], splats[i, E], splats[i, LOG] - LOG_FAINTEST
    above, below, widest = max(top + _HALF, -ry), min(top + _LAST_CENTER, ry), slope * ry * ry / rx
    right, left = min(max(widest, above), below), min(max(-widest, above), below)
    x_right = slope * right + np.sqrt(max(spread - e * right * right, _ZERO) / a)
    x_left = slope * left - np.sqrt(max(spread - e * left * left, _ZERO) / a)
    return _tiles_across(splats[i, X] + _HALF * (x_right + x_left), _HALF * (x_right - x_left), columns)
