"""Worlds are made side by side: what comes of it is what one process makes, and what goes wrong is told as it is."""

from __future__ import annotations

import os
from pathlib import Path
from queue import Queue

import pytest

from portico.errors import UserError
from portico.evaluate.making import _listen, side_by_side
from portico.evaluate.prepare import prepare
from portico.suites import parse_suite

SUITE = {
    "name": "two",
    "version": 1,
    "description": "two small buildings",
    "seed": 3,
    "embodiment": "turtlebot",
    "track": "rgbd",
    "budget": {"max_actions": 200},
    "worlds": [{"recipe": "indoor", "seed": s, "params": {"program": "cafe", "floors": 1}} for s in (1, 2)],
    "tasks": {"exit": 2},
    "policies": ["stop"],
}


def leave(folder: str, name: str, watch) -> None:
    (Path(folder) / name).write_text(str(os.getpid()))
    watch(1, 2)
    watch(2, 2)


def fail(text: str, watch) -> None:
    raise UserError(text, next_step="do it better")


def die(watch) -> None:
    os._exit(3)


def test_jobs_run_in_processes_of_their_own_and_say_how_far_they_are(tmp_path):
    told = []
    side_by_side(leave, [(str(tmp_path), name) for name in "abc"], 2, lambda done, wanted: told.append((done, wanted)))
    pids = {(tmp_path / name).read_text() for name in "abc"}
    assert str(os.getpid()) not in pids
    assert told[-1] == (3, 3)


def test_what_a_job_said_before_it_ended_takes_nothing_back():
    """Words travel on a thread of their own and may arrive after the end of the job that sent them."""
    said, told = Queue(), {0: 1.0, 1: 0.0}
    for words in ((0, 1, 2), (1, 1, 4)):
        said.put(words)
    _listen(said, told)
    assert told == {0: 1.0, 1: 0.25}


def test_the_mistake_of_a_job_is_told_as_it_is():
    with pytest.raises(UserError, match=r"(?s)no such tree.*do it better"):
        side_by_side(fail, [("no such tree",)], 2, lambda *_: None)


def test_a_job_that_dies_is_noticed():
    with pytest.raises(Exception, match="terminated abruptly"):
        side_by_side(die, [()], 1, lambda *_: None)


@pytest.mark.slow
def test_two_processes_make_what_one_makes(tmp_path):
    suite = parse_suite(SUITE, "two.yaml")
    one, two = (prepare(suite, tmp_path / str(n), announce=lambda _: None, workers=n) for n in (1, 2))
    assert [p.world_hash for p in one] == [p.world_hash for p in two]
    assert [p.episodes for p in one] == [p.episodes for p in two]
    files = [sorted(f.name for f in (tmp_path / str(n) / "episodes").iterdir()) for n in (1, 2)]
    assert files[0] == files[1]
