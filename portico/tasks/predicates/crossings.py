"""Borders that must be crossed: out of a building onto allowed ground, and into one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from portico.geometry import Floats
from portico.tasks.annotations import Bools
from portico.tasks.predicates.ground import REACH_M, Ground


@dataclass(frozen=True)
class Exit:
    """Left the start building during the stage, centre in an allowed outdoor region [I2 3.3]."""

    ground: Ground
    building: int

    @property
    def tolerance_m(self) -> float:
        """No radius is part of this predicate; a reach serves where a scale is asked for [P]."""
        return REACH_M + self.ground.body.radius_m

    def distance_m(self, positions: Floats) -> Floats:
        """Planar distance to the nearest allowed outdoor ground."""
        area = self.ground.annotations.allowed_area
        distances = np.full(len(positions), np.inf)
        if len(area.geometries):
            pairs, nearest = area.query_nearest(shapely.points(positions[:, :2]), return_distance=True, all_matches=False)
            distances[pairs[0]] = nearest
        return distances

    def holds(self, positions: Floats) -> Bools:
        """In an allowed outdoor region."""
        return self.ground.annotations.allowed(positions)

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """From inside the building to outside it."""
        inside = (self.ground.annotations.inside(positions) == self.building) & (self.building >= 0)
        return inside, ~inside


@dataclass(frozen=True)
class Entrance:
    """Entered the target building during the stage, centre inside it [I2 3.3]; where a robot stands, the surface is traversable."""

    ground: Ground
    building: int

    @property
    def tolerance_m(self) -> float:
        """As for ``Exit``."""
        return REACH_M + self.ground.body.radius_m

    def distance_m(self, positions: Floats) -> Floats:
        """Planar distance to the building's footprint, 0 within it."""
        footprint = self.ground.annotations.footprint_shapes[self.building]
        return np.asarray(shapely.distance(footprint, shapely.points(positions[:, :2])), dtype=np.float64)

    def holds(self, positions: Floats) -> Bools:
        """Inside the building."""
        inside: Bools = self.ground.annotations.inside(positions) == self.building
        return inside

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """From outside the building to inside it."""
        inside = self.holds(positions)
        return ~inside, inside
