"""Distances to octagons and how they spread, against exact geometry and brute force."""

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import MultiPoint, Point

from portico.grids.distance import NONE, feature_gap, propagate, within_steps
from portico.grids.paths import flat_lattice

unit = st.floats(0, 1).map(lambda v: round(v, 3))
shapes = st.lists(st.tuples(unit, unit), min_size=1, max_size=6)


def octagon(points: np.ndarray) -> np.ndarray:
    x, y = points.T
    bounds = [x, y, (x + y) / 2, (x - y) / 2]
    return np.array([v for b in bounds for v in (b.min(), b.max())], np.float32)


@given(shapes, st.floats(-6, 6), st.floats(-6, 6))
@settings(max_examples=300)
def test_gaps_never_exceed_the_distance_to_what_is_inside(shape, x, y):
    points = np.array(shape)
    exact = MultiPoint(points).convex_hull.distance(Point(x, y))
    found = feature_gap(octagon(points)[None], 0, x, y)
    assert found <= exact + 1e-6


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(-6, 6), st.floats(-6, 6))
@settings(max_examples=200)
def test_gaps_to_upright_boxes_are_exact(x0, x1, y0, y1, x, y):
    box = shapely.box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    corners = np.array([(a, b) for a in (x0, x1) for b in (y0, y1)])
    assert abs(feature_gap(octagon(corners)[None], 0, x, y) - box.distance(Point(x, y))) < 1e-5


def test_propagation_agrees_with_brute_force():
    rng = np.random.default_rng(2)
    free = np.ones((40, 50), bool)
    lattice = flat_lattice(40, 50, free)
    octagons = np.stack([octagon(rng.integers(0, [50, 40]) + rng.random((3, 2))) for _ in range(30)])
    exact = np.array([[feature_gap(octagons, f, i + 0.5, j + 0.5) for f in range(30)] for i, j in lattice.cells])
    distance, nearest = np.full(2000, np.inf), np.full(2000, NONE, np.int32)
    for f in range(30):
        n = int(exact[:, f].argmin())
        if exact[n, f] < distance[n]:
            distance[n], nearest[n] = exact[n, f], f
    propagate(*lattice, octagons, distance, nearest)
    assert (distance >= exact.min(axis=1) - 1e-9).all()
    assert (distance - exact.min(axis=1)).max() < 0.1
    assert (distance == exact[np.arange(2000), nearest]).all()


def test_steps_are_counted_along_links():
    free = np.ones((9, 9), bool)
    lattice = flat_lattice(9, 9, free)
    seeds = np.zeros(81, bool)
    seeds[40] = True
    reached = within_steps(lattice.links, seeds, 3).reshape(9, 9)
    rows, columns = np.indices((9, 9))
    assert (reached == (abs(rows - 4) + abs(columns - 4) <= 3)).all()
