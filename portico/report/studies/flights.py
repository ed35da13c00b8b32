"""Studies of satellite maps: success by family and subtype, by style of the words and by world, and how closely ways were followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from portico.report.runs import Run
from portico.report.sections import Cell, Grid
from portico.report.studies import cells
from portico.report.studies.cases import Case, cases, tasks_of
from portico.report.studies.study import Table, row
from portico.tasks.episode import AERIAL_TASKS

#: Subtypes in SatNav's order; others follow.
_ORDER = ("loop", "arc", "extended", "one_turn", "two_turn", "road", "waterway", "hybrid", "natural", "formal", "telegraphic")
_FIDELITY = {
    "oracle_success": "OS ↑",
    "spl": "SPL ↑",
    "ndtw": "nDTW ↑",
    "cls": "CLS ↑",
    "outline_followed": "outline followed ↑",
    "navigation_error_m": "NE ↓",
    "rejected_moves": "moves rejected ↓",
}


def is_flown(runs: Sequence[Run]) -> bool:
    """Whether any of the runs asks questions on satellite maps."""
    return any(case.task in AERIAL_TASKS for run in runs for case in cases(run))


def flight_tables(runs: Sequence[Run]) -> list[Table]:
    """Success per family and subtype, per style and per world, and path fidelity per family."""
    found = [(run, [case for case in cases(run) if case.task in AERIAL_TASKS]) for run in runs]
    tables = []
    for task in tasks_of(case for _, mine in found for case in mine):
        groups = [(run, [case for case in mine if case.task == task]) for run, mine in found]
        tables.append(_by(f"Success by subtype: {task}", groups, runs, subtype))
    tables.append(_by("Success by style of the instruction", found, runs, style))
    tables.append(_by("Success by world", found, runs, lambda case: case.key.world))
    return [*tables, _fidelity(found, runs)]


def subtype(case: Case) -> str:
    """loop, arc, extended; one_turn, two_turn; road, waterway, hybrid; "other" where the episode says none."""
    flight = case.episode.flight if case.episode is not None else None
    return flight.subtype if flight is not None and flight.subtype else "other"


def style(case: Case) -> str:
    """How the instruction is worded."""
    flight = case.episode.flight if case.episode is not None else None
    return flight.style if flight is not None and flight.style else "other"


def _by(title: str, found: Sequence[tuple[Run, list[Case]]], runs: Sequence[Run], group_of: Callable[[Case], str]) -> Table:
    names = sorted({group_of(case) for _, mine in found for case in mine}, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    rows = [row(run, runs, [*(cells.success([c for c in mine if group_of(c) == name]) for name in names), cells.success(mine)]) for run, mine in found if mine]
    return Table(title, "policy", Grid([*(name.replace("_", " ") for name in names), "all"], rows))


def _fidelity(found: Sequence[tuple[Run, list[Case]]], runs: Sequence[Run]) -> Table:
    rows = []
    for run, mine in found:
        for task in tasks_of(mine):
            group = [case for case in mine if case.task == task]
            rows.append(row(run, runs, [Cell(task, note=cells.count_words(group)), *(cells.mean(group, name) for name in _FIDELITY)]))
    note = "outline followed: share of the asked outline passed within two success radii with it on the stated side; nDTW falls with every recorded point, 1 is out of reach"
    return Table("How closely ways were followed", "policy", Grid(["task", *_FIDELITY.values()], rows), (note,))
