"""Search for the way out of a building, from depth alone."""

from __future__ import annotations

from math import inf

import numpy as np

from portico.interface import Observation
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target
from portico.policies.surroundings import Surroundings, outdoor_evidence, roof_votes

#: Height differences beyond a step lead to another floor.
_STEP_M = 0.3
_BELOW_M, _DOWN_SHARE = -2.2, 0.05
_DOWN_DRAW_M, _UPSTAIRS_DRAW_M = 2.0, 8.0


class ExitSeeker:
    """Out of the building: towards long views and open sky at ground level, downstairs rather than upstairs."""

    looks_around = True
    reach_m = inf

    def __init__(self) -> None:
        self._surroundings = Surroundings()
        self._was_covered = self._looked_down = False
        self._looked_from_z = 0.0

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Judge whether there is a roof."""
        self._surroundings.update(pilot)
        if pilot.sight is not None and pilot.steps % 4 == 0:
            self._look_down(pilot, float((pilot.sight.lowest_m < _BELOW_M).mean()))
        self._was_covered = self._was_covered or bool((roof_votes(pilot, 0.3) > 2).any())

    def done(self, pilot: Pilot) -> bool:
        """Clear of every ceiling by 0.9 m and under an open view."""
        covered = (roof_votes(pilot, 0.9) > 0).any()
        return self._was_covered and not covered and self._surroundings.open_directions(pilot) > 0.9 and self._surroundings.open_share(pilot) > 0.5

    def _look_down(self, pilot: Pilot, share: float) -> None:
        """Ground far below, seen through a window or down a stairwell, means that this is no ground floor."""
        if share > _DOWN_SHARE:
            self._looked_down, self._looked_from_z = True, pilot.pose.z
        elif abs(pilot.pose.z - self._looked_from_z) > 1.0:
            self._looked_down = False

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
        """Daylight draws, stairs down draw more from where the ground lies below, stairs up repel."""
        rise = cluster.position[2] - pilot.pose.z
        if rise > _STEP_M:
            return 4.0 + 3.0 * rise
        if rise < -_STEP_M:
            return -_UPSTAIRS_DRAW_M if self._looked_down else -_DOWN_DRAW_M
        return 0.0 if self._looked_down else -0.3 * outdoor_evidence(pilot, cluster.position)
