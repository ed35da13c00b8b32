"""``portico report`` and ``portico compare`` from the command line."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from portico.cli.compare import compare
from portico.cli.report import report
from portico.errors import SuiteError


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command("report")(report)
    app.command("compare")(compare)
    return app


def test_report_of_a_folder_of_runs(app, corner_runs, tmp_path) -> None:
    result = CliRunner().invoke(
        app, ["report", str(corner_runs.chain.parent), "--out", str(tmp_path / "page.html"), "--maps", "2", "--frames", "0", "--figures"]
    )
    assert result.exit_code == 0, result.output
    assert (tmp_path / "page.html").is_file()
    names = sorted(p.name for p in (tmp_path / "figures").iterdir())
    assert names == ["funnel-i2o2i.png", "funnel-i2o2i.svg", "success-by-task.png", "success-by-task.svg"]
    assert "<!DOCTYPE svg" in (tmp_path / "figures" / "success-by-task.svg").read_text()


def test_compare(app, corner_runs) -> None:
    result = CliRunner().invoke(app, ["compare", str(corner_runs.chain), str(corner_runs.oracle)])
    assert result.exit_code == 0, result.output
    assert "B minus A, paired" in result.output


def test_missing_run(app, tmp_path) -> None:
    result = CliRunner().invoke(app, ["report", str(tmp_path / "nowhere")])
    assert isinstance(result.exception, SuiteError)
    assert "no such run folder" in str(result.exception)
