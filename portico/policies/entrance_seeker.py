"""Search for the way into a building, from depth alone."""

from __future__ import annotations

from math import hypot

import numpy as np
from scipy import ndimage

from portico.interface import Observation
from portico.policies.enclosure import Enclosure, enclosure
from portico.policies.explore import best_frontier
from portico.policies.facades import Facades, facades
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target
from portico.policies.surroundings import Surroundings, roof_votes

#: The search begins within 15 m of the building [I2 C.3]; its entrance may be on the far side.
_SEARCH_M, _AWAY_PER_M = 45.0, 0.5
_PLAN_M, _WINDOW_M = 26.0, 10.0
_ROAD_BELOW_M, _ROAD_M = 0.1, 6.0
_ALONG_M, _AWAY_M, _AWAY_MOST_M = 3.5, 6.0, 25.0
_LINTEL_CELLS, _LINTEL_M, _PROMISE_M = 2, 4.0, 8.0
_SHALLOW_M, _INSIDE_M, _AIM_M = 0.4, 0.8, 1.3
_LEAST_CELLS, _LEAST_COVER, _LEAST_LINTEL = 30, 8, 2
_KEEP_M, _KEEP_RADIUS_M = 4.0, 2.0


class EntranceSeeker:
    """Into the building: towards ground behind a door-sized gap between tall walls, under a lintel or a ceiling."""

    looks_around = True
    reach_m = _PLAN_M

    def __init__(self) -> None:
        self._surroundings = Surroundings()
        self._enclosure: Enclosure | None = None
        self._updated_at = -1

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Judge whether there is a roof."""
        self._surroundings.update(pilot)

    def done(self, pilot: Pilot) -> bool:
        """Well behind the opening, under a ceiling, with walls or ceiling wherever the view goes up."""
        votes = roof_votes(pilot, 1.0)
        if len(votes) < 10 or float(np.mean(votes > 0)) < 0.8 or self._surroundings.open_share(pilot) > 0.35:
            return False
        self._look(pilot)
        assert self._enclosure is not None
        return self._enclosure.depth_at(*pilot.map.cell(pilot.pose.x, pilot.pose.y)) >= _INSIDE_M

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Ground behind an opening, else frontiers along buildings, near the start first."""
        self._look(pilot)
        first = pilot.trail[0]
        walls = facades(pilot.map, first.z)
        inside = self._behind_opening(pilot, costs, walls)
        if inside is not None:
            return inside
        return best_frontier(pilot, costs, lambda c: self._charge(pilot, c, walls))

    def _look(self, pilot: Pilot) -> None:
        if self._updated_at == pilot.steps:
            return
        first = pilot.trail[0]
        self._enclosure = enclosure(pilot.map, pilot.map.window(pilot.pose, _WINDOW_M), first.z, (first.x, first.y))
        self._updated_at = pilot.steps

    def _behind_opening(self, pilot: Pilot, costs: Costs, walls: Facades) -> Target | None:
        """The cheapest pocket of ground that is behind an opening in a building and has something overhead."""
        e = self._enclosure
        assert e is not None
        rows, cols = e.window
        i, j = np.mgrid[rows, cols]
        reached = costs[e.sheet, i, j]
        pockets, count = ndimage.label((e.depth_m > _SHALLOW_M) & np.isfinite(reached) & ~e.open, structure=np.ones((3, 3)))
        best, best_price = None, np.inf
        for label in range(1, count + 1):
            pocket = pockets == label
            around = ndimage.binary_dilation(pocket, iterations=5)
            cover, lintel = int((e.covered & pocket).sum()), int((e.lintel & around).sum())
            if int(pocket.sum()) < _LEAST_CELLS or (cover < _LEAST_COVER and lintel < _LEAST_LINTEL):
                continue
            aim = pocket & (e.depth_m >= min(_AIM_M, float(e.depth_m[pocket].max()) - 0.05))
            n = int(np.argmin(np.where(aim, reached, np.inf)))
            a, b = divmod(n, reached.shape[1])
            goal = (int(e.sheet[a, b]), rows.start + a, cols.start + b)
            position = pilot.map.position(goal)
            if walls.nearest_within(position[0], position[1], 2.5) == 0:
                continue
            held = pilot.target
            kept = held is not None and held.name == "opening" and hypot(held.position[0] - position[0], held.position[1] - position[1]) < _KEEP_RADIUS_M
            price = float(reached[a, b]) - 0.05 * min(cover, 100) - (_KEEP_M if kept else 0.0)
            if price < best_price and not pilot.is_tabu(position):
                best, best_price = Target(np.array([goal]), position, "opening"), price
        return best

    def _charge(self, pilot: Pilot, cluster: FrontierCluster, walls: Facades) -> float:
        """Along buildings that were seen into, near the start, rather not down on the road, towards lintels."""
        x, y, z = cluster.position
        first = pilot.trail[0]
        away = hypot(x - first.x, y - first.y)
        cell = walls.cell(x, y)
        gap = float(walls.gap_m[cell])
        charge = 100.0 if away > _SEARCH_M else _AWAY_PER_M * away
        charge += _ROAD_M if first.z - z > _ROAD_BELOW_M else 0.0
        if gap > _ALONG_M:
            return charge + min(_AWAY_M + gap - _ALONG_M, _AWAY_MOST_M)
        charge -= _PROMISE_M * float(walls.promise[walls.owner[cell]])
        return charge - (_LINTEL_M if walls.lintels_near(x, y) >= _LINTEL_CELLS else 0.0)
