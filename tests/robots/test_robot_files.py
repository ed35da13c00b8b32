"""What a robot moves by besides Portico itself: noticed when it changes."""

from __future__ import annotations

import shutil

import pytest

from portico.errors import UserError
from portico.robots import robot_files, robot_path


@pytest.fixture
def spot(tmp_path):
    for name in ("spot.yaml", "spot.xml"):
        shutil.copy(robot_path("spot").parent / name, tmp_path / name)
    return tmp_path / "spot.yaml"


def test_bodies_that_go_where_they_are_told_have_none():
    assert robot_files("spot", "kinematic") == {}
    with pytest.raises(UserError, match="no physical model"):
        robot_files("flyer", "physics")


def test_model_and_weights_count_under_physics_and_the_file_always(spot):
    assert set(robot_files(str(spot), "kinematic")) == {"spot.yaml"}
    assert set(robot_files(str(spot), "physics")) == {"spot.yaml", "spot.xml", "spot_walk.npz"}
    assert robot_files(str(spot), "physics") == robot_files("spot", "physics")


def test_a_changed_model_is_another_robot(spot):
    before = robot_files(str(spot), "physics")
    model = spot.parent / "spot.xml"
    model.write_text(model.read_text() + "<!-- heavier -->\n")
    after = robot_files(str(spot), "physics")
    assert [name for name in before if before[name] != after[name]] == ["spot.xml"]
