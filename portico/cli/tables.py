"""``portico tables``: the tables of a study, from run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import errors, out
from portico.errors import SuiteError, UnknownName
from portico.report.runs import find_runs, load_run
from portico.report.studies import STUDIES
from portico.report.study_tables import print_study


def tables(
    run_folders: Annotated[list[Path], typer.Argument(help="run folders, or a folder of run folders", metavar="RUN...")],
    table: Annotated[
        list[str] | None, typer.Option("--table", help="which study, may be repeated; all that apply when left out: " + ", ".join(STUDIES))
    ] = None,
) -> None:
    """Print the tables of a study: by scene, way out, endings, length, oracles, bodies, words, safety; what an agent adds; flights by family and words."""
    for name in table or []:
        if name not in STUDIES:
            raise UnknownName("table", name, STUDIES)
    runs = [load_run(folder) for folder in find_runs(run_folders)]
    chosen = [STUDIES[name] for name in table] if table else [study for study in STUDIES.values() if study.applies(runs)]
    if not chosen:
        raise SuiteError("no study has anything to show of these runs", where=", ".join(run.folder.name for run in runs), next_step="name one with --table")
    refused = []
    for study in chosen:
        try:
            print_study(study, runs, out)
        except SuiteError as error:
            refused.append(error)
            if table or len(refused) == len(chosen):
                raise
            errors.print(f"{study.name}: left out, {error.what}: {error.why}")
