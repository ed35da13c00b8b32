"""Any-angle search on small maps, against exhaustive references and slow twins."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from portico.grids.paths import Sources, components, distance_field, flat_lattice, map_distance_field, map_path, sees

maps = arrays(np.bool_, (7, 8), elements=st.sampled_from([True, True, True, False]))


def slow_sees(free: np.ndarray, a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Walks the longer axis with fractions: both nodes beside every crossing must be free."""
    (r0, c0), (r1, c1) = a, b
    steps = max(abs(r1 - r0), abs(c1 - c0))
    for i in range(steps + 1):
        t = Fraction(i, steps) if steps else Fraction(0)
        r, c = r0 + t * (r1 - r0), c0 + t * (c1 - c0)
        for y in {r.__floor__(), r.__ceil__()}:
            for x in {c.__floor__(), c.__ceil__()}:
                if not free[y, x]:
                    return False
    if abs(r1 - r0) == abs(c1 - c0):
        sr, sc = np.sign(r1 - r0), np.sign(c1 - c0)
        for i in range(steps):
            if not (free[r0 + (i + 1) * sr, c0 + i * sc] and free[r0 + i * sr, c0 + (i + 1) * sc]):
                return False
    return True


def pairs(free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Free cells and every pair of them that sees each other."""
    cells = np.argwhere(free)
    first, second = np.triu_indices(len(cells), 1)
    seen = np.array([slow_sees(free, tuple(cells[i]), tuple(cells[j])) for i, j in zip(first, second, strict=True)], bool)
    return cells, first[seen], second[seen]


@given(maps)
@settings(max_examples=20)
def test_sight_agrees_with_its_slow_twin(free):
    lattice, width = flat_lattice(*free.shape, free), free.shape[1]
    cells, first, second = pairs(free)
    expected, unknown = np.zeros((len(cells), len(cells)), bool), np.full(free.size, -1, np.int32)
    expected[first, second] = expected[second, first] = True
    for i in range(len(cells)):
        for j in range(len(cells)):
            if i != j:
                a, b = cells[i] @ [width, 1], cells[j] @ [width, 1]
                dy, dx = (cells[j] - cells[i]).astype(float)
                assert sees(lattice.links, lattice.diagonals, free.ravel(), unknown, b, a, dx, dy) == expected[i, j], (cells[i], cells[j])


@given(maps, st.integers(0, 1000))
@settings(max_examples=40)
def test_fields_are_between_the_exhaustive_optimum_and_the_grid(free, pick):
    cells, first, second = pairs(free)
    if len(cells) < 2:
        return
    source = pick % len(cells)
    lengths = np.linalg.norm(cells[first] - cells[second], axis=1)
    near = lengths < 1.5
    size = (len(cells), len(cells))
    best = dijkstra(coo_matrix((lengths, (first, second)), size).tocsr(), directed=False, indices=source)
    grid = dijkstra(coo_matrix((lengths[near], (first[near], second[near])), size).tocsr(), directed=False, indices=source)
    field = map_distance_field(free, cells[source], 1.0)
    values = field[tuple(cells.T)]
    assert np.isinf(field[~free]).all()
    assert (np.isfinite(values) == np.isfinite(best)).all()
    finite = np.isfinite(best)
    assert (values[finite] >= best[finite] - 1e-9).all()
    assert (values[finite] <= grid[finite] + 1e-9).all()


def test_fields_are_close_to_the_optimum_on_average():
    rng = np.random.default_rng(11)
    excess, total = 0.0, 0.0
    for _ in range(20):
        free = rng.random((14, 15)) < 0.8
        cells, first, second = pairs(free)
        lengths = np.linalg.norm(cells[first] - cells[second], axis=1)
        best = dijkstra(coo_matrix((lengths, (first, second)), (len(cells), len(cells))).tocsr(), directed=False, indices=0)
        values = map_distance_field(free, cells[0], 1.0)[tuple(cells.T)]
        finite = np.isfinite(best)
        excess += (values[finite] - best[finite]).sum()
        total += best[finite].sum()
    assert excess <= 0.05 * total


@given(maps, st.integers(0, 1000), st.integers(0, 1000))
@settings(max_examples=60)
def test_paths_turn_only_where_they_see(free, i, j):
    cells = np.argwhere(free)
    if len(cells) < 2:
        return
    a, b = tuple(cells[i % len(cells)].tolist()), tuple(cells[j % len(cells)].tolist())
    path = map_path(free, a, b)
    value = map_distance_field(free, np.array([b]), 1.0)[a]
    assert (path is None) == np.isinf(value)
    if path is not None:
        assert tuple(path[0]) == a
        assert tuple(path[-1]) == b
        assert all(slow_sees(free, tuple(p), tuple(q)) for p, q in zip(path[:-1].tolist(), path[1:].tolist(), strict=True))
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        assert length == pytest.approx(value, rel=0.08, abs=1e-9)


@given(maps)
@settings(max_examples=60)
def test_components_agree_with_scipy(free):
    labels = components(flat_lattice(*free.shape, free), free.ravel()).reshape(free.shape)
    expected, count = ndimage.label(free)
    assert labels.max() + 1 == count
    assert ((labels >= 0) == free).all()
    for k in range(count):
        assert len(np.unique(expected[labels == k])) == 1
    sizes = np.bincount(labels[free], minlength=count)
    assert (np.diff(sizes) <= 0).all()


def test_open_ground_is_measured_exactly():
    field = map_distance_field(np.ones((60, 80), bool), np.array([[30, 20]]), 0.1)
    rows, columns = np.indices((60, 80))
    assert np.allclose(field, 0.1 * np.hypot(rows - 30, columns - 20))


def test_sources_off_the_lattice_are_measured_exactly():
    free = np.ones((40, 50), bool)
    lattice = flat_lattice(40, 50, free)
    point = np.array([20.3, 17.8])
    ring = [17 * 50 + 20, 18 * 50 + 20, 17 * 50 + 21, 18 * 50 + 21]
    lengths = np.linalg.norm(lattice.cells[ring] - point, axis=1)
    field = distance_field(lattice, free.ravel(), Sources(np.array(ring, np.int32), lengths, np.zeros(4, np.int32), point[None]))
    assert np.allclose(field.values, np.linalg.norm(lattice.cells - point, axis=1), rtol=2e-3)
    chain, origin = field.chain(0)
    assert (len(chain), origin) == (1, 0)


def test_two_runs_give_the_same_bytes():
    rng = np.random.default_rng(0)
    free = rng.random((200, 200)) > 0.25
    free[100, 100] = True
    goals = np.array([[100, 100]])
    assert map_distance_field(free, goals, 0.05).tobytes() == map_distance_field(free, goals, 0.05).tobytes()


def test_limits_end_the_search():
    free = np.ones((30, 30), bool)
    lattice = flat_lattice(30, 30, free)
    field = distance_field(lattice, free.ravel(), Sources.at_nodes([0]), 5.0)
    assert field.values[4] == pytest.approx(4.0)
    assert np.isinf(field.values[29])
