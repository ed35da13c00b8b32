"""NavVerse's questions from the command line: asked, answered, tabulated; the same in other words; splits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml
from test_cli import portico

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))

from report_samples import saved_corner

__all__ = ["portico"]

SUITE = {
    "name": "scenic",
    "rules": "navverse",
    "worlds": [{"path": "corner", "split": "eval"}],
    "tasks": {"place": {"outdoor": 2, "indoor_to_outdoor": 2}, "vln": {"indoor_to_outdoor": 1}},
    "navverse": {"tolerance_m": 1.6},
    "budget": {"max_actions": 3000, "max_time_s": 300},
    "policies": ["stop", "privileged/oracle-trajectory"],
}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenic")
    saved_corner(folder / "corner")
    (folder / "scenic.yaml").write_text(yaml.safe_dump(SUITE))
    return folder


@pytest.fixture
def run(town, portico):
    def call(name, *options):
        code, out, err = portico("run", town / "scenic.yaml", "--allow-privileged", "--cache", town / "cache", "--out", town / name, *options)
        assert code == 0, out + err
        return town / name

    return call


def test_the_oracle_goes_there_and_a_stop_at_the_start_is_a_wrong_goal(run, portico):
    folder = run("both")
    code, out, _ = portico("tables", folder, "--table", "scenes", "--table", "terminations", "--table", "transition", "--table", "feasibility")
    assert code == 0
    assert "Success by scene: place" in out
    assert "oracle trajectory" in out
    records = [json.loads(line) for line in next((folder / "stop" / "records").iterdir()).read_text().splitlines()]
    assert {r["reason"] for r in records} == {"wrong_goal"}
    assert {r["scene"] for r in records} == {"outdoor", "indoor_to_outdoor"}
    summary = json.loads((folder / "privileged-oracle-trajectory" / "summary.json").read_text())
    assert summary["measures"]["success"]["mean"] == 1.0
    assert summary["breakdowns"]["scene"].keys() == {"outdoor", "indoor_to_outdoor"}
    assert summary["transition"]["n"] == 3
    assert "How episodes ended, by scene" in (folder / "report.html").read_text(encoding="utf-8")


def test_other_words_for_the_same_places(run, portico):
    asked, wanted = run("asked", "-p", "stop"), run("wanted", "-p", "stop", "--instructions", "intention")
    code, out, err = portico("tables", asked, wanted, "--table", "instructions")
    assert code == 0, err
    assert "intention" in out
    code, _, err = portico("tables", asked, wanted, "--table", "scenes")
    assert code == 1
    assert "suite instructions: 'category' against 'intention'" in err
    code, out, err = portico("tables", asked, wanted)
    assert code == 0, "without a name, what may stand together is shown"
    assert "Places by kind of instruction" in out
    assert "scenes: left out" in err


def test_a_split_without_worlds_is_refused(town, portico):
    code, _, err = portico("run", town / "scenic.yaml", "-p", "stop", "--split", "train", "--out", town / "none", "--cache", town / "cache")
    assert code == 1
    assert "choose one of eval" in err


def test_splits_are_listed_and_an_overlap_is_refused(town, portico):
    (town / "learn.yaml").write_text(yaml.safe_dump(SUITE | {"name": "learn", "split": "train", "worlds": [{"path": "corner"}]}))
    code, out, _ = portico("episodes", "splits", town / "scenic.yaml", "navverse")
    assert code == 0
    assert "train: 41 worlds" in out
    code, _, err = portico("episodes", "splits", town / "scenic.yaml", town / "learn.yaml")
    assert code == 1
    assert "path corner in train of learn" in err
