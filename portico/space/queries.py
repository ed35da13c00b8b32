"""Kernels behind ``Space``: which surface carries a point, whether the body fits there, how far a straight motion gets.

Everything is exact for the disc against the features' octagons, and so never says free where the mesh is hit. Lengths are in
cells, positions in cells from the grid's corner; heights in metres.
"""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.space.clearance import BLOCKED, FITS, feature_distance

#: A body looks for its support this far below its foot point, metres.
SUPPORT_BELOW_M = 0.5
#: Shortest advance along a motion that grazes something, and how far before a contact it ends, in cells.
_GRAZE, _STANDOFF = 0.05, 1e-3


class Ground(NamedTuple):
    """What the kernels read. Shapes as in ``surfaces.Nodes`` and ``clearance.Clearance``; ``radius`` in cells, ``above`` in metres."""

    x0: float
    y0: float
    cell: float
    nx: int
    ny: int
    radius: float
    above: float
    start: NDArray[np.int32]
    z: NDArray[np.float32]
    links: NDArray[np.int32]
    fit: NDArray[np.int32]
    nearest: NDArray[np.int32]
    list_start: NDArray[np.int32]
    listed: NDArray[np.int32]
    octagons: NDArray[np.float32]


@njit(cache=True, nogil=True)
def _locate(g, x, y, z):  # type: ignore[no-untyped-def]
    """Node that carries a point: of its column, the one nearest in height that is neither too high to step on nor too far below."""
    if not (x >= 0.0 and y >= 0.0 and x < g.nx and y < g.ny):
        return -1
    k = int(y) * g.nx + int(x)
    best, best_gap = -1, np.inf
    for n in range(g.start[k], g.start[k + 1]):
        rise = g.z[n] - z
        if rise <= g.above and rise >= -SUPPORT_BELOW_M and abs(rise) < best_gap:
            best, best_gap = n, abs(rise)
    return best


@njit(cache=True, nogil=True)
def _listed_gap(g, row, x, y):  # type: ignore[no-untyped-def]
    gap = np.inf
    for a in range(g.list_start[row], g.list_start[row + 1]):
        gap = min(gap, feature_distance(g.octagons, g.listed[a], x, y))
    return gap


@njit(cache=True, nogil=True)
def _fits(g, n, x, y):  # type: ignore[no-untyped-def]
    fit = g.fit[n]
    return fit == FITS or (fit != BLOCKED and _listed_gap(g, fit, x, y) >= g.radius)


@njit(cache=True, nogil=True)
def _gap(g, n, x, y):  # type: ignore[no-untyped-def]
    """Distance to what bounds the body at node n: exact near the radius, from the nearest features of the node and its neighbours beyond."""
    gap = np.inf
    if g.nearest[n] >= 0:
        gap = feature_distance(g.octagons, g.nearest[n], x, y)
    for d in range(4):
        m = g.links[n, d]
        if m >= 0 and g.nearest[m] >= 0 and g.fit[n] == FITS:
            gap = min(gap, max(g.radius, feature_distance(g.octagons, g.nearest[m], x, y)))
    if g.fit[n] >= 0:
        gap = min(gap, _listed_gap(g, g.fit[n], x, y))
    return gap


@njit(cache=True, nogil=True)
def locate(g, points, out):  # type: ignore[no-untyped-def]
    """Carrying node of points (M, 3) in metres, into out (M,) int32."""
    for a in range(points.shape[0]):
        out[a] = _locate(g, (points[a, 0] - g.x0) / g.cell, (points[a, 1] - g.y0) / g.cell, points[a, 2])


@njit(cache=True, nogil=True)
def is_free(g, points, out):  # type: ignore[no-untyped-def]
    """Whether the body fits at points (M, 3), into out (M,) bool."""
    for a in range(points.shape[0]):
        x, y = (points[a, 0] - g.x0) / g.cell, (points[a, 1] - g.y0) / g.cell
        n = _locate(g, x, y, points[a, 2])
        out[a] = n >= 0 and _fits(g, n, x, y)


@njit(cache=True, nogil=True)
def clearance(g, points, out):  # type: ignore[no-untyped-def]
    """Distance in metres to what bounds the body at points (M, 3), into out (M,) float64; 0 without support."""
    for a in range(points.shape[0]):
        x, y = (points[a, 0] - g.x0) / g.cell, (points[a, 1] - g.y0) / g.cell
        n = _locate(g, x, y, points[a, 2])
        out[a] = g.cell * _gap(g, n, x, y) if n >= 0 else 0.0


@njit(cache=True, nogil=True)
def walk(g, allowed, n, x, y, tx, ty):  # type: ignore[no-untyped-def]
    """Move the body from (x, y) on node n straight towards (tx, ty): fraction covered without contact, and the node it ends on.

    ``allowed`` (N,) bool confines the motion to some nodes; an empty array to none in particular.
    """
    if not _fits(g, n, x, y):
        return 0.0, n
    dx, dy = tx - x, ty - y
    length = hypot(dx, dy)
    if length < 1e-9:
        return 1.0, n
    i, j = int(x), int(y)
    t = 0.0
    while True:
        t_x = ((i + 1 if dx > 0.0 else i) - x) / dx if dx != 0.0 else np.inf
        t_y = ((j + 1 if dy > 0.0 else j) - y) / dy if dy != 0.0 else np.inf
        t_out = max(t, min(t_x, t_y, 1.0))
        if g.fit[n] != FITS:
            safe = _advance(g, n, x, y, dx, dy, length, t, t_out)
            if safe < t_out:
                return safe, n
        if t_out >= 1.0:
            return 1.0, n
        if t_x <= t_y:
            m = g.links[n, 0 if dx > 0.0 else 2]
            i += 1 if dx > 0.0 else -1
        else:
            m = g.links[n, 1 if dy > 0.0 else 3]
            j += 1 if dy > 0.0 else -1
        if m < 0 or (allowed.size > 0 and not allowed[m]) or not _fits(g, m, x + t_out * dx, y + t_out * dy):
            return max(0.0, min(t_out, t_out - _STANDOFF / length)), n
        n, t = m, t_out


@njit(cache=True, nogil=True)
def _advance(g, n, x, y, dx, dy, length, t, t_out):  # type: ignore[no-untyped-def]
    """Along one cell: the last parameter up to which the body is free, t_out if all the way (sphere tracing, Hart 1996)."""
    row = g.fit[n]
    safe = t
    while True:
        gap = _listed_gap(g, row, x + t * dx, y + t * dy)
        if gap < g.radius:
            return safe
        safe = t
        if t >= t_out:
            return t_out
        t = min(t_out, t + max(gap - g.radius, _GRAZE) / length)


@njit(cache=True, nogil=True)
def sweep(g, starts, ends, reached, fraction, stops):  # type: ignore[no-untyped-def]
    """Straight motions from starts (M, 3) to ends (M, 2+): reached (M,), fraction (M,), stops (M, 3) on the surface."""
    everywhere = np.empty(0, np.bool_)
    for a in range(starts.shape[0]):
        x, y = (starts[a, 0] - g.x0) / g.cell, (starts[a, 1] - g.y0) / g.cell
        tx, ty = (ends[a, 0] - g.x0) / g.cell, (ends[a, 1] - g.y0) / g.cell
        n = _locate(g, x, y, starts[a, 2])
        share = 0.0
        if n >= 0 and np.isfinite(tx) and np.isfinite(ty):
            share, n = walk(g, everywhere, n, x, y, tx, ty)
        _settle(g, a, n, share, starts, ends, reached, fraction, stops)


@njit(cache=True, nogil=True)
def _settle(g, a, n, share, starts, ends, reached, fraction, stops):  # type: ignore[no-untyped-def]
    reached[a], fraction[a] = share >= 1.0, share
    if share >= 1.0:
        stops[a, 0], stops[a, 1] = ends[a, 0], ends[a, 1]
    else:
        stops[a, 0] = starts[a, 0] + share * (ends[a, 0] - starts[a, 0]) if share > 0.0 else starts[a, 0]
        stops[a, 1] = starts[a, 1] + share * (ends[a, 1] - starts[a, 1]) if share > 0.0 else starts[a, 1]
    stops[a, 2] = g.z[n] if n >= 0 and share > 0.0 else starts[a, 2]
