"""How much each Gaussian counts at each pixel: what carries labels from images to Gaussians and back."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.render.splats.bins import TILE, Indices
from portico.render.splats.blend import LANES, OPAQUE, PIXELS, alpha_of, is_opaque, looks_due, open_tile, place, window
from portico.render.splats.prepared import Singles, kernel
from portico.render.splats.project import LOG, LOG_FAINTEST, SLOPE, A, E

# Planes of a tile: those that open_tile fills, then the weights of the splat at hand.
_PLANES = 4
_WEIGHT = 3 * PIXELS
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract"})
def strongest(
    splats: Singles, gaussian: Indices, members: Indices, start: NDArray[np.int64], surface: Singles, index: Indices, weight: Singles, threads: int
) -> None:
    """Fill ``index`` and ``weight`` (H, W, K) with the K Gaussians that count most at every pixel, by falling weight.

    Of equal weights the nearer one goes first; where fewer count at all, the rest stays as it is. ``index`` comes as -1, ``weight`` as 0.
    """
    height, width, top = index.shape
    columns = -(-width // TILE)
    for slot in prange(threads):
        state = np.empty(_PLANES * PIXELS, np.float32)
        for tile in range(slot, len(start) - 1, threads):
            row0, column0 = tile // columns * TILE, tile % columns * TILE
            open_tile(state, surface, row0, column0, height, width)
            for m in range(start[tile], start[tile + 1]):
                i = members[m]
                first_row, last_row, first_piece, last_piece = _weigh(splats, i, row0, column0, state)
                for row in range(first_row, min(last_row, height - row0 - 1) + 1):
                    for column in range(first_piece * LANES, min((last_piece + 1) * LANES, width - column0)):
                        w = state[_WEIGHT + place(row, column)]
                        if w > weight[row0 + row, column0 + column, top - 1]:
                            _insert(index, weight, row0 + row, column0 + column, gaussian[i], w)
                if looks_due(m, start[tile]) and is_opaque(state):
                    break


@kernel
def _insert(index, weight, r, c, gaussian, w):  # type: ignore[no-untyped-def]
    at = index.shape[2] - 1
    while at > 0 and w > weight[r, c, at - 1]:
        index[r, c, at], weight[r, c, at] = index[r, c, at - 1], weight[r, c, at - 1]
        at -= 1
    index[r, c, at], weight[r, c, at] = gaussian, w


@kernel
def _weigh(splats, i, row0, column0, state):  # type: ignore[no-untyped-def]
    """Lay splat i over a tile, its weights into their plane; returns the rows and pieces of rows that were written."""
    a, e, slope, log = splats[i, A], splats[i, E], splats[i, SLOPE], splats[i, LOG]
    x, y, first_row, last_row, first_piece, last_piece = window(splats, i, row0, column0)
    for piece in range(first_piece, last_piece + 1):
        for row in range(first_row, last_row + 1):
            dy = np.float32(row) - y
            center = x + slope * dy - np.float32(piece * LANES)
            base = log - e * dy * dy
            at = np.uint64((piece * TILE + row) * LANES)
            for lane in range(LANES):
                u = np.float32(lane) - center
                p = base - a * u * u
                k = at + np.uint64(lane)
                through = state[k]
                w = alpha_of(p) * through if (p >= LOG_FAINTEST) & (through >= OPAQUE) else _ZERO
                state[k] = through - w
                state[k + np.uint64(_WEIGHT)] = w
    return first_row, last_row, first_piece, last_piece


def accumulate(splats: Singles, gaussian: Indices, members: Indices, start: NDArray[np.int64], labels: Indices, total: Singles, threads: int) -> None:
    """Add to ``total`` (N, classes), per Gaussian and label, the weights at pixels of an image (H, W) of labels; others than 0 to classes - 1 do not count.

    Threads sum within tiles; tiles are added in their order by one thread, so that every sum has one order of its terms.
    One row of tiles is at work at a time: an image of noise, with 256 labels to a tile, would fill the memory otherwise.
    """
    height, width = labels.shape
    columns = -(-width // TILE)
    for band in range(-(-height // TILE)):
        tiles = slice(band * columns, (band + 1) * columns)
        local, kinds, count = _labels_of_tiles(labels[band * TILE : (band + 1) * TILE], total.shape[1])
        room = np.diff(start[tiles.start : tiles.stop + 1]) * count
        begin = np.concatenate([[0], np.cumsum(room)])
        sums = np.zeros(int(begin[-1]), np.float32)
        _sum_in_tiles(splats, members, start[tiles.start : tiles.stop + 1], local, count, begin, sums, band * TILE, height, width, threads)
        _add_tiles(gaussian, members, start[tiles.start : tiles.stop + 1], kinds, count, begin, sums, total)


@njit(cache=True)
def _labels_of_tiles(labels: Indices, classes: int) -> tuple[Indices, Indices, NDArray[np.int64]]:
    """For a row of tiles: the number of each pixel's label within its tile (-1: not counted), the labels by number, and how many."""
    tiles = -(-labels.shape[1] // TILE)
    local = np.full(labels.shape, -1, np.int32)
    kinds = np.empty((tiles, PIXELS), np.int32)
    count = np.zeros(tiles, np.int64)
    number = np.full(classes, -1, np.int32)
    for tile in range(tiles):
        for row in range(labels.shape[0]):
            for column in range(tile * TILE, min((tile + 1) * TILE, labels.shape[1])):
                label = labels[row, column]
                if label >= 0 and label < classes:
                    if number[label] < 0:
                        number[label] = count[tile]
                        kinds[tile, count[tile]] = label
                        count[tile] += 1
                    local[row, column] = number[label]
        for k in range(count[tile]):
            number[kinds[tile, k]] = -1
    return local, kinds, count


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract"})
def _sum_in_tiles(
    splats: Singles,
    members: Indices,
    start: NDArray[np.int64],
    local: Indices,
    count: NDArray[np.int64],
    begin: NDArray[np.int64],
    sums: Singles,
    row0: int,
    height: int,
    width: int,
    threads: int,
) -> None:
    no_surface = np.empty((0, 0), np.float32)
    for slot in prange(threads):
        state = np.empty(_PLANES * PIXELS, np.float32)
        for tile in range(slot, len(start) - 1, threads):
            column0 = tile * TILE
            open_tile(state, no_surface, row0, column0, height, width)
            for m in range(start[tile], start[tile + 1]):
                at = begin[tile] + (m - start[tile]) * count[tile]
                first_row, last_row, first_piece, last_piece = _weigh(splats, members[m], row0, column0, state)
                for row in range(first_row, min(last_row, height - row0 - 1) + 1):
                    for column in range(first_piece * LANES, min((last_piece + 1) * LANES, width - column0)):
                        label = local[row, column0 + column]
                        if label >= 0:
                            sums[at + label] += state[_WEIGHT + place(row, column)]
                if looks_due(m, start[tile]) and is_opaque(state):
                    break


@njit(cache=True)
def _add_tiles(
    gaussian: Indices,
    members: Indices,
    start: NDArray[np.int64],
    kinds: Indices,
    count: NDArray[np.int64],
    begin: NDArray[np.int64],
    sums: Singles,
    total: Singles,
) -> None:
    for tile in range(len(start) - 1):
        for m in range(start[tile], start[tile + 1]):
            at = begin[tile] + (m - start[tile]) * count[tile]
            for k in range(count[tile]):
                total[gaussian[members[m]], kinds[tile, k]] += sums[at + k]
