from math import asin, atan2, cos, radians, sin, sqrt, tan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.build.osm.projection import LocalFrame, centre

_A, _F = 6_378_137.0, 1.0 / 298.257223563
_E2 = _F * (2.0 - _F)

latitudes = st.floats(-80.0, 80.0)
longitudes = st.floats(-180.0, 180.0)
offsets = st.floats(-2000.0, 2000.0)


def vincenty_m(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """Geodesic distance on the WGS84 ellipsoid (Vincenty's inverse formula, Survey Review XXIII, 1975)."""
    b = _A * (1.0 - _F)
    u1, u2 = np.arctan((1.0 - _F) * tan(radians(lat1))), np.arctan((1.0 - _F) * tan(radians(lat2)))
    length = radians((lon2 - lon1 + 540.0) % 360.0 - 180.0)
    lam = length
    for _ in range(100):
        sin_sigma = sqrt((cos(u2) * sin(lam)) ** 2 + (cos(u1) * sin(u2) - sin(u1) * cos(u2) * cos(lam)) ** 2)
        if sin_sigma == 0.0:
            return 0.0
        cos_sigma = sin(u1) * sin(u2) + cos(u1) * cos(u2) * cos(lam)
        sigma = atan2(sin_sigma, cos_sigma)
        sin_alpha = cos(u1) * cos(u2) * sin(lam) / sin_sigma
        cos2_alpha = 1.0 - sin_alpha**2
        cos_2m = cos_sigma - 2.0 * sin(u1) * sin(u2) / cos2_alpha if cos2_alpha else 0.0
        c = _F / 16.0 * cos2_alpha * (4.0 + _F * (4.0 - 3.0 * cos2_alpha))
        last = lam
        lam = length + (1.0 - c) * _F * sin_alpha * (sigma + c * sin_sigma * (cos_2m + c * cos_sigma * (2.0 * cos_2m**2 - 1.0)))
        if abs(lam - last) < 1e-13:
            break
    u_sq = cos2_alpha * (_A**2 - b**2) / b**2
    big_a = 1.0 + u_sq / 16384.0 * (4096.0 + u_sq * (-768.0 + u_sq * (320.0 - 175.0 * u_sq)))
    big_b = u_sq / 1024.0 * (256.0 + u_sq * (-128.0 + u_sq * (74.0 - 47.0 * u_sq)))
    delta = (
        big_b
        * sin_sigma
        * (cos_2m + big_b / 4.0 * (cos_sigma * (2.0 * cos_2m**2 - 1.0) - big_b / 6.0 * cos_2m * (4.0 * sin_sigma**2 - 3.0) * (4.0 * cos_2m**2 - 3.0)))
    )
    return b * big_a * (sigma - delta)


def haversine_m(lon1: float, lat1: float, lon2: float, lat2: float, radius_m: float) -> float:
    dlat, dlon = radians(lat2 - lat1), radians(lon2 - lon1)
    h = sin(dlat / 2) ** 2 + cos(radians(lat1)) * cos(radians(lat2)) * sin(dlon / 2) ** 2
    return 2.0 * radius_m * asin(sqrt(h))


@given(latitudes, longitudes, offsets, offsets)
def test_round_trip_to_a_tenth_of_a_millimetre(lat: float, lon: float, x: float, y: float) -> None:
    frame = LocalFrame(lat, lon)
    back = frame.to_local(*frame.to_geographic([[x, y]]).T)
    np.testing.assert_allclose(back, [[x, y]], atol=1e-4)


@given(latitudes, longitudes, offsets, offsets, offsets, offsets)
def test_distances_are_those_on_the_ellipsoid(lat: float, lon: float, x0: float, y0: float, x1: float, y1: float) -> None:
    frame = LocalFrame(lat, lon)
    (lon0, lat0), (lon1, lat1) = frame.to_geographic([[x0, y0], [x1, y1]])
    assert np.hypot(x1 - x0, y1 - y0) == pytest.approx(vincenty_m(lon0, lat0, lon1, lat1), rel=1e-6, abs=1e-3)


@given(st.floats(-70.0, 70.0), st.floats(0.0, 2.0 * np.pi), st.floats(10.0, 2000.0))
def test_distances_agree_with_haversine_on_the_sphere_that_fits_there(lat: float, bearing: float, distance: float) -> None:
    frame = LocalFrame(lat, 10.0)
    x, y = distance * np.sin(bearing), distance * np.cos(bearing)
    lon1, lat1 = frame.to_geographic([[x, y]])[0]
    w = sqrt(1.0 - _E2 * sin(radians(lat)) ** 2)
    meridian, normal = _A * (1.0 - _E2) / w**3, _A / w
    along = 1.0 / (np.cos(bearing) ** 2 / meridian + np.sin(bearing) ** 2 / normal)  # Euler's radius in that direction
    assert haversine_m(10.0, lat, lon1, lat1, along) == pytest.approx(distance, rel=1e-3)


def test_axes_point_east_and_north() -> None:
    frame = LocalFrame(60.0, 25.0)
    east, north = frame.to_local([25.001, 25.0], [60.0, 60.001])
    assert east[0] > 50.0
    assert abs(east[1]) < 0.01
    assert north[1] > 100.0
    assert abs(north[0]) < 1e-6


def test_the_origin_is_the_middle_also_across_the_antimeridian() -> None:
    assert centre(8.0, 46.0, 9.0, 47.0) == LocalFrame(46.5, 8.5)
    frame = centre(179.9, -17.0, 180.3, -16.8)
    assert frame.longitude_deg == pytest.approx(-179.9)
    west, east = frame.to_local([179.9, -179.7], [-16.9, -16.9])
    assert -west[0] == pytest.approx(east[0], abs=1.0)
