"""Building: pieces against exact geometry, determinism, sampling, errors."""

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shapely.geometry import Polygon
from space_worlds import SPOT, TURTLEBOT, Maker, body, cluttered_room, room, two_floors

from portico.errors import UserError
from portico.seeding import generator
from portico.space import build_space
from portico.space.columns import OBSTACLE, TOP, Grid, cut, grid_around
from portico.space.obstacles import gather_obstacles
from portico.world import Surface

coordinates = st.floats(0.05, 0.95).map(lambda v: round(v, 4))
corners = st.tuples(coordinates, coordinates, st.floats(-1, 1).map(lambda v: round(v, 3)))


def plane_heights(triangle: np.ndarray, xy: np.ndarray) -> np.ndarray:
    a, b = np.linalg.solve(np.stack([triangle[1] - triangle[0], triangle[2] - triangle[0]])[:, :2], (triangle[1:] - triangle[0])[:, 2])
    return triangle[0, 2] + (xy - triangle[0, :2]) @ [a, b]


@given(st.tuples(corners, corners, corners))
@settings(max_examples=100)
def test_pieces_are_triangles_cut_by_cells(raw):
    assume(Polygon([c[:2] for c in raw]).area > 1e-3)
    triangles = np.array([raw])
    grid = Grid(0.0, 0.0, 0.25, 4, 4)
    pieces = cut(triangles, np.full(len(triangles), OBSTACLE, np.uint8), np.zeros(len(triangles), np.uint8), grid)
    for k in range(16):
        square = shapely.box(k % 4 * 0.25, k // 4 * 0.25, k % 4 * 0.25 + 0.25, k // 4 * 0.25 + 0.25)
        expected = []
        for triangle in triangles:
            overlap = Polygon(triangle[:, :2]).intersection(square)
            if overlap.area > 1e-6:
                outline = np.array(overlap.exterior.coords)
                expected.append((plane_heights(triangle, outline), outline))
        found = range(pieces.start[k], pieces.start[k + 1])
        assert len(found) >= len(expected)
        for heights, outline in expected:
            match = [p for p in found if abs(pieces.low[p] - heights.min()) < 1e-4 and abs(pieces.high[p] - heights.max()) < 1e-4]
            assert match
            local = (outline - [k % 4 * 0.25, k // 4 * 0.25]) / 0.25
            bounds = np.stack([local[:, 0], local[:, 1], local.sum(axis=1) / 2, (local[:, 0] - local[:, 1] + 1) / 2])
            octagon = pieces.outline[match[0]].reshape(4, 2) / 255.0
            assert (octagon[:, 0] <= bounds.min(axis=1) + 1e-6).all()
            assert (octagon[:, 1] >= bounds.max(axis=1) - 1e-6).all()
            assert np.abs(octagon[:, 0] - bounds.min(axis=1)).max() < 1 / 250
            assert np.abs(octagon[:, 1] - bounds.max(axis=1)).max() < 1 / 250


def test_cover_of_tops_adds_up():
    triangles = np.array([[[0, 0, 0], [1.03, 0, 0], [1.03, 0.97, 0]], [[0, 0, 0], [1.03, 0.97, 0], [0, 0.97, 0]]], float)
    grid = grid_around(np.array([[0, 0, 0], [1.03, 0.97, 0]]), 0.1)
    pieces = cut(triangles, np.full(2, TOP, np.uint8), np.zeros(2, np.uint8), grid)
    assert np.abs(pieces.cover).sum() * 0.01 == pytest.approx(1.03 * 0.97, abs=1e-4)
    assert (pieces.level[pieces.kind == TOP] == 0.0).all()


def test_merging_obstacles_loses_no_matter():
    world = cluttered_room(2).world()
    triangles = world.geometry.triangles.astype(float)
    grid = grid_around(world.geometry.bounds(), 0.05)
    pieces = cut(triangles, np.full(len(triangles), OBSTACLE, np.uint8), world.geometry.surface, grid)
    merged = gather_obstacles(pieces)
    assert len(merged.low) < 0.8 * len(pieces.low)
    for k in range(len(merged.start) - 1):
        mine = slice(merged.start[k], merged.start[k + 1])
        for p in range(pieces.start[k], pieces.start[k + 1]):
            holds = (merged.low[mine] <= pieces.low[p]) & (merged.high[mine] >= pieces.high[p])
            holds &= (merged.outline[mine, ::2] <= pieces.outline[p, ::2]).all(axis=1) & (merged.outline[mine, 1::2] >= pieces.outline[p, 1::2]).all(axis=1)
            assert holds.any()


def test_two_builds_are_identical_to_the_bit():
    world = two_floors()
    a, b = build_space(world, SPOT), build_space(world, SPOT)
    for name in ("nodes_xyz", "node_surface", "node_clearance_m", "node_component", "roomy"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    for x, y in zip(a.ground, b.ground, strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    goals = [(8.5, 3, 2.8)]
    assert a.distance_field(goals).values.tobytes() == b.distance_field(goals).values.tobytes()


def test_the_order_of_triangles_does_not_matter_to_where_bodies_fit():
    maker, mirrored = room(4, 3), Maker()
    maker.box((2, 1.5, 0.5), (0.5, 0.4, 1.0), yaw_rad=0.3)
    for chunk_world in (maker.world(),):
        geometry = chunk_world.geometry
        for f in range(len(geometry.faces) - 1, -1, -1):
            mirrored.add((geometry.vertices[geometry.faces[f]], [[0, 1, 2]]), Surface(int(geometry.surface[f])))
    a, b = build_space(maker.world(), SPOT), build_space(mirrored.world(), SPOT)
    assert (a.node_component == b.node_component).all()
    assert np.allclose(a.node_clearance_m, b.node_clearance_m)


def test_components_are_numbered_by_size():
    space = build_space(room(6, 5).wall((2, 0), (2, 5)).world(), SPOT)
    small, large = space.locate([(1, 2.5, 0), (4, 2.5, 0)])
    assert space.node_component[large] == 0
    assert space.node_component[small] == 1
    assert set(np.unique(space.node_component)) == {-1, 0, 1}


def test_clearance_ends_at_walls_drops_and_tall_steps():
    maker = Maker().floor(0, 0, 4, 6).floor(4, 0, 8, 6, 0.5)
    space = build_space(maker.world(), body(climb_m=0.2))
    low, high = space.locate([(3.025, 3.025, 0), (5.025, 3.025, 0.5)])
    assert space.node_clearance_m[low] == pytest.approx(0.975, abs=1e-3)
    assert space.node_clearance_m[high] == pytest.approx(1.025, abs=1e-3)


def test_samples_are_spread_over_the_candidates():
    space = build_space(room(8, 6).wall((4, 0), (4, 4)).world(cell_m=0.1), SPOT)
    west = (space.node_component == 0) & (space.nodes_xyz[:, 0] < 4)
    points = space.sample(west, 12, generator(1, "spread"))
    assert points.shape == (12, 3)
    assert west[space.locate(points)].all()
    assert (points == space.sample(west, 12, generator(1, "spread"))).all()
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)[np.triu_indices(12, 1)]
    assert apart.min() > 0.7
    assert len(np.unique(points, axis=0)) == 12
    every = np.flatnonzero(west)[:7]
    few = np.zeros_like(west)
    few[every] = True
    assert len(np.unique(space.sample(few, 7, generator(2)), axis=0)) == 7
    assert space.sample(west, 0, generator(3)).shape == (0, 3)
    with pytest.raises(UserError, match="cannot spread 8 points over 7 cells"):
        space.sample(few, 8, generator(4))


def test_a_world_without_walkable_ground_is_refused():
    world = Maker().floor(0, 0, 4, 4, surface=Surface.ROOF).world("attic")
    with pytest.raises(UserError, match=r"no walkable ground(.|\n)*attic(.|\n)*radius 0.35(.|\n)*16\.\d m²"):
        build_space(world, SPOT)


def test_a_ceiling_too_low_is_named():
    world = Maker().floor(0, 0, 4, 4).box((2, 2, 0.65), (4.2, 4.2, 0.1), Surface.CEILING).world("crawl space")
    with pytest.raises(UserError, match=r"spot can stand nowhere(.|\n)*16\.\d m² of walkable ground 0\.0 m² have 0\.85 m of headroom"):
        build_space(world, SPOT)
    assert len(build_space(world, TURTLEBOT).nodes_xyz)


def test_a_body_too_wide_is_named():
    world = room(0.6, 5).world("closet")
    with pytest.raises(UserError, match=r"spot fits nowhere(.|\n)*none lies 0\.35 m"):
        build_space(world, SPOT)


def test_bad_cells_and_empty_worlds():
    world = room(4, 4).world("plain")
    for cell_m in (0.0, -1.0, 0.5, float("nan")):
        with pytest.raises(UserError, match="unfit"):
            build_space(world, SPOT, cell_m=cell_m)
    ghost = Maker().add(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), Surface.FLOOR, collides=False).world("ghost")
    with pytest.raises(UserError, match="nothing a body could touch"):
        build_space(ghost, SPOT)
