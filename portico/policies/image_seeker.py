"""Search for the place of a goal picture by going everywhere: pictures are not compared, so nothing is ever declared."""

from __future__ import annotations

from math import inf

from portico.interface import Observation
from portico.policies.explore import best_frontier, unvisited
from portico.policies.local_map import Costs
from portico.policies.pilot import Pilot, Target


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
