"""``portico score``: compute everything again from what a run recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import counted, out
from portico.evaluate.scoring import rescore
from portico.report import print_summary


def score(
    run_folder: Annotated[Path, typer.Argument(help="run folder", metavar="RUN")],
    worlds: Annotated[Path | None, typer.Option(help="folder that holds the worlds, when they have moved since the run")] = None,
) -> None:
    """Score every trajectory of a run again, write scores.jsonl and summary.json, and say what differs from the run's own records."""
    with counted(f"scoring {run_folder}") as tell:
        result = rescore(run_folder, worlds=worlds, watch=tell)
    print_summary(result.summary, out)
    out.print(f"\n{result.scored} trajectories scored again, {len(result.changed)} records differ from the run's own")
    for text in result.changed[:20]:
        out.print(f"  {text}")
