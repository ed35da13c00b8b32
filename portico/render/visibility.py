"""Which triangle every pixel sees: a visibility buffer of nearness and triangle, filled chunk by chunk, near to far.

Chunks are culled against the view, sorted by distance and drawn in waves. After each wave the least nearness of every
tile is known, and chunks or triangles that lie wholly behind it are skipped before they are projected. Every thread
owns interleaved bands of rows, one row of tiles high, so a pixel has one writer and the image is the same for any number
of threads. Threads meet as seldom as can be: on a busy machine waiting for one another is what costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.render.mesh import CHUNK_TRIANGLES, Mesh
from portico.render.projection import FIELDS, MARKS, TILE, project_triangle
from portico.render.scanline import fill_shape
from portico.render.views import View

_FIRST_WAVE, _LARGEST_WAVE, _GROWTH = 2048, 16384, 4
# A wave up to this size is projected by one thread.
_WORTH_SHARING = 3000


class Visibility(NamedTuple):
    """The buffers of one image size, reused from frame to frame.

    Attributes:
        nearness: (H, W) float32, 0 where nothing is seen. face: (H, W) int32, -1 where nothing is seen.
        tiles: (ceil(H / 16), ceil(W / 16)) float32, least nearness in each tile.
        shapes, marks: scratch for one wave of projected triangles.
    """

    nearness: NDArray[np.float32]
    face: NDArray[np.int32]
    tiles: NDArray[np.float32]
    shapes: Floats
    marks: NDArray[np.int32]


def buffers(width: int, height: int) -> Visibility:
    """Buffers for an image of that size."""
    tiles = np.zeros((-(-height // TILE), -(-width // TILE)), np.float32)
    # A wave ends with the chunk that fills it, and a triangle cut by the near plane becomes two.
    room = 2 * (_LARGEST_WAVE + CHUNK_TRIANGLES)
    return Visibility(
        np.zeros((height, width), np.float32), np.full((height, width), -1, np.int32), tiles, np.empty((room, FIELDS)), np.empty((room, MARKS), np.int32)
    )


def draw(mesh: Mesh, view: View, out: Visibility, threads: int) -> int:
    """Fill ``out`` with what ``view`` sees of ``mesh``; returns how many triangles were projected."""
    chunks, depth, rects = _chunks_in_view(mesh.low, mesh.high, view)
    order = np.argsort(depth, kind="stable")
    # The margin keeps rounding from hiding what is level with the surface in front of it.
    nearest = (1.0 / depth if view.perspective else view.far - depth) * 1.00001
    return int(_draw_waves(mesh, view, out, chunks[order], nearest[order].astype(np.float32), rects[order], threads))


@njit(cache=True, error_model="numpy")
def _draw_waves(
    mesh: Mesh, view: View, out: Visibility, chunks: NDArray[np.int64], nearest: NDArray[np.float32], rects: NDArray[np.int64], threads: int
) -> int:
    """Draw chunks in their order, wave by wave, leaving out those behind what is already there."""
    nearness, face, tiles, shapes, marks = out
    tiles[:] = 0.0
    wave = np.empty(len(chunks), np.int64)
    begin = np.empty(len(chunks), np.int64)
    end = np.empty(len(chunks), np.int64)
    position, limit, projected, first, more = 0, _FIRST_WAVE, 0, True, True
    while more:
        count, triangles = 0, 0
        while position < len(chunks) and triangles < limit:
            if not _hidden(tiles, rects, position, nearest[position]):
                chunk = chunks[position]
                wave[count], begin[count] = chunk, 2 * triangles
                triangles += mesh.start[chunk + 1] - mesh.start[chunk]
                count += 1
            position += 1
        more = position < len(chunks)
        if triangles > _WORTH_SHARING:
            _project(mesh.corners, mesh.plane, mesh.face, mesh.start, view, tiles, shapes, marks, wave, begin, end, count, threads)
        else:
            _project_share(mesh.corners, mesh.plane, mesh.face, mesh.start, view, tiles, shapes, marks, wave, begin, end, count, 0, 1)
        _fill(view, nearness, face, tiles, shapes, marks, begin, end, count, first, more, threads)
        projected += triangles
        limit, first = min(_GROWTH * limit, _LARGEST_WAVE), False
    return projected


@njit(cache=True, error_model="numpy")
def _chunks_in_view(low: Floats, high: Floats, view: View) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Chunks whose boxes touch the view, with the least depth and the tiles each may reach."""
    index = np.empty(len(low), np.int64)
    depth = np.empty(len(low))
    rects = np.empty((len(low), 4), np.int64)
    count = 0
    for k in range(len(low)):
        zmin, zmax, xmin, xmax, ymin, ymax = np.inf, -np.inf, np.inf, -np.inf, np.inf, -np.inf
        left = right = above = below = 0
        for corner in range(8):
            px = (high[k, 0] if corner & 1 else low[k, 0]) - view.ox
            py = (high[k, 1] if corner & 2 else low[k, 1]) - view.oy
            pz = (high[k, 2] if corner & 4 else low[k, 2]) - view.oz
            x = (view.xx * px + view.xy * py + view.xz * pz) * view.scale
            y = (view.yx * px + view.yy * py + view.yz * pz) * view.scale
            z = view.zx * px + view.zy * py + view.zz * pz
            reach = z if view.perspective else 1.0
            zmin, zmax = min(zmin, z), max(zmax, z)
            left += x < -view.cx * reach
            right += x > (view.width - view.cx) * reach
            above += y < -view.cy * reach
            below += y > (view.height - view.cy) * reach
            if z >= view.near:
                xmin, xmax = min(xmin, x / reach), max(xmax, x / reach)
                ymin, ymax = min(ymin, y / reach), max(ymax, y / reach)
        if zmax < view.near or left == 8 or right == 8 or above == 8 or below == 8:
            continue
        if zmin < view.near:
            xmin, ymin, xmax, ymax = -view.cx, -view.cy, view.width - view.cx, view.height - view.cy
        index[count] = k
        depth[count] = max(zmin, view.near)
        rects[count, 0] = int(min(max(xmin + view.cx - 1.0, 0.0), view.width - 1.0)) // TILE
        rects[count, 1] = int(min(max(xmax + view.cx + 1.0, 0.0), view.width - 1.0)) // TILE
        rects[count, 2] = int(min(max(ymin + view.cy - 1.0, 0.0), view.height - 1.0)) // TILE
        rects[count, 3] = int(min(max(ymax + view.cy + 1.0, 0.0), view.height - 1.0)) // TILE
        count += 1
    return index[:count], depth[:count], rects[:count]


@njit(cache=True, error_model="numpy")
def _hidden(tiles: NDArray[np.float32], rects: NDArray[np.int64], i: int, nearest: float) -> bool:
    for row in range(rects[i, 2], rects[i, 3] + 1):
        for column in range(rects[i, 0], rects[i, 1] + 1):
            if tiles[row, column] <= nearest:
                return False
    return True


@njit(cache=True, error_model="numpy", parallel=True)
def _project(
    corners: NDArray[np.float32],
    plane: Floats,
    face: NDArray[np.int32],
    start: NDArray[np.int64],
    view: View,
    tiles: NDArray[np.float32],
    shapes: Floats,
    marks: NDArray[np.int32],
    wave: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    count: int,
    threads: int,
) -> None:
    for slot in prange(threads):
        _project_share(corners, plane, face, start, view, tiles, shapes, marks, wave, begin, end, count, slot, threads)


@njit(cache=True, error_model="numpy")
def _project_share(
    corners: NDArray[np.float32],
    plane: Floats,
    face: NDArray[np.int32],
    start: NDArray[np.int64],
    view: View,
    tiles: NDArray[np.float32],
    shapes: Floats,
    marks: NDArray[np.int32],
    wave: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    count: int,
    slot: int,
    threads: int,
) -> None:
    """Project the triangles of every ``threads``-th chunk of a wave into ``shapes`` and ``marks``."""
    for i in range(slot, count, threads):
        at = begin[i]
        for t in range(start[wave[i]], start[wave[i] + 1]):
            at = project_triangle(corners, plane, t, face[t], view, tiles, shapes, marks, at)
        end[i] = at


@njit(cache=True, error_model="numpy", parallel=True)
def _fill(
    view: View,
    nearness: NDArray[np.float32],
    face: NDArray[np.int32],
    tiles: NDArray[np.float32],
    shapes: Floats,
    marks: NDArray[np.int32],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    count: int,
    first: bool,
    more: bool,
    threads: int,
) -> None:
    """Draw a wave's shapes, every thread all of them into its own bands; clear before the first wave, measure tiles for the next."""
    for slot in prange(threads):
        if first:
            _clear_bands(nearness, face, slot, threads)
        for i in range(count):
            for at in range(begin[i], end[i]):
                fill_shape(shapes, marks, at, view, nearness, face, slot, threads)
        if more:
            _measure_bands(nearness, tiles, slot, threads)


@njit(cache=True, error_model="numpy")
def _clear_bands(nearness: NDArray[np.float32], face: NDArray[np.int32], slot: int, threads: int) -> None:
    for row in range(nearness.shape[0]):
        if row // TILE % threads == slot:
            nearness[row] = 0.0
            face[row] = -1


@njit(cache=True, error_model="numpy")
def _measure_bands(nearness: NDArray[np.float32], tiles: NDArray[np.float32], slot: int, threads: int) -> None:
    """The least nearness of every tile."""
    height, width = nearness.shape
    for row in range(slot, tiles.shape[0], threads):
        for column in range(tiles.shape[1]):
            least = np.float32(np.inf)
            for r in range(row * TILE, min((row + 1) * TILE, height)):
                for c in range(column * TILE, min((column + 1) * TILE, width)):
                    least = min(least, nearness[r, c])
            tiles[row, column] = least
