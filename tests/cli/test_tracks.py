"""NavArena's tracks from the command line: one set of questions, two protocols, levels of difficulty, policies for some tracks only."""

from __future__ import annotations

import json

import pytest
import yaml
from hut import build
from test_cli import portico

__all__ = ["portico"]


@pytest.fixture(scope="module")
def tracks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracks")
    build(folder / "hut")
    raw = {
        "name": "tracks",
        "rules": "navarena",
        "termination": "on_arrival",
        "worlds": [{"path": "hut"}],
        "tasks": {"point": 3, "image": 3, "object": 3},
        "difficulty": {"max_actions": {"easy": 60, "medium": 90, "hard": 120}},
    }
    (folder / "tracks.yaml").write_text(yaml.safe_dump(raw))
    return folder


@pytest.fixture
def run(tracks, portico):
    def call(policy, name, *options):
        return portico("run", tracks / "tracks.yaml", "--policy", policy, "--out", tracks / name, "--cache", tracks / "cache", *options)

    return call


def test_the_oracle_does_all_tracks_under_both_protocols_on_the_same_questions(run, tracks, portico):
    code, out, err = run("privileged/oracle-trajectory", "arrival", "--allow-privileged")
    assert code == 0, err
    assert "By difficulty within each task" in out
    assert "Distance SR" in out
    code, out, err = run("privileged/oracle-trajectory", "stopping", "--allow-privileged", "--termination", "explicit_stop")
    assert code == 0, err
    assert "Stop SR" in out
    summaries = [json.loads((tracks / name / "summary.json").read_text()) for name in ("arrival", "stopping")]
    assert [s["measures"]["success"]["mean"] for s in summaries] == [1.0, 1.0]
    assert summaries[1]["measures"]["pose_success"]["mean"] == 1.0
    assert list(summaries[0]["breakdowns"]["level"]) == [f"{task}/{level}" for task in ("image", "object", "point") for level in ("easy", "medium", "hard")]
    sets = [json.loads((tracks / name / "episodes" / "hut.json").read_text())["episodes"] for name in ("arrival", "stopping")]
    assert [e["start"] for e in sets[0]] == [e["start"] for e in sets[1]]
    assert {e["stages"][0]["termination"] for e in sets[0]} == {"on_arrival"}
    assert {e["budget"]["max_actions"] for e in sets[0]} == {60, 90, 120}
    code, _, err = portico("compare", tracks / "arrival", tracks / "stopping")
    assert code == 1
    assert "suite termination: 'on_arrival' against 'explicit_stop'" in " ".join(err.split())


def test_a_stop_on_arrival_costs_an_action_and_ends_nothing(run, tracks):
    assert run("stop", "stop", "--task", "image")[0] == 0
    records = [json.loads(line) for line in (tracks / "stop" / "records" / "rank-00000.jsonl").read_text().splitlines()]
    assert {r["reason"] for r in records} == {"budget_exhausted"}
    assert sorted(r["measures"]["steps"] for r in records) == [60, 90, 120]


def test_a_policy_that_knows_one_track_is_refused_for_the_others_before_anything_starts(run, tracks):
    code, _, err = run("point-follower", "follower")
    assert code == 1
    assert "'point-follower' cannot attempt image, object" in " ".join(err.split())
    assert "--task" in err
    assert not (tracks / "follower").exists()


def test_a_task_that_the_suite_does_not_ask_is_named(run):
    code, _, err = run("stop", "none", "--task", "pont")
    assert code == 1
    assert "did you mean 'point'" in err


def test_when_nothing_is_left_every_filter_says_what_it_removed(tracks, portico):
    raw = yaml.safe_load((tracks / "tracks.yaml").read_text()) | {"name": "long", "grid": {"shortest_m": 29.0}}
    (tracks / "long.yaml").write_text(yaml.safe_dump(raw))
    code, _, err = portico("run", tracks / "long.yaml", "--policy", "stop", "--out", tracks / "long", "--cache", tracks / "cache")
    assert code == 1
    text = " ".join(err.split())
    assert "there is nothing to run" in text
    assert "hut, point: path shorter than 29 m" in text


def test_generated_files_carry_the_protocol(tracks, portico):
    file = tracks / "e.json"
    arguments = ("--suite", tracks / "tracks.yaml", "--task", "point", "--out", file)
    assert portico("episodes", "generate", tracks / "hut", *arguments, "--termination", "explicit_stop")[0] == 0
    stages = [e["stages"][0] for e in json.loads(file.read_text())["episodes"]]
    assert {s["termination"] for s in stages} == {"explicit_stop"}
    assert all("stop" in s["instruction"] for s in stages)
