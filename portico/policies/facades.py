"""Tall walls gathered into buildings, on a coarse grid: which frontiers run along them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from portico.geometry import Floats
from portico.grids.surface_grid import FACADE, GROUND, LINTEL
from portico.policies.local_map import LocalMap

_COARSE = 4
_BRIDGE_M = 0.9
_LEVEL_M = 0.6
_BUILDING_M = 5.0
#: Ceilings over no known ground, this near behind a wall, are rooms; this much wall without any is blank.
_ROOM_M, _ROOM_CELLS, _BLANK_CELLS = 5.0, 40, 80


@dataclass(frozen=True)
class Facades:
    """Arrays over coarse cells, (r, c), of ``_COARSE`` map cells each.

    Attributes:
        x0, y0, cell_m: outer corner and edge of the coarse cells.
        building: tall walls joined across gaps narrower than a door; 0 where there are none or they are no building.
        lintel: map cells below an edge. owner: the building nearest to each cell. gap_m: its distance.
        promise: per building, 1 when rooms were seen through its windows, -1 when a long wall showed none, else 0.
    """

    x0: float
    y0: float
    cell_m: float
    building: NDArray[np.int64]
    lintel: NDArray[np.int64]
    owner: NDArray[np.int64]
    gap_m: Floats
    promise: NDArray[np.int64]

    def nearest_within(self, x: float, y: float, reach_m: float) -> int:
        """A building with a wall that close to a place, 0 when there is none."""
        i, j = self.cell(x, y)
        n = round(reach_m / self.cell_m)
        near = self.building[max(i - n, 0) : i + n + 1, max(j - n, 0) : j + n + 1]
        return int(near.max(initial=0))

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Coarse row and column of a place, clipped to the grid."""
        i, j = int((y - self.y0) // self.cell_m), int((x - self.x0) // self.cell_m)
        return min(max(i, 0), self.building.shape[0] - 1), min(max(j, 0), self.building.shape[1] - 1)

    def lintels_near(self, x: float, y: float) -> int:
        """Map cells below an edge within about 1.5 m."""
        i, j = self.cell(x, y)
        n = round(1.5 / self.cell_m)
        return int(self.lintel[max(i - n, 0) : i + n + 1, max(j - n, 0) : j + n + 1].sum())


def facades(map_: LocalMap, z: float) -> Facades:
    """Gather the tall walls at one level."""
    rows, cols = map_.known()
    part = map_.grid.window(rows, cols)
    level = np.abs(part.height - z) <= _LEVEL_M
    count = _pooled((level & (part.flags & FACADE > 0)).any(axis=0))
    lintel = _pooled((level & (part.flags & LINTEL > 0)).any(axis=0))
    cell_m = _COARSE * map_.cell_m
    reach = round(0.5 * _BRIDGE_M / cell_m)
    joined = ndimage.binary_dilation(count > 0, structure=np.ones((3, 3)), iterations=max(reach, 1))
    labels, found = ndimage.label(joined, structure=np.ones((3, 3)))
    small = [n + 1 for n, box in enumerate(ndimage.find_objects(labels, found)) if max(s.stop - s.start for s in box) * cell_m < _BUILDING_M]
    building = np.where((count > 0) & ~np.isin(labels, small), labels, 0).astype(np.int64)
    gap, owner = np.full(building.shape, np.inf), np.zeros(building.shape, np.int64)
    if building.any():
        gap, (i, j) = ndimage.distance_transform_edt(building == 0, return_indices=True)
        gap, owner = gap * cell_m, building[i, j]
    standing = (level & (part.flags & GROUND > 0)).any(axis=0)
    rooms = _pooled((level & (part.roof > 0)).any(axis=0) & ~standing)
    seen_into = np.bincount(owner.ravel(), weights=np.where(gap < _ROOM_M, rooms, 0).ravel(), minlength=found + 1)
    wall = np.bincount(building.ravel(), weights=count.ravel(), minlength=found + 1)
    promise = np.where(seen_into >= _ROOM_CELLS, 1, np.where(wall >= _BLANK_CELLS, -1, 0))
    promise[0] = 0
    return Facades(part.x0, part.y0, cell_m, building, lintel, owner, gap, promise)


def _pooled(cells: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Sums over blocks of ``_COARSE`` x ``_COARSE`` cells; the last blocks are padded."""
    rows, cols = (-cells.shape[0] % _COARSE, -cells.shape[1] % _COARSE)
    padded = np.pad(cells, ((0, rows), (0, cols))).astype(np.int64)
    r, c = padded.shape[0] // _COARSE, padded.shape[1] // _COARSE
    sums: NDArray[np.int64] = padded.reshape(r, _COARSE, c, _COARSE).sum(axis=(1, 3))
    return sums
