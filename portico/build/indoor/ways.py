"""Where a robot's centre may be in a room that is being furnished, and whether its doors are still joined."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy import ndimage

from portico.build.indoor.plan import Rect, RoomPlan

#: Half the width of the ways that are kept open between doors.
WAY_M = 0.46
_CELL_M = 0.1
_LEAF_WAY_M = 0.36
_POCKET_CELLS = 25


class Ways:
    """Open cells of 0.1 m; obstacles are grown by ``WAY_M`` on every side, corners included, which keeps a disc clear."""

    def __init__(self, room: RoomPlan, leaves: Iterable[Rect], lanes: Iterable[Rect]) -> None:
        self._bounds = b = room.bounds
        u = b.u0 + (np.arange(max(1, int(b.du / _CELL_M))) + 0.5) * _CELL_M
        v = b.v0 + (np.arange(max(1, int(b.dv / _CELL_M))) + 0.5) * _CELL_M
        inner = room.polygon.buffer(-WAY_M, join_style="mitre")
        uu, vv = np.meshgrid(u, v, indexing="ij")
        self._open = np.asarray(shapely.contains_xy(inner, uu, vv), dtype=bool)
        for leaf in leaves:
            self._open[self._cells(leaf.grown(_LEAF_WAY_M))] = False
        self._anchors = [cell for lane in lanes if (cell := self._nearest(lane)) is not None]
        self._sealed = (self._shut_in(self._open) or 0) if self._anchors else 0

    def narrow(self, obstacle: Rect) -> bool:
        """Put an obstacle in, unless it would cut a door off or shut in a corner of the room."""
        cells = self._cells(obstacle.grown(WAY_M))
        if not self._open[cells].any():
            return True
        tried = self._open.copy()
        tried[cells] = False
        if self._anchors:
            shut_in = self._shut_in(tried)
            if shut_in is None or shut_in > self._sealed + _POCKET_CELLS:
                return False
            self._sealed = shut_in
        self._open = tried
        return True

    def _shut_in(self, cells: NDArray[np.bool_]) -> int | None:
        """How many open cells no door leads to; None when the doors are not joined."""
        labels, _ = ndimage.label(cells)
        reached = {int(labels[cell]) for cell in self._anchors}
        if len(reached) != 1 or 0 in reached:
            return None
        return int(cells.sum() - (labels == reached.pop()).sum())

    def _cells(self, rect: Rect) -> tuple[slice, slice]:
        b = self._bounds
        i0, i1 = int(np.ceil((rect.u0 - b.u0) / _CELL_M - 0.5)), int(np.floor((rect.u1 - b.u0) / _CELL_M - 0.5)) + 1
        j0, j1 = int(np.ceil((rect.v0 - b.v0) / _CELL_M - 0.5)), int(np.floor((rect.v1 - b.v0) / _CELL_M - 0.5)) + 1
        return slice(max(i0, 0), max(i1, 0)), slice(max(j0, 0), max(j1, 0))

    def _nearest(self, lane: Rect) -> tuple[int, int] | None:
        """The open cell nearest to the middle of a lane."""
        cells: NDArray[np.int64] = np.argwhere(self._open)
        if len(cells) == 0:
            return None
        offset = (cells + 0.5) * _CELL_M + [self._bounds.u0, self._bounds.v0] - np.asarray(lane.center)
        i, j = cells[int(np.argmin((offset**2).sum(axis=1)))].tolist()
        return i, j
