"""Runs that are told to end: at once, wherever they are, and nothing of it is taken for the policy's fault."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from chaos_policies import Walker
from hut_runs import outcome, request_for

from portico.errors import UserError, stems_from
from portico.evaluate.deadline import Overdue, Punctual
from portico.evaluate.records import read_records
from portico.evaluate.run import execute
from portico.interface import PolicyFailure, PolicySpec

POLICY = "chaos_policies:Walker"


def in_native_code(interruption):
    """What Python makes of an exception that a signal's handler raises inside native code."""
    try:
        raise interruption
    except BaseException as cause:
        raise SystemError("a function returned a result with an exception set") from cause


class Interrupted(Walker):
    """The user presses Ctrl-C in its 40th decision, while native code is at work."""

    calls = 0

    def act(self, observation):
        Interrupted.calls += 1
        return in_native_code(KeyboardInterrupt()) if Interrupted.calls == 40 else super().act(observation)


def test_an_interruption_in_native_code_ends_the_run_and_is_no_error_of_the_policy(suite_file, prepared, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        execute(request_for(suite_file, prepared, tmp_path, "test_interruption:Interrupted"))
    records = read_records(tmp_path)
    assert 0 < len(records) < 10
    assert all(record["status"] != "error" for record in records.values())
    assert execute(request_for(suite_file, prepared, tmp_path, "test_interruption:Interrupted"))["n"]["scored"] == 10


class Hanging:
    spec = PolicySpec("hanging")

    def act(self, interruption):
        in_native_code(interruption)


def test_a_deadline_that_rings_in_native_code_is_a_timeout_and_other_failures_there_are_not():
    with pytest.raises(PolicyFailure, match="did not answer"):
        Punctual(Hanging(), 5.0).act(Overdue())
    with pytest.raises(SystemError):
        Punctual(Hanging(), 5.0).act(ValueError())


def as_a_fault_of_the_policy():
    try:
        in_native_code(KeyboardInterrupt())
    except SystemError as error:
        raise UserError("the policy failed") from error


def test_an_error_is_followed_to_what_it_was_raised_from():
    with pytest.raises(UserError) as fault:
        as_a_fault_of_the_policy()
    assert stems_from(fault.value, KeyboardInterrupt)
    assert stems_from(fault.value, UserError)
    assert not stems_from(fault.value, Overdue)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_is_told_to_end_says_how_to_go_on_and_does(suite_file, whole, tmp_path, workers):
    run = tmp_path / "ended"
    (tmp_path / "chaos.json").write_text(json.dumps({"sleep_s": 0.05}))
    slowly = os.environ | {"PORTICO_CHAOS": str(tmp_path / "chaos.json"), "PYTHONPATH": str(Path(__file__).parent)}
    words = [
        sys.executable,
        "-m",
        "portico",
        "run",
        str(suite_file),
        "-p",
        POLICY,
        "--out",
        str(run),
        "--workers",
        str(workers),
        "--cache",
        str(suite_file.parent / "cache"),
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=slowly)
    while not list((run / "records").glob("*.jsonl")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130, said
    assert f"To go on:\n  portico run {suite_file} -p {POLICY} --out {run}" in said
    assert len(read_records(run)) < 10
    subprocess.run(words, capture_output=True, check=True, timeout=300, env=slowly | {"PORTICO_CHAOS": ""})
    assert outcome(run) == outcome(whole)
