"""Any-angle shortest paths on square lattices, flat or layered.

A lattice is a graph whose nodes sit at integer cells: ``links`` (N, 4) names the neighbour to the E, N, W, S or -1, bit d of
``diagonals`` (N,) allows the step NE, NW, SW, SE. Layers, stairs and bridges are just links. The search is Theta* (Nash
et al. 2007) with inherited sight: where both ends of a lattice edge see the same turning point, so does what lies behind the
edge, and few lines of sight have to be walked for more than a step. Every value is the length of a path that exists, and never longer than
the shortest 8-connected path. Lengths are in cells unless a name says metres.
"""

from __future__ import annotations

from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from portico.geometry import Floats

_ROOT2 = sqrt(2.0)
_BUCKETS, _PER_CELL = 64, 2.0
_GAIN, _ROUND = 1e-9, 1e-9
#: Nodes beside a straight way are this much of a detour; A* looks at them before it stops.
_ASIDE = 1.0


class Lattice(NamedTuple):
    """links: (N, 4) int32. diagonals: (N,) uint8. cells: (N, 2) int32, column (x) and row (y) of every node."""

    links: NDArray[np.int32]
    diagonals: NDArray[np.uint8]
    cells: NDArray[np.int32]


class Sources(NamedTuple):
    """Where paths begin.

    Attributes:
        nodes: (E,) int32. lengths: (E,) float64, what it has cost to be there.
        origins: (E,) int32, the point that the node is seen from, or -1 when paths begin at the node itself.
        points: (K, 2) float64, places off the lattice, in cells from the middle of cell (0, 0).
    """

    nodes: NDArray[np.int32]
    lengths: Floats
    origins: NDArray[np.int32]
    points: Floats

    @staticmethod
    def at_nodes(nodes: ArrayLike) -> Sources:
        """Paths that begin at nodes (E,)."""
        nodes = np.asarray(nodes, np.int32)
        return Sources(nodes, np.zeros(len(nodes)), np.full(len(nodes), -1, np.int32), np.empty((0, 2)))


class Field(NamedTuple):
    """values: (N,) float64 lengths to the nearest source, inf where there is no way. roots: (N,) int32, next turning point, the
    node itself at a source, N + k at one that begins at point k, -1 without a way."""

    values: Floats
    roots: NDArray[np.int32]

    def chain(self, node: int) -> tuple[NDArray[np.int32], int]:
        """Turning points from a node to its source, both included, and the number of the point it begins at, or -1."""
        nodes, count = [node], len(self.values)
        while (root := int(self.roots[nodes[-1]])) != nodes[-1] and root < count:
            nodes.append(root)
        return np.array(nodes, np.int32), root - count if root >= count else -1


def flat_lattice(height: int, width: int, free: NDArray[np.bool_]) -> Lattice:
    """Lattice over a map (height, width), node = row · width + column; a diagonal step needs both cells beside it free."""
    node = np.arange(height * width, dtype=np.int32).reshape(height, width)
    links = np.full((height, width, 4), -1, np.int32)
    links[:, :-1, 0], links[:-1, :, 1], links[:, 1:, 2], links[1:, :, 3] = node[:, 1:], node[1:], node[:, :-1], node[:-1]
    diagonals = np.zeros((height, width), np.uint8)
    padded = np.pad(free, 1)
    beside = [padded[1:-1, 2:], padded[2:, 1:-1], padded[1:-1, :-2], padded[:-2, 1:-1]]
    for d in range(4):
        diagonals |= (beside[d] & beside[(d + 1) % 4]).astype(np.uint8) << d
    cells = np.stack([node.ravel() % width, node.ravel() // width], axis=1).astype(np.int32)
    return Lattice(links.reshape(-1, 4), diagonals.ravel(), cells)


def distance_field(lattice: Lattice, usable: NDArray[np.bool_], sources: Sources, limit: float = np.inf) -> Field:
    """Any-angle lengths from every usable node (N,) to the nearest source, up to a limit."""
    values, roots, _ = _search(lattice, usable, sources, np.empty(0, np.int32), np.empty(0), 0.0, 0.0, 0.0, limit, True)
    return Field(values, roots)


def shortest_path(
    lattice: Lattice,
    usable: NDArray[np.bool_],
    sources: Sources,
    targets: NDArray[np.int32],
    tails: Floats,
    aim: tuple[float, float],
    *,
    any_angle: bool = True,
) -> NDArray[np.int32] | None:
    """A* to any of the target nodes (E,), which lie ``tails`` (E,) from a point at ``aim``.

    Returns:
        Turning points (M,) from source to target, or every node of a shortest 8-connected path without ``any_angle``; None
        when there is no way.
    """
    values, roots, reached = _search(lattice, usable, sources, targets, tails, aim[0], aim[1], 1.0, np.inf, any_angle)
    return None if reached < 0 else Field(values, roots).chain(int(targets[reached]))[0][::-1]


def components(lattice: Lattice, usable: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Numbers (N,) of the connected sets of usable nodes: 0 for the largest, -1 for nodes that are not usable."""
    labels, count = _flood(lattice.links, lattice.diagonals, usable)
    sizes = np.bincount(labels[usable], minlength=count)
    rank = np.full(count + 1, -1, np.int32)
    rank[np.lexsort((np.arange(count), -sizes))] = np.arange(count, dtype=np.int32)
    numbers: NDArray[np.int32] = rank[labels]
    return numbers


@njit(cache=True, nogil=True)
def _flood(links, diagonals, usable):  # type: ignore[no-untyped-def]
    labels, queue, count = np.full(usable.size, -1, np.int32), np.empty(usable.size, np.int32), 0
    for seed in range(usable.size):
        if not usable[seed] or labels[seed] >= 0:
            continue
        labels[seed], queue[0], begin, end = count, seed, 0, 1
        while begin < end:
            n = queue[begin]
            begin += 1
            for d in range(8):
                m = _neighbour(links, diagonals, n, d)
                if m >= 0 and usable[m] and labels[m] < 0:
                    labels[m], queue[end] = count, m
                    end += 1
        count += 1
    return labels, count


def map_distance_field(free: NDArray[np.bool_], goals: NDArray[np.int32], cell_m: float) -> Floats:
    """Metres from every cell of a map (H, W) to the nearest goal cell (K, 2) of (row, column); inf where there is no way."""
    height, width = free.shape
    rows, columns = np.asarray(goals).reshape(-1, 2).T
    sources = Sources.at_nodes(rows * width + columns)
    return distance_field(flat_lattice(height, width, free), free.ravel(), sources).values.reshape(height, width) * cell_m


def map_path(free: NDArray[np.bool_], start: tuple[int, int], goal: tuple[int, int]) -> NDArray[np.int32] | None:
    """Turning points (M, 2), (row, column), of a shortest any-angle path between two cells of a map (H, W); None when there is none."""
    height, width = free.shape
    source, target = Sources.at_nodes([start[0] * width + start[1]]), np.array([goal[0] * width + goal[1]], np.int32)
    found = shortest_path(flat_lattice(height, width, free), free.ravel(), source, target, np.zeros(1), (float(goal[1]), float(goal[0])))
    return None if found is None else np.stack(np.divmod(found, width), axis=1).astype(np.int32)


@njit(cache=True, nogil=True)
def _search(lattice, usable, sources, targets, tails, aim_x, aim_y, pull, limit, any_angle):  # type: ignore[no-untyped-def]
    """Label-correcting Theta* over buckets half a cell wide; ``pull`` 1 adds the straight distance to the aim (A*), 0 does not.

    Returns values, roots and the best target's index (-1 for none). It ends once no open node can improve the best target.
    """
    links, diagonals, cells, points, count = lattice.links, lattice.diagonals, lattice.cells, sources.points, usable.size
    values, roots = np.full(count, np.inf), np.full(count, -1, np.int32)
    heads, bucket_of = np.full(_BUCKETS, -1, np.int32), np.full(count, -1, np.int8)
    queue, spare, fresh, waiting = np.empty((4096, 2), np.int32), -1, 0, 0
    now = np.iinfo(np.int64).max
    for a in range(sources.nodes.size):
        n, origin, length = sources.nodes[a], sources.origins[a], sources.lengths[a]
        if usable[n] and length < values[n]:
            values[n], roots[n] = length, n if origin < 0 else count + origin
            now = min(now, int(_PER_CELL * (length + pull * hypot(cells[n, 0] - aim_x, cells[n, 1] - aim_y))))
    for n in sources.nodes:
        if usable[n] and bucket_of[n] < 0:
            key = values[n] + pull * hypot(cells[n, 0] - aim_x, cells[n, 1] - aim_y)
            bucket = min(int(_PER_CELL * key), now + _BUCKETS - 1) % _BUCKETS
            queue, spare, fresh = _push(queue, heads, bucket, n, spare, fresh)
            bucket_of[n] = bucket
            waiting += 1
    best, best_length = -1, limit
    while waiting > 0 and now / _PER_CELL <= best_length + pull * _ASIDE:
        bucket = now % _BUCKETS
        entry = heads[bucket]
        if entry < 0:
            now += 1
            continue
        n = queue[entry, 0]
        heads[bucket], queue[entry, 1], spare = queue[entry, 1], spare, entry
        waiting -= 1
        if bucket_of[n] != bucket:
            continue
        bucket_of[n] = -1
        for a in range(targets.size):
            if targets[a] == n and values[n] + tails[a] < best_length:
                best, best_length = a, values[n] + tails[a]
        s = roots[n]
        sx, sy, length = _begin(cells, points, values, s)
        for d in range(8):
            m = _neighbour(links, diagonals, n, d)
            if m < 0 or not usable[m]:
                continue
            direct = length + hypot(cells[m, 0] - sx, cells[m, 1] - sy)
            if direct >= values[m] - _GAIN:
                continue
            turning = values[n] + (1.0 if d < 4 else _ROOT2)
            if s == n or (any_angle and sees(links, diagonals, usable, roots, s, m, sx - cells[m, 0], sy - cells[m, 1])):
                values[m], roots[m] = direct, s
            elif turning < values[m] - _GAIN:
                values[m], roots[m] = turning, n
            else:
                continue
            key = values[m] + pull * hypot(cells[m, 0] - aim_x, cells[m, 1] - aim_y)
            bucket = min(max(now, int(_PER_CELL * key)), now + _BUCKETS - 1) % _BUCKETS
            if bucket_of[m] != bucket:
                queue, spare, fresh = _push(queue, heads, bucket, m, spare, fresh)
                bucket_of[m] = bucket
                waiting += 1
    return values, roots, best


@njit(cache=True, nogil=True, forceinline=True)
def _begin(cells, points, values, s):  # type: ignore[no-untyped-def]
    """Position of a turning point, node or source point, and the length up to it."""
    if s < values.size:
        return float(cells[s, 0]), float(cells[s, 1]), values[s]
    return points[s - values.size, 0], points[s - values.size, 1], 0.0


@njit(cache=True, nogil=True, forceinline=True)
def _push(queue, heads, bucket, n, spare, fresh):  # type: ignore[no-untyped-def]
    """Put a node on a bucket's stack. Entries (node, next) come from the chain of spare ones, else from the unused end of the queue."""
    if spare >= 0:
        entry, spare = spare, queue[spare, 1]
    else:
        entry, fresh = fresh, fresh + 1
        if fresh > queue.shape[0]:
            queue = np.concatenate((queue, np.empty_like(queue)))
    queue[entry, 0], queue[entry, 1], heads[bucket] = n, heads[bucket], entry
    return queue, spare, fresh


@njit(cache=True, nogil=True, forceinline=True)
def _neighbour(links, diagonals, n, d):  # type: ignore[no-untyped-def]
    """Neighbour in direction d: 0 to 3 are E, N, W, S; 4 to 7 are NE, NW, SW, SE."""
    if d < 4:
        return links[n, d]
    if (diagonals[n] >> (d - 4)) & 1:
        return links[links[n, d - 4], (d - 3) % 4]
    return -1


@njit(cache=True, nogil=True, forceinline=True)
def _between(a, b):  # type: ignore[no-untyped-def]
    """Diagonal 0 to 3 between two directions at right angles."""
    return min(a, b) if abs(a - b) == 1 else 3


@njit(cache=True, nogil=True, forceinline=True)
def sees(links, diagonals, usable, roots, s, m, dx, dy):  # type: ignore[no-untyped-def]
    """Whether the straight segment from node m to the turning point s, (dx, dy) away, only crosses lattice edges between usable nodes.

    It is walked from m, and no farther than the first edge both of whose ends are known to see s, those with root s.
    """
    along, aside = (0 if dx > 0 else 2), (1 if dy > 0 else 3)
    slant = _between(along, aside)
    steps, slope = abs(dx), abs(dy)
    if slope > steps:
        along, aside, steps, slope = aside, along, slope, steps
    slope /= steps
    low, row, rest = m, 0, 0.0
    for i in range(1, int(steps + _ROUND) + 1):
        above = int(i * slope + _ROUND)
        if above == row:
            low = links[low, along]
        elif rest > 0.0:
            low = links[links[low, aside], along]
        elif (diagonals[low] >> slant) & 1:
            low = links[links[low, along], aside]
        else:
            return False
        if low < 0 or not usable[low]:
            return False
        known, row, rest = roots[low] == s, above, i * slope - above
        if rest > _ROUND:
            high = links[low, aside]
            if high < 0 or not usable[high]:
                return False
            known = known and roots[high] == s
        else:
            rest = 0.0
        if known:
            return True
    return low == s
