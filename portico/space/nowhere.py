"""The Space of a world that is flown over: nothing in it carries anybody."""

from __future__ import annotations

import numpy as np

from portico.grids.paths import Lattice
from portico.space.body import BodySize
from portico.space.queries import Ground
from portico.space.space import Space
from portico.world import World


def nowhere(world: World, embodiment: BodySize, cell_m: float) -> Space:
    """A Space without nodes: no point is located, none is free, no motion leads anywhere."""
    ints, bytes_, floats = np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros((0, 8), np.float32)
    lattice = Lattice(np.zeros((0, 4), np.int32), bytes_, np.zeros((0, 2), np.int32))
    ground = Ground(
        x0=0.0,
        y0=0.0,
        cell=cell_m,
        nx=1,
        ny=1,
        radius=embodiment.radius_m / cell_m,
        above=embodiment.climb_m,
        start=np.zeros(2, np.int32),
        z=np.zeros(0, np.float32),
        fit=ints,
        row_start=np.zeros(1, np.int32),
        contacts=floats,
        links=lattice.links,
        nearest=ints,
        octagons=floats,
    )
    return Space(world.id, cell_m, embodiment, np.zeros((0, 3)), bytes_, np.zeros(0), ints, np.zeros(0, np.bool_), lattice, ground)
