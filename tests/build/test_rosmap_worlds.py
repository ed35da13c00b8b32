"""Maps become worlds with few triangles, and worlds give their maps back cell for cell."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from hut import build
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from map_samples import ROOM, drawn, greys, write_map

from portico.build.rosmap import (
    FREE,
    OCCUPIED,
    UNKNOWN,
    MapGrid,
    OccupancyMap,
    grid_of,
    import_rosmap,
    map_world,
    occupancy_of,
    read_rosmap,
    write_rosmap,
)
from portico.build.rosmap.rectangles import SIDES, edges, rectangles
from portico.errors import UserError
from portico.robots import embodiment
from portico.space import build_space
from portico.world import Geometry, Surface, load

SPOT = embodiment("spot")
MAPS = arrays(np.int8, st.tuples(st.integers(1, 8), st.integers(1, 8)), elements=st.sampled_from([FREE, OCCUPIED, UNKNOWN]))
CLASSES = arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 2))


def made(occupancy):
    return map_world("drawn", occupancy, wall_height_m=2.5, source="a test", recipe={})


def slow_rectangles(classes):
    """The greedy covering with sets of cells."""
    left = {(int(r), int(c)) for r, c in np.argwhere(classes > 0)}
    found = []
    for row, column in sorted(left):
        if (row, column) not in left:
            continue
        kind = classes[row, column]
        wide = 1
        while (row, column + wide) in left and classes[row, column + wide] == kind:
            wide += 1
        tall = 1
        while all((row + tall, column + k) in left and classes[row + tall, column + k] == kind for k in range(wide)):
            tall += 1
        left -= {(row + a, column + b) for a in range(tall) for b in range(wide)}
        found.append([row, column, row + tall, column + wide, int(kind)])
    return found


@given(CLASSES)
def test_rectangles_are_those_of_the_slow_covering(classes):
    assert rectangles(classes).tolist() == slow_rectangles(classes)


@given(CLASSES, st.integers(0, 3))
def test_edges_show_every_side_once(classes, side):
    shown = np.zeros(classes.shape, int)
    for row0, column0, row1, column1 in edges(classes, side):
        shown[row0 : row1 + 1, column0 : column1 + 1] += 1
        assert len(set(classes[row0 : row1 + 1, column0 : column1 + 1].ravel().tolist())) == 1
    down, right = SIDES[side]
    padded = np.pad(classes, 1)
    beyond = padded[1 + down :, 1 + right :][: classes.shape[0], : classes.shape[1]]
    np.testing.assert_array_equal(shown, (classes > 0) & (beyond == 0))


@settings(max_examples=60)
@given(MAPS, st.sampled_from([0.03, 0.05, 0.25]), st.sampled_from([(0.0, 0.0), (-15.1, -25.0), (312.7, 81.33)]), st.sampled_from([0.0, 0.4, -2.0]))
def test_a_world_gives_its_map_back_cell_for_cell(cells, resolution, origin, yaw):
    cells[0, 0] = FREE
    occupancy = OccupancyMap(MapGrid(resolution, *origin, yaw, cells.shape[1], cells.shape[0]), cells)
    back = occupancy_of(made(occupancy), SPOT)
    assert back.grid == occupancy.grid
    np.testing.assert_array_equal(back.cells, cells)


@pytest.mark.parametrize("yaw", [0.0, 0.7])
def test_files_survive_the_round_trip(tmp_path, yaw):
    first = import_rosmap(write_map(tmp_path, greys(ROOM), origin=(-1.0, -2.0, yaw)))
    write_rosmap(occupancy_of(first.world, SPOT), tmp_path / "out")
    np.testing.assert_array_equal(read_rosmap(tmp_path / "out" / "map.yaml").occupancy.cells, first.occupancy.cells)
    assert yaml.safe_load((tmp_path / "out" / "map.yaml").read_text())["origin"] == [-1.0, -2.0, yaw]
    assert (tmp_path / "out" / "map.pgm").read_bytes().startswith(b"P5\n20 10\n255\n")


def test_bodies_stand_on_free_cells_only_and_walls_have_their_height():
    occupancy = drawn(ROOM)
    world = made(occupancy)
    space = build_space(world, SPOT)
    cells = occupancy.grid.cells(space.nodes_xyz)
    assert occupancy.free[tuple(cells.T)].all()
    assert space.roomy.any()
    np.testing.assert_allclose(world.geometry.bounds(), [[-1.0, -2.0, 0.0], [4.0, 0.5, 2.5]], atol=1e-6)
    assert len(world.geometry.faces) < 110


@pytest.mark.parametrize(("choice", "value"), [("void", UNKNOWN), ("wall", OCCUPIED), ("floor", FREE)])
def test_unknown_cells_become_what_was_asked(tmp_path, choice, value):
    imported = import_rosmap(write_map(tmp_path, greys(ROOM)), unknown=choice)
    unseen = greys(ROOM) == 205
    cells = occupancy_of(imported.world, SPOT).cells
    assert (cells[unseen] == value).all()
    np.testing.assert_array_equal(cells[~unseen], drawn(ROOM).cells[~unseen])


def test_coarse_maps_get_cells_that_bodies_fit_on(tmp_path):
    imported = import_rosmap(write_map(tmp_path, greys(ROOM), resolution=0.5))
    assert imported.world.manifest.cell_m == pytest.approx(0.1)
    assert build_space(imported.world, embodiment("turtlebot")).roomy.any()


def test_a_built_house_is_mapped_as_bodies_meet_it(tmp_path):
    build(tmp_path / "hut")
    world = load(tmp_path / "hut")
    space = build_space(world, SPOT)
    occupancy = occupancy_of(world, SPOT)
    assert occupancy.grid == grid_of(world)
    cells = occupancy.grid.cells(space.nodes_xyz[space.roomy & (np.abs(space.nodes_xyz[:, 2]) < 0.5)])
    assert occupancy.free[tuple(cells.T)].all()
    assert occupancy.occupied.any()


def test_a_body_is_stopped_by_what_it_cannot_ride_over_or_under():
    world = made(drawn(ROOM))
    squat = map_world("low", drawn(ROOM), wall_height_m=0.2, source="a test", recipe={})
    assert occupancy_of(world, SPOT).occupied.any()
    assert not occupancy_of(squat, SPOT).occupied.any()
    assert occupancy_of(squat, embodiment("turtlebot")).occupied.any()


def test_floors_that_do_not_exist_and_cells_that_are_too_small():
    world = made(drawn(ROOM))
    with pytest.raises(UserError, match="no floor 3"):
        occupancy_of(world, SPOT, level=3)
    with pytest.raises(UserError, match="cannot be drawn"):
        grid_of(world, 1e-6)
    with pytest.raises(UserError, match="cannot be drawn"):
        grid_of(world, 0.0)


def test_real_maps_come_back_exactly_and_the_patrol_stands_on_them(shared):
    folder = shared / "data" / "indoor"
    for file in (folder / "aws_small_house" / "map.yaml", folder / "nav2" / "tb3_sandbox.yaml", folder / "nav2" / "depot.yaml"):
        imported = import_rosmap(file)
        np.testing.assert_array_equal(occupancy_of(imported.world, SPOT).cells, imported.occupancy.cells)
    route = yaml.safe_load((folder / "aws_small_house" / "route.yaml").read_text())["poses"]
    house = read_rosmap(folder / "aws_small_house" / "map.yaml").occupancy
    points = np.array([[pose["pose"]["position"][k] for k in "xy"] for pose in route])
    assert house.free[tuple(house.grid.cells(points).T)].all()


def slow_cell(boxes, low, high, body):
    """What a cell (2,) to (2,) of a floor at height zero holds: does a box reach into the body's interval above it?"""
    for box in boxes:
        overlaps = (np.minimum(box[1, :2], high) - np.maximum(box[0, :2], low)).min() > 0.0
        if overlaps and box[0, 2] < body.height_m and box[1, 2] > body.climb_m + 1e-3:
            return OCCUPIED
    return FREE


@st.composite
def some_boxes(draw):
    """Boxes whose sides keep clear of the lines between cells, where rounding decides."""
    places = st.integers(0, 39).map(lambda k: 0.1 * k + 0.05)
    heights = st.sampled_from([0.0, 0.1, 0.2, 0.4, 0.6, 0.9, 1.2, 2.5])
    made = []
    for _ in range(draw(st.integers(0, 5))):
        (x0, x1), (y0, y1), (z0, z1) = (sorted(draw(st.tuples(axis, axis).filter(lambda pair: pair[0] != pair[1]))) for axis in (places, places, heights))
        made.append([[x0, y0, z0], [x1, y1, z1]])
    return np.array(made, np.float32).reshape(-1, 2, 3)


@settings(max_examples=40)
@given(some_boxes(), st.sampled_from(["boxes", "triangles"]), st.sampled_from(["spot", "turtlebot"]))
def test_every_cell_is_what_the_slow_look_at_all_boxes_says(boxes, kind, robot):
    floor = made(OccupancyMap(MapGrid(0.2, 0.0, 0.0, 0.0, 20, 20), np.zeros((20, 20), np.int8)))
    geometry = replace(floor.geometry, boxes=boxes)
    if kind == "triangles" and len(boxes):
        corners = geometry.box_triangles().reshape(-1, 3)
        faces = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
        count = len(faces)
        geometry = Geometry(
            np.concatenate([floor.geometry.vertices, corners]),
            np.concatenate([floor.geometry.faces, faces + np.int32(len(floor.geometry.vertices))]),
            np.append(floor.geometry.surface, np.full(count, int(Surface.FURNITURE), np.uint8)),
            np.append(floor.geometry.instance, np.ones(count, np.int32)),
            np.append(floor.geometry.material, np.zeros(count, np.int32)),
            np.append(floor.geometry.indoor, np.ones(count, np.bool_)),
            np.concatenate([floor.geometry.uv, np.zeros((count, 3, 2), np.float32)]),
            np.append(floor.geometry.collides, np.ones(count, np.bool_)),
        )
    found = occupancy_of(replace(floor, geometry=geometry), embodiment(robot))
    for row in range(20):
        for column in range(20):
            low = np.array([0.2 * column, 0.2 * (19 - row)])
            assert found.cells[row, column] == slow_cell(boxes, low, low + 0.2, embodiment(robot)), (row, column)
