"""Splats blended front to back, tile by tile.

A splat is laid over its tile in pieces of eight pixels of a row, without a branch in them, so that compilers make vector
instructions of each. What a tile has gathered so far lies in one array, plane after plane: half tile, row, lane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.render.splats.bins import TILE, Indices
from portico.render.splats.prepared import Singles, kernel
from portico.render.splats.project import BLUE, DEPTH, GREEN, LOG, LOG_FAINTEST, RED, RX, RY, SLOPE, A, E, X, Y

#: Pixels that one vector instruction treats.
LANES = 8
PIXELS = TILE * TILE
#: Once less light than this comes through, nothing behind is looked at.
OPAQUE = np.float32(1e-4)
#: No single Gaussian hides more than this (Kerbl et al. 2023).
MOST_ALPHA = np.float32(0.99)
#: From this share of a pixel on it counts as hit: less gives no depth and no label.
HIT = np.float32(0.5)

# Best fit to 2^p for p from -1 to 0.
_P0, _P1, _P2, _P3, _P4 = (np.float32(c) for c in (0.9999973320, 0.6930281532, 0.2393316994, 0.0530599208, 0.0067603016))
_ZERO, _HALF, _ONE, _FULL = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(255.0)
_LAST = np.float32(TILE - 1)
_INFINITE = np.float32(np.inf)
# How many splats are laid between two looks at whether the tile is opaque.
_LOOK_EVERY = 16

#: Planes of what a tile gathers: light that still comes through; what had come through where a surface ended the pixel;
#: depth of that surface; sums of colours; depth at which half of the light was gone; the largest weight and whose it is.
PLANES = 9
THROUGH, ENDED, SURFACE, RED_SUM, GREEN_SUM, BLUE_SUM, HALFWAY, BEST, WHOSE = (k * PIXELS for k in range(PLANES))


class Backdrop(NamedTuple):
    """What lies behind and between the splats. Images without rows are absent.

    Attributes:
        depth: (H, W) float32, metres, of something opaque; inf where there is nothing. rgb: (H, W, 3) uint8, sky included.
        instance: (H, W) int32. color: (3,) float32, what is seen through everything where there is no rgb.
    """

    depth: Singles
    rgb: NDArray[np.uint8]
    instance: NDArray[np.int32]
    color: Singles


class Images(NamedTuple):
    """What a frame consists of: (H, W, 3) uint8, (H, W) float32, int32 and float32. Those without rows were not asked for."""

    rgb: NDArray[np.uint8]
    depth: Singles
    instance: NDArray[np.int32]
    alpha: Singles


@kernel
def open_tile(state, surface, row0, column0, height, width):  # type: ignore[no-untyped-def]
    """Empty the planes; returns the depth of the nearest surface in the tile. ``surface`` (H, W) is metres, or (0, 0) without any.

    Pixels beyond the image's edge count as opaque.
    """
    nearest = _INFINITE
    state[:] = _ZERO
    for row in range(TILE):
        for column in range(TILE):
            at = place(row, column)
            r, c = row0 + row, column0 + column
            inside = r < height and c < width
            limit = surface[r, c] if inside and surface.shape[0] > 0 else _INFINITE
            state[at + THROUGH], state[at + SURFACE] = _ONE if inside else _ZERO, limit
            nearest = min(nearest, limit)
    return nearest


@kernel
def place(row, column):  # type: ignore[no-untyped-def]
    """Where a pixel of the tile lies in a plane."""
    return (column // LANES * TILE + row) * LANES + column % LANES


@kernel
def end_pixels(state, z):  # type: ignore[no-untyped-def]
    """Let no more light through where a surface is nearer than z; returns the depth of the nearest surface that is left."""
    nearest = _INFINITE
    for at in range(PIXELS):
        if state[at + SURFACE] < z:
            state[at + ENDED] = state[at + THROUGH]
            state[at + THROUGH], state[at + SURFACE] = _ZERO, _INFINITE
        nearest = min(nearest, state[at + SURFACE])
    return nearest


@kernel
def is_opaque(state):  # type: ignore[no-untyped-def]
    """Whether no pixel of the tile lets light through."""
    open_pixels = 0
    for at in range(PIXELS):
        open_pixels += 1 if state[at + THROUGH] >= OPAQUE else 0
    return open_pixels == 0


@kernel
def looks_due(m, first):  # type: ignore[no-untyped-def]
    """Whether it is time to look whether the tile is opaque."""
    return (m - first) % _LOOK_EVERY == _LOOK_EVERY - 1


@kernel
def window(splats, i, row0, column0):  # type: ignore[no-untyped-def]
    """Splat i in a tile: its centre relative to the first pixel's, then first and last row and first and last piece of rows."""
    x, y = splats[i, X] - np.float32(column0) - _HALF, splats[i, Y] - np.float32(row0) - _HALF
    rx, ry = splats[i, RX], splats[i, RY]
    rows = np.int64(np.ceil(max(y - ry, _ZERO))), np.int64(np.floor(min(y + ry, _LAST)))
    pieces = np.int64(max(x - rx, _ZERO)) // LANES, np.int64(min(x + rx, _LAST)) // LANES
    return x, y, rows[0], rows[1], pieces[0], pieces[1]


@kernel
def alpha_of(p):  # type: ignore[no-untyped-def]
    """2^(8 p), at most MOST_ALPHA, for p from -1 to 0: a polynomial squared three times, wrong by less than 1/40000."""
    root = _P0 + p * (_P1 + p * (_P2 + p * (_P3 + p * _P4)))
    square = root * root
    fourth = square * square
    return min(fourth * fourth, MOST_ALPHA)


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract"})
def blend(
    splats: Singles,
    gaussian: Indices,
    members: Indices,
    start: NDArray[np.int64],
    labels: Indices,
    backdrop: Backdrop,
    images: Images,
    size: tuple[int, int],
    threads: int,
) -> None:
    """Fill those of ``images`` of ``size`` (height, width) that have rows; ``labels`` (N,) are the Gaussians'.

    Labels cost next to nothing beside the rest, so one kernel gathers everything.
    """
    columns = -(-size[1] // TILE)
    for slot in prange(threads):
        state = np.empty(PLANES * PIXELS, np.float32)
        for tile in range(slot, len(start) - 1, threads):
            row0, column0 = tile // columns * TILE, tile % columns * TILE
            nearest = open_tile(state, backdrop.depth, row0, column0, size[0], size[1])
            _lay(splats, members, start[tile], start[tile + 1], row0, column0, nearest, state)
            _finish(state, backdrop.depth, backdrop.rgb, backdrop.color, row0, column0, size, images.rgb, images.depth, images.alpha)
            if images.instance.shape[0] > 0:
                _finish_labels(state, backdrop.depth, backdrop.instance, labels, gaussian, members, start[tile], row0, column0, images.instance)


@kernel
def _lay(splats, members, first, end, row0, column0, nearest, state):  # type: ignore[no-untyped-def]
    for m in range(first, end):
        i = members[m]
        a, e, slope, log, z = splats[i, A], splats[i, E], splats[i, SLOPE], splats[i, LOG], splats[i, DEPTH]
        r, g, b = splats[i, RED], splats[i, GREEN], splats[i, BLUE]
        # Single precision counts to sixteen million, more than ever lie in one tile.
        who = np.float32(m - first)
        if z > nearest:
            nearest = end_pixels(state, z)
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
                    state[k + np.uint64(RED_SUM)] += w * r
                    state[k + np.uint64(GREEN_SUM)] += w * g
                    state[k + np.uint64(BLUE_SUM)] += w * b
                    halfway = (through > HIT) & (through - w <= HIT)
                    state[k + np.uint64(HALFWAY)] = z if halfway else state[k + np.uint64(HALFWAY)]
                    best, whose = state[k + np.uint64(BEST)], state[k + np.uint64(WHOSE)]
                    state[k + np.uint64(BEST)] = w if w > best else best
                    state[k + np.uint64(WHOSE)] = who if w > best else whose
        if looks_due(m, first) and is_opaque(state):
            break


@kernel
def _finish(state, surface, behind, background, row0, column0, size, rgb, depth, alpha):  # type: ignore[no-untyped-def]
    for row in range(min(TILE, size[0] - row0)):
        for column in range(min(TILE, size[1] - column0)):
            at, r, c = place(row, column), row0 + row, column0 + column
            rest = state[at + THROUGH] + state[at + ENDED]
            if alpha.shape[0] > 0:
                alpha[r, c] = _ONE - rest
            if rgb.shape[0] > 0:
                for channel in range(3):
                    beyond = np.float32(behind[r, c, channel]) if behind.shape[0] > 0 else _FULL * background[channel]
                    value = _FULL * state[at + RED_SUM + channel * PIXELS] + rest * beyond
                    rgb[r, c, channel] = np.uint8(min(value, _FULL) + _HALF)
            if depth.shape[0] > 0:
                # Rounding may end just short of a half that the sum of the weights reaches.
                hit = state[at + HALFWAY] > _ZERO
                depth[r, c] = state[at + HALFWAY] if hit else surface[r, c] if surface.shape[0] > 0 else _INFINITE


@kernel
def _finish_labels(state, surface, behind, labels, gaussian, members, first, row0, column0, image):  # type: ignore[no-untyped-def]
    for row in range(min(TILE, image.shape[0] - row0)):
        for column in range(min(TILE, image.shape[1] - column0)):
            at, r, c = place(row, column), row0 + row, column0 + column
            rest = state[at + THROUGH] + state[at + ENDED]
            solid = surface.shape[0] > 0 and surface[r, c] < _INFINITE
            if solid and rest >= state[at + BEST]:
                image[r, c] = behind[r, c] if behind.shape[0] > 0 else 0
            elif solid or _ONE - rest >= HIT:
                image[r, c] = labels[gaussian[members[first + np.int64(state[at + WHOSE])]]]
            else:
                image[r, c] = 0
