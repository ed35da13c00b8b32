"""How surfaces grip: Coulomb friction of rubber feet and tyres on what a triangle is made of."""

from __future__ import annotations

import numpy as np

from portico.geometry import Floats
from portico.world import Surface

#: Rubber on the surface when dry, from textbook ranges of tyres and soles: concrete and asphalt 0.7 to 1.0, wood, tile and carpet 0.5 to 0.9,
#: grass 0.4 to 0.6, painted markings a little less than what carries them [P].
FRICTION: dict[Surface, float] = {
    Surface.FLOOR: 0.8,
    Surface.STAIRS: 0.8,
    Surface.RAMP: 0.8,
    Surface.SIDEWALK: 0.9,
    Surface.CROSSWALK: 0.75,
    Surface.SHARED_ROAD: 0.85,
    Surface.VEHICLE_LANE: 0.85,
    Surface.OPEN_AREA: 0.8,
    Surface.VEGETATED: 0.5,
    Surface.CURB: 0.8,
}
#: Walls, furniture and the like.
_OTHER = 0.5


def friction_table(factor: float = 1.0) -> Floats:
    """(256,) friction by surface number, times ``factor``: wet or icy ground is the same world with a smaller one."""
    table = np.full(256, _OTHER)
    for surface, value in FRICTION.items():
        table[surface] = value
    return table * factor
