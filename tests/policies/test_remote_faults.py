"""Servers that die, dawdle or talk nonsense cost their episode an error in words; the run goes on, and starting it again runs those episodes alone."""

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hut import build

from portico.evaluate.prepare import prepare
from portico.evaluate.records import read_records
from portico.evaluate.run import RunRequest, execute
from portico.interface import PolicyFailure
from portico.policies import create
from portico.suites import load_suite

SERVER = Path(__file__).parent / "broken_server.py"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    build(folder / "hut")
    (folder / "hut.yaml").write_text(yaml.safe_dump({"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 3}, "budget": {"max_actions": 40}}))
    chosen = load_suite(folder / "hut.yaml")
    return chosen, prepare(chosen, folder / "cache", relative_to=folder, announce=lambda _: None)


@contextlib.contextmanager
def server(mode, port, which=2):
    """The misbehaving process; yields the keys of the episodes that it began."""
    process = subprocess.Popen([sys.executable, str(SERVER), mode, str(port), str(which)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "listening\n"
    begun = []
    try:
        yield begun
    finally:
        process.kill()
        begun += process.stdout.read().split()
        process.wait()
        process.stdout.close()


@pytest.fixture
def port():
    """One that nobody listens on, below those that the kernel gives to connections: still free when a server starts there, and there again."""
    for number in random.sample(range(20_000, 32_000), 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", number)):
            return number
    raise AssertionError("no port is free")


def run(suite, folder, port, **options):
    more = "".join(f",{key}={value}" for key, value in options.items())
    chosen, prepared = suite
    return execute(RunRequest(chosen, f"remote?url=ws://127.0.0.1:{port}{more}", folder, prepared))


FAULTS = {
    "slow": ("timeout", "did not answer within 4 s"),
    "nan": ("invalid", "pose that is not finite"),
    "huge": ("refused", "more than 64 MiB"),
    "shapes": ("invalid", "action.poses.0: expected a map of Pose"),
    "array": ("invalid", "action.poses.0.x: expected a number, received an array (2,) of float64"),
    "unnumbered": ("parse", "seq: expected a whole number"),
    "error": ("server", "CUDA out of memory"),
    "text": ("parse", "cannot be read"),
    "garbage": ("parse", "cannot be read"),
    "renumbered": ("parse", "expected"),
}


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_costs_its_episode_an_error_and_no_other(suite, tmp_path, port, mode):
    kind, words = FAULTS[mode]
    with server(mode, port):
        summary = run(suite, tmp_path, port, deadline_s=4 if mode == "slow" else 20)
    assert summary["n"] == {"planned": 3, "scored": 2, "error": 1, "missing": 0}
    (error,) = [r["error"] for r in read_records(tmp_path).values() if r["status"] == "error"]
    assert (error["where"], error["kind"], error["traceback"]) == ("policy", kind, "")
    assert words in error["message"]
    assert "next:" in error["message"]


def test_a_server_that_dies_within_an_episode_and_comes_back(suite, tmp_path, port):
    """Episodes after its death are errors too; started again, the run asks for what is missing and for nothing else."""
    with server("die", port) as begun:
        summary = run(suite, tmp_path, port)
    assert summary["n"]["error"] == 2
    assert len(begun) == 2
    messages = [r["error"]["message"] for r in read_records(tmp_path).values() if r["status"] == "error"]
    assert any("the connection to the policy's server broke" in m for m in messages)
    assert any("no policy server answers" in m for m in messages)
    failed = {key.slug() for key, r in read_records(tmp_path).items() if r["status"] == "error"}
    with server("good", port) as begun:
        summary = run(suite, tmp_path, port)
    assert summary["n"] == {"planned": 3, "scored": 3, "error": 0, "missing": 0}
    assert set(begun) == failed


def test_nobody_there_is_told_before_anything_is_written(suite, tmp_path, port):
    with pytest.raises(PolicyFailure, match="no policy server answers") as failure:
        run(suite, tmp_path / "run", port)
    assert "portico serve" in failure.value.next_step
    assert "[server]" in failure.value.where
    assert not (tmp_path / "run").exists()


def test_an_old_protocol_is_refused_with_both_versions(port):
    with server("old", port), pytest.raises(PolicyFailure, match="different protocols or versions") as failure:
        create(f"remote?url=ws://127.0.0.1:{port}")
    assert failure.value.kind == "refused"
    assert "expected one of [1]" in failure.value.why
    assert "received list [0]" in failure.value.why


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["portico", "navarena", "http"])
def test_a_served_policy_killed_within_an_episode_is_tried_again_alone(suite, tmp_path, port, wire):
    """``portico serve`` itself, by every wire, with a policy that kills its process once."""
    chosen, prepared = suite
    script = "from portico.cli.main import main; main()"
    command = [sys.executable, "-c", script, "serve", "fatal_policy:Fatal", "--wire", wire, "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "FATAL_MARK": str(tmp_path / "mark")}
    scheme = "http" if wire == "http" else "ws"
    policy = f"remote?url={scheme}://127.0.0.1:{port},wire={wire},deadline_s=20"
    for planned_errors in (2, 0):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert f":{port}" in process.stdout.readline()
        try:
            summary = execute(RunRequest(chosen, policy, tmp_path / "run", prepared))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        assert summary["n"]["error"] == planned_errors
    lines = [json.loads(line) for line in (tmp_path / "run" / "records" / "rank-00000.jsonl").read_text().splitlines()]
    assert [r["status"] == "error" for r in lines] == [False, True, True, False, False]
