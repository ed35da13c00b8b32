"""Things of one category told apart: parts that touch in voxels, kept apart where views saw two things, joined where nobody saw through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from portico.build.lifting.evidence import Sight
from portico.geometry import Floats
from portico.world import Gaussians

#: Edge of the voxels that parts touch in: things 15 cm apart have an empty one between them.
VOXEL_M = 0.05
#: A Gaussian stands at points so far apart, at most so many to each side of its centre.
_STEP_M, _MOST_STEPS = 0.8 * VOXEL_M, 5
#: A part this much smaller than its neighbour, and no farther from it, belongs to it: leaves to a plant, a drawer to a chest.
_CRUMB_SHARE, _CRUMB_GAP_M = 0.25, 0.12
#: Two faces of one thing are at most so far apart, and at most this share of the lines between them was ever seen through.
_THICKEST_M, _SEEN_THROUGH = 0.6, 0.1
#: So many lines are looked at, at least and about at most, not longer than the shortest by more than this.
_LEAST_LINES, _LINES, _FACING_M, _BEHIND_M = 4, 48, 0.1, 0.1
#: One thing may end so far below where it goes on.
_STACKED_M = 0.2
_NEIGHBOURS = np.array([(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) > (0, 0, 0)])


@dataclass(frozen=True)
class Cells:
    """Voxels that hold matter of a category; a voxel counts once for each of its categories.

    Attributes:
        category: (V,) int32. index: (V, 3) int64. member: (M,) which Gaussian, home: (M,) which voxel holds it.
    """

    category: NDArray[np.int32]
    index: NDArray[np.int64]
    member: NDArray[np.int64]
    home: NDArray[np.int64]


def cells_of(gaussians: Gaussians, members: NDArray[np.int64], category: NDArray[np.int32]) -> Cells:
    """The voxels that Gaussians (M,) of categories (M,) lie in; large ones lie in all that they reach by a standard deviation."""
    points, owner = _footing(gaussians, members)
    index = np.floor(points / VOXEL_M).astype(np.int64)
    rows = np.column_stack([category[owner].astype(np.int64), index])
    unique, home = np.unique(rows, axis=0, return_inverse=True)
    return Cells(unique[:, 0].astype(np.int32), unique[:, 1:], members[owner], home.ravel())


def _footing(gaussians: Gaussians, members: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Points (P, 3) a voxel or less apart that stand for Gaussians (M,), and which of them each stands for (P,)."""
    means, scales = gaussians.means[members].astype(np.float64), gaussians.scales_m[members].astype(np.float64)
    steps = np.minimum(scales / _STEP_M, _MOST_STEPS).astype(np.int64)
    sides = 2 * steps + 1
    count = sides.prod(axis=1)
    owner = np.repeat(np.arange(len(members)), count)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    x, number = number % sides[owner, 0], number // sides[owner, 0]
    y, z = number % sides[owner, 1], number // sides[owner, 1]
    offsets = (np.stack([x, y, z], axis=1) - steps[owner]) * _STEP_M
    points = means[owner]
    wide = np.flatnonzero(count[owner] > 1)
    turns = Rotation.from_quat(gaussians.rotations_wxyz[members[owner[wide]]], scalar_first=True)
    points[wide] += turns.apply(offsets[wide])
    return points, owner


def parts_of(cells: Cells, thing: NDArray[np.int64], apart: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(V,) which part each voxel belongs to: voxels of one category that touch by face, edge or corner.

    Where views told things apart, voxels of two things that some view showed as two are not joined; those of which no view tells go to what they touch.

    Args:
        thing: (N,) of every Gaussian, 0 where no view tells. apart: (T, T) whether some view showed two things as two.
    """
    a, b = _neighbours(cells)
    owner = _owners(cells, thing)
    told = (owner[a] > 0) & (owner[b] > 0)
    alike = (owner[a] == owner[b]) | (told & ~apart[owner[a], owner[b]])
    part = _joined(len(owner), a[alike], b[alike])
    near, far = np.concatenate([a, b]), np.concatenate([b, a])
    border = (owner[near] == 0) & (owner[far] > 0)
    loose, far = part[near[border]], far[border]
    first, at = np.unique(loose, return_index=True)
    host = far[at][np.searchsorted(first, loose)]
    one = ~apart[owner[host], owner[far]]
    hosts = _joined(len(owner), part[host[one]], part[far[one]])
    goes_to = np.arange(len(owner))
    goes_to[first] = part[far[at]]
    return np.asarray(np.unique(hosts[goes_to[part]], return_inverse=True)[1].ravel())


def _owners(cells: Cells, thing: NDArray[np.int64]) -> NDArray[np.int64]:
    """(V,) the thing that most Gaussians of a voxel belong to; 0 where no view tells of any."""
    count = int(thing.max(initial=0)) + 1
    keys, votes = np.unique(cells.home * count + thing[cells.member], return_counts=True)
    voxel, name = keys // count, keys % count
    owner = np.zeros(len(cells.category), np.int64)
    # Later ones win: the most votes last, and things before 0.
    order = np.lexsort((votes, name > 0))
    owner[voxel[order]] = name[order]
    return owner


def _neighbours(cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of voxels (E,), (E,) of one category that touch."""
    if not len(cells.index):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low = cells.index.min(axis=0) - 1
    span = cells.index.max(axis=0) + 2 - low
    rows = np.column_stack([cells.category.astype(np.int64), cells.index - low])
    keys = _key(rows, span)
    first, second = [], []
    for step in _NEIGHBOURS:
        wanted = _key(rows + np.array([0, *step]), span)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        hit = np.flatnonzero(keys[at] == wanted)
        first.append(hit)
        second.append(at[hit])
    return np.concatenate(first), np.concatenate(second)


def _key(rows: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(((rows[:, 0] * span[0] + rows[:, 1]) * span[1] + rows[:, 2]) * span[2] + rows[:, 3])


def _joined(count: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1].astype(np.int64))


def whole_things(cells: Cells, part: NDArray[np.int64], loose: NDArray[np.bool_], sights: Sequence[Sight], *, told_apart: bool) -> NDArray[np.int64]:
    """(V,) parts with those joined that are one thing: crumbs with what they lie on, and two faces with solid matter between them.

    Args:
        loose: (V,) voxels of what comes in things; walls and floors are left as they are.
        told_apart: views told things apart, so that only crumbs are joined.
    """
    count = int(part.max(initial=-1)) + 1
    order = np.argsort(part, kind="stable")
    start = np.searchsorted(part[order], np.arange(count + 1))
    rows = [order[start[k] : start[k + 1]] for k in range(count) if loose[order[start[k]]]]
    centers = np.asarray((cells.index + 0.5) * VOXEL_M, np.float64)
    everything = cKDTree(centers)
    host, bond = np.arange(len(rows)), np.full(len(rows), np.inf)
    faces = []
    for k, m in _near_pairs(cells, rows, centers):
        small, large = (k, m) if len(rows[k]) <= len(rows[m]) else (m, k)
        gap = _crumb_gap(centers, rows[small], rows[large])
        if gap < bond[small]:
            host[small], bond[small] = large, gap
        elif not told_apart and not np.isfinite(gap) and _solid_between(cells, centers, everything, rows[small], rows[large], sights):
            faces.append((k, m))
    number = np.array([part[r[0]] for r in rows], np.int64)
    a, b = np.array([*enumerate(host), *faces], np.int64).reshape(-1, 2).T
    return _joined(count, number[a], number[b])[part]


def _near_pairs(cells: Cells, rows: list[NDArray[np.int64]], centers: Floats) -> list[tuple[int, int]]:
    """Pairs of parts of one category whose boxes come near enough to be one thing."""
    low = np.array([centers[r].min(axis=0) for r in rows]).reshape(-1, 3)
    high = np.array([centers[r].max(axis=0) for r in rows]).reshape(-1, 3)
    category = np.array([cells.category[r[0]] for r in rows])
    found = []
    for k in range(len(rows)):
        gap = np.maximum(np.maximum(low[k + 1 :] - high[k], low[k] - high[k + 1 :]), 0.0)
        near = (category[k + 1 :] == category[k]) & (np.linalg.norm(gap, axis=1) <= _THICKEST_M)
        found += [(k, k + 1 + int(m)) for m in np.flatnonzero(near)]
    return found


def _crumb_gap(centers: Floats, small: NDArray[np.int64], large: NDArray[np.int64]) -> float:
    """How far a part lies from a much larger one, metres; infinite where it is no crumb of that."""
    if len(small) > _CRUMB_SHARE * len(large):
        return float(np.inf)
    return float(cKDTree(centers[large]).query(centers[small], distance_upper_bound=_CRUMB_GAP_M)[0].min())


def _solid_between(cells: Cells, centers: Floats, everything: cKDTree, small: NDArray[np.int64], large: NDArray[np.int64], sights: Sequence[Sight]) -> bool:
    """Whether no view saw through between two parts, or one stands right above the other, and nothing else is there: then they are one thing."""
    gap, nearest = cKDTree(centers[large]).query(centers[small], distance_upper_bound=_THICKEST_M)
    facing = np.flatnonzero(np.isfinite(gap) & (gap <= gap.min() + _FACING_M))
    if len(facing) < _LEAST_LINES:
        return False
    lines = facing[:: max(1, len(facing) // _LINES)]
    starts, ends = centers[small[lines]], centers[large[nearest[lines]]]
    points = np.concatenate([starts + t * (ends - starts) for t in (0.3, 0.5, 0.7)])
    foreign = [any(cells.category[k] != cells.category[small[0]] for k in near) for near in everything.query_ball_point(points, 0.75 * VOXEL_M)]
    if np.mean(foreign) > _SEEN_THROUGH:
        return False
    if _is_stacked(ends - starts):
        return True
    through = np.zeros(len(points), np.bool_)
    for sight in sights:
        through |= _seen_through(sight, points)
    return bool(through.mean() <= _SEEN_THROUGH)


def _is_stacked(lines: Floats) -> bool:
    """Whether lines (L, 3) are short and steep, as from a pot to the crown of its plant: what joins those is too thin to be labelled."""
    steep = np.abs(lines[:, 2]) > np.hypot(lines[:, 0], lines[:, 1])
    return bool(steep.mean() > 0.5 and np.linalg.norm(lines, axis=1).min() <= _STACKED_M)


def _seen_through(sight: Sight, points: Floats) -> NDArray[np.bool_]:
    """(P,) which points lie in front of what a view saw."""
    x, y, z = ((points - sight.T_world_camera[:3, 3]) @ sight.T_world_camera[:3, :3]).T
    camera = sight.camera
    ahead = z > VOXEL_M
    scale = camera.focal_px / np.where(ahead, z, 1.0)
    column, row = np.floor(x * scale + 0.5 * camera.width).astype(int), np.floor(y * scale + 0.5 * camera.height).astype(int)
    inside = ahead & (column >= 0) & (column < camera.width) & (row >= 0) & (row < camera.height)
    result = np.zeros(len(points), np.bool_)
    result[inside] = sight.depth[row[inside], column[inside]] > z[inside] + _BEHIND_M
    return result
