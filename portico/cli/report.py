"""``portico report``: the page of one run, or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import out, timed
from portico.report import ReportOptions, write_report
from portico.report.film import draw_films
from portico.report.runs import find_runs


def report(
    run_folders: Annotated[list[Path], typer.Argument(help="run folders, or a folder of run folders; several are shown side by side", metavar="RUN...")],
    out_file: Annotated[Path | None, typer.Option("--out", help="the page; report.html in the first RUN by default")] = None,
    worlds: Annotated[Path | None, typer.Option(help="folder that holds the worlds, when they have moved since the run")] = None,
    maps: Annotated[int, typer.Option(min=0, help="most episodes shown with a map, failures first")] = 60,
    frames: Annotated[int, typer.Option(min=0, help="failures shown as the robot saw them when they ended")] = 12,
    figures: Annotated[bool, typer.Option("--figures", help="also write funnel and success by task as SVG and PNG, beside the page")] = False,
    film: Annotated[list[str] | None, typer.Option("--film", metavar="EPISODE", help="also draw this episode as a film strip, may be repeated")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
) -> None:
    """Write a page with tables, stage funnels, maps of what happened, and why it failed. It opens offline."""
    folders = find_runs(run_folders)
    target = out_file or run_folders[0] / "report.html"
    with timed(f"reporting on {len(folders)} run{'s' if len(folders) > 1 else ''}"):
        page = write_report(folders, target, ReportOptions(worlds, maps, frames))
    out.print(str(page))
    if figures:
        from portico.report.figures import write_figures

        for path in write_figures(folders, page.parent / "figures"):
            out.print(str(path))
    for path in draw_films(folders, film or [], page.parent / "films", worlds):
        out.print(str(path))
    if open_page:
        typer.launch(str(page))
