"""What each stage looks for: where to go next, and when to declare it done."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from portico.grids.mapping import FACADE, GROUND, LINTEL
from portico.interface import Observation, StageBrief
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target
from portico.policies.surroundings import Surroundings, roof_votes


class Seeker(Protocol):
    """The part of a policy that knows a stage."""

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Take in the newest observation; the map holds it already."""

    def done(self, pilot: Pilot) -> bool:
        """Whether to declare the stage complete, here and now."""

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Where to go: ``weight`` is the cost of standing (may be changed), ``costs`` that of getting there."""


class ExitSeeker:
    """Out of the building: towards long views and open sky at ground level, downstairs rather than upstairs."""

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
        grid, (k, i, j) = pilot.map.grid, cluster.goal
        near = (slice(None), slice(max(i - 5, 0), i + 6), slice(max(j - 5, 0), j + 6))
        level = np.abs(grid.height[near] - cluster.position[2]) < 0.6
        glow = float(grid.glow[near][level].sum())
        rise = cluster.position[2] - pilot.pose.z
        return -0.3 * min(glow, 40.0) + (3.0 * rise if rise > 0.0 else -0.5 * rise if rise > -0.5 else -1.0)


class EntranceSeeker:
    """Into the building: towards openings in tall walls with a lintel above and a ceiling behind."""

    def __init__(self) -> None:
        self._surroundings = Surroundings()
        self._was_outside = False

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Judge whether there is a roof."""
        self._surroundings.update(pilot)
        self._was_outside = self._was_outside or self._surroundings.open_share(pilot) > 0.5

    def done(self, pilot: Pilot) -> bool:
        """Under a ceiling with no open sky within a metre, and walls or ceiling wherever the view goes up."""
        votes = roof_votes(pilot, 1.0)
        covered = len(votes) > 20 and float(np.mean(votes > 0)) > 0.9
        return self._was_outside and covered and self._surroundings.open_share(pilot) < 0.35

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """Ground known to be covered, else frontiers along facades."""
        grid = pilot.map.grid
        covered = (grid.roof >= 3) & np.isfinite(costs)
        if covered.any():
            surfaces = np.argwhere(covered)
            price = costs[covered] + np.where(self._beside_facade(pilot, surfaces), 0.0, 20.0)
            for n in np.argsort(price, kind="stable")[:200:20]:
                best = (int(surfaces[n, 0]), int(surfaces[n, 1]), int(surfaces[n, 2]))
                position = pilot.map.position(best)
                if costs[best] > 0.5 and not pilot.is_tabu(position) and price[n] < 30.0:
                    return Target(np.array([best]), position, "covered ground")
        return best_frontier(pilot, costs, lambda c: self._charge(pilot, c))

    def _beside_facade(self, pilot: Pilot, surfaces: np.ndarray) -> np.ndarray:
        flags = pilot.map.grid.flags
        facade = (flags & FACADE > 0).any(axis=0)
        reach = round(2.0 / pilot.map.cell_m)
        table = np.pad(facade.astype(np.int32).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        i0, i1 = np.maximum(surfaces[:, 1] - reach, 0), np.minimum(surfaces[:, 1] + reach, facade.shape[0])
        j0, j1 = np.maximum(surfaces[:, 2] - reach, 0), np.minimum(surfaces[:, 2] + reach, facade.shape[1])
        return table[i1, j1] - table[i0, j1] - table[i1, j0] + table[i0, j0] > 4

    def _charge(self, pilot: Pilot, cluster: FrontierCluster) -> float:
        grid, (_, i, j) = pilot.map.grid, cluster.goal
        near = (slice(None), slice(max(i - 12, 0), i + 13), slice(max(j - 12, 0), j + 13))
        flags = grid.flags[near]
        first = pilot.trail[0]
        away = float(np.hypot(cluster.position[0] - first.x, cluster.position[1] - first.y))
        drop = first.z - cluster.position[2]
        lintel = bool(((flags & LINTEL > 0) & (flags & GROUND > 0)).any())
        facade = bool((flags & FACADE > 0).any())
        return 0.4 * away - (6.0 if lintel else 0.0) - (3.0 if facade else 0.0) + (8.0 if drop > 0.1 else 0.0)


class PointSeeker:
    """To a point given in the frame of the map."""

    def __init__(self, stage: StageBrief, *, stops: bool) -> None:
        self._goal, self._stops = stage.goal, stops

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Read the goal."""
        self._goal = observation.stage.goal

    def done(self, pilot: Pilot) -> bool:
        """Within 0.3 m of the point."""
        if self._goal is None or not self._stops or pilot.frame_name != "world":
            return False
        return bool(np.hypot(self._goal[0] - pilot.pose.x, self._goal[1] - pilot.pose.y) < 0.3 and abs(self._goal[2] - pilot.pose.z) < 1.0)

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """The point once its surroundings are known, until then the frontier that leads there."""
        if self._goal is None or pilot.frame_name != "world":
            return best_frontier(pilot, costs, lambda c: 0.0)
        x, y, z = self._goal
        near = pilot.map.disc(x, y, z, 0.6, 1.0)
        near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
        if len(near):
            places = pilot.map.positions(near)
            return Target(near, (x, y, z), "point", offsets_m=8.0 * np.hypot(places[:, 0] - x, places[:, 1] - y))
        return best_frontier(pilot, costs, lambda c: 1.5 * float(np.hypot(c.position[0] - x, c.position[1] - y)) + 2.0 * abs(c.position[2] - z))
