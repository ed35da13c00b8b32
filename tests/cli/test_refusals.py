"""Mistakes are found before anything slow starts, end with exit code 1, and leave nothing half-made."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml
from test_cli import hut, portico

from portico.interface import PolicySpec, Velocity
from portico.robots import robot_path

__all__ = ["hut", "portico"]


def suite(folder, name, **changes):
    raw = {"name": name, "worlds": [{"path": "hut"}], "tasks": {"exit": 2}, "budget": {"max_actions": 400}, "policies": ["stop"]} | changes
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(raw))
    return path


@pytest.fixture
def episodes(hut, portico):
    file = hut / "exit.json"
    code, _, err = portico("episodes", "generate", hut / "hut", "--task", "exit", "--count", 2, "--out", file)
    assert code == 0, err
    return json.loads(file.read_text())


def spoiled_start(raw):
    raw["episodes"][0]["start"]["position"] = [0.1, 4.0, 0.0]


def no_floor(raw):
    raw["episodes"][0]["start"]["position"] = [500.0, 4.0, 0.0]


def unknown_category(raw):
    raw["episodes"][0] |= {"task": "object", "stages": [{"kind": "object", "category": "chairr"}], "reference": None}


def unreachable(raw):
    raw["episodes"][0] |= {"task": "point", "stages": [{"kind": "point", "goal": [30.0, 4.0, 0.0], "radius_m": 0.5}], "reference": None}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (spoiled_start, ["1 of 2 episodes cannot be asked", "start_blocked"]),
        (no_floor, ["no_floor"]),
        (unknown_category, ["unknown_category", "did you mean 'chair'"]),
        (unreachable, ["unreachable"]),
    ],
)
def test_episodes_that_cannot_be_asked_are_not_run(hut, portico, episodes, tmp_path, spoil, words):
    spoil(episodes)
    (hut / "spoiled.json").write_text(json.dumps(episodes))
    path = suite(hut, "spoiled", worlds=[{"path": "hut", "episodes": "spoiled.json"}])
    code, _, err = portico("run", path, "--out", tmp_path / "run", "--cache", tmp_path / "cache")
    assert code == 1
    for word in words:
        assert word in " ".join(err.split())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policies": ["stop", "randon"]}, ["unknown policy 'randon'", "did you mean 'random'"]),
        ({"policies": ["stop", "privileged/oracle-goal"]}, ["--allow-privileged"]),
        ({"measures": ["sucess"]}, ["unknown measure", "did you mean 'success'"]),
        ({"tasks": {"exit": 0}}, ["there is nothing to run"]),
    ],
)
def test_a_suite_is_checked_before_its_first_policy_runs(hut, portico, tmp_path, changes, words):
    path = suite(hut, "wrong", **changes)
    code, _, err = portico("run", path, "--out", tmp_path / "run", "--cache", tmp_path / "cache")
    assert code == 1
    for word in words:
        assert word in " ".join(err.split())
    assert not (tmp_path / "run").exists()


def test_a_robot_whose_model_lacks_a_joint_is_refused_before_anything_runs(hut, portico, tmp_path):
    shutil.copy(robot_path("turtlebot").with_suffix(".xml"), tmp_path)
    (tmp_path / "mine.yaml").write_text(robot_path("turtlebot").read_text().replace("right: [right_wheel]", "right: [wheel_on_the_right]"))
    asked = ("--robot", tmp_path / "mine.yaml", "--same-questions", "--motion")
    path = suite(hut, "lacking")
    code, _, err = portico("run", path, *asked, "physics", "--out", tmp_path / "run", "--cache", tmp_path / "cache")
    assert code == 1
    assert "the robot's model has no joint 'wheel_on_the_right'" in " ".join(err.split())
    assert not (tmp_path / "run").exists()
    assert portico("run", path, *asked, "kinematic", "--out", tmp_path / "run", "--cache", tmp_path / "cache")[0] == 0


class Restless:
    """Asks for what no body can do."""

    spec = PolicySpec("restless")

    def reset(self, brief):
        pass

    def act(self, observation):
        return Velocity(float("nan"), 0.0, 0.0, 1.0)

    def close(self):
        pass


def test_a_run_with_errors_says_who_tells_why(hut, portico, tmp_path):
    code, _, err = portico("run", suite(hut, "restless"), "-p", "test_refusals:Restless", "--out", tmp_path / "run", "--cache", tmp_path / "cache")
    assert code == 2
    assert f"portico runs check {tmp_path / 'run'} says why".replace(" ", "") in "".join(err.split())
    code, out, _ = portico("runs", "check", tmp_path / "run")
    assert code == 2
    assert "Velocity is not finite" in out


def test_tasks_that_a_world_cannot_ask_write_no_file(hut, portico, tmp_path):
    code, _, err = portico("episodes", "generate", hut / "hut", "--task", "i2o2i", "--count", 1, "--out", tmp_path / "none.json")
    assert code == 1
    assert "no episode could be made" in err
    assert not (tmp_path / "none.json").exists()


def test_a_task_is_spelt_for_the_user(hut, portico, tmp_path):
    code, _, err = portico("episodes", "generate", hut / "hut", "--task", "exti", "--out", tmp_path / "none.json")
    assert code == 1
    assert "did you mean 'exit'" in err


def test_an_export_that_cannot_be_written_is_explained(hut, portico, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, _, err = portico("world", "export", hut / "hut", "--out", tmp_path / "file" / "folder")
    assert code == 1
    assert "cannot write there" in err


def test_scores_that_cannot_be_written_are_explained(hut, portico, tmp_path):
    assert portico("run", hut / "hut.yaml", "--policy", "stop", "--out", tmp_path / "run", "--cache", tmp_path / "cache")[0] == 0
    (tmp_path / "run" / "scores.jsonl").mkdir()
    code, _, err = portico("score", tmp_path / "run")
    assert code == 1
    assert "refused" in err
