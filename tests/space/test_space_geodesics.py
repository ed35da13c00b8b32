"""Shortest ways: driveable, never longer than the grid's, close to the best there is."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra
from space_worlds import SPOT, TURTLEBOT, body, cluttered_room, room, two_floors

from portico.geometry import polyline_length
from portico.grids.paths import sees
from portico.space import Space, build_space
from portico.space.geodesics import _mended

ROBOTS = {"spot": SPOT, "turtlebot": TURTLEBOT, "slim": body("slim", radius_m=0.15)}
worlds = st.tuples(st.integers(0, 9), st.sampled_from(sorted(ROBOTS)), st.sampled_from([0.05, 0.1]))
picks = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))


@lru_cache(maxsize=64)
def _space(seed: int, robot: str, cell_m: float) -> Space:
    return build_space(cluttered_room(seed, count=10).world(cell_m=cell_m), ROBOTS[robot])


def grid_distances(space: Space, source: int, usable: np.ndarray) -> np.ndarray:
    """Metres along 8-connected steps between usable nodes, by SciPy's Dijkstra."""
    rows, columns, costs = [], [], []
    links, diagonals = space.lattice.links, space.lattice.diagonals
    for n in np.flatnonzero(usable):
        for d in range(4):
            m = links[n, d]
            if m >= 0 and usable[m]:
                rows.append(n), columns.append(m), costs.append(1.0)
            if diagonals[n] >> d & 1:
                q = links[m, (d + 1) % 4]
                if usable[q]:
                    rows.append(n), columns.append(q), costs.append(np.sqrt(2.0))
    graph = coo_matrix((costs, (rows, columns)), (len(usable), len(usable))).tocsr()
    return dijkstra(graph, indices=source) * space.cell_m


@given(worlds, picks)
@settings(max_examples=60)
def test_paths_can_be_driven_and_beat_the_grid(made, pick):
    space = _space(*made)
    roomy = np.flatnonzero(space.roomy)
    a, b = roomy[pick[0] % len(roomy)], roomy[pick[1] % len(roomy)]
    start, goal = space.nodes_xyz[a], space.nodes_xyz[b]
    path = space.path(start, goal)
    grid = grid_distances(space, a, space.roomy)[b]
    if path is None:
        assert np.isinf(grid)
        return
    assert path.length_m <= grid + 1e-9
    assert path.length_m >= np.linalg.norm(goal - start) - 1e-9
    assert path.length_m == pytest.approx(polyline_length(path.points[:, :2]))
    assert (path.points[0] == start).all()
    assert (path.points[-1] == goal).all()
    assert space.sweep(path.points[:-1], path.points[1:]).reached.all()


@given(worlds, st.integers(0, 10**6))
@settings(max_examples=40)
def test_fields_are_lengths_of_paths_and_beat_the_grid_everywhere(made, pick):
    space = _space(*made)
    roomy = np.flatnonzero(space.roomy)
    goal = roomy[pick % len(roomy)]
    field = space.distance_field(np.array([goal]))
    grid = grid_distances(space, goal, space.roomy)
    assert (np.isfinite(field.values) == np.isfinite(grid)).all()
    reachable = np.flatnonzero(np.isfinite(grid))
    assert (field.values[reachable] <= grid[reachable] + 1e-9).all()
    assert (field.values[reachable] >= np.linalg.norm(space.nodes_xyz[reachable] - space.nodes_xyz[goal], axis=1) - 1e-9).all()
    assert np.isinf(field.values[~space.roomy]).all()
    for n in reachable[:: max(1, len(reachable) // 15)]:
        path = field.path_from(space.nodes_xyz[n])
        assert path.length_m <= field.values[n] + 1e-6
        assert space.sweep(path.points[:-1], path.points[1:]).reached.all()
        assert np.allclose(path.points[-1], space.nodes_xyz[goal])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("robot", ["spot", "slim"])
def test_fields_equal_the_exhaustive_optimum(seed, robot):
    """Against Dijkstra over every pair of cells that see each other on the lattice; and what they see, a body can drive."""
    space = build_space(cluttered_room(seed, count=7, width=4.0, depth=3.0).world(cell_m=0.1), ROBOTS[robot])
    nodes = np.flatnonzero(space.roomy)
    points = space.nodes_xyz[nodes]
    first, second = np.triu_indices(len(nodes), 1)
    links, diagonals, cells = space.lattice
    unknown = np.full(len(cells), -1, np.int32)
    seen = np.array(
        [sees(links, diagonals, space.roomy, unknown, b, a, *(cells[b] - cells[a]).astype(float)) for a, b in zip(nodes[first], nodes[second], strict=True)]
    )
    assert space.sweep(points[first[seen]], points[second[seen]]).reached.all()
    lengths = np.linalg.norm(points[first] - points[second], axis=1)
    graph = coo_matrix((lengths[seen], (first[seen], second[seen])), (len(nodes), len(nodes))).tocsr()
    source = len(nodes) // 3
    best = dijkstra(graph, directed=False, indices=source)
    field = space.distance_field(nodes[[source]]).values[nodes]
    assert (np.isfinite(field) == np.isfinite(best)).all()
    finite = np.isfinite(best)
    assert (field[finite] >= best[finite] - 1e-9).all()
    assert (field[finite] <= best[finite] * 1.005 + 1e-9).all()
    for k in np.flatnonzero(finite)[::40]:
        assert space.path(points[source], points[k]).length_m <= best[k] * 1.005 + 1e-9


@given(worlds, picks, st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)))
@settings(max_examples=40)
def test_starts_between_cells(made, pick, shift):
    space = _space(*made)
    roomy = np.flatnonzero(space.roomy)
    start = space.nodes_xyz[roomy[pick[0] % len(roomy)]] + np.array([*shift, 0.0]) * space.cell_m
    goal = space.nodes_xyz[roomy[pick[1] % len(roomy)]] + np.array([*shift[::-1], 0.0]) * space.cell_m
    path = space.path(start, goal)
    if path is None or not space.is_free([start, goal]).all():
        return
    assert (path.points[[0, -1], :2] == [start[:2], goal[:2]]).all()
    assert space.sweep(path.points[:-1], path.points[1:]).reached.all()
    assert abs(space.distance_field([goal]).at(start)[0] - path.length_m) < 1.5 * space.cell_m


def test_no_way_is_none_and_infinite():
    space = build_space(room(6, 5).wall((3, 0), (3, 5)).world(), SPOT)
    assert space.path((1, 2.5, 0), (5, 2.5, 0)) is None
    assert space.path((1, 2.5, 0), (3, 2.5, 0)) is None
    assert space.path((1, 2.5, 9), (1, 2.5, 0)) is None
    field = space.distance_field([(5, 2.5, 0)])
    assert np.isinf(field.at([(1, 2.5, 0), (30, 2.5, 0)])).all()
    assert field.path_from((1, 2.5, 0)) is None
    nowhere = space.distance_field([(3.0, 2.5, 0.0)])
    assert np.isinf(nowhere.values).all()
    assert np.isinf(space.distance_field(np.array([-1])).values).all()


def test_masks_confine_paths_and_fields():
    space = build_space(room(6, 5).world(cell_m=0.1), SPOT)
    x, y = space.nodes_xyz[:, 0], space.nodes_xyz[:, 1]
    barred = (abs(x - 3) < 0.25) & (y < 3.5)
    path = space.path((1, 1, 0), (5, 1, 0), mask=~barred)
    assert path.length_m > 2 * np.hypot(2.0, 2.4)
    for a, b in zip(path.points[:-1], path.points[1:], strict=True):
        crossed = space.locate(a + np.linspace(0, 1, 400)[:, None] * (b - a))
        assert not barred[crossed].any()
    field = space.distance_field([(5, 1, 0)], mask=~barred)
    assert field.values[space.locate([(1, 1, 0)])[0]] == pytest.approx(path.length_m, abs=0.1)
    assert np.isinf(field.values[barred]).all()


def test_several_goals_and_limits():
    space = build_space(room(8, 5).world(cell_m=0.1), SPOT)
    goals = np.array([[1.0, 1.0, 0.0], [7.0, 4.0, 0.0], [4.0, 99.0, 0.0]])
    field = space.distance_field(goals)
    probes = np.array([[1.5, 1.0, 0.0], [6.0, 4.0, 0.0]])
    assert field.at(probes) == pytest.approx([0.5, 1.0], abs=0.02)
    assert (field.path_from(probes[1]).points[-1] == goals[1]).all()
    assert (field.path_from(probes[0]).points[-1] == goals[0]).all()
    near = space.distance_field(goals[:1], limit_m=1.0)
    inside = np.isfinite(near.values)
    assert near.values[inside].max() < 1.3
    assert np.allclose(near.values[near.values < 1.0], space.distance_field(goals[:1]).values[near.values < 1.0])


def test_start_and_goal_may_coincide():
    space = build_space(room(6, 5).world(), SPOT)
    path = space.path((3, 2.5, 0), (3, 2.5, 0))
    assert path.length_m == pytest.approx(0.0, abs=1e-9)
    assert len(path.points) == 2


def test_fields_climb_stairs():
    space = build_space(two_floors(), SPOT)
    field = space.distance_field([(8.5, 3, 2.8)])
    path = space.path((1, 3, 0), (8.5, 3, 2.8))
    assert field.at([(1, 3, 0)])[0] == pytest.approx(path.length_m, rel=0.01)
    assert field.at([(8.5, 3, 2.8)])[0] == pytest.approx(0.0, abs=1.5 * space.cell_m)
    way = field.path_from((1, 3, 0))
    assert way.points[:, 2].max() == pytest.approx(2.8)
    assert space.sweep(way.points[:-1], way.points[1:]).reached.all()


def test_segments_that_cannot_be_driven_are_mended():
    """A chain across a pillar, as if the lattice had been mistaken, becomes one around it."""
    space = build_space(room(6, 5).box((3, 2.5, 1.0), (0.3, 0.3, 2.0)).world(cell_m=0.1), SPOT)
    a, b, c = space.locate([(1, 2.5, 0), (5, 2.5, 0), (5, 4, 0)])
    chain = _mended(space, np.array([a, b, c], np.int32), space.roomy)
    points = space.nodes_xyz[chain]
    assert (chain[0], chain[-1]) == (a, c)
    assert b in chain
    assert space.sweep(points[:-1], points[1:]).reached.all()
    assert (_mended(space, np.array([b, c], np.int32), space.roomy) == [b, c]).all()
