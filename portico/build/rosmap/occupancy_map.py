"""The map itself: a grid of cells, where it lies in the world, and what each cell holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from portico.geometry import Floats, rotation_z

#: What a cell holds, as in a ROS ``OccupancyGrid``; 1 to 99 are costs of ground that can be walked on.
FREE, OCCUPIED, UNKNOWN = 0, 100, -1


@dataclass(frozen=True)
class MapGrid:
    """Where the cells of a map lie. Row 0 is the top of the image: the largest y of the map's own axes.

    Attributes:
        resolution_m: edge of a cell.
        x_m, y_m: world position of the lower left corner of the lower left cell.
        yaw_rad: direction of the map's own x axis in the world, counter-clockwise.
        width, height: columns and rows.
    """

    resolution_m: float
    x_m: float
    y_m: float
    yaw_rad: float
    width: int
    height: int

    def recipe(self) -> dict[str, Any]:
        """The grid as a world's recipe keeps it under ``map``."""
        return {"resolution_m": self.resolution_m, "origin": [self.x_m, self.y_m], "yaw_rad": self.yaw_rad, "size": [self.width, self.height]}

    @staticmethod
    def kept(recipe: Mapping[str, Any]) -> MapGrid | None:
        """The grid that a world's recipe keeps, if it does."""
        own = recipe.get("map")
        return own and MapGrid(own["resolution_m"], own["origin"][0], own["origin"][1], own["yaw_rad"], own["size"][0], own["size"][1])

    def cells(self, points_world: ArrayLike) -> NDArray[np.int64]:
        """(N, 2) row and column of the cell that holds each point (N, 2+), which may lie beyond the map."""
        local = self.to_map(points_world) / self.resolution_m
        return np.stack([self.height - 1 - np.floor(local[:, 1]), np.floor(local[:, 0])], axis=1).astype(np.int64)

    def centres(self, cells: ArrayLike) -> Floats:
        """(N, 2) world positions of the centres of cells, (N, 2) row and column."""
        row, column = np.asarray(cells, np.float64).reshape(-1, 2).T
        return self.to_world(np.stack([column + 0.5, self.height - row - 0.5], axis=1) * self.resolution_m)

    def inside(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(N,) which cells, (N, 2) row and column, exist."""
        return np.asarray(((cells >= 0) & (cells < (self.height, self.width))).all(axis=1))

    def to_world(self, points_map: ArrayLike) -> Floats:
        """World positions (N, 2) of points (N, 2) in metres along the map's own axes from its lower left corner."""
        turn = rotation_z(self.yaw_rad)[:2, :2]
        return np.asarray(np.asarray(points_map, np.float64)[:, :2] @ turn.T + [self.x_m, self.y_m])

    def to_map(self, points_world: ArrayLike) -> Floats:
        """The reverse of ``to_world``."""
        turn = rotation_z(self.yaw_rad)[:2, :2]
        return np.asarray((np.asarray(points_world, np.float64)[:, :2] - [self.x_m, self.y_m]) @ turn)


@dataclass(frozen=True)
class OccupancyMap:
    """A grid and its cells: (height, width) int8 of ``FREE``, ``OCCUPIED``, ``UNKNOWN``, or a cost of 1 to 99."""

    grid: MapGrid
    cells: NDArray[np.int8]

    @property
    def free(self) -> NDArray[np.bool_]:
        """Cells that can be walked on, whatever they cost: as Nav2's static layer reads them, only 100 blocks."""
        return np.asarray((self.cells >= FREE) & (self.cells < OCCUPIED))

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Cells that something fills."""
        return np.asarray(self.cells == OCCUPIED)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Cells that nobody saw."""
        return np.asarray(self.cells < FREE)

    def account(self) -> str:
        """Shares of the three kinds, for people."""
        kinds = (("free", self.free), ("occupied", self.occupied), ("unknown", self.unknown))
        return ", ".join(f"{int(mask.sum()):,} {name} ({mask.mean():.1%})" for name, mask in kinds)
