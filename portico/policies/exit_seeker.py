"""Search for the way out of a building, from depth alone."""

from __future__ import annotations

from math import inf

import numpy as np

from portico.interface import Observation
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target
from portico.policies.surroundings import Surroundings, outdoor_evidence, roof_votes


class ExitSeeker:
    """Out of the building: towards long views and open sky at ground level, downstairs rather than upstairs."""

    looks_around = True
    reach_m = inf

    def __init__(self) -> None:
        self._surroundings = Surroundings()
        self._was_covered = False

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Judge whether there is a roof."""
        self._surroundings.update(pilot)
        self._was_covered = self._was_covered or bool((roof_votes(pilot, 0.3) > 2).any())

    def done(self, pilot: Pilot) -> bool:
        """Clear of every ceiling by 0.9 m and under an open view."""
        covered = (roof_votes(pilot, 0.9) > 0).any()
        return self._was_covered and not covered and self._surroundings.open_directions(pilot) > 0.9 and self._surroundings.open_share(pilot) > 0.5

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Known open ground first, then the most promising frontier."""
        open_ground = (pilot.map.grid.roof <= -3) & np.isfinite(costs)
        if open_ground.any():
            surfaces = np.argwhere(open_ground)
            nearest = surfaces[int(np.argmin(costs[open_ground]))]
            position = pilot.map.position((int(nearest[0]), int(nearest[1]), int(nearest[2])))
            if not pilot.is_tabu(position):
                return Target(nearest[None], position, "open ground")
        return best_frontier(pilot, costs, lambda c: self._charge(pilot, c))

    def _charge(self, pilot: Pilot, cluster: FrontierCluster) -> float:
        rise = cluster.position[2] - pilot.pose.z
        return -0.3 * outdoor_evidence(pilot, cluster) + (3.0 * rise if rise > 0.0 else max(0.5 * rise, -1.0))
