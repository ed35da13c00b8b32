"""Frontiers of surface grids against their definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.grids.frontiers import cluster_frontiers, frontier_surfaces, unknown_beyond
from portico.grids.surface_grid import GROUND, SHEETS, SPENT, SurfaceGrid


def grid_of(height, odds, flags) -> SurfaceGrid:
    return SurfaceGrid(height, odds, flags, np.zeros_like(odds), np.zeros(odds.shape, np.int16), np.zeros(odds.shape, np.int32), 0.0, 0.0, 0.1)


def patchwork(seed: int, rows: int = 15, cols: int = 17):
    rng = np.random.default_rng(seed)
    height = np.full((SHEETS, rows, cols), np.nan, np.float32)
    height[0][rng.random((rows, cols)) < 0.7] = 0.0
    height[1][rng.random((rows, cols)) < 0.2] = 3.0
    odds = np.where(rng.random(height.shape) < 0.15, 5, 0).astype(np.int8)
    flags = np.where(np.isnan(height) | (rng.random(height.shape) < 0.1), 0, GROUND).astype(np.uint8)
    flags[rng.random(height.shape) < 0.05] |= SPENT
    cost = np.where(np.isnan(height) | (odds > 0) | (flags & GROUND == 0), np.inf, 1.0).astype(np.float32)
    return height, odds, flags, cost


def known(height, odds, flags, i, j, z):
    return any(abs(height[k, i, j] - z) <= 0.6 and (flags[k, i, j] & GROUND or odds[k, i, j] > 0) for k in range(SHEETS))


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_frontier_is_reachable_ground_beside_the_unknown(seed: int):
    height, odds, flags, cost = patchwork(seed)
    expected = [
        (k, i, j)
        for k, i, j in np.ndindex(height.shape)
        if 0 < i < height.shape[1] - 1
        and 0 < j < height.shape[2] - 1
        and np.isfinite(cost[k, i, j])
        and not flags[k, i, j] & SPENT
        and any(not known(height, odds, flags, i + a, j + b, height[k, i, j]) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)))
    ]
    assert [tuple(f) for f in frontier_surfaces(grid_of(height, odds, flags), cost).tolist()] == expected


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_clusters_are_the_touching_parts(seed: int):
    height, odds, flags, cost = patchwork(seed)
    frontier = frontier_surfaces(grid_of(height, odds, flags), cost)
    labels = cluster_frontiers(grid_of(height, odds, flags), frontier, 0.3, 10**6)
    for n in range(len(frontier)):
        for m in range(n):
            (k, i, j), (q, a, b) = frontier[n], frontier[m]
            if abs(i - a) <= 1 and abs(j - b) <= 1 and abs(height[k, i, j] - height[q, a, b]) <= 0.3:
                assert labels[n] == labels[m]
    assert sorted(set(labels.tolist())) == list(range(len(set(labels.tolist()))))


def test_large_clusters_are_cut():
    height = np.full((SHEETS, 5, 60), np.nan, np.float32)
    height[0, 2] = 0.0
    odds, flags = np.zeros(height.shape, np.int8), np.where(np.isnan(height), 0, GROUND).astype(np.uint8)
    frontier = frontier_surfaces(grid_of(height, odds, flags), np.where(np.isnan(height), np.inf, 0.0).astype(np.float32))
    labels = cluster_frontiers(grid_of(height, odds, flags), frontier, 0.3, 10)
    assert len(frontier) == 58
    assert np.bincount(labels).max() == 10
    assert labels.max() == 5


def test_a_walled_pocket_is_smaller_than_the_open():
    height = np.full((SHEETS, 40, 40), np.nan, np.float32)
    height[0] = 0.0
    height[0, 5:8, 5:8] = np.nan
    height[0, :, 30:] = np.nan
    odds, flags = np.zeros(height.shape, np.int8), np.where(np.isnan(height), 0, GROUND).astype(np.uint8)
    cost = np.where(np.isnan(height), np.inf, 0.0).astype(np.float32)
    frontier = frontier_surfaces(grid_of(height, odds, flags), cost)
    labels = cluster_frontiers(grid_of(height, odds, flags), frontier, 0.3, 10**6)
    beyond = unknown_beyond(grid_of(height, odds, flags), frontier, labels, labels.max() + 1, 8, 600)
    assert beyond.tolist() == [320, 9]
