"""``portico list``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import typer
from rich.table import Table

from portico.cli.console import out
from portico.errors import UnknownName

Rows = Iterable[tuple[str, str]]


def listing(
    kind: Annotated[
        str, typer.Argument(help="suites, policies, detectors, measures, tasks, embodiments, recipes, labellers or tracks; all when left out")
    ] = "",
) -> None:
    """List suites, policies, detectors, measures, tasks, embodiments, world recipes, labellers and observation tracks."""
    if kind and kind not in _KINDS:
        raise UnknownName("kind of thing", kind, _KINDS, list_command="portico list")
    for name, rows in _KINDS.items():
        if kind in ("", name):
            table = Table(box=None, pad_edge=False, title=name, title_justify="left", title_style="bold", show_header=False)
            table.add_column(no_wrap=True)
            table.add_column(overflow="fold")
            for row in rows():
                table.add_row("  " + row[0], row[1])
            out.print(table)


def _suites() -> Rows:
    from portico.suites import available

    return available().items()


def _policies() -> Rows:
    from portico.policies import describe

    return describe().items()


def _detectors() -> Rows:
    from portico.policies.detectors import describe_detectors

    return describe_detectors().items()


def _measures() -> Rows:
    from portico.evaluate.measures import MEASURES

    return ((f"{m.name}@{m.version}", m.definition) for m in MEASURES.values())


def _tasks() -> Rows:
    from portico.tasks.episode import TASK_STAGES

    return ((task, " -> ".join(stages)) for task, stages in TASK_STAGES.items())


def _embodiments() -> Rows:
    from portico.robots import EMBODIMENTS

    for e in EMBODIMENTS.values():
        yield e.name, f"radius {e.radius_m} m, height {e.height_m} m, climbs {e.climb_m} m, {e.max_speed_mps} m/s  ({e.source})"


def _recipes() -> Rows:
    from portico.build import RECIPES

    return ((name, (build.__doc__ or "").strip().split("\n")[0]) for name, build in RECIPES.items())


def _labellers() -> Rows:
    from portico.build.lifting import describe_labellers

    return describe_labellers().items()


def _tracks() -> Rows:
    from portico.interface import TRACKS

    return ((name, "grants " + ", ".join(sorted(needs))) for name, needs in TRACKS.items())


_KINDS: dict[str, Callable[[], Rows]] = {
    "suites": _suites,
    "policies": _policies,
    "detectors": _detectors,
    "measures": _measures,
    "tasks": _tasks,
    "embodiments": _embodiments,
    "recipes": _recipes,
    "labellers": _labellers,
    "tracks": _tracks,
}
