"""``portico demo``: the whole way once, small enough for a laptop."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import duration, out
from portico.cli.run import evaluate, folder_name
from portico.report import print_runs, write_report
from portico.suites import load_suite


def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="where worlds, runs and the report go")] = Path("demo"),
    workers: Annotated[int, typer.Option(min=1, help="processes on this machine")] = 2,
) -> None:
    """Build a town block, ask seven tasks of four policies, print who managed what, and write a report with maps."""
    began = time.perf_counter()
    suite = load_suite("i2o2i-demo")
    out.print("A town block; robots start in one building, cross the street, enter another and look for something.")
    summaries = evaluate(suite, suite.policies, out_folder / "runs", workers=workers, allow_privileged=True, cache=out_folder / "worlds")
    print_runs(list(summaries.values()), out)
    page = write_report(list(summaries), out_folder / "report.html")
    world = next((out_folder / "worlds").glob("*/world.json")).parent
    out.print(f"\n{duration(time.perf_counter() - began)}. Report with maps of where they failed: {page}")
    out.print("Try next:")
    out.print(f"  portico world render {world} --out {out_folder / 'pictures'}")
    out.print(f"  portico run i2o2i-demo --policy frontier --allow-privileged --cache {out_folder / 'worlds'} --out {out_folder / 'frontier'}")
    baseline, chain = (out_folder / "runs" / folder_name(policy) for policy in suite.policies[1:3])
    out.print(f"  portico compare {baseline} {chain}")
