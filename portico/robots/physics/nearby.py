"""What of a world lies near a place: triangles and boxes that bodies touch, filed by square tiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.world import Surface, World

_TILE_M = 2.0

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Matter:
    """What a body may touch.

    Attributes:
        triangles: (F, 3, 3) float64, metres, world frame. surface: (F,) uint8, their ``Surface``.
        boxes: (B, 2, 3) float64, lowest and highest corners of obstacles.
    """

    triangles: Floats
    surface: NDArray[np.uint8]
    boxes: Floats

    @staticmethod
    def of(world: World) -> Matter:
        """All of a world that collides; water does not: what steps on it falls in."""
        geometry = world.geometry
        solid = geometry.collides & (geometry.surface != Surface.WATER)
        return Matter(geometry.triangles[solid].astype(np.float64), geometry.surface[solid], geometry.boxes.astype(np.float64))

    @cached_property
    def bounds(self) -> Floats:
        """(2, 3): lowest and highest corner."""
        points = np.concatenate([self.triangles.reshape(-1, 3), self.boxes.reshape(-1, 3)])
        return np.stack([points.min(axis=0), points.max(axis=0)])


class Nearby:
    """Finds what lies in a rectangle without looking at the rest.

    Args:
        matter: to file. One index serves any number of robots.
    """

    def __init__(self, matter: Matter) -> None:
        self.matter = matter
        low, high = matter.bounds[0, :2], matter.bounds[1, :2]
        self._origin = low
        self._nx, self._ny = (np.floor((high - low) / _TILE_M).astype(int) + 1).tolist()
        self._triangles = self._filed(matter.triangles)
        self._boxes = self._filed(matter.boxes)

    def within(self, low: Floats, high: Floats) -> Matter:
        """What crosses the tiles of a rectangle from ``low`` to ``high``, (2,) each, in the order of the world."""
        t, b = self._found(self._triangles, low, high), self._found(self._boxes, low, high)
        return Matter(self.matter.triangles[t], self.matter.surface[t], self.matter.boxes[b])

    def _filed(self, shapes: Floats) -> tuple[Ints, Ints]:
        """Shapes (N, K, 3) by tile: (tiles + 1,) starts, and their numbers."""
        first = np.floor((shapes[..., :2].min(axis=1) - self._origin) / _TILE_M).astype(np.int32)
        last = np.floor((shapes[..., :2].max(axis=1) - self._origin) / _TILE_M).astype(np.int32)
        start = np.zeros(self._nx * self._ny + 1, np.int32)
        _file(first, last, self._nx, start[1:], np.zeros(0, np.int32))
        np.cumsum(start, out=start)
        members = np.empty(start[-1], np.int32)
        _file(first, last, self._nx, start[:-1].copy(), members)
        return start, members

    def _found(self, filed: tuple[Ints, Ints], low: Floats, high: Floats) -> Ints:
        start, members = filed
        i0, j0 = np.maximum(np.floor((low - self._origin) / _TILE_M).astype(int), 0).tolist()
        i1, j1 = np.floor((high - self._origin) / _TILE_M).astype(int).tolist()
        rows = [members[start[j * self._nx + i0] : start[j * self._nx + min(i1, self._nx - 1) + 1]] for j in range(j0, min(j1, self._ny - 1) + 1)]
        return np.unique(np.concatenate([*rows, members[:0]])) if i0 <= min(i1, self._nx - 1) else members[:0]


@njit(cache=True, nogil=True)
def _file(first, last, nx, cursor, members):  # type: ignore[no-untyped-def]
    """Count shapes in ``cursor`` by the tiles they cover, or write their numbers there when ``members`` has room."""
    for n in range(first.shape[0]):
        for j in range(first[n, 1], last[n, 1] + 1):
            for i in range(first[n, 0], last[n, 0] + 1):
                k = j * nx + i
                if members.size:
                    members[cursor[k]] = n
                cursor[k] += 1
