"""Which ground lies behind a narrow opening in tall walls: indoors, as far as a map can tell.

Tall walls are thickened by half the width of the widest door. What of the open ground is then still joined is outdoors;
ground beyond it that can nevertheless be reached lies behind a door.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from portico.geometry import Floats
from portico.grids.surface_grid import FACADE, GROUND, LINTEL
from portico.policies.local_map import LocalMap, Window

#: Half the width of the widest opening that still counts as a door.
DOOR_HALF_M = 1.25
_LEVEL_M = 0.6
_OPEN_CELLS = 12
_SURELY_OPEN = -2


@dataclass(frozen=True)
class Enclosure:
    """Arrays over a window of the map, (R, C).

    Attributes:
        window: rows and columns of the map.
        depth_m: distance of ground from outdoors, 0 outdoors and where there is no ground.
        sheet: which sheet the ground is on. covered: a ceiling was seen above. open: the sky was. lintel: an edge hangs over it.
    """

    window: Window
    depth_m: Floats
    sheet: NDArray[np.int64]
    covered: NDArray[np.bool_]
    open: NDArray[np.bool_]
    lintel: NDArray[np.bool_]

    def depth_at(self, i: int, j: int) -> float:
        """Distance from outdoors at a row and column of the map; 0 outside the window."""
        rows, cols = self.window
        if not (rows.start <= i < rows.stop and cols.start <= j < cols.stop):
            return 0.0
        return float(self.depth_m[i - rows.start, j - cols.start])


def enclosure(map_: LocalMap, window: Window, z: float, outside: tuple[float, float]) -> Enclosure:
    """Tell indoors from outdoors at one level.

    Args:
        z: height of the level. outside: a position known to be outdoors.
    """
    grid, (rows, cols) = map_.grid, window
    height, flags = grid.height[:, rows, cols], grid.flags[:, rows, cols]
    level = np.abs(height - z) <= _LEVEL_M
    standing = level & (flags & GROUND > 0)
    ground = standing.any(axis=0)
    tall = (level & (grid.odds[:, rows, cols] > 0) & (flags & FACADE > 0)).any(axis=0)
    roof = np.where(level, grid.roof[:, rows, cols], 0)
    opened = roof.min(axis=0) <= _SURELY_OPEN
    outdoors = _outdoors(map_, ground & ~tall, tall, opened, outside, window)
    depth = ndimage.distance_transform_edt(~outdoors) * grid.cell_m if outdoors.any() else np.zeros(ground.shape)
    return Enclosure(
        window=window,
        depth_m=np.where(ground & ~tall, depth, 0.0),
        sheet=standing.argmax(axis=0),
        covered=roof.max(axis=0) > 0,
        open=opened,
        lintel=(level & (flags & LINTEL > 0)).any(axis=0),
    )


def _outdoors(
    map_: LocalMap, free: NDArray[np.bool_], tall: NDArray[np.bool_], opened: NDArray[np.bool_], outside: tuple[float, float], window: Window
) -> NDArray[np.bool_]:
    """Free ground that is joined to open sky or to the known outdoor place without passing a door."""
    cell = map_.cell_m
    room = ndimage.distance_transform_edt(~tall) * cell if tall.any() else np.full(tall.shape, np.inf)
    labels, count = ndimage.label(free & (room >= DOOR_HALF_M), structure=np.ones((3, 3)))
    if count == 0:
        return free & opened
    sky = ndimage.sum_labels(opened, labels, index=np.arange(1, count + 1))
    chosen = set((np.flatnonzero(sky >= _OPEN_CELLS) + 1).tolist())
    i, j = map_.cell(*outside)
    i, j = i - window[0].start, j - window[1].start
    n = round(2.0 / cell)
    around = labels[max(i - n, 0) : max(i + n + 1, 0), max(j - n, 0) : max(j + n + 1, 0)]
    around = around[around > 0]
    if len(around):
        chosen.add(int(np.bincount(around).argmax()))
    core = np.isin(labels, sorted(chosen))
    if not core.any():
        return free & opened
    near: NDArray[np.bool_] = ndimage.distance_transform_edt(~core) * cell <= DOOR_HALF_M
    return near
