"""Lets these tests use the little town of ``tests/tasks``, and runs in the hut."""

import sys
from pathlib import Path

import pytest
from hut_runs import prepared_for, request_for, suite_in

from portico.evaluate.run import execute

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tasks"))


@pytest.fixture(scope="module")
def suite_file(tmp_path_factory):
    return suite_in(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def prepared(suite_file):
    return prepared_for(suite_file)


@pytest.fixture(scope="module")
def whole(suite_file, prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    execute(request_for(suite_file, prepared, folder))
    return folder
