"""Search for the way into a building, from depth alone."""

from __future__ import annotations

from math import hypot, inf

import numpy as np
from scipy import ndimage

from portico.geometry import Floats
from portico.grids.surface_grid import FACADE, LINTEL
from portico.interface import Observation
from portico.policies.enclosure import Enclosure, enclosure
from portico.policies.explore import best_frontier
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target
from portico.policies.surroundings import Surroundings, roof_votes

#: The search begins within 15 m of the building [I2 C.3]; its entrance may be on the far side.
_SEARCH_M = 45.0
_FACADE_CELLS, _LINTEL_CELLS = 8, 2
_ALLEY_M, _ALLEY_REACH_M, _ALLEY_CELLS, _ALLEY_BALANCE = 10.0, 4.5, 16, 0.45
_WINDOW_M = 18.0
_ROAD_BELOW_M = 0.1
_SHALLOW_M, _INSIDE_M, _AIM_M = 0.4, 0.8, 1.3
_LEAST_CELLS, _LEAST_COVER, _LEAST_LINTEL = 30, 8, 2


class EntranceSeeker:
    """Into the building: towards ground behind a door-sized gap between tall walls, under a lintel or a ceiling."""

    looks_around = True
    reach_m = inf

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
        """Ground behind an opening, else frontiers along the facades: round the nearest building."""
        self._look(pilot)
        inside = self._behind_opening(pilot, costs)
        if inside is not None:
            return inside
        flags = pilot.map.grid.flags
        near_facade, near_lintel = _near(pilot, flags & FACADE > 0, 2.5), _near(pilot, flags & LINTEL > 0, 1.5)
        return best_frontier(pilot, costs, lambda c: self._charge(pilot, c, near_facade, near_lintel))

    def _look(self, pilot: Pilot) -> None:
        if self._updated_at == pilot.steps:
            return
        first = pilot.trail[0]
        self._enclosure = enclosure(pilot.map, pilot.map.window(pilot.pose, _WINDOW_M), first.z, (first.x, first.y))
        self._updated_at = pilot.steps

    def _behind_opening(self, pilot: Pilot, costs: Costs) -> Target | None:
        """The cheapest pocket of ground that is behind an opening and has something overhead."""
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
            price = float(reached[a, b]) - 0.05 * min(cover, 100)
            if price < best_price and not pilot.is_tabu(position):
                best, best_price = Target(np.array([goal]), position, "opening"), price
        return best

    def _charge(self, pilot: Pilot, cluster: FrontierCluster, near_facade: Floats, near_lintel: Floats) -> float:
        x, y, z = cluster.position
        first, (_, i, j) = pilot.trail[0], cluster.goal
        away = hypot(x - first.x, y - first.y)
        charge = 0.1 * away + (100.0 if away > _SEARCH_M else 0.0) + (6.0 if first.z - z > _ROAD_BELOW_M else 0.0)
        if near_facade[i, j] < _FACADE_CELLS:
            return charge + 10.0
        charge += _ALLEY_M if self._in_alley(pilot, cluster) else 0.0
        return charge - (6.0 if near_lintel[i, j] >= _LINTEL_CELLS else 0.0)

    def _in_alley(self, pilot: Pilot, cluster: FrontierCluster) -> bool:
        """Between tall walls on both sides: entrances face the street."""
        _, i, j = cluster.goal
        walls = _facades(pilot, i, j, _ALLEY_REACH_M)
        if len(walls) < _ALLEY_CELLS:
            return False
        directions = walls / np.maximum(np.linalg.norm(walls, axis=1, keepdims=True), 1e-9)
        return float(np.linalg.norm(directions.mean(axis=0))) < _ALLEY_BALANCE


def _facades(pilot: Pilot, i: int, j: int, reach_m: float) -> Floats:
    """(N, 2) offsets, in cells, of the tall walls around a cell."""
    n = round(reach_m / pilot.map.cell_m)
    window = slice(max(i - n, 0), i + n + 1), slice(max(j - n, 0), j + n + 1)
    rows, cols = np.nonzero((pilot.map.grid.flags[:, window[0], window[1]] & FACADE > 0).any(axis=0))
    return np.stack([cols + window[1].start - j, rows + window[0].start - i], axis=1).astype(np.float64)


def _near(pilot: Pilot, marked: np.ndarray, reach_m: float) -> Floats:
    """(R, C) how many marked columns lie within a square around each column."""
    columns = marked.any(axis=0).astype(np.int64)
    n = round(reach_m / pilot.map.cell_m)
    table = np.pad(np.pad(columns, n).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    size = 2 * n + 1
    counts: Floats = (table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size]).astype(np.float64)
    return counts
