"""Shortest ways over a Space: single paths and fields of distances.

The search runs on *roomy* nodes, those at least √(r² + c²/2) from everything (r radius, c cell). A disc that keeps clear of the
corners of a lattice triangle by that much cannot be reached by anything between them, so what the lattice sees, a swept
body can drive. Paths are swept all the same; where uneven ground breaks the argument the segment is mended cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from portico.geometry import Floats, polyline_length
from portico.grids import paths
from portico.space.queries import in_cells, walk

if TYPE_CHECKING:
    from portico.space.space import Space

#: Rings of nodes around a point that it may enter the lattice by.
_ENTRY_RINGS = 3


@dataclass(frozen=True)
class GeodesicPath:
    """A way that a swept body can drive.

    Attributes:
        points: (M, 3) float64, turning points with the height of the surface there; M >= 2 (start and goal may coincide).
        length_m: horizontal length.
    """

    points: Floats
    length_m: float

    @cached_property
    def surface_length_m(self) -> float:
        """Length in three dimensions along the turning points; a flight of stairs between two of them counts as its slope."""
        return polyline_length(self.points)


@dataclass(frozen=True)
class DistanceField:
    """Horizontal any-angle distances to the nearest of some goals.

    Attributes:
        values: (N,) float64 metres for every node of the space; inf where there is no way.
    """

    values: Floats
    _search: paths.Field = field(repr=False)
    _goals: Floats = field(repr=False)
    _usable: NDArray[np.bool_] = field(repr=False)
    _space: Space = field(repr=False)

    def at(self, points: ArrayLike) -> Floats:
        """Distances in metres at points (M, 3): (M,); inf without a way. Points up to three cells off the free nodes take the nearest way in."""
        points = np.atleast_2d(np.asarray(points, np.float64))
        values: Floats = _values_at(self._space.ground, self._usable, self.values, points, self._space.locate(points), self._space.lattice.cells)
        return values

    def path_from(self, point: ArrayLike) -> GeodesicPath | None:
        """The way from a point (3,) to its nearest goal; None without one."""
        start = np.asarray(point, np.float64)
        nodes, costs = entries(self._space, start, self._usable)
        totals = self.values[nodes] + costs
        if len(nodes) == 0 or not np.isfinite(totals.min()):
            return None
        chain, goal = self._search.chain(int(nodes[np.argmin(totals)]))
        return _path(self._space, start, chain, self._goals[goal] if goal >= 0 else None, self._usable)


def shortest_path(space: Space, start: ArrayLike, goal: ArrayLike, mask: NDArray[np.bool_] | None) -> GeodesicPath | None:
    """See ``Space.path``."""
    a, b = np.asarray(start, np.float64), np.asarray(goal, np.float64)
    usable = space.roomy if mask is None else space.roomy & mask
    sources = _sources(space, a[None], usable)
    targets, tails = entries(space, b, usable)
    if len(sources.nodes) == 0 or len(targets) == 0:
        return None
    aim_x, aim_y = in_cells(space.ground, b[:2]) - 0.5
    chain = paths.shortest_path(space.lattice, usable, sources, targets, tails / space.cell_m, (aim_x, aim_y))
    return None if chain is None else _path(space, a, chain, b, usable)


def distance_field(space: Space, goals: ArrayLike, mask: NDArray[np.bool_] | None, limit_m: float) -> DistanceField:
    """See ``Space.distance_field``."""
    usable = space.roomy if mask is None else space.roomy & mask
    goals = np.asarray(goals)
    if goals.ndim == 1 and np.issubdtype(goals.dtype, np.integer):
        points, sources = np.empty((0, 3)), paths.Sources.at_nodes(goals[(goals >= 0) & usable[goals]])
    else:
        points = np.asarray(goals, np.float64).reshape(-1, 3)
        sources = _sources(space, points, usable)
    found = paths.distance_field(space.lattice, usable, sources, limit_m / space.cell_m)
    return DistanceField(found.values * space.cell_m, found, points, usable, space)


def _sources(space: Space, points: Floats, usable: NDArray[np.bool_]) -> paths.Sources:
    """Beginnings of paths at points (K, 3)."""
    found = [entries(space, point, usable) for point in points]
    nodes = np.concatenate([np.empty(0, np.int32), *(part[0] for part in found)])
    lengths = np.concatenate([np.empty(0), *(part[1] for part in found)]) / space.cell_m
    origins = np.repeat(np.arange(len(points), dtype=np.int32), [len(part[0]) for part in found])
    return paths.Sources(nodes, lengths, origins, in_cells(space.ground, points[:, :2]) - 0.5)


def entries(space: Space, point: Floats, usable: NDArray[np.bool_]) -> tuple[NDArray[np.int32], Floats]:
    """Usable nodes around a point (3,) that a body reaches from it by one straight motion, with the distances to them in metres."""
    g = space.ground
    x, y = in_cells(g, point[:2])
    nodes, costs = _entries(g, usable, space.lattice.cells, int(space.locate(point[None])[0]), x, y)
    return nodes, costs * g.cell


@njit(cache=True, nogil=True)
def _entries(g, usable, cells, n, x, y):  # type: ignore[no-untyped-def]
    near = _ring(g.links, n)
    body = (g.links, g.fit, g.row_start, g.contacts, g.radius)
    nodes, costs = np.empty(near.size, np.int32), np.empty(near.size)
    everywhere = np.empty(0, np.bool_)
    count = 0
    for m in near:
        mx, my = cells[m, 0] + 0.5, cells[m, 1] + 0.5
        if usable[m]:
            share, end = walk(*body, everywhere, n, x, y, mx, my)
            if share >= 1.0 and end == m:
                nodes[count], costs[count] = m, np.hypot(mx - x, my - y)
                count += 1
    return nodes[:count].copy(), costs[:count].copy()


@njit(cache=True, nogil=True)
def _ring(links, n):  # type: ignore[no-untyped-def]
    """A node and those within a few links of it, nearest first."""
    side = 2 * _ENTRY_RINGS + 1
    near = np.empty(side * side, np.int32)
    if n < 0:
        return near[:0]
    near[0] = n
    begin, end, layer = 0, 1, 0
    while layer < _ENTRY_RINGS:
        stop = end
        for a in range(begin, stop):
            for d in range(4):
                m = links[near[a], d]
                fresh = m >= 0 and end < near.size
                for b in range(end):
                    fresh = fresh and near[b] != m
                if fresh:
                    near[end] = m
                    end += 1
        begin = stop
        layer += 1
    return near[:end]


@njit(cache=True, nogil=True)
def _values_at(g, usable, values, points, nodes, cells):  # type: ignore[no-untyped-def]
    out, links, x0, y0, cell = np.full(nodes.size, np.inf), g.links, g.x0, g.y0, g.cell
    for a in range(nodes.size):
        for m in _ring(links, nodes[a]):
            if usable[m] and values[m] < np.inf:
                gap = np.hypot(x0 + (cells[m, 0] + 0.5) * cell - points[a, 0], y0 + (cells[m, 1] + 0.5) * cell - points[a, 1])
                out[a] = min(out[a], values[m] + gap)
    return out


def _path(space: Space, start: Floats, chain: NDArray[np.int32], end: Floats | None, usable: NDArray[np.bool_]) -> GeodesicPath:
    """Turning points joined to start and end, segments swept and mended, needless turns dropped."""
    g = space.ground
    chain = _mended(space, chain, usable)
    centres = space.lattice.cells[chain] + 0.5
    first, last = int(space.locate(start[None])[0]), int(chain[-1] if end is None else space.locate(end[None])[0])
    ends = centres[-1:] if end is None else in_cells(g, end[None, :2])
    xy = np.concatenate([in_cells(g, start[None, :2]), centres, ends])
    nodes = np.concatenate([[first], chain, [last]]).astype(np.int32)
    xy, nodes = _tighten(g, usable, xy, nodes)
    points = np.column_stack([xy * g.cell + [g.x0, g.y0], g.z[nodes].astype(np.float64)])
    points[0, :2] = start[:2]
    if end is not None:
        points[-1, :2] = end[:2]
    return GeodesicPath(points, polyline_length(points[:, :2]))


def _mended(space: Space, chain: NDArray[np.int32], usable: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The chain of nodes, with steps from cell to cell in place of every segment that a body cannot drive."""
    lattice, everywhere = space.lattice, np.empty(0, np.bool_)
    nodes = [chain[:1]]
    for n, m in pairwise(chain):
        steps, goal = None, lattice.cells[m].astype(np.float64)
        if not _clear(space.ground, everywhere, n, m, lattice.cells[n] + 0.5, goal + 0.5):
            aim = (float(goal[0]), float(goal[1]))
            steps = paths.shortest_path(lattice, usable, paths.Sources.at_nodes([n]), np.array([m]), np.zeros(1), aim, any_angle=False)
        nodes.append(np.array([m]) if steps is None else steps[1:])
    return np.concatenate(nodes)


@njit(cache=True, nogil=True)
def _clear(g, allowed, n, m, xy_n, xy_m):  # type: ignore[no-untyped-def]
    """Whether the body passes straight from one point, on node n, to the other, and arrives on node m."""
    share, end = walk(g.links, g.fit, g.row_start, g.contacts, g.radius, allowed, n, xy_n[0], xy_n[1], xy_m[0], xy_m[1])
    return share >= 1.0 and end == m


@njit(cache=True, nogil=True)
def _tighten(g, allowed, xy, nodes):  # type: ignore[no-untyped-def]
    """Drop turning points as long as the neighbours of some turn see each other."""
    kept = np.arange(nodes.size)
    changed = True
    while changed and kept.size > 2:
        changed = False
        out, count = np.empty_like(kept), 1
        out[0] = kept[0]
        for a in range(1, kept.size - 1):
            p, q = out[count - 1], kept[a + 1]
            if _clear(g, allowed, nodes[p], nodes[q], xy[p], xy[q]):
                changed = True
            else:
                out[count] = kept[a]
                count += 1
        out[count] = kept[-1]
        kept = out[: count + 1].copy()
    return xy[kept], nodes[kept]
