"""What ``portico runs check`` finds, and that it finds nothing where nothing is wrong; the other verbs about runs."""

import json
import shutil
import sys

import pytest
from chaos_policies import Walker
from hut_runs import read_json, request_for

from portico.cli.main import main
from portico.evaluate.inspection import inspect_run
from portico.evaluate.locks import locked
from portico.evaluate.logbook import Logbook
from portico.evaluate.plan import Shard
from portico.evaluate.records import RecordWriter
from portico.evaluate.reproduction import verdict
from portico.evaluate.run import execute
from portico.interface import Move, PolicySpec


@pytest.fixture(scope="module")
def kept(suite_file, prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "run"
    execute(request_for(suite_file, prepared, folder))
    return folder


@pytest.fixture
def run(kept, tmp_path):
    shutil.copytree(kept, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def portico(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["portico", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


def lines_of(run):
    return (run / "records" / "rank-00000.jsonl").read_text().splitlines(keepends=True)


def put(run, lines):
    (run / "records" / "rank-00000.jsonl").write_text("".join(lines))


def codes(run):
    return {f.code: f for f in inspect_run(run).findings}


def test_a_whole_run_has_no_findings(run):
    inspection = inspect_run(run)
    assert (inspection.sound, inspection.findings) == (True, ())
    assert (inspection.planned, inspection.scored, inspection.errors, inspection.missing) == (10, 10, 0, 0)


def test_a_missing_episode_is_named_and_the_summary_is_behind(run):
    lines = lines_of(run)
    put(run, lines[1:])
    found = codes(run)
    key = json.loads(lines[0])["key"]
    assert found["missing"].names == (f"hut {key['episode']}",)
    assert found["summary"].kind == "open"
    assert not inspect_run(run).sound


def test_one_that_was_run_twice_is_a_note_and_two_outcomes_are_a_fault(run):
    lines = lines_of(run)
    put(run, [*lines, lines[0]])
    assert codes(run)["duplicate"].kind == "note"
    changed = json.loads(lines[0])
    changed["measures"]["steps"] += 1
    put(run, [*lines, json.dumps(changed) + "\n"])
    assert "line 11" in codes(run)["conflict"].names[0]


def test_records_of_another_run_are_named_with_their_file(run):
    stranger = json.loads(lines_of(run)[0])
    stranger["key"]["suite"] = "another"
    RecordWriter(run, 3).append(stranger)
    assert codes(run)["foreign"].names[0].startswith("rank-00003.jsonl line 1")


def test_half_a_line_is_a_note_at_the_end_and_a_fault_before(run):
    lines = lines_of(run)
    put(run, [*lines[:-1], lines[-1][:50]])
    found = codes(run)
    assert found["torn"].kind == "note"
    assert "missing" in found
    put(run, [lines[0][:50] + "\n", *lines[1:]])
    assert codes(run)["damaged"].kind == "fault"


@pytest.mark.parametrize("how", ["gone", "cut", "exchanged"])
def test_trajectories_are_those_that_were_scored(run, how):
    first, second = sorted((run / "trajectories").iterdir())[:2]
    if how == "gone":
        first.unlink()
    elif how == "cut":
        first.write_bytes(first.read_bytes()[:100])
    else:
        shutil.copy(second, first)
    (name,) = codes(run)["trajectory"].names
    assert name.endswith("not the one that was scored" if how == "exchanged" else "gone or damaged")


def test_questions_that_were_changed_afterwards_are_noticed(run):
    file = run / "episodes" / "hut.json"
    episodes = read_json(file)
    episodes["episodes"][0]["start"]["yaw_rad"] += 0.1
    file.write_text(json.dumps(episodes))
    assert codes(run)["questions"].kind == "fault"
    file.unlink()
    assert "nobody can say what is missing" in codes(run)["questions"].sentence


def test_a_rank_that_never_started_or_did_not_end_is_named(suite_file, prepared, tmp_path):
    execute(request_for(suite_file, prepared, tmp_path, shard=Shard(0, 3), shuffle=1))
    assert [f.sentence.split(":")[0] for f in inspect_run(tmp_path).findings if f.code == "rank"] == ["rank 1 of 3 never started", "rank 2 of 3 never started"]
    Logbook(tmp_path, 1).start(rank=1, world_size=3)
    first, second = (f for f in inspect_run(tmp_path).findings if f.code == "rank")
    assert "is at work or was killed" in first.sentence
    execute(request_for(suite_file, prepared, tmp_path, shard=Shard(1, 3), shuffle=1))
    (only,) = (f for f in inspect_run(tmp_path).findings if f.code == "rank")
    assert only == second
    execute(request_for(suite_file, prepared, tmp_path, shard=Shard(2, 3), shuffle=1))
    assert inspect_run(tmp_path).sound


def test_errors_are_open_and_a_later_outcome_leaves_a_note(suite_file, prepared, tmp_path, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(Walker, "act", Walker.fail, raising=True)
        broken.setattr(Walker, "fail", lambda self: None)
        execute(request_for(suite_file, prepared, tmp_path))
    assert codes(tmp_path)["error"].kind == "open"
    assert len(codes(tmp_path)["error"].names) == 10
    assert "the policy failed in act(): TypeError: Walker.fail()" in codes(tmp_path)["error"].names[0]
    execute(request_for(suite_file, prepared, tmp_path))
    assert [f.code for f in inspect_run(tmp_path).findings] == ["retried"]
    assert inspect_run(tmp_path).sound


def test_a_second_run_of_the_same_comes_to_the_same_and_another_does_not(suite_file, prepared, kept, tmp_path, monkeypatch):
    execute(request_for(suite_file, prepared, tmp_path / "again"))
    same = verdict(kept, tmp_path / "again")
    assert same.same
    assert same.digests[0] == same.digests[1] == read_json(kept / "summary.json")["outcome"]
    monkeypatch.setattr(Walker, "spec", PolicySpec("walker", version="2"))
    monkeypatch.setattr(Walker, "act", lambda self, observation: Move("forward"))
    execute(request_for(suite_file, prepared, tmp_path / "other"))
    other = verdict(kept, tmp_path / "other")
    assert other.unlike == ("policy_version: '1' there, '2' now",)
    assert len(other.changed) == 10
    assert "trajectory" in other.changed[0]


def test_check_and_list_on_the_command_line(portico, run):
    code, out, _ = portico("runs", "check", run)
    assert code == 0
    assert "whole; 10 planned, 10 scored" in out
    put(run, lines_of(run)[2:])
    code, out, _ = portico("runs", "check", run.parent)
    assert code == 2
    assert "open [missing] 2 episodes were not run" in out
    code, out, _ = portico("runs", "check", run, "--json")
    assert {f["code"] for f in json.loads(out)[0]["findings"]} == {"missing", "summary"}
    code, out, _ = portico("runs", "list", run.parent)
    assert code == 0
    assert "8/10" in out
    code, _, err = portico("runs", "list", run / "nowhere")
    assert code == 1
    assert "no run lies there" in err


@pytest.mark.parametrize("header", ["{", "[]", '{"foo": 1}', '{"suite": "x", "policy": 3, "worlds": [], "planned": "many"}'])
def test_what_is_no_run_does_not_hide_the_others_in_the_list(portico, run, header):
    (run.parent / "strange").mkdir()
    (run.parent / "strange" / "run.json").write_text(header)
    code, out, _ = portico("runs", "list", run.parent)
    assert code == 0
    assert "10/10" in out
    assert "damaged" in out or "incomplete" in out
    code, _, err = portico("runs", "check", run.parent / "strange")
    assert code == 1
    assert "the run's header is" in err


def test_a_run_at_work_is_listed_as_that(portico, run):
    with locked(run):
        assert "at work" in portico("runs", "list", run.parent)[1]
    assert "at work" not in portico("runs", "list", run.parent)[1]


def test_whoever_interrupts_is_told_how_to_go_on(portico, run, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("portico.cli.runs.read_header", interrupted)
    code, _, err = portico("runs", "list", run)
    assert code == 130
    assert f"To go on:\n  portico runs list {run}" in err


def test_a_run_that_does_not_know_its_command_says_so(portico, run):
    code, _, err = portico("reproduce", run)
    assert code == 1
    assert "started from Python" in err


@pytest.mark.slow
def test_a_run_is_reproduced_by_its_command(portico, suite_file, tmp_path):
    cache = suite_file.parent / "cache"
    code, _, _ = portico("run", suite_file, "--policy", "random", "--limit", "3", "--seed", "5", "--cache", cache, "--out", tmp_path / "run")
    assert code == 0
    code, out, _ = portico("reproduce", tmp_path / "run", "--print")
    assert out.split() == ["portico", "run", str(suite_file), "--limit", "3", "--seed", "5", "--cache", str(cache), "--policy", "random"]
    code, out, _ = portico("reproduce", tmp_path / "run")
    assert code == 0
    assert "reproduced: every outcome is the same" in out
    file = tmp_path / "run" / "records" / "rank-00000.jsonl"
    file.write_text(file.read_text().replace('"status": "failure"', '"status": "success"', 1))
    code, out, _ = portico("reproduce", tmp_path / "run", "--out", tmp_path / "second")
    assert code == 2
    assert "not reproduced: 1 of 3 outcomes differ" in out
    assert (tmp_path / "second" / "summary.json").is_file()
