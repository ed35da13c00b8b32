"""Distances that take the unknown for free."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from portico.grids.surface_grid import empty_grid
from portico.policies.optimism import optimistic_distance_m

CELL_M = 0.1
GOAL, HERE = (2.0, -2.0, 0.0), (-2.0, -2.0, 0.0)


def ground(*walls, known=True):
    """A pilot's map of 12 by 12 m around the origin and its standing costs; walls are (x0, y0, x1, y1)."""
    grid = empty_grid(-6.0, -6.0, 6.0, 6.0, CELL_M)
    weight = np.full(grid.height.shape, np.inf, np.float32)
    if known:
        grid.height[0], weight[0] = 0.0, 1.0
    for x0, y0, x1, y1 in walls:
        rows, columns = (slice(*(round((v + 6.0) / CELL_M) for v in ends)) for ends in ((y0, y1), (x0, x1)))
        grid.height[0, rows, columns], weight[0, rows, columns] = 0.0, np.inf
    return SimpleNamespace(map=SimpleNamespace(grid=grid, cell_m=CELL_M)), weight


@pytest.mark.parametrize("known", [True, False])
def test_free_and_unknown_ground_are_crossed_straight(known):
    assert optimistic_distance_m(*ground(known=known), GOAL)(HERE) == pytest.approx(4.0, abs=0.5)


@pytest.mark.parametrize("known", [True, False])
def test_a_wall_is_gone_around_whatever_lies_beside_it(known):
    pilot, weight = ground((-0.2, -6.0, 0.2, 1.0), known=known)
    assert optimistic_distance_m(pilot, weight, GOAL)(HERE) == pytest.approx(2.0 * np.hypot(2.0, 3.0), abs=0.6)


def test_a_gap_that_the_body_just_fits_through_is_seen():
    pilot, weight = ground((-0.2, -6.0, 0.2, -2.0), (-0.2, -1.8, 0.2, 6.0))
    assert optimistic_distance_m(pilot, weight, GOAL)(HERE) == pytest.approx(4.0, abs=0.6)


def test_what_is_walled_in_is_far_but_not_infinitely():
    pilot, weight = ground((1.0, -3.0, 3.0, -2.6), (1.0, -1.4, 3.0, -1.0), (1.0, -3.0, 1.4, -1.0), (2.6, -3.0, 3.0, -1.0))
    assert 20.0 < optimistic_distance_m(pilot, weight, GOAL)(HERE) < 40.0


def test_a_goal_off_the_map_adds_the_straight_rest_and_height_costs():
    pilot, weight = ground()
    assert optimistic_distance_m(pilot, weight, (30.0, 0.0, 0.0))((0.0, 0.0, 0.0)) == pytest.approx(30.0, abs=1.0)
    assert optimistic_distance_m(pilot, weight, (2.0, -2.0, 3.0))(HERE) == pytest.approx(4.0 + 6.0, abs=0.5)
