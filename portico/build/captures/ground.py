"""What of a voxelised capture is ground: patches of level tops, joined by steps to the main floor, with headroom above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from portico.build.captures.voxels import Voxels
from portico.errors import ImportFailed

#: Neighbouring tops that differ by less belong to one patch; patches join over a step of at most a stair's riser.
_LEVEL_M, _STEP_M = 0.06, 0.22
#: Lower than this under something, nothing can stand; smaller patches are clutter, larger ones are treads or floors.
_HEADROOM_M, _LEAST_TREAD_M2, _LEAST_FLOOR_M2 = 0.3, 0.16, 0.04
_LEAST_PLATFORM_M2 = 1.5
_GAP_M, _STOREY_M = 0.15, 1.0
#: Edges of this height, and of so many times what nine in ten neighbours stay below more, are steps and stay sharp.
_SHARP_M, _NOISES = 0.015, 1.5
_ROUNDS, _QUANTUM_M, _ZERO_M = 64, 0.005, 0.3
_DIRECTIONS = ((1, 0), (0, 1))


@dataclass(frozen=True)
class Runs:
    """Stacks of filled voxels without a gap, column by column and upwards.

    Attributes:
        column: (R, 2) int64. first, last: (R,) positions of the lowest and highest voxel of each in ``Voxels``.
        z_m: (R,) height of the top. headroom_m: (R,) free height above, inf under the open.
    """

    column: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    z_m: NDArray[np.float64]
    headroom_m: NDArray[np.float64]


def stack(voxels: Voxels) -> Runs:
    """The runs of all columns."""
    index = voxels.index
    same = (np.diff(index[:, :2], axis=0) == 0).all(axis=1)
    joined = same & (np.diff(index[:, 2]) == 1)
    first = np.flatnonzero(np.concatenate([[True], ~joined]))
    last = np.concatenate([first[1:], [len(index)]]) - 1
    column, z = index[first, :2], voxels.high[last, 2].astype(np.float64)
    above = np.full(len(first), np.inf)
    under = (np.diff(column, axis=0) == 0).all(axis=1)
    above[:-1][under] = voxels.low[first[1:], 2][under]
    return Runs(column, first, last, z, above - z)


def find_ground(runs: Runs, cell_m: float) -> NDArray[np.bool_]:
    """(R,) which runs' tops are ground.

    The largest level patch with headroom at height zero is the main floor; patches that steps of up to 0.22 m join to it, directly or one after the other, are ground too: other rooms, treads, the floors they lead to.

    Raises:
        ImportFailed: there is no floor; says how much each filter removed.
    """
    roomy = runs.headroom_m >= _HEADROOM_M
    patch = _components(runs, roomy, _LEVEL_M)
    area = np.bincount(patch[roomy], minlength=patch.max(initial=0) + 1) * cell_m**2
    floors = area >= _LEAST_FLOOR_M2
    if not roomy.any() or not floors.any():
        raise ImportFailed(
            "the capture has no floor",
            why=f"of {len(runs.z_m) * cell_m**2:.1f} m² of upward faces {roomy.sum() * cell_m**2:.1f} m² have {_HEADROOM_M} m of headroom, "
            f"and the largest level patch measures {area.max(initial=0.0):.2f} m²",
            next_step="check --up and --scale, or capture the ground as well",
        )
    main = _main_floor(runs, patch, area, roomy)
    wide = roomy & ((area[patch] >= _LEAST_TREAD_M2) | (patch == main))
    wide = _without_platforms(runs, wide, patch, area, main)
    part = _components(runs, wide, _STEP_M)
    return np.asarray(wide & (part == part[np.flatnonzero(wide & (patch == main))[0]]))


def _without_platforms(runs: Runs, wide: NDArray[np.bool_], patch: NDArray[np.int64], area: NDArray[Any], main: int) -> NDArray[np.bool_]:
    """Small patches from which no step leads higher are things to bump into, however low: only stairs are climbed."""
    members, links = _links(runs, wide, _STEP_M)
    ends = patch[members][links]
    ends = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    height = np.bincount(patch[wide], runs.z_m[wide], len(area)) / np.maximum(np.bincount(patch[wide], minlength=len(area)), 1)
    low, high = np.where(height[ends[0]] <= height[ends[1]], ends, ends[::-1])
    kept = area >= _LEAST_PLATFORM_M2
    kept[main] = True
    while True:
        leads_on = kept.copy()
        leads_on[low[kept[high]]] = True
        if (leads_on == kept).all():
            return wide & kept[patch]
        kept = leads_on


def _main_floor(runs: Runs, patch: NDArray[np.int64], area: NDArray[Any], roomy: NDArray[np.bool_]) -> int:
    """The largest patch at the height that alignment made zero, or the lowest of the large ones when none lies there."""
    height = np.bincount(patch[roomy], runs.z_m[roomy], len(area)) / np.maximum(np.bincount(patch[roomy], minlength=len(area)), 1)
    level_zero = np.flatnonzero((np.abs(height) <= _ZERO_M) & (area >= _LEAST_FLOOR_M2))
    if len(level_zero):
        return int(level_zero[np.argmax(area[level_zero])])
    candidates = np.flatnonzero(area >= 0.2 * area.max())
    return int(candidates[np.argmin(height[candidates])])


def level(runs: Runs, ground: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(G,) heights of the ground with the noise of a capture taken out: averaged over level neighbours, not over steps; in steps of 5 mm.

    How high an edge must be to count as a step depends on how much the ground wavers: 1.5 cm on a clean capture, up to 6 cm.
    """
    members, links = _links(runs, ground, _LEVEL_M)
    count = len(members)
    z = runs.z_m[members]
    rise = np.abs(z[links[0]] - z[links[1]])
    links = links[:, rise <= _SHARP_M + _NOISES * np.percentile(rise, 90.0)] if rise.size else links
    both = np.concatenate([links, links[::-1], np.tile(np.arange(count), (2, 1))], axis=1)
    near = coo_matrix((np.ones(both.shape[1]), (both[0], both[1])), (count, count)).tocsr()
    degree = np.asarray(near.sum(axis=1)).ravel()
    for _ in range(_ROUNDS):
        z = near @ z / degree
    return np.asarray(np.round(z / _QUANTUM_M) * _QUANTUM_M)


def storey_of(z_m: NDArray[np.float64]) -> NDArray[np.int64]:
    """(G,) number of the metre of height that ground belongs to; the limits lie away from zero, where most floors are."""
    return np.round(z_m / _STOREY_M).astype(np.int64)


def without_holes(column: NDArray[np.int64], z_m: NDArray[np.float64], cell_m: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Ground with gaps of up to 0.3 m closed, level by level: a capture sees every floor through a sieve.

    What stands in a gap stays an obstacle of its own.
    """
    reach = max(1, round(_GAP_M / cell_m))
    disc = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1]) <= reach + 0.1
    columns, heights = [column], [z_m]
    storey = storey_of(z_m)
    for name in np.unique(storey):
        here = storey == name
        low = column[here].min(axis=0) - reach - 1
        there = np.zeros(column[here].max(axis=0) - low + reach + 2, np.bool_)
        height = np.zeros(there.shape)
        there[tuple((column[here] - low).T)] = True
        height[tuple((column[here] - low).T)] = z_m[here]
        beside = column[np.abs(storey - name) == 1] - low
        beside = beside[((beside >= 0) & (beside < there.shape)).all(axis=1)]
        new = ndimage.binary_closing(there, disc) & ~there
        new[tuple(beside.T)] = False
        nearest = ndimage.distance_transform_edt(~there, return_distances=False, return_indices=True)
        columns.append(np.argwhere(new) + low)
        heights.append(height[tuple(nearest[:, new])])
    return np.concatenate(columns), np.concatenate(heights)


def _components(runs: Runs, chosen: NDArray[np.bool_], step_m: float) -> NDArray[np.int64]:
    """(R,) number of the connected part of each chosen run's top; neighbours join when they differ by at most ``step_m``. 0 elsewhere."""
    members, links = _links(runs, chosen, step_m)
    graph = coo_matrix((np.ones(links.shape[1], np.int8), (links[0], links[1])), (len(members), len(members)))
    _, part = connected_components(graph, directed=False)
    result = np.zeros(len(chosen), np.int64)
    result[members] = part + 1
    return result


def _links(runs: Runs, chosen: NDArray[np.bool_], step_m: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the chosen runs, and (2, L) pairs of places among them whose tops neighbour and differ by at most ``step_m``."""
    members = np.flatnonzero(chosen)
    column = runs.column[members]
    low = column.min(axis=0, initial=0)
    keys = (column[:, 0] - low[0]) * (1 << 24) + (column[:, 1] - low[1])
    pairs = [np.zeros((2, 0), np.int64)]
    for dx, dy in _DIRECTIONS:
        other = keys + dx * (1 << 24) + dy
        start, stop = np.searchsorted(keys, other), np.searchsorted(keys, other, "right")
        for k in range(int((stop - start).max(initial=0))):
            a = np.flatnonzero(start + k < stop)
            b = start[a] + k
            near = np.abs(runs.z_m[members[a]] - runs.z_m[members[b]]) <= step_m
            pairs.append(np.stack([a[near], b[near]]))
    return members, np.concatenate(pairs, axis=1)
