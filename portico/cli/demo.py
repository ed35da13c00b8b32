"""``portico demo``: the whole way once, small enough for a laptop."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from portico.cli.console import duration, out
from portico.cli.run import evaluate, folder_name
from portico.cli.tables import tables
from portico.errors import UnknownName
from portico.evaluate.records import Key
from portico.report import print_runs, write_report
from portico.report.film import film_strip
from portico.report.runs import load_run
from portico.suites import Suite, load_suite

#: Demo -> suite, and what is said before it starts.
_DEMOS: dict[str, tuple[str, str]] = {
    "block": ("i2o2i-demo", "A town block; robots start in one building, cross the street, enter another and look for something."),
    "navverse": ("navverse-demo", "A robot with mass that can fall is asked for things, shops and ways: indoors, outdoors and out of the door."),
    "agent": (
        "i2o2i-agent",
        "100 episodes per level in five town blocks, five policies each: a chain and an agent of the same executors, and the agent's control. Takes an hour and a half on two cores.",
    ),
}


def demo(
    name: Annotated[str, typer.Argument(help=f"which one: {', '.join(_DEMOS)}", metavar="NAME")] = "block",
    out_folder: Annotated[Path, typer.Option("--out", help="where worlds, runs and the report go")] = Path("demo"),
    workers: Annotated[int, typer.Option(min=1, help="processes on this machine")] = 2,
) -> None:
    """Build small worlds, ask several policies what the benchmark asks, print who managed what, and write a report with maps.

    block: I2O2I-Nav's seven tasks in a town block, kinematic. navverse: NavVerse's three tasks under physics, with its tables.
    agent: what verification and recovery add to a fixed chain of the same executors.
    """
    if name not in _DEMOS:
        raise UnknownName("demo", name, _DEMOS)
    began = time.perf_counter()
    suite_name, introduction = _DEMOS[name]
    suite = load_suite(suite_name)
    out.print(introduction)
    summaries = _evaluated(suite, out_folder, workers)
    print_runs(list(summaries.values()), out)
    if name == "navverse":
        tables(list(summaries))
    if name == "agent":
        tables(list(summaries), ["agent"])
    page = write_report(list(summaries), out_folder / "report.html")
    films = [film for ending in ("success", "fall") if (film := _film(list(summaries), ending, out_folder / "films")) is not None]
    out.print(f"\n{duration(time.perf_counter() - began)}. Report with maps of where they failed: {page}")
    for film in films:
        out.print(f"an episode as the robot saw it: {film}")
    _next_steps(suite, out_folder, list(summaries))


def _evaluated(suite: Suite, out_folder: Path, workers: int) -> dict[Path, dict[str, Any]]:
    """Every policy of the suite on the tasks that it attempts."""
    options: dict[str, Any] = {"workers": workers, "allow_privileged": True, "cache": out_folder / "worlds"}
    summaries = evaluate(suite, _reading(suite), out_folder / "runs", **options)
    if suite.asks("vln"):
        summaries |= evaluate(suite, [_FOLLOWER], out_folder / "runs" / folder_name(_FOLLOWER), tasks=["vln"], **options)
    return summaries


def _reading(suite: Suite) -> list[str]:
    """The suite's policies; who looks for shops reads their signs where the extra for it is installed."""
    searcher = "semantic-frontier?detector=semantic"
    if not suite.asks("place") or searcher not in suite.policies:
        return suite.policies
    if find_spec("rapidocr") is None:
        out.print("Signs will not be read, so shops are hard to find: pip install 'portico-nav\\[ocr]'")
        return suite.policies
    return [f"{policy}+text" if policy == searcher else policy for policy in suite.policies]


#: Attempts directions and nothing else.
_FOLLOWER = "instruction-follower"


def _film(folders: list[Path], ending: Literal["success", "fall"], out_folder: Path) -> Path | None:
    """A film strip of the longest episode that ended so, of the last policy that has one."""
    for folder in reversed(folders):
        run = load_run(folder)
        ended: list[tuple[float, Key]] = [(float(r["measures"].get("path_length_m") or 0.0), key) for key, r in run.records.items() if r["reason"] == ending]
        if ended:
            path = out_folder / f"{ending}.png"
            film_strip(run, max(ended, key=lambda found: found[0])[1], path)
            return path
    return None


def _next_steps(suite: Suite, out_folder: Path, runs: list[Path]) -> None:
    world = next((out_folder / "worlds").glob("*/world.json")).parent
    out.print("Try next:")
    out.print(f"  portico world render {world} --out {out_folder / 'pictures'}")
    out.print(f"  portico run {suite.name} --policy frontier --allow-privileged --cache {out_folder / 'worlds'} --out {out_folder / 'frontier'}")
    if suite.motion == "physics":
        out.print(f"  portico run {suite.name} --motion kinematic --policy privileged/oracle-trajectory --allow-privileged --cache {out_folder / 'worlds'}")
        out.print(f"  portico tables {out_folder / 'runs'}")
    out.print(f"  portico compare {runs[1]} {runs[2]}")
