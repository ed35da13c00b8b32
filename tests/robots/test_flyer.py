import numpy as np
import pytest

pytest.importorskip("rasterio")

from sky import coordinates, crossroads, sky

from portico.errors import EpisodeError, UserError
from portico.geometry import Pose
from portico.interface import ActionSpace, Move, Stop, Velocity
from portico.robots import Flyer, embodiment
from portico.world import SATNAV, SPHERE
from portico.world.geodesy import yaw_of

MOVES = ActionSpace(step_m=10.0)


@pytest.fixture(scope="module")
def world():
    return crossroads()


@pytest.fixture
def flyer(world):
    flyer = Flyer(world, embodiment("flyer"), MOVES)
    flyer.reset(Pose(8.0, 47.0, 50.0, yaw_of(0.0)))
    return flyer


def test_a_step_is_ten_metres_and_a_turn_fifteen_degrees(flyer):
    motion = flyer.execute(Move("forward"))
    assert SPHERE.distance_m([8.0, 47.0], [flyer.pose.x, flyer.pose.y]) == pytest.approx(10.0, abs=1e-6)
    assert (motion.states[0].moved, motion.collided, motion.duration_s) == (True, False, 1.0)
    flyer.execute(Move("turn_right"))
    assert flyer.pose.yaw_rad == pytest.approx(yaw_of(15.0))
    for _ in range(25):
        flyer.execute(Move("turn_left"))
    assert flyer.pose.yaw_rad == pytest.approx(yaw_of(0.0))
    assert flyer.pose.z == 50.0


def test_29_a_move_beyond_the_border_is_rejected_and_said(flyer):
    steps = 0
    while not flyer.execute(Move("forward")).collided:
        steps += 1
    # 300 m to the edge, less the 70.7 m that the camera sees to its corners.
    assert steps == 22
    before = flyer.pose
    assert flyer.execute(Move("forward")).collided
    assert flyer.pose == before
    assert not flyer.execute(Move("turn_left")).collided


def test_no_heading_ever_shows_the_edge(flyer):
    from portico.render import renderer_of

    while not flyer.execute(Move("forward")).collided:
        pass
    camera, renderer = flyer.embodiment.cameras[0], renderer_of(crossroads())
    for _ in range(6):
        flyer.execute(Move("turn_left"))
        rgb = renderer.render(flyer.base_matrix() @ camera.T_base_camera(), camera, ("rgb",)).rgb
        assert (rgb.max(axis=2) > 0).all()


@pytest.mark.parametrize(("lon", "lat", "height"), [(47.0, 8.0, 50.0), (8.0, 47.0, 250.0), (8.0, 47.0, 0.0), (8.0033, 47.0, 50.0), (8.0, 89.99, 50.0)])
def test_starts_outside_are_refused_with_a_reason(world, lon, lat, height):
    with pytest.raises(EpisodeError, match="outside the imagery") as error:
        Flyer(world, embodiment("flyer"), MOVES).reset(Pose(lon, lat, height))
    assert "longitude" in error.value.where


def test_on_the_ground_nobody_hovers(flyer):
    assert "above the ground" in flyer.misfit(8.0, 47.0, 0.0)
    assert "above the ground" in flyer.misfit(8.0, 47.0, -5.0)
    assert flyer.misfit(8.0, 47.0, 50.0) == ""


def test_swapped_positions_are_recognised(flyer):
    assert "swapped" in flyer.misfit(47.0, 8.0, 50.0)
    assert "swapped" not in flyer.misfit(8.1, 47.0, 50.0)


def test_holes_cannot_be_flown_over():
    pixels = np.dstack([coordinates(1600, 1600), np.full((1600, 1600), 255, np.uint8)])
    pixels[700:760, 780:860, 3] = 0
    flyer = Flyer(sky(pixels), embodiment("flyer"), MOVES)
    lon, lat = flyer._grid.to_degrees([[820.0, 800.0]])[0].tolist()
    flyer.reset(Pose(lon, lat, 50.0, yaw_of(0.0)))
    assert flyer.execute(Move("forward")).collided
    with pytest.raises(EpisodeError, match="outside") as error:
        flyer.reset(Pose(*flyer._grid.to_degrees([[820.0, 730.0]])[0].tolist(), 50.0))
    assert "no data" in error.value.why


def test_a_flyer_knows_discrete_moves_only(flyer):
    assert flyer.actions.accepts == {"stop", "move"}
    assert flyer.execute(Stop()).duration_s == 0.0
    with pytest.raises(UserError, match="discrete"):
        flyer.execute(Velocity(1.0, 0.0, 0.0, 1.0))


def test_satnavs_geodesy_moves_as_satnav_does(world):
    flyer = Flyer(world, embodiment("flyer"), MOVES, geodesy=SATNAV)
    flyer.reset(Pose(8.0, 47.0, 50.0, yaw_of(0.0)))
    flyer.execute(Move("forward"))
    assert (flyer.pose.x, flyer.pose.y) == pytest.approx(SATNAV.moved(8.0, 47.0, yaw_of(0.0), 10.0), abs=1e-12)
