"""What stands for a capture when bodies move: level ground, and boxes around everything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import ndimage

from portico.build.captures.ground import Runs, find_ground, level, stack, storey_of, without_holes
from portico.build.captures.voxels import Voxels
from portico.geometry import Floats

#: Boxes of one column merge when their outlines differ by no more, and their heights leave no larger gap.
_ALIKE_M = 0.01
#: No body is taller, and none reaches farther from where it stands.
_TALLEST_M, _REACH_M, _BELOW_M = 2.2, 1.2, 0.3
_QUAD = np.array([[0, 1, 2], [0, 2, 3]])


@dataclass(frozen=True)
class Solid:
    """The layers of a capture.

    Attributes:
        cell_m: edge of a column. column: (G, 2) int64 and z_m: (G,) float64, ground and its height.
        low, high: (B, 3) float32, boxes of everything that is no ground.
    """

    cell_m: float
    column: NDArray[np.int64]
    z_m: Floats
    low: NDArray[np.float32]
    high: NDArray[np.float32]

    @property
    def ground_m2(self) -> float:
        """Area of the ground."""
        return float(len(self.z_m)) * self.cell_m**2

    def floor_mesh(self) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """(V, 3) vertices and (F, 3) faces of the ground."""
        first, last = self._strips()
        low, high = self.column[first] * self.cell_m, (self.column[last] + 1) * self.cell_m
        corners = np.stack([low, np.stack([high[:, 0], low[:, 1]], 1), high, np.stack([low[:, 0], high[:, 1]], 1)], axis=1)
        corners = np.concatenate([corners, np.repeat(self.z_m[first, None, None], 4, axis=1)], axis=2)
        faces = (4 * np.arange(len(corners))[:, None, None] + _QUAD).reshape(-1, 3)
        return corners.reshape(-1, 3).astype(np.float32), faces.astype(np.int32)

    def _strips(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last cell of every strip of ground along y at one height."""
        order = np.lexsort((self.column[:, 1], self.z_m, self.column[:, 0]))
        column, z_m = self.column[order], self.z_m[order]
        goes_on = (np.diff(column[:, 0]) == 0) & (np.diff(column[:, 1]) == 1) & (np.diff(z_m) == 0.0)
        starts = np.flatnonzero(np.concatenate([[True], ~goes_on]))
        return order[starts], order[np.concatenate([starts[1:], [len(order)]]) - 1]


def solidify(voxels: Voxels) -> Solid:
    """Ground and boxes of a voxelised capture.

    Raises:
        ImportFailed: there is no floor.
    """
    runs = stack(voxels)
    ground = find_ground(runs, voxels.size_m)
    is_top = np.zeros(len(voxels), np.bool_)
    is_top[runs.last[ground]] = True
    column, z_m = without_holes(runs.column[ground], level(runs, ground), voxels.size_m)
    others = voxels.chosen(~is_top & ~_below(runs, ground, len(voxels)))
    low, high = _merge(others.chosen(_within_reach(others, column, z_m)))
    return Solid(voxels.size_m, column, z_m, low, high)


def _below(runs: Runs, ground: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """(V,) voxels under a ground top in the same run: the floor's own thickness, and noise below it."""
    marks = np.zeros(count + 1, np.int64)
    np.add.at(marks, runs.first[ground], 1)
    np.add.at(marks, runs.last[ground], -1)
    return np.asarray(np.cumsum(marks)[:-1] > 0)


def _within_reach(voxels: Voxels, column: NDArray[np.int64], z_m: Floats) -> NDArray[np.bool_]:
    """(V,) what bodies on the ground, (G, 2) columns and their heights (G,), could touch: not ceilings, roofs and the far sides of walls."""
    size, reach = voxels.size_m, round(_REACH_M / voxels.size_m)
    low = column.min(axis=0) - reach
    shape = tuple((column.max(axis=0) - low + reach + 1).tolist())
    at = voxels.index[:, :2] - low
    inside = ((at >= 0) & (at < shape)).all(axis=1)
    i, j = np.where(inside[:, None], at, 0).T
    within = np.zeros(len(voxels), np.bool_)
    for storey in np.unique(storey_of(z_m)):
        here = storey_of(z_m) == storey
        height = np.full(shape, np.nan)
        height[tuple((column[here] - low).T)] = z_m[here]
        gap, nearest = ndimage.distance_transform_edt(np.isnan(height), return_indices=True)
        ground = height[tuple(nearest)][i, j]
        within |= (gap[i, j] * size <= _REACH_M) & (voxels.high[:, 2] > ground - _BELOW_M) & (voxels.low[:, 2] < ground + _TALLEST_M)
    return np.asarray(within & inside)


def _merge(voxels: Voxels) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Boxes of voxels: those that continue each other upwards are one, then those along y, then those along x."""
    index, low, high = voxels.index, voxels.low, voxels.high
    for axis in (2, 1, 0):
        if not len(low):
            break
        others = [a for a in (0, 1, 2) if a != axis]
        rough = np.round(np.concatenate([low[:, others], high[:, others]], axis=1) / _ALIKE_M).astype(np.int64)
        # Sorted so that what may merge is next to each other: alike across the axis, then along it.
        order = np.lexsort((low[:, axis], *rough.T[2:], *rough.T[:2], *index[:, others].T)) if axis == 2 else np.lexsort((low[:, axis], *rough.T))
        index, low, high = index[order], low[order], high[order]
        box = np.zeros(len(low), np.int64)
        _number_boxes(low, high, axis, box)
        first = np.flatnonzero(np.diff(box, prepend=-1))
        index, low, high = index[first], np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
    return low, high


@njit(cache=True)
def _number_boxes(low, high, axis, box):  # type: ignore[no-untyped-def]
    """Number the box that each box goes to; it joins the one before when their outlines are alike and it continues it along the axis."""
    count = 1
    for n in range(1, len(low)):
        joins = abs(low[n, axis] - high[n - 1, axis]) <= _ALIKE_M
        for d in range(3):
            joins = joins and (d == axis or (abs(low[n, d] - low[n - 1, d]) <= _ALIKE_M and abs(high[n, d] - high[n - 1, d]) <= _ALIKE_M))
        if not joins:
            count += 1
        box[n] = count - 1
