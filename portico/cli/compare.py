"""``portico compare``: two runs of the same questions, episode by episode."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import out
from portico.evaluate.compare import compare as compare_runs
from portico.report.runs import load_run
from portico.report.tables import print_comparison


def compare(
    run_a: Annotated[Path, typer.Argument(help="run folder", metavar="RUN_A")],
    run_b: Annotated[Path, typer.Argument(help="run folder; differences are RUN_B minus RUN_A", metavar="RUN_B")],
) -> None:
    """Compare two runs over the episodes both scored: paired differences with intervals, and McNemar's exact test on success."""
    a, b = load_run(run_a), load_run(run_b)
    print_comparison(compare_runs(a.side(), b.side()), a.summary, b.summary, out)
