"""Shortest paths, clearance and steering on surface grids against slow, readable twins."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.grids.planning import best_heading, clearance_map, nearest_sample, standing_cost, travel_cost
from portico.grids.surface_grid import GROUND, SEEN, SHEETS, SurfaceGrid

CELL = 0.1


def grid_of(height, odds, flags) -> SurfaceGrid:
    return SurfaceGrid(height, odds, flags, np.zeros_like(odds), np.zeros(odds.shape, np.int16), np.zeros(odds.shape, np.int32), 0.0, 0.0, CELL)


def random_grid(seed: int, rows: int = 14, cols: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heights on one to three sheets, odds and flags; about a fifth of the surfaces blocked."""
    rng = np.random.default_rng(seed)
    height = np.full((SHEETS, rows, cols), np.nan, np.float32)
    for k in range(SHEETS):
        there = rng.random((rows, cols)) < (0.9, 0.4, 0.1)[k]
        height[k][there] = (k * 1.5 + 0.3 * rng.random((rows, cols)))[there]
    odds = np.where(rng.random(height.shape) < 0.2, 5, -1).astype(np.int8)
    flags = np.where(np.isnan(height), 0, GROUND | np.where(rng.random(height.shape) < 0.7, SEEN, 0)).astype(np.uint8)
    return height, odds, flags


def slow_clearance(height, odds, reach):
    out = np.full(height.shape, reach, np.float32)
    blocked = [tuple(b) for b in np.argwhere((odds > 0) & ~np.isnan(height))]
    for k, i, j in np.ndindex(height.shape):
        for q, a, b in blocked:
            if abs(height[q, a, b] - height[k, i, j]) <= 0.6:
                out[k, i, j] = min(out[k, i, j], np.float32(CELL * np.hypot(i - a, j - b)))
    return out


def slow_travel(height, flags, weight, seeds, offsets, climb, guess):
    cost = np.full(height.shape, np.inf)
    queue = []
    for (k, i, j), offset in zip(seeds, offsets, strict=True):
        if offset < cost[k, i, j]:
            cost[k, i, j] = offset
            heapq.heappush(queue, (offset, k, i, j))
    while queue:
        c, k, i, j = heapq.heappop(queue)
        if c > cost[k, i, j]:
            continue
        own = weight[k, i, j] if np.isfinite(weight[k, i, j]) else 1.0
        for q, a, b in np.ndindex(SHEETS, 3, 3):
            a, b = i + a - 1, j + b - 1
            if (a, b) == (i, j) or not (0 <= a < height.shape[1] and 0 <= b < height.shape[2]) or not np.isfinite(weight[q, a, b]):
                continue
            reach = climb if flags[k, i, j] & flags[q, a, b] & SEEN else guess
            if abs(height[q, a, b] - height[k, i, j]) <= reach:
                total = c + 0.5 * (own + weight[q, a, b]) * CELL * np.hypot(a - i, b - j)
                if total < cost[q, a, b] - 1e-12:
                    cost[q, a, b] = total
                    heapq.heappush(queue, (total, q, a, b))
    return cost


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_clearance_agrees_with_brute_force(seed: int):
    height, odds, flags = random_grid(seed)
    fast = clearance_map(grid_of(height, odds, flags), 0.5)
    there = ~np.isnan(height)
    np.testing.assert_allclose(fast[there], slow_clearance(height, odds, 0.5)[there], atol=1e-6)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_travel_cost_agrees_with_heapq(seed: int):
    height, odds, flags = random_grid(seed)
    weight = standing_cost(grid_of(height, odds, flags), clearance_map(grid_of(height, odds, flags), 0.3), 0.05, 0.3, 3.0)
    standable = np.argwhere(np.isfinite(weight))
    rng = np.random.default_rng(seed)
    seeds = standable[rng.choice(len(standable), size=3, replace=False)]
    offsets = rng.random(3)
    fast = travel_cost(grid_of(height, odds, flags), weight, seeds, offsets, 0.2, 0.4, 1e9)
    slow = slow_travel(height, flags, weight, seeds, offsets, 0.2, 0.4)
    np.testing.assert_allclose(fast, slow, rtol=1e-4)


def test_standing_cost_grows_towards_obstacles_and_ends_at_the_radius():
    height = np.full((SHEETS, 1, 20), np.nan, np.float32)
    height[0] = 0.0
    odds = np.zeros(height.shape, np.int8)
    odds[0, 0, 0] = 5
    flags = np.where(np.isnan(height), 0, GROUND).astype(np.uint8)
    cost = standing_cost(grid_of(height, odds, flags), clearance_map(grid_of(height, odds, flags), 0.8), 0.3, 0.8, 3.0)[0, 0]
    assert np.isinf(cost[:3]).all()
    assert (np.diff(cost[3:9]) < 0.0).all()
    assert (cost[8:] == 1.0).all()


def flat(rows: int, cols: int):
    height = np.full((SHEETS, rows, cols), np.nan, np.float32)
    height[0] = 0.0
    flags = np.where(np.isnan(height), 0, GROUND | SEEN).astype(np.uint8)
    weight = np.where(np.isnan(height), np.inf, 1.0).astype(np.float32)
    return grid_of(height, np.zeros(height.shape, np.int8), flags), weight


def steer(grid, weight, cost, x, y, yaw, *, forbidden=()):
    turn = float(np.deg2rad(15.0))
    # fmt: off
    return best_heading(grid, weight, cost, np.array([x, y, 0.0, yaw]), turn, 0.25, 0.2, 0.03, np.nan, 0.0, 2, 4, np.array(forbidden, np.float64))
    # fmt: on


@settings(max_examples=30)
@given(st.floats(-3.1, 3.1), st.floats(0.0, 2.0 * np.pi))
def test_steering_turns_towards_the_goal_by_the_nearest_multiple(yaw: float, bearing: float):
    grid, weight = flat(81, 81)
    goal = np.array([[0, int((4.05 + 3.0 * np.sin(bearing)) / CELL), int((4.05 + 3.0 * np.cos(bearing)) / CELL)]])
    cost = travel_cost(grid, weight, goal, np.zeros(1), 0.2, 0.2, 1e9)
    turns, steps, score = steer(grid, weight, cost, 4.05, 4.05, yaw)
    error = (yaw + turns * np.deg2rad(15.0) - bearing + np.pi) % (2.0 * np.pi) - np.pi
    assert steps >= 2
    assert abs(error) < np.deg2rad(40.0)
    assert 2.8 < score < 4.2


def test_steering_avoids_forbidden_headings_and_admits_having_no_way():
    grid, weight = flat(41, 41)
    cost = travel_cost(grid, weight, np.array([[0, 20, 40]]), np.zeros(1), 0.2, 0.2, 1e9)
    assert steer(grid, weight, cost, 2.05, 2.05, 0.0)[0] == 0
    assert steer(grid, weight, cost, 2.05, 2.05, 0.0, forbidden=[0.0])[0] != 0
    assert steer(grid, np.full_like(weight, np.inf), cost, 2.05, 2.05, 0.0)[1] == 0


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_nearest_sample_agrees_with_brute_force(seed: int):
    rng = np.random.default_rng(seed)
    samples = rng.random((7, 3)) * [3.0, 2.0, 1.0]
    gaps, heights = nearest_sample(samples, 20, 30, 0.0, 0.0, CELL, 0.9)
    i, j = np.mgrid[0:20, 0:30]
    d = np.hypot((j[..., None] + 0.5) * CELL - samples[:, 0], (i[..., None] + 0.5) * CELL - samples[:, 1])
    np.testing.assert_allclose(gaps, np.minimum(d.min(axis=-1), 0.9), atol=1e-6)
    inside = d.min(axis=-1) < 0.9 - 1e-6
    np.testing.assert_allclose(heights[inside], samples[d.argmin(axis=-1), 2][inside], atol=1e-6)
    assert np.isnan(heights[d.min(axis=-1) > 0.9]).all()
