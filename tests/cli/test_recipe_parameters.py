"""``portico world build --set``: parameters of recipes, and what is said about wrong ones."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from portico.cli.main import application
from portico.errors import UserError
from portico.world import load

RUNNER = CliRunner()


def build(*arguments):
    return RUNNER.invoke(application(), ["world", "build", "indoor", *arguments])


def test_parameters_reach_the_recipe(tmp_path):
    result = build("--set", "program=cafe", "--set", "floors=1", "--seed", "3", "--out", str(tmp_path / "w"))
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "w").manifest.recipe == {"generator": "indoor", "program": "cafe", "floors": 1}


@pytest.mark.parametrize(("text", "word"), [("floor=1", "did you mean 'floors'"), ("floors", "no value"), ("floors=9", "1 to 3 floors")])
def test_wrong_parameters_are_named_and_nothing_is_written(tmp_path, text, word):
    result = build("--set", text, "--out", str(tmp_path / "w"))
    assert isinstance(result.exception, UserError)
    assert word in str(result.exception)
    assert not (tmp_path / "w").exists()
