"""Which runs are on the shelf, and what is said of those that cannot be."""

import json
import os
import time
from pathlib import Path

import pytest

from portico.errors import SuiteError
from portico.web.library import Library

HEADER = {"suite": {"name": "suite"}, "policy": "stop", "worlds": {}, "planned": 2}


def run(folder: Path, **more) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({**HEADER, **more}))
    return folder


def test_a_folder_stands_for_the_runs_in_it_also_those_that_come_later(tmp_path):
    run(tmp_path / "a")
    library = Library.opened([tmp_path, tmp_path / "a"])
    assert list(library.runs) == ["a"]
    run(tmp_path / "b", policy="random")
    library.refresh()
    assert {name: shelved.policy for name, shelved in library.runs.items()} == {"a": "stop", "b": "random"}


def test_runs_of_one_name_are_told_apart(tmp_path):
    library = Library.opened([run(tmp_path / "x" / "run"), run(tmp_path / "y" / "run"), run(tmp_path / "z" / "y" / "run")])
    assert list(library.runs) == ["run", "y.run", "run.2"]


def test_a_damaged_header_is_named_and_the_others_are_shown(tmp_path):
    run(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "run.json").write_text('{"policy": "x"}')
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "run.json").write_text('{"suite": "x", "policy": 3, "worlds": [], "planned": "many"}')
    library = Library.opened([tmp_path])
    assert list(library.runs) == ["good"]
    assert [problem.split(":")[0] for problem in library.problems] == ["bad", "short", "strange"]
    assert "it lacks planned, suite, worlds" in library.problems[1]


def test_when_no_run_can_be_read_it_is_an_error(tmp_path):
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(SuiteError, match="no run can be read"):
        Library.opened([tmp_path])


def test_a_run_counts_as_being_written_while_something_is_missing_and_fresh(tmp_path):
    folder = run(tmp_path / "a")
    library = Library.opened([folder])
    assert library.runs["a"].live
    old = time.time() - 3600
    os.utime(folder / "run.json", (old, old))
    assert not library.runs["a"].live


def test_a_header_that_is_written_anew_is_read_anew(tmp_path):
    folder = run(tmp_path / "a")
    library = Library.opened([folder])
    (folder / "run.json").write_text(json.dumps({**HEADER, "planned": 7}))
    os.utime(folder / "run.json", ns=(1, 1))
    library.refresh()
    assert library.runs["a"].planned == 7
