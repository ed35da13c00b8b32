"""Where bodies can stand and what joins, on worlds small enough to know the answer."""

import numpy as np
import pytest
from space_worlds import SPOT, TURTLEBOT, Maker, body, doorway, room, two_floors

from portico.space import Space, build_space
from portico.world import Surface


def connected(space: Space, a: tuple, b: tuple) -> bool:
    return space.path(a, b) is not None


def test_an_empty_room_is_free_up_to_the_radius():
    space = build_space(room(6, 5).world(), SPOT)
    free = space.roomy
    xy = space.nodes_xyz[:, :2]
    margin = np.minimum.reduce([xy[:, 0], xy[:, 1], 6 - xy[:, 0], 5 - xy[:, 1]]) - 0.05
    assert np.allclose(space.node_clearance_m, np.abs(margin), atol=1e-3)
    assert (free == (margin >= np.sqrt(0.35**2 + 0.05**2 / 2))).all()
    assert set(np.unique(space.node_component)) == {-1, 0}
    assert (space.node_surface == Surface.FLOOR).all()
    assert np.allclose(space.nodes_xyz[:, 2], 0.0)


@pytest.mark.parametrize("cell_m", [0.05, 0.1])
@pytest.mark.parametrize("yaw_deg", [0, 17, 22.5, 45, 71])
@pytest.mark.parametrize("width_m", [0.9, 1.0])
def test_spot_passes_house_doors_at_any_angle(width_m, yaw_deg, cell_m):
    yaw = np.deg2rad(yaw_deg)
    space = build_space(doorway(width_m, yaw, cell_m), SPOT)
    side = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    path = space.path(-2 * side, 2 * side)
    assert path is not None
    assert 4.0 - 1e-9 <= path.length_m < 4.02


@pytest.mark.parametrize(("width_m", "passes"), [(0.68, False), (0.76, True), (0.8, True)])
def test_doors_are_measured_to_the_cell(width_m, passes):
    space = build_space(doorway(width_m), SPOT)
    assert connected(space, (-2, 0, 0), (2, 0, 0)) == passes


def test_a_closed_door_and_a_thin_wall_part_rooms():
    maker = room(6, 5).wall((3, 0), (3, 2)).wall((3, 2.9), (3, 5))
    assert connected(build_space(maker.world(), SPOT), (1, 2.5, 0), (5, 2.5, 0))
    maker.box((3, 2.45, 1.0), (0.04, 0.9, 2.0), Surface.DOOR)
    space = build_space(maker.world(), SPOT)
    assert not connected(space, (1, 2.5, 0), (5, 2.5, 0))
    assert not space.sweep_one((1, 2.5, 0), (5, 2.5, 0))[0]


def test_spot_climbs_stairs_and_turtlebot_does_not():
    world = two_floors()
    space = build_space(world, SPOT)
    up = space.path((1, 3, 0), (8.5, 3, 2.8))
    assert up is not None
    assert up.points[-1, 2] == pytest.approx(2.8)
    assert space.sweep(up.points[:-1], up.points[1:]).reached.all()
    assert up.surface_length_m > up.length_m
    down = space.path((8.5, 3, 2.8), (1, 3, 0))
    assert down.length_m == pytest.approx(up.length_m, abs=0.01)
    assert not connected(build_space(world, TURTLEBOT), (1, 3, 0), (8.5, 3, 2.8))


@pytest.mark.parametrize(("riser_m", "tread_m"), [(0.175, 0.28), (0.1867, 0.25), (0.14, 0.36)])
@pytest.mark.parametrize("cell_m", [0.05, 0.1])
def test_stairs_of_many_pitches_are_walked_in_one_sweep(riser_m, tread_m, cell_m):
    space = build_space(two_floors(riser_m, tread_m), SPOT, cell_m=cell_m)
    top = 3.0 + (round(2.8 / riser_m) - 1) * tread_m + 1.0
    reached, _, end = space.sweep_one((2.0, 0.62, 0.0), (top, 0.62, 2.8))
    assert reached
    assert end[2] == pytest.approx(2.8, abs=1e-3)
    reached, _, end = space.sweep_one((top, 0.62, 2.8), (2.0, 0.62, 0.0))
    assert reached
    assert end[2] == pytest.approx(0.0, abs=1e-6)


def test_the_floor_under_a_landing_stays_apart_from_it():
    space = build_space(two_floors(), SPOT)
    over, under = (8.5, 3.0, 2.8), (6.5, 3.0, 0.0)
    nodes = space.locate([over, under])
    assert (nodes >= 0).all()
    assert space.nodes_xyz[nodes, 2] == pytest.approx([2.8, 0.0])


def test_ramps_up_to_the_slope_limit_carry():
    def ramp(angle_deg: float) -> Maker:
        rise = float(np.tan(np.deg2rad(angle_deg)) * 2.0)
        return Maker().floor(0, 0, 2, 3).slope(2, 4, 0, 3, 0, rise).floor(4, 0, 6, 3, rise)

    for angle, robot, passes in ((8, TURTLEBOT, True), (12, TURTLEBOT, False), (12, SPOT, True), (28, SPOT, True), (35, SPOT, False)):
        space = build_space(ramp(angle).world(), robot)
        z = np.tan(np.deg2rad(angle)) * 2.0
        assert connected(space, (1, 1.5, 0), (5, 1.5, z)) == passes, (angle, robot.name)


def test_curbs_stop_the_small_and_ramps_carry_both():
    maker = Maker().floor(0, 0, 3, 4, -0.2, Surface.VEHICLE_LANE).floor(3, 0, 6, 4, 0.0, Surface.SIDEWALK)
    maker.add(((np.array([[3, 0, -0.2], [3, 4, -0.2], [3, 4, 0], [3, 0, 0]], np.float32)), np.array([[0, 2, 1], [0, 3, 2]])), Surface.CURB)
    world = maker.world(cell_m=0.1)
    big, small = build_space(world, SPOT), build_space(world, TURTLEBOT)
    assert connected(big, (1, 2, -0.2), (5, 2, 0.0))
    assert big.sweep_one((1, 2, -0.2), (5, 2, 0.0))[0]
    assert not connected(small, (1, 2, -0.2), (5, 2, 0.0))
    reached, _, end = small.sweep_one((1, 2, -0.2), (5, 2, 0.0))
    assert not reached
    assert 3 - TURTLEBOT.radius_m - 0.006 < end[0] <= 3 - TURTLEBOT.radius_m
    reached, _, end = small.sweep_one((5, 2, 0), (1, 2, 0))
    assert not reached
    assert 3 + TURTLEBOT.radius_m <= end[0] < 3 + TURTLEBOT.radius_m + 0.21
    assert big.node_surface[big.locate([(1, 2, -0.2)])] == Surface.VEHICLE_LANE
    lowered = Maker().floor(0, 0, 3, 4, -0.2).slope(3, 4.5, 0, 4, -0.2, 0.0, Surface.CROSSWALK).floor(4.5, 0, 6.5, 4)
    for robot in (SPOT, TURTLEBOT):
        assert connected(build_space(lowered.world(cell_m=0.1), robot), (1, 2, -0.2), (5.5, 2, 0.0)), robot.name


def test_tables_are_walked_under_only_by_what_fits():
    world = room(6, 5).box((3, 2.5, 0.72), (1.6, 1.6, 0.04)).world()
    assert not build_space(world, SPOT).is_free([(3, 2.5, 0)])[0]
    assert build_space(world, TURTLEBOT).is_free([(3, 2.5, 0)])[0]
    assert not build_space(world, SPOT).sweep_one((1, 2.5, 0), (5, 2.5, 0))[0]
    assert build_space(world, TURTLEBOT).sweep_one((1, 2.5, 0), (5, 2.5, 0))[0]


def test_low_things_block_although_they_could_be_climbed():
    world = room(6, 5).box((3, 2.5, 0.075), (0.3, 0.2, 0.15)).world()
    space = build_space(world, SPOT)
    assert not space.is_free([(3, 2.5, 0)])[0]
    assert not space.sweep_one((1, 2.5, 0), (5, 2.5, 0))[0]
    rug = room(6, 5).box((3, 2.5, 0.005), (1.0, 1.0, 0.01)).world()
    assert build_space(rug, SPOT).sweep_one((1, 2.5, 0), (5, 2.5, 0))[0]


def test_things_without_collision_do_not_exist():
    maker = room(6, 5)
    maker.add(([[3, 1, 0], [3, 4, 0], [3, 2.5, 2]], [[0, 1, 2]]), Surface.SIGN, collides=False)
    assert build_space(maker.world(), SPOT).sweep_one((1, 2.5, 0), (5, 2.5, 0))[0]


def test_a_bridge_and_what_passes_under_it():
    maker = Maker().floor(0, 0, 10, 10)
    maker.slope(0, 4, 4, 6, 0.0, 1.6).box((5, 5, 1.5), (2, 2, 0.2), Surface.FLOOR)
    maker.add(quad_down(), Surface.RAMP)
    space = build_space(maker.world(cell_m=0.1), SPOT)
    levels = space.locate([(5, 5, 0.0), (5, 5, 1.6)])
    assert space.nodes_xyz[levels, 2] == pytest.approx([0.0, 1.6])
    over = space.path((0.8, 5, 0.32), (5, 5, 1.6))
    assert over.length_m == pytest.approx(4.2, abs=0.02)
    under = space.path((5, 1, 0), (5, 9, 0))
    assert under.length_m == pytest.approx(8.0, abs=0.02)


def quad_down() -> tuple:
    """A ramp from z = 1.6 at x = 6 to z = 0 at x = 10."""
    return np.array([[6, 4, 1.6], [10, 4, 0], [10, 6, 0], [6, 6, 1.6]], np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def test_drops_are_borders():
    world = Maker().floor(0, 0, 4, 4, 1.0).floor(4, 0, 8, 4, 0.0).world()
    space = build_space(world, SPOT)
    reached, _, end = space.sweep_one((2, 2, 1.0), (6, 2, 0.0))
    assert not reached
    assert 4 - 0.35 - 0.06 < end[0] <= 4 - 0.35 + 1e-9
    assert not connected(space, (2, 2, 1), (6, 2, 0))
    assert space.locate([(2, 2, 2.0)])[0] == -1
    assert space.locate([(2, 2, 1.4)])[0] >= 0
    assert space.locate([(-5, 2, 1.0), (2, 2, np.nan), (np.nan, 2, 1)]).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("surface", [Surface.WATER, Surface.ROOF, Surface.FURNITURE, Surface.VEHICLE])
def test_flat_is_not_enough_to_carry(surface):
    world = Maker().floor(0, 0, 4, 4).floor(4, 0, 8, 4, surface=surface).world()
    space = build_space(world, body())
    assert space.locate([(2, 2, 0)])[0] >= 0
    assert space.locate([(6, 2, 0)])[0] == -1


def test_slits_between_floor_boards_do_not_matter():
    world = Maker().floor(0, 0, 2.99, 3).floor(3.01, 0, 6, 3).world()
    assert build_space(world, SPOT).sweep_one((1, 1.5, 0), (5, 1.5, 0))[0]


def test_the_face_of_a_step_may_be_made_of_wall():
    maker = Maker().floor(0, 0, 3, 3).floor(3, 0, 6, 3, 0.18)
    maker.box((3.02, 1.5, 0.09), (0.04, 3.0, 0.18), Surface.WALL)
    assert build_space(maker.world(), SPOT).sweep_one((1, 1.5, 0), (5, 1.5, 0.18))[0]


@pytest.mark.parametrize("cell_m", [0.05, 0.1])
def test_sheets_on_the_lines_between_cells_stop_bodies(cell_m):
    """A sheet without thickness, at every multiple of the cell, far from the origin too: rounding must not lose it."""
    for origin in (0.0, 47.3, -312.9):
        for k in range(60, 90):
            x = origin + k * cell_m
            maker = Maker().floor(origin, 0, origin + 200 * cell_m, 3)
            maker.add(([[x, 0, 0.01], [x, 3, 0.01], [x, 3, 2], [x, 0, 2]], [[0, 1, 2], [0, 2, 3]]), Surface.DOOR)
            space = build_space(maker.world(cell_m=cell_m), TURTLEBOT)
            reached, _, end = space.sweep_one((origin + 15 * cell_m, 1.5, 0), (origin + 180 * cell_m, 1.5, 0))
            assert not reached
            assert 0.0 <= x - TURTLEBOT.radius_m - end[0] < 0.007
