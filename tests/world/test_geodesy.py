import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.geometry import Pose
from portico.world import SATNAV, SPHERE, GeoPose, LocalFrame
from portico.world.geodesy import EARTH_RADIUS_M, great_circle_m, heading_deg, yaw_of

pyproj = pytest.importorskip("pyproj")
LONGITUDES, LATITUDES = st.floats(-180.0, 179.99), st.floats(-75.0, 75.0)


@given(LONGITUDES, LATITUDES, st.floats(-np.pi, np.pi), st.floats(0.5, 2000.0))
def test_a_move_measures_what_it_moved(lon, lat, yaw, distance):
    there = SPHERE.moved(lon, lat, yaw, distance)
    assert SPHERE.distance_m([lon, lat], there) == pytest.approx(distance, abs=1e-6)


@given(LONGITUDES, LATITUDES, st.floats(0.0, 360.0))
def test_moves_are_those_of_pyproj_on_the_same_sphere(lon, lat, heading):
    geod = pyproj.Geod(a=EARTH_RADIUS_M, b=EARTH_RADIUS_M)
    want_lon, want_lat, _ = geod.fwd(lon, lat, heading, 10.0)
    found = SPHERE.moved(lon, lat, yaw_of(heading), 10.0)
    assert great_circle_m(np.array([want_lon, want_lat]), np.array(found)) < 1e-6


@given(LONGITUDES, LATITUDES, st.floats(-1500.0, 1500.0), st.floats(-1500.0, 1500.0))
def test_offsets_go_there_and_back_across_the_antimeridian_too(lon, lat, east, north):
    there = SPHERE.at_offset([lon, lat], [east, north])
    assert -180.0 <= there[0] < 180.0
    np.testing.assert_allclose(SPHERE.offset_m([lon, lat], there), [east, north], atol=1e-5)


@given(st.floats(0.0, 359.9))
def test_headings_and_yaws_are_inverse(heading):
    assert heading_deg(yaw_of(heading)) % 360.0 == pytest.approx(heading % 360.0, abs=1e-9)


def test_a_relative_pose_is_in_metres_ahead_and_left():
    start = GeoPose(8.0, 48.0, 50.0, yaw_of(0.0))
    east = GeoPose(*SPHERE.moved(8.0, 48.0, yaw_of(90.0), 30.0), 50.0, yaw_of(90.0))
    relative = east.relative_to(start)
    assert (relative.x, relative.y, relative.z) == pytest.approx((0.0, -30.0, 0.0), abs=1e-3)
    assert relative.yaw_rad == pytest.approx(-np.pi / 2)
    assert type(relative) is Pose


def test_satnav_steps_are_short_and_its_positions_coarse():
    there = SATNAV.moved(8.0, 48.0, yaw_of(0.0), 10.0)
    assert great_circle_m(np.array([8.0, 48.0]), np.array(there), SATNAV.radius_m) == pytest.approx(9.9888, abs=1e-4)
    assert SATNAV.reported([8.1, 48.1])[0] == pytest.approx(np.float32(8.1), abs=0)


def test_the_local_frame_has_no_longitude_beyond_the_antimeridian():
    for middle in (180.0, -180.0, 179.999):
        frame = LocalFrame(-17.0, middle)
        there = frame.to_geographic([[-300.0, 10.0], [300.0, 10.0]])
        assert (np.abs(there[:, 0]) <= 180.0).all()
        assert np.sign(there[:, 0]).tolist() == [1.0, -1.0]
        np.testing.assert_allclose(frame.to_local(*there.T), [[-300.0, 10.0], [300.0, 10.0]], atol=1e-6)
