"""The curve above the time line."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_timeline import track, way

from portico.web.distances import curve, goal_distances_m
from portico.web.library import Library
from portico.web.listing import everything
from portico.web.scene import Stage
from portico.web.timeline import Axis
from portico.web.worlds import Atlas


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


@given(st.lists(st.floats(0.0, 90.0), min_size=2, max_size=2000))
def test_a_curve_stays_on_its_field_and_keeps_the_nearest_moment(distances):
    one = track(way([0.1 * k for k in range(len(distances))]))
    axis = Axis.of([one])
    found = points(curve(one, axis, np.array(distances), 100.0))
    assert 0 < len(found) <= 502
    assert all(0.0 <= x <= 1000.0 and 0.0 <= y <= 100.0 for x, y in found)
    assert [x for x, _ in found] == sorted(x for x, _ in found)
    assert max(y for _, y in found) == pytest.approx(100.0 - min(distances), abs=0.06)


def test_what_is_not_known_is_a_gap():
    one = track(way([float(k) for k in range(9)]))
    distances = np.array([3.0, 2.0, np.nan, np.nan, np.nan, np.nan, np.nan, 1.0, 0.5])
    assert curve(one, Axis.of([one]), distances, 3.0).count("M") == 2
    assert curve(one, Axis.of([one]), np.full(9, np.nan), 3.0) == ""


def test_distances_are_those_of_the_measures(corner):
    stage = Stage(Atlas())
    seen = 0
    for item in everything(Library.opened([corner.runs])):
        one = stage.track(item)
        known = goal_distances_m(one)
        error_m = (one.record.get("measures") or {}).get("navigation_error_m")
        if one.states and error_m is not None and len(one.record["stage_outcomes"]) == 1:
            assert known[-1] == pytest.approx(error_m, abs=1e-6)
            seen += 1
    assert seen > 10
