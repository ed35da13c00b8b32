"""Choosing among frontiers: what all searching stages have in common."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot

import numpy as np
from scipy.spatial import cKDTree

from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target

Place = tuple[float, float, float]
#: Extra metres that a seeker charges for a frontier; negative draws it there.
Charge = Callable[[FrontierCluster], float]

_TURN_M_PER_RAD = 0.95
_GAIN_M, _GAIN_CELLS = 5.0, 450
_KEEP_BONUS_M, _KEEP_RADIUS_M = 2.0, 1.2
_ARRIVED_M = 0.35
_FACING_RAD = 0.45
#: A place counts as visited when the robot came this near; the success radius of a picture's place is 1 m [NA].
_VISITED_M = 0.9
#: Unvisited places are looked at this many cells apart.
_EVERY_CELLS = 3


def best_frontier(pilot: Pilot, costs: Costs, charge: Charge) -> Target | None:
    """The frontier with the lowest path cost, turning and charge, for what it may reveal; None when nothing is left to explore."""
    _retire(pilot)
    best, best_price = None, np.inf
    for cluster in pilot.map.frontiers(costs):
        if pilot.is_tabu(cluster.position):
            continue
        x, y, z = cluster.position
        price = cluster.cost_m + _TURN_M_PER_RAD * abs(pilot.bearing_to(x, y)) - _GAIN_M * min(cluster.beyond / _GAIN_CELLS, 1.0) + charge(cluster)
        held = pilot.target
        if (
            held is not None
            and held.name == "frontier"
            and hypot(held.position[0] - x, held.position[1] - y) < _KEEP_RADIUS_M
            and abs(held.position[2] - z) < 1.0
        ):
            price -= _KEEP_BONUS_M
        if price < best_price:
            best, best_price = cluster, price
    return frontier_target(pilot, best) if best is not None else None


def unvisited(pilot: Pilot, costs: Costs, charge: Callable[[Place], float] = lambda place: 0.0) -> Target | None:
    """The reachable place with the lowest path cost and charge that the trail does not pass; None when all were visited."""
    k, i, j = np.nonzero(np.isfinite(costs[:, ::_EVERY_CELLS, ::_EVERY_CELLS]))
    surfaces = np.stack([k, i * _EVERY_CELLS, j * _EVERY_CELLS], axis=1)
    if len(surfaces) == 0:
        return None
    places = pilot.map.positions(surfaces)
    trail = cKDTree(np.array([p.position for p in pilot.trail]))
    far = trail.query(places, distance_upper_bound=_VISITED_M)[0] > _VISITED_M
    best, best_price = None, np.inf
    for (x, y, z), surface in zip(places[far].tolist(), surfaces[far], strict=True):
        price = float(costs[surface[0], surface[1], surface[2]]) + charge((x, y, z))
        if price < best_price and not pilot.is_tabu((x, y, z)):
            best, best_price = Target(surface[None], (x, y, z), "unvisited"), price
    return best


def frontier_target(pilot: Pilot, cluster: FrontierCluster) -> Target:
    """Go to the middle of a frontier, then look at what lies behind it."""
    return Target(np.array([cluster.goal]), cluster.position, "frontier", look_at=_beyond(pilot, cluster))


def _beyond(pilot: Pilot, cluster: FrontierCluster) -> tuple[float, float]:
    """A point on the unknown side of a frontier."""
    grid, (k, i, j) = pilot.map.grid, cluster.goal
    z = grid.height[k, i, j]
    rows, cols = grid.shape
    window = slice(max(i - 3, 0), min(i + 4, rows)), slice(max(j - 3, 0), min(j + 4, cols))
    unknown = ~(np.abs(grid.height[:, window[0], window[1]] - z) <= 0.6).any(axis=0)
    di, dj = np.nonzero(unknown)
    if len(di) == 0:
        return cluster.position[0], cluster.position[1]
    x = grid.x0 + (window[1].start + float(dj.mean()) + 0.5) * grid.cell_m
    y = grid.y0 + (window[0].start + float(di.mean()) + 0.5) * grid.cell_m
    return x, y


def _retire(pilot: Pilot) -> None:
    """A frontier that was reached and looked across without vanishing is the edge of something: forget it."""
    held = pilot.target
    if held is None or held.name != "frontier" or held.look_at is None:
        return
    x, y, z = held.position
    near = hypot(x - pilot.pose.x, y - pilot.pose.y) < _ARRIVED_M
    facing = abs(pilot.bearing_to(*held.look_at)) < _FACING_RAD
    if near and facing and abs(z - pilot.pose.z) < 1.0:
        pilot.map.spend(pilot.map.disc(x, y, z, 0.45, 0.6))
