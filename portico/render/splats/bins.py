"""Splats in depth order for every tile of the image.

A stable sort by depth, then a stable counting sort by tile: of splats at the same depth the one with the lower index comes
first, whatever the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.render.splats.prepared import Singles, kernel
from portico.render.splats.project import DEPTH, FIELDS, LOG, LOG_FAINTEST, RX, RY, SLOPE, A, E, X, Y

#: Side of a tile, pixels.
TILE = 16
_DIGIT = 11
_DIGITS = 1 << _DIGIT
_ZERO, _HALF = np.float32(0.0), np.float32(0.5)
_TILE = np.float32(TILE)
_LAST_CENTER = np.float32(TILE - 0.5)

Indices = NDArray[np.int32]


def in_depth_order(splats: Singles, gaussian: Indices, threads: int) -> tuple[Singles, Indices]:
    """Those of splats (V, FIELDS) that are seen, nearest first, and their Gaussians.

    A radix sort of the bits of the depths, which order as the depths themselves since those are positive.
    """
    order = np.flatnonzero(splats[:, RY] >= 0.0).astype(np.int32)
    keys = np.ascontiguousarray(splats[order, DEPTH]).view(np.uint32)
    other_order, other_keys = np.empty_like(order), np.empty_like(keys)
    for shift in range(0, 32, _DIGIT):
        places = np.zeros((threads, _DIGITS), np.int64)
        _count_digits(keys, places, np.uint32(shift), threads)
        first_of_digit = np.cumsum(places.sum(axis=0)) - places.sum(axis=0)
        places = first_of_digit + np.cumsum(places, axis=0) - places
        _move(keys, order, other_keys, other_order, places, np.uint32(shift), threads)
        keys, other_keys, order, other_order = other_keys, keys, other_order, order
    in_order = np.empty((len(order), FIELDS), np.float32)
    _copy(splats, order, in_order, threads)
    return in_order, gaussian[order]


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
def _copy(splats: Singles, order: Indices, in_order: Singles, threads: int) -> None:
    for slot in prange(threads):
        for k in range(len(order) * slot // threads, len(order) * (slot + 1) // threads):
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
    start = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    cursor = start[:-1] + np.cumsum(counts, axis=0) - counts
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
    """First and last of a number of tiles in line with a pixel centre within a radius; the last is less where there is none."""
    first = np.ceil(max(center - radius - _HALF, _ZERO))
    last = np.floor(min(center + radius - _HALF, np.float32(tiles * TILE - 1)))
    return np.int64(first) // TILE, np.int64(last) // TILE if last >= first else np.int64(-1)


@kernel
def _tiles_of_row(splats, i, row, columns):  # type: ignore[no-untyped-def]
    """First and last tile of a row of tiles with a pixel centre in the ellipse of splat i; the last is less where there is none.

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
