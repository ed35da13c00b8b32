"""Runs under physics: the same bytes however they are run, resumed where they were cut, falls on record, twins compared."""

import json
from itertools import islice

import numpy as np
import pytest
import yaml
from hut import build
from PIL import Image

from portico.errors import SuiteError
from portico.evaluate.compare import compare
from portico.evaluate.executors import InProcess, LocalProcesses
from portico.evaluate.prepare import prepare
from portico.evaluate.records import read_records, without_timing
from portico.evaluate.run import RunRequest, execute
from portico.evaluate.scoring import rescore
from portico.report.film import draw_films
from portico.report.runs import load_run
from portico.suites import load_suite, under
from portico.tasks.trajectory import Trajectory


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    build(folder / "hut")
    body = {"name": "hut", "worlds": [{"path": str(folder / "hut")}], "tasks": {"exit": 2, "ovon": 1}, "budget": {"max_actions": 25}, "motion": "physics"}
    (folder / "hut.yaml").write_text(yaml.safe_dump(body))
    return load_suite(folder / "hut.yaml")


@pytest.fixture(scope="module")
def prepared(suite, tmp_path_factory):
    return prepare(suite, tmp_path_factory.mktemp("cache"), announce=lambda _: None)


def request(suite, prepared, folder, policy="random", **more):
    return RunRequest(suite, policy, folder, prepared, **more)


def outcome(folder):
    records = [json.dumps(without_timing(r), sort_keys=True) for r in read_records(folder).values()]
    return records, {path.name: path.read_bytes() for path in sorted((folder / "trajectories").iterdir())}, (folder / "summary.json").read_bytes()


@pytest.fixture(scope="module")
def whole(suite, prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    execute(request(suite, prepared, folder))
    return folder


class Cut(InProcess):
    """Ends a run after so many episodes, as a kill would."""

    def run(self, job, assignments):
        yield from islice(super().run(job, assignments), 1)
        raise KeyboardInterrupt


def test_a_run_that_was_cut_and_continued_has_the_bytes_of_one_that_was_not(suite, prepared, whole, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        execute(request(suite, prepared, tmp_path / "cut"), executor=Cut())
    assert len(read_records(tmp_path / "cut")) == 1
    execute(request(suite, prepared, tmp_path / "cut"))
    assert outcome(tmp_path / "cut") == outcome(whole)


@pytest.mark.slow
def test_two_workers_give_the_bytes_of_one(suite, prepared, whole, tmp_path):
    execute(request(suite, prepared, tmp_path / "two", workers=2), executor=LocalProcesses(2))
    assert outcome(tmp_path / "two") == outcome(whole)


def test_scoring_a_recording_again_agrees_with_the_run(whole):
    assert not rescore(whole).changed


def test_the_oracle_does_what_was_verified(suite, prepared, tmp_path):
    execute(request(suite, prepared, tmp_path / "oracle", "privileged/oracle-trajectory", allow_privileged=True))
    assert {r["reason"] for r in read_records(tmp_path / "oracle").values()} == {"success"}


def test_the_lean_of_the_body_is_on_record(whole):
    for path in (whole / "trajectories").iterdir():
        trajectory = Trajectory.load(path)
        assert trajectory.tilt_rad.shape == (len(trajectory), 2)
        assert np.abs(trajectory.tilt_rad).max() > 0.001
        assert not trajectory.fallen[:-1].any()


def test_the_kinematic_twin_answers_the_same_questions_and_is_compared_with_it(suite, prepared, whole, tmp_path):
    twin = under(suite, motion="kinematic")
    assert twin.asked() == suite
    execute(request(twin, prepared, tmp_path / "twin"))
    result = compare(load_run(whole).side(), load_run(tmp_path / "twin").side())
    assert result["conditions"] == {"motion": ["physics", "kinematic"]}
    assert result["n"]["pairs"] == 3
    execute(request(twin, prepared, tmp_path / "stop", "stop"))
    with pytest.raises(SuiteError, match="suite motion: 'physics' against 'kinematic'"):
        compare(load_run(whole).side(), load_run(tmp_path / "stop").side())


def test_an_episode_is_drawn_as_a_film(whole, tmp_path):
    (path,) = draw_films([whole], ["exit-000"], tmp_path)
    with Image.open(path) as film:
        assert film.width == 480 + 3 * 320
        looks = [film.crop((480 + 320 * k, 22, 800 + 320 * k, 262)) for k in range(3)]
    assert all(len(look.getcolors(1 << 20)) > 3 for look in looks), "every frame shows walls and floor"
