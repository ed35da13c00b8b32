"""What can go wrong under a run: the policy, the world, the disk. Nothing is lost, and mended it ends like one in which nothing went wrong."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from asyncio import CancelledError
from concurrent.futures import ThreadPoolExecutor

import pytest
from hut_runs import outcome, prepared_for, request_for, suite_in

from portico.errors import PolicyRefused, StorageError, UserError
from portico.evaluate.deadline import Punctual
from portico.evaluate.executors import InProcess
from portico.evaluate.guard import PolicyFault, decide
from portico.evaluate.inspection import inspect_run
from portico.evaluate.records import read_records
from portico.evaluate.run import execute
from portico.interface import PolicyFailure, PolicySpec


@pytest.fixture
def chaos(tmp_path, monkeypatch):
    """Sets what goes wrong; nothing any more when called without anything."""

    def let(**faults):
        (tmp_path / "chaos.json").write_text(json.dumps(faults))

    monkeypatch.setenv("PORTICO_CHAOS", str(tmp_path / "chaos.json"))
    return let


def victims(whole, count):
    return [key.slug() for key in list(read_records(whole))[:count]]


def errors_of(folder):
    return {key.slug(): record["error"] for key, record in read_records(folder).items() if record["status"] == "error"}


@pytest.mark.parametrize(("fault", "said"), [("raise", "ValueError: the model fell over"), ("exit", "SystemExit: 0"), ("garbage", "returned no action")])
def test_a_policy_that_fails_costs_its_episodes_errors_until_it_is_mended(suite_file, prepared, whole, tmp_path, chaos, fault, said):
    chaos(**{fault: victims(whole, 3)})
    summary = execute(request_for(suite_file, prepared, tmp_path / "run"))
    assert summary["n"] == {"planned": 10, "scored": 7, "error": 3, "missing": 0}
    errors = errors_of(tmp_path / "run")
    assert sorted(errors) == sorted(victims(whole, 3))
    assert all(error["where"] == "policy" and said in error["message"] for error in errors.values())
    chaos()
    execute(request_for(suite_file, prepared, tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(whole)


class Unmakeable:
    spec = PolicySpec("unmakeable")
    reset = act = close = lambda self, *_: None

    def __init__(self):
        raise RuntimeError("no weights here")


def test_a_policy_that_cannot_be_made_is_refused_with_the_place(suite_file, prepared, tmp_path):
    with pytest.raises(PolicyRefused, match="cannot be made") as refused:
        execute(request_for(suite_file, prepared, tmp_path / "run", "test_faults:Unmakeable"))
    assert "test_faults.py" in refused.value.where
    assert refused.value.why == "RuntimeError: no weights here"


@pytest.mark.parametrize("raised", [SystemExit(0), CancelledError(), GeneratorExit(), ValueError("no")])
def test_whatever_a_policy_raises_is_its_fault_but_for_ctrl_c(raised):
    class Raising:
        spec = PolicySpec("raising")

        def act(self, observation):
            raise raised

    with pytest.raises(PolicyFault, match=r"failed in act\(\)") as fault:
        decide(Raising(), None)
    assert fault.value.__cause__ is raised
    raised = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        decide(Raising(), None)


@pytest.mark.parametrize("fault", ["raise", "nan"])
def test_a_report_that_cannot_be_written_costs_its_episode_and_not_the_run(suite_file, prepared, whole, tmp_path, chaos, fault):
    chaos(**{fault: [key.slug() for key in read_records(whole)]})
    summary = execute(request_for(suite_file, prepared, tmp_path / "run", "chaos_policies:Reporter"))
    assert summary["n"] == {"planned": 10, "scored": 0, "error": 10, "missing": 0}
    assert all("report cannot be written" in error["message"] for error in errors_of(tmp_path / "run").values())


def test_a_policy_that_hangs_is_interrupted_and_the_run_goes_on(suite_file, prepared, whole, tmp_path, chaos):
    chaos(hang=victims(whole, 2))
    summary = execute(request_for(suite_file, prepared, tmp_path / "run", policy_timeout_s=2.0), executor=InProcess())
    assert (summary["n"]["scored"], summary["n"]["error"]) == (8, 2)
    for error in errors_of(tmp_path / "run").values():
        assert (error["where"], error["kind"]) == ("policy", "timeout")
        assert "did not answer within 2 s" in error["message"]
    chaos()
    execute(request_for(suite_file, prepared, tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(whole)


@pytest.mark.slow
def test_a_policy_stuck_in_native_code_loses_its_process_and_nothing_else(suite_file, prepared, whole, tmp_path, chaos):
    chaos(stuck=victims(whole, 1))
    summary = execute(request_for(suite_file, prepared, tmp_path / "run", policy_timeout_s=3.0))
    assert (summary["n"]["scored"], summary["n"]["error"]) == (9, 1)
    (error,) = errors_of(tmp_path / "run").values()
    assert error["kind"] == "timeout"
    assert "hung in native code" in error["message"]
    (words,) = (tmp_path / "run" / "logs").glob("hang-*.txt")
    assert "in stuck" in words.read_text(), "the stack says where it hung"
    chaos()
    execute(request_for(suite_file, prepared, tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(whole)


@pytest.mark.slow
def test_a_policy_that_kills_its_process_is_tried_twice_and_then_an_error(suite_file, prepared, whole, tmp_path, chaos):
    chaos(crash=victims(whole, 1))
    summary = execute(request_for(suite_file, prepared, tmp_path / "run", workers=2))
    assert (summary["n"]["scored"], summary["n"]["error"]) == (9, 1)
    (error,) = errors_of(tmp_path / "run").values()
    assert "SIGKILL" in error["message"]
    assert (tmp_path / "run" / "logs" / "rank-00000.jsonl").read_text().count('"died"') == 2
    chaos()
    execute(request_for(suite_file, prepared, tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(whole)


class Slow:
    """Decides after a while, whatever else."""

    spec = PolicySpec("slow")

    def act(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
        return seconds


def test_who_decides_in_time_is_left_alone():
    policy = Punctual(Slow(), 5.0)
    before = signal.getsignal(signal.SIGALRM)
    assert policy.act(0.01) == 0.01
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before
    with pytest.raises(PolicyFailure, match=r"within 0\.05 s"):
        Punctual(Slow(), 0.05).act(30.0)


def test_decisions_are_timed_in_the_main_thread_or_not_at_all():
    with ThreadPoolExecutor(1) as pool, pytest.raises(UserError, match="main thread"):
        pool.submit(Punctual, Slow(), 1.0).result()


def test_a_world_that_cannot_be_loaded_costs_errors_until_it_is_mended(tmp_path):
    file = suite_in(tmp_path / "suite")
    prepared = prepared_for(file)
    execute(request_for(file, prepared, tmp_path / "whole"))
    arrays = next(path for path in sorted((tmp_path / "suite" / "hut").iterdir()) if path.suffix == ".npz")
    kept = arrays.read_bytes()
    arrays.write_bytes(kept[: len(kept) // 2])
    summary = execute(request_for(file, prepared, tmp_path / "run"))
    assert summary["n"] == {"planned": 10, "scored": 0, "error": 10, "missing": 0}
    assert {error["where"] for error in errors_of(tmp_path / "run").values()} == {"harness"}
    arrays.write_bytes(kept)
    execute(request_for(file, prepared, tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KB that can be made larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_disk_that_runs_full_stops_the_run_and_a_larger_one_lets_it_go_on(suite_file, prepared, whole, small_disk):
    folder = small_disk / "run"
    with pytest.raises(StorageError, match="the disk refused a write") as refused:
        execute(request_for(suite_file, prepared, folder))
    assert "No space left" in str(refused.value)
    assert len(read_records(folder)) < 10
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    execute(request_for(suite_file, prepared, folder))
    assert outcome(folder) == outcome(whole)
    assert inspect_run(folder).sound


def test_a_record_that_does_not_fit_any_more_is_cut_off_and_written_again(suite_file, prepared, tmp_path):
    execute(request_for(suite_file, prepared, tmp_path / "whole", repeats=6))
    size = (tmp_path / "whole" / "records" / "rank-00000.jsonl").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Records grow until one does not fit as a whole: half of it is written, as on a disk that is filling up.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2 + 100, hard))
    try:
        with pytest.raises(StorageError, match="the disk refused a write"):
            execute(request_for(suite_file, prepared, tmp_path / "run", repeats=6))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    file = tmp_path / "run" / "records" / "rank-00000.jsonl"
    assert not file.read_bytes().endswith(b"\n")
    assert "torn" in [f.code for f in inspect_run(tmp_path / "run").findings]
    execute(request_for(suite_file, prepared, tmp_path / "run", repeats=6))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 60, "every line is whole, and nothing was run twice"
