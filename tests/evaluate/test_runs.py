"""Runs as users meet them: continued, killed, spread over workers, refused."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml
from hut import build

from portico.errors import PolicyRefused, StorageError, SuiteError, UnknownName
from portico.evaluate.executors import InProcess, LocalProcesses
from portico.evaluate.prepare import prepare, select
from portico.evaluate.records import read_records, without_timing
from portico.evaluate.run import RunRequest, execute
from portico.evaluate.scoring import rescore
from portico.suites import load_suite


@pytest.fixture(scope="module")
def suite_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    build(folder / "hut")
    suite = {"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 4, "entrance": 3, "ovon": 2}, "budget": {"max_actions": 60}, "policies": ["random"]}
    (folder / "hut.yaml").write_text(yaml.safe_dump(suite))
    return folder / "hut.yaml"


@pytest.fixture(scope="module")
def prepared(suite_file):
    return prepare(load_suite(suite_file), suite_file.parent / "cache", relative_to=suite_file.parent, announce=lambda _: None)


def request(suite_file, prepared, folder, policy="random", **more):
    return RunRequest(load_suite(suite_file), policy, folder, prepared, **more)


def outcome(folder):
    return [json.dumps(without_timing(r), sort_keys=True) for r in read_records(folder).values()], (folder / "summary.json").read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(suite_file, prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "one"
    execute(request(suite_file, prepared, folder))
    return folder


def test_a_run_leaves_a_record_and_a_trajectory_per_episode(uninterrupted, prepared):
    planned = len(prepared[0].episodes.episodes)
    assert planned == 9
    assert len(read_records(uninterrupted)) == planned
    assert len(list((uninterrupted / "trajectories").glob("*.npz"))) == planned
    assert json.loads((uninterrupted / "summary.json").read_text())["n"] == {"planned": 9, "scored": 9, "error": 0, "missing": 0}


def test_two_workers_give_the_records_and_the_summary_of_one(suite_file, prepared, uninterrupted, tmp_path):
    execute(request(suite_file, prepared, tmp_path / "two", workers=2))
    assert outcome(tmp_path / "two") == outcome(uninterrupted)


def test_running_again_runs_nothing_and_changes_nothing(suite_file, prepared, uninterrupted):
    before = outcome(uninterrupted)

    class Nobody:
        def run(self, job, assignments):
            assert list(assignments) == []
            return iter(())

    execute(request(suite_file, prepared, uninterrupted), executor=Nobody())
    assert outcome(uninterrupted) == before


def test_scoring_again_agrees_with_the_run(uninterrupted):
    before = (uninterrupted / "summary.json").read_bytes()
    result = rescore(uninterrupted)
    assert result.changed == []
    assert (uninterrupted / "summary.json").read_bytes() == before


def test_scoring_again_notices_a_trajectory_that_was_changed(suite_file, prepared, tmp_path):
    execute(request(suite_file, prepared, tmp_path))
    path = sorted((tmp_path / "trajectories").glob("*.npz"))[0]
    arrays = dict(np.load(path))
    arrays["position"] = arrays["position"] + 0.5
    np.savez_compressed(path, **arrays)
    assert len(rescore(tmp_path).changed) == 1


def test_the_oracle_needs_to_be_asked_for_and_is_stamped(suite_file, prepared, tmp_path):
    with pytest.raises(PolicyRefused, match="--allow-privileged"):
        execute(request(suite_file, prepared, tmp_path, "privileged/oracle-trajectory"))
    summary = execute(request(suite_file, prepared, tmp_path, "privileged/oracle-trajectory", allow_privileged=True))
    assert summary["measures"]["success"]["mean"] == 1.0
    assert {tuple(r["privileged"]) for r in read_records(tmp_path).values()} == {("oracle",)}


def test_doing_nothing_succeeds_nowhere(suite_file, prepared, tmp_path):
    assert execute(request(suite_file, prepared, tmp_path, "stop"))["measures"]["success"]["mean"] == 0.0


def test_an_unknown_policy_or_measure_is_refused_before_anything_is_written(suite_file, prepared, tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'random'"):
        execute(request(suite_file, prepared, tmp_path / "p", "rendom"))
    suite = load_suite(suite_file, measures=["spll"])
    with pytest.raises(UnknownName, match="spl"):
        execute(RunRequest(suite, "random", tmp_path / "m", prepared))
    assert list(tmp_path.iterdir()) == []


def test_another_run_in_the_folder_is_refused_and_the_difference_named(suite_file, prepared, uninterrupted):
    with pytest.raises(SuiteError, match="holds another run") as error:
        execute(request(suite_file, prepared, uninterrupted, "stop"))
    assert "policy" in str(error.value)


class Faulty:
    """Raises in the middle of every episode."""

    from portico.interface import Move, PolicySpec

    spec = PolicySpec("faulty")

    def reset(self, brief):
        self.left = 3

    def act(self, observation):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("no more moves")
        return self.Move("forward")

    def close(self):
        pass


def test_a_fault_of_the_policy_is_an_error_and_no_failure_and_is_tried_again(suite_file, prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("portico.policies.registry.create", lambda name: Faulty())
    monkeypatch.setattr("portico.evaluate.worker.create", lambda name: Faulty())
    summary = execute(request(suite_file, prepared, tmp_path, "faulty"), executor=InProcess())
    assert summary["n"] == {"planned": 9, "scored": 0, "error": 9, "missing": 0}
    record = next(iter(read_records(tmp_path).values()))
    assert record["error"]["where"] == "policy"
    assert "RuntimeError: no more moves" in record["error"]["message"]
    seen = []
    execute(request(suite_file, prepared, tmp_path, "faulty"), watch=lambda p: seen.append(p.done))
    assert seen == list(range(10))


def test_a_worker_that_dies_costs_one_episode_an_error_and_is_replaced(suite_file, prepared, tmp_path, monkeypatch):
    def victims(progress):
        if progress.done == 1:
            for child in _children(os.getpid()):
                os.kill(child, signal.SIGKILL)

    summary = execute(request(suite_file, prepared, tmp_path), watch=victims, executor=LocalProcesses(1))
    assert summary["n"]["scored"] + summary["n"]["error"] == 9
    assert summary["n"]["error"] <= 1
    summary = execute(request(suite_file, prepared, tmp_path))
    assert summary["n"]["error"] == 0


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        found = [int(p) for p in file.read().split()]
    return [p for p in found if b"spawn_main" in open(f"/proc/{p}/cmdline", "rb").read()]


def test_a_full_disk_stops_the_run_and_freeing_it_lets_the_run_go_on(suite_file, prepared, uninterrupted, tmp_path):
    """The second half of the records goes to a device that is always full."""

    def fill(progress):
        path = tmp_path / "records" / "rank-00000.jsonl"
        if progress.done == 4 and not path.is_symlink():
            path.rename(tmp_path / "records" / "rank-00007.jsonl")
            path.symlink_to("/dev/full")

    with pytest.raises(StorageError, match="the disk refused a write") as error:
        execute(request(suite_file, prepared, tmp_path), watch=fill)
    assert "run the same command again" in str(error.value)
    (tmp_path / "records" / "rank-00000.jsonl").unlink()
    execute(request(suite_file, prepared, tmp_path))
    assert outcome(tmp_path) == outcome(uninterrupted)


def test_limits_spread_over_the_tasks(prepared):
    chosen = select(prepared, limit=3)[0].episodes.episodes
    assert sorted(e.task for e in chosen) == ["entrance", "exit", "ovon"]
    with pytest.raises(UnknownName, match="did you mean"):
        select(prepared, only=["exit-00"])


def command(suite_file, folder, workers):
    script = "from portico.cli.main import main; main()"
    return [sys.executable, "-c", script, "run", str(suite_file), "--out", str(folder), "--workers", str(workers), "--cache", str(suite_file.parent / "cache")]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_killed_at_three_random_moments_ends_like_one_that_was_not(suite_file, prepared, uninterrupted, tmp_path, workers):
    whole = subprocess.run(command(suite_file, tmp_path / "whole", workers), capture_output=True, text=True, check=False, timeout=300)
    assert whole.returncode == 0, whole.stderr
    moments = random.Random(workers)
    began = time.monotonic()
    subprocess.run(command(suite_file, tmp_path / "timed", workers), capture_output=True, check=True, timeout=300)
    usual = time.monotonic() - began
    kills = 0
    while kills < 3:
        process = subprocess.Popen(command(suite_file, tmp_path / "killed", workers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(usual * moments.uniform(0.2, 0.9))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    subprocess.run(command(suite_file, tmp_path / "killed", workers), capture_output=True, check=True, timeout=300)
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole") == outcome(uninterrupted)
