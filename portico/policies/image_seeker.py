"""Search for the place of a goal picture by going everywhere: pictures are not compared, so nothing is ever declared."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.spatial import cKDTree

from portico.interface import Observation
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs
from portico.policies.pilot import Pilot, Target

#: A place counts as visited when the robot came this near; the success radius of a picture's place is 1 m [NA].
_VISITED_M = 0.9
#: Places are looked at this many cells apart.
_EVERY_CELLS = 3


class ImageSeeker:
    """Explores frontier by frontier, then walks to whatever known ground it has not been near."""

    looks_around = True
    reach_m = inf

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """The map is all it remembers."""

    def done(self, pilot: Pilot) -> bool:
        """Never: it cannot tell one place from another."""
        return False

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """The next frontier, else the nearest place it has not been near."""
        return best_frontier(pilot, costs, lambda c: 0.0) or unvisited(pilot, costs)


def unvisited(pilot: Pilot, costs: Costs) -> Target | None:
    """The reachable place with the lowest path cost that the trail does not pass; None when all were visited."""
    k, i, j = np.nonzero(np.isfinite(costs[:, ::_EVERY_CELLS, ::_EVERY_CELLS]))
    surfaces = np.stack([k, i * _EVERY_CELLS, j * _EVERY_CELLS], axis=1)
    if len(surfaces) == 0:
        return None
    places = pilot.map.positions(surfaces)
    trail = cKDTree(np.array([p.position for p in pilot.trail]))
    far = trail.query(places, distance_upper_bound=_VISITED_M)[0] > _VISITED_M
    surfaces, places = surfaces[far], places[far]
    for n in np.argsort(costs[surfaces[:, 0], surfaces[:, 1], surfaces[:, 2]], kind="stable"):
        x, y, z = (float(v) for v in places[n])
        if not pilot.is_tabu((x, y, z)):
            return Target(surfaces[n : n + 1], (x, y, z), "unvisited")
    return None
