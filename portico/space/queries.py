"""Kernels behind ``Space``: which surface carries a point, whether the body fits there, how far a straight motion gets.

Everything is exact for the disc against the features' octagons, and so never says free where the mesh is hit. Lengths are in
cells, positions in cells from the grid's corner; heights in metres. Kernels take arrays one by one and inline what they
call: numba counts a reference for every array that is read from a tuple or handed on.
"""

from __future__ import annotations

from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.grids.distance import feature_gap, squared_gap
from portico.space.contacts import BLOCKED, FITS

#: A body looks for its support this far below its foot point, metres.
SUPPORT_BELOW_M = 0.5
#: Shortest advance along a motion that grazes something, and how far before a contact it ends, in cells.
_GRAZE, _STANDOFF = 0.05, 1e-3


class Ground(NamedTuple):
    """What the kernels read. Entry kernels take its fields one by one: states the first 12, motions 13, clearances all.

    Shapes as in ``surfaces.Nodes``, ``clearance.Clearance`` and ``contacts.Contacts``; ``radius`` in cells, ``above``, the climb, in metres.
    """

    x0: float
    y0: float
    cell: float
    nx: int
    ny: int
    radius: float
    above: float
    start: NDArray[np.int32]
    z: NDArray[np.float32]
    fit: NDArray[np.int32]
    row_start: NDArray[np.int32]
    contacts: NDArray[np.float32]
    links: NDArray[np.int32]
    nearest: NDArray[np.int32]
    octagons: NDArray[np.float32]


def in_cells(g: Ground, xy: Floats) -> Floats:
    """Positions (..., 2) from metres to cells, rounded as the kernels round, so that a point on a cell's edge is on the same side for all."""
    cells: Floats = (xy - np.array([g.x0, g.y0])) * (1.0 / g.cell)
    return cells


@njit(cache=True, nogil=True, forceinline=True)
def _carrier(start, z, nx, ny, above, x, y, height):  # type: ignore[no-untyped-def]
    """Node that carries a point: of its column, the one nearest in height that is neither too high to step on nor too far below."""
    if not (x >= 0.0 and y >= 0.0 and x < nx and y < ny):
        return -1
    k = int(y) * nx + int(x)
    best, best_gap = -1, np.inf
    for n in range(start[k], start[k + 1]):
        rise = z[n] - height
        if rise <= above and rise >= -SUPPORT_BELOW_M and abs(rise) < best_gap:
            best, best_gap = n, abs(rise)
    return best


@njit(cache=True, nogil=True, forceinline=True)
def _listed_gap(row_start, contacts, row, x, y):  # type: ignore[no-untyped-def]
    gap = np.inf
    for a in range(row_start[row], row_start[row + 1]):
        gap = min(gap, squared_gap(contacts, a, x, y))
    return sqrt(gap)


@njit(cache=True, nogil=True, forceinline=True)
def _fits(fit, row_start, contacts, radius, n, x, y):  # type: ignore[no-untyped-def]
    row = fit[n]
    if row < 0:
        return row == FITS
    a, end = row_start[row], row_start[row + 1]
    while a < end and squared_gap(contacts, a, x, y) >= radius * radius:
        a += 1
    return a == end


@njit(cache=True, nogil=True, forceinline=True)
def _gap(links, nearest, octagons, fit, row_start, contacts, radius, n, x, y):  # type: ignore[no-untyped-def]
    """Distance to what bounds the body at node n: exact near the radius, from the nearest features of the node and its neighbours beyond."""
    gap = np.inf
    if nearest[n] >= 0:
        gap = feature_gap(octagons, nearest[n], x, y)
    if fit[n] >= 0:
        return min(gap, _listed_gap(row_start, contacts, fit[n], x, y))
    for d in range(4):
        m = links[n, d]
        if fit[n] == FITS and m >= 0 and nearest[m] >= 0:
            gap = min(gap, max(radius, feature_gap(octagons, nearest[m], x, y)))
    return gap


@njit(cache=True, nogil=True)
def locate(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, points, out):  # type: ignore[no-untyped-def]
    """Carrying node of points (M, 3) in metres, into out (M,) int32."""
    per_metre = 1.0 / cell
    for a in range(points.shape[0]):
        out[a] = _carrier(start, z, nx, ny, above, (points[a, 0] - x0) * per_metre, (points[a, 1] - y0) * per_metre, points[a, 2])


@njit(cache=True, nogil=True)
def is_free(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, points, out):  # type: ignore[no-untyped-def]
    """Whether the body fits at points (M, 3), into out (M,) bool."""
    per_metre = 1.0 / cell
    for a in range(points.shape[0]):
        x, y = (points[a, 0] - x0) * per_metre, (points[a, 1] - y0) * per_metre
        n = _carrier(start, z, nx, ny, above, x, y, points[a, 2])
        out[a] = n >= 0 and _fits(fit, row_start, contacts, radius, n, x, y)


@njit(cache=True, nogil=True)
def clearance(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, links, nearest, octagons, points, out):  # type: ignore[no-untyped-def]
    """Distance in metres to what bounds the body at points (M, 3), into out (M,) float64; 0 without support."""
    per_metre = 1.0 / cell
    for a in range(points.shape[0]):
        x, y = (points[a, 0] - x0) * per_metre, (points[a, 1] - y0) * per_metre
        n = _carrier(start, z, nx, ny, above, x, y, points[a, 2])
        out[a] = cell * _gap(links, nearest, octagons, fit, row_start, contacts, radius, n, x, y) if n >= 0 else 0.0


@njit(cache=True, nogil=True, forceinline=True)
def walk(links, fit, row_start, contacts, radius, allowed, n, x, y, tx, ty):  # type: ignore[no-untyped-def]
    """Move the body from (x, y) on node n straight towards (tx, ty): fraction covered without contact, and the node it ends on.

    ``allowed`` (N,) bool confines the motion to some nodes; an empty array to none in particular.
    """
    dx, dy = tx - x, ty - y
    length = hypot(dx, dy)
    if fit[n] == BLOCKED or length < 1e-9:
        return (1.0 if _fits(fit, row_start, contacts, radius, n, x, y) else 0.0), n
    i, j = int(x), int(y)
    east, north, confined = dx > 0.0, dy > 0.0, allowed.size > 0
    per_x, per_y = 1.0 / dx if dx != 0.0 else np.inf, 1.0 / dy if dy != 0.0 else np.inf
    t, last = 0.0, n
    while True:
        t_x = ((i + 1 if east else i) - x) * per_x if dx != 0.0 else np.inf
        t_y = ((j + 1 if north else j) - y) * per_y if dy != 0.0 else np.inf
        t_out = max(t, min(t_x, t_y, 1.0))
        row = fit[n]
        if row >= 0:
            safe = _advance(row_start, contacts, radius, row, x, y, dx, dy, length, t, t_out)
            if safe < t:
                return max(0.0, t - _STANDOFF / length), last
            if safe < t_out:
                return safe, n
        if t_out >= 1.0:
            return 1.0, n
        if t_x <= t_y:
            m = links[n, 0 if east else 2]
            i += 1 if east else -1
        else:
            m = links[n, 1 if north else 3]
            j += 1 if north else -1
        if m < 0 or fit[m] == BLOCKED or (confined and not allowed[m]):
            return max(0.0, t_out - _STANDOFF / length), n
        n, last, t = m, n, t_out


@njit(cache=True, nogil=True, forceinline=True)
def _advance(row_start, contacts, radius, row, x, y, dx, dy, length, t, t_out):  # type: ignore[no-untyped-def]
    """Along one cell: the last parameter up to which the body is free, t_out if all the way, -1 if it is not free at t
    (sphere tracing, Hart 1996)."""
    safe = -1.0
    while True:
        gap = _listed_gap(row_start, contacts, row, x + t * dx, y + t * dy)
        if gap < radius:
            return safe
        safe = t
        if t >= t_out or t + (gap - radius) / length >= t_out:
            return t_out
        t = min(t_out, t + max(gap - radius - _STANDOFF, _GRAZE) / length)


@njit(cache=True, nogil=True)
def is_free_one(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, point):  # type: ignore[no-untyped-def]
    """Whether the body fits at one point (3,) in metres."""
    x, y = (point[0] - x0) * (1.0 / cell), (point[1] - y0) * (1.0 / cell)
    n = _carrier(start, z, nx, ny, above, x, y, point[2])
    return n >= 0 and _fits(fit, row_start, contacts, radius, n, x, y)


@njit(cache=True, nogil=True, forceinline=True)
def _sweep(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, links, allowed, x, y, height, to_x, to_y):  # type: ignore[no-untyped-def]
    """One motion in metres: fraction covered and where the body stands then."""
    per_metre = 1.0 / cell
    cx, cy, tx, ty = (x - x0) * per_metre, (y - y0) * per_metre, (to_x - x0) * per_metre, (to_y - y0) * per_metre
    n, share = _carrier(start, z, nx, ny, above, cx, cy, height), 0.0
    if n >= 0 and np.isfinite(tx) and np.isfinite(ty):
        share, n = walk(links, fit, row_start, contacts, radius, allowed, n, cx, cy, tx, ty)
    if share >= 1.0:
        return 1.0, to_x, to_y, float(z[n])
    if share > 0.0:
        return share, x + share * (to_x - x), y + share * (to_y - y), float(z[n])
    return 0.0, x, y, height


@njit(cache=True, nogil=True)
def sweep(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, links, starts, ends, reached, fraction, stops):  # type: ignore[no-untyped-def]
    """Straight motions from starts (M, 3) to ends (M, 2+): reached (M,), fraction (M,), stops (M, 3) on the surface."""
    allowed = np.empty(0, np.bool_)
    for a in range(starts.shape[0]):
        x, y, height, to_x, to_y = starts[a, 0], starts[a, 1], starts[a, 2], ends[a, 0], ends[a, 1]
        share, x, y, height = _sweep(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, links, allowed, x, y, height, to_x, to_y)
        reached[a], fraction[a], stops[a, 0], stops[a, 1], stops[a, 2] = share >= 1.0, share, x, y, height


@njit(cache=True, nogil=True)
def sweep_one(x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, links, allowed, a, b, stop):  # type: ignore[no-untyped-def]
    """One motion from a (3,) towards b (2+,): fraction covered without contact; ``stop`` (3,) is where the body stands then."""
    share, stop[0], stop[1], stop[2] = _sweep(
        x0, y0, cell, nx, ny, radius, above, start, z, fit, row_start, contacts, links, allowed, a[0], a[1], a[2], b[0], b[1]
    )
    return share
