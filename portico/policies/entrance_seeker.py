"""Search for the way into a building, from depth alone."""

from __future__ import annotations

from math import hypot, inf

import numpy as np

from portico.geometry import Floats
from portico.grids.mapping import FACADE, LINTEL
from portico.interface import Observation
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs, FrontierCluster, Surfaces
from portico.policies.pilot import Pilot, Target
from portico.policies.surroundings import Surroundings, roof_votes

#: The entrance of the target is near where the search begins [I2 C.3: 15 m from the building].
_SEARCH_M = 25.0
_ROAD_BELOW_M = 0.1
_PAST_LINTEL_M = 0.9


class EntranceSeeker:
    """Into the building: towards openings in tall walls with a lintel above and a ceiling behind."""

    looks_around = True
    reach_m = inf

    def __init__(self) -> None:
        self._surroundings = Surroundings()
        self._was_outside = False

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Judge whether there is a roof."""
        self._surroundings.update(pilot)
        self._was_outside = self._was_outside or self._surroundings.open_share(pilot) > 0.5

    def done(self, pilot: Pilot) -> bool:
        """Under a ceiling, past the lintel, with no open sky within a metre and walls or ceiling wherever the view goes up."""
        votes = roof_votes(pilot, 1.0)
        covered = len(votes) > 20 and float(np.mean(votes > 0)) > 0.9
        if not (self._was_outside and covered and self._surroundings.open_share(pilot) < 0.35):
            return False
        p, flags = pilot.pose, pilot.map.grid.flags
        close = pilot.map.disc(p.x, p.y, p.z, _PAST_LINTEL_M, 0.6)
        return not (flags[close[:, 0], close[:, 1], close[:, 2]] & LINTEL > 0).any()

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Ground known to be covered, else what leads to an opening in a wall, else frontiers along facades."""
        near_facade = _near(pilot, pilot.map.grid.flags & FACADE > 0, 2.0)
        covered = self._covered_ground(pilot, costs, near_facade)
        if covered is not None:
            return covered
        openings = self._openings(pilot)
        return best_frontier(pilot, costs, lambda c: self._charge(pilot, c, openings, near_facade))

    def _covered_ground(self, pilot: Pilot, costs: Costs, near_facade: Floats) -> Target | None:
        surfaces = np.argwhere((pilot.map.grid.roof >= 3) & np.isfinite(costs) & (near_facade > 4))
        if len(surfaces) < 12:
            return None
        reached = costs[surfaces[:, 0], surfaces[:, 1], surfaces[:, 2]]
        for n in np.argsort(reached, kind="stable")[:: max(1, len(surfaces) // 20)]:
            best = (int(surfaces[n, 0]), int(surfaces[n, 1]), int(surfaces[n, 2]))
            position = pilot.map.position(best)
            if reached[n] > 0.5 and not pilot.is_tabu(position):
                return Target(np.array([best]), position, "covered ground")
        return None

    def _openings(self, pilot: Pilot) -> Floats:
        """(N, 2) cells below a lintel that have tall walls beside them."""
        flags = pilot.map.grid.flags
        beside = _near(pilot, flags & FACADE > 0, 1.2) > 4
        surfaces: Surfaces = np.argwhere((flags & LINTEL > 0) & beside)
        positions = pilot.map.positions(surfaces) if len(surfaces) else np.zeros((0, 3))
        return np.array([p[:2] for p in positions if not pilot.is_tabu((float(p[0]), float(p[1]), float(p[2])))]).reshape(-1, 2)

    def _charge(self, pilot: Pilot, cluster: FrontierCluster, openings: Floats, near_facade: Floats) -> float:
        x, y, z = cluster.position
        first = pilot.trail[0]
        away = hypot(x - first.x, y - first.y)
        charge = 0.3 * away + (100.0 if away > _SEARCH_M else 0.0) + (6.0 if first.z - z > _ROAD_BELOW_M else 0.0)
        if len(openings):
            return charge + 2.0 * float(np.hypot(openings[:, 0] - x, openings[:, 1] - y).min()) - 20.0
        return charge - (4.0 if near_facade[cluster.goal[1], cluster.goal[2]] > 0 else 0.0)


def _near(pilot: Pilot, marked: np.ndarray, reach_m: float) -> Floats:
    """(R, C) how many marked columns lie within a square around each column."""
    columns = marked.any(axis=0).astype(np.int64)
    n = round(reach_m / pilot.map.cell_m)
    table = np.pad(np.pad(columns, n).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    size = 2 * n + 1
    counts: Floats = (table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size]).astype(np.float64)
    return counts
