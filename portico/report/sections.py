"""The page's tables and charts as plain data: everything that is computed before a template draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portico.evaluate.measures import MEASURES, measure
from portico.report import wording
from portico.report.stages import STAGE_ORDER, pooled_stage, tasks_in_order
from portico.report.tables import LEVEL_MEASURES

Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One figure: text for people, and shares in 0..1 for the bar beside it, None where there is none."""

    text: str
    interval: str = ""
    note: str = ""
    mean: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """A row of cells; ``policy`` is the index of the run it belongs to, which decides its colour."""

    title: str
    cells: list[Cell]
    note: str = ""
    policy: int = 0


@dataclass(frozen=True)
class Grid:
    """A table with headings."""

    heads: list[str]
    rows: list[Row]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Funnel:
    """One task of several stages: per policy how many episodes were left after each."""

    task: str
    words: str
    kinds: list[str]
    rows: list[FunnelRow]


@dataclass(frozen=True)
class FunnelRow:
    """Counts N_0 to N_K of one policy, and their share of N_0; C per stage as text."""

    policy: int
    title: str
    counts: list[int]
    shares: list[float]
    conditional: list[str]
    fsr: str
    csr: str


@dataclass(frozen=True)
class Segment:
    """Part of a whole, e.g. one termination reason among all episodes."""

    name: str
    words: str
    count: int
    share: float


@dataclass(frozen=True)
class Stack:
    """A bar of segments for one policy."""

    policy: int
    title: str
    segments: list[Segment]


def success_by_task(summaries: Sequence[Summary]) -> Grid:
    """A row per policy, a column per task and one for all of them."""
    tasks = tasks_in_order(summaries)
    rows = []
    for i, s in enumerate(summaries):
        groups = [s["breakdowns"]["task"].get(task) for task in tasks]
        cells = [_rate_cell(group) for group in [*groups, {"n": s["n"], "measures": s["measures"]}]]
        rows.append(Row(s["run"]["policy"], cells, wording.privileged_stamp(s["run"]["privileged"]), i))
    return Grid([*tasks, "all"], rows)


def success_by_stage(summaries: Sequence[Summary]) -> Grid:
    """A row per policy, a column per kind of stage: successes among the attempts, over all tasks that contain it."""
    kinds = [kind for kind in STAGE_ORDER if any(pooled_stage(s, kind) for s in summaries)]
    rows = []
    for i, s in enumerate(summaries):
        cells = []
        for kind in kinds:
            pooled = pooled_stage(s, kind)
            if pooled is None:
                cells.append(Cell(wording.DASH, note="never reached"))
                continue
            cells.append(
                Cell(
                    wording.percent(pooled.rate),
                    wording.interval("success", pooled.low, pooled.high),
                    f"{pooled.done} of {pooled.reached}",
                    pooled.rate,
                    pooled.low,
                    pooled.high,
                )
            )
        rows.append(Row(s["run"]["policy"], cells, wording.privileged_stamp(s["run"]["privileged"]), i))
    return Grid([wording.in_words(wording.STAGES, kind) for kind in kinds], rows)


def funnels(summaries: Sequence[Summary]) -> list[Funnel]:
    """Tasks of several stages."""
    found = []
    for task in (t for t in tasks_in_order(summaries) if any(len(s["stages"].get(t, {}).get("C", ())) > 1 for s in summaries)):
        tables = [(i, s, s["stages"][task]) for i, s in enumerate(summaries) if s["stages"].get(task, {}).get("N")]
        kinds: list[str] = next((table["kinds"] for _, _, table in tables if table["kinds"]), [])
        rows = [
            FunnelRow(
                i,
                s["run"]["policy"],
                table["N"],
                [n / table["N"][0] if table["N"][0] else 0.0 for n in table["N"]],
                [wording.percent(c) for c in table["C"]],
                wording.percent(table["FSR"]),
                wording.percent(table["CSR"]),
            )
            for i, s, table in tables
        ]
        found.append(Funnel(task, wording.in_words(wording.TASKS, task), [wording.in_words(wording.STAGES, kind) for kind in kinds], rows))
    return found


def success_by_difficulty(summaries: Sequence[Summary]) -> Grid:
    """A row per policy, a column per level: the episodes' own, else the tertile of the reference length within each task."""
    levels = _in_order(level for s in summaries for level in s["breakdowns"]["difficulty"])
    rows = [
        Row(s["run"]["policy"], [_rate_cell(s["breakdowns"]["difficulty"].get(level)) for level in levels], wording.privileged_stamp(s["run"]["privileged"]), i)
        for i, s in enumerate(summaries)
    ]
    return Grid(levels, rows)


def measures_by_level(summaries: Sequence[Summary]) -> list[tuple[str, Grid]]:
    """Per task and level of graded episodes, a row per policy and a column per measure that NavArena reports by difficulty."""
    levels = _in_order(level for s in summaries for level in s["breakdowns"].get("level", {}))
    tables = []
    for level in levels:
        groups = [(i, s, s["breakdowns"].get("level", {}).get(level)) for i, s in enumerate(summaries)]
        rows = [
            Row(s["run"]["policy"], [_measure_cell(name, group, s) for name in LEVEL_MEASURES], wording.privileged_stamp(s["run"]["privileged"]), i)
            for i, s, group in groups
            if group is not None
        ]
        tables.append((level.replace("/", ", "), Grid(list(LEVEL_MEASURES.values()), rows)))
    return tables


def success_by_world(summaries: Sequence[Summary]) -> Grid:
    """A row per policy, a column per world."""
    worlds = _in_order(world for s in summaries for world in s["breakdowns"]["world"])
    rows = [
        Row(s["run"]["policy"], [_rate_cell(s["breakdowns"]["world"].get(world)) for world in worlds], wording.privileged_stamp(s["run"]["privileged"]), i)
        for i, s in enumerate(summaries)
    ]
    return Grid(worlds, rows)


def endings(summaries: Sequence[Summary]) -> list[Stack]:
    """Why episodes ended, successes first and errors last."""
    order = list(wording.REASONS)
    stacks = []
    for i, s in enumerate(summaries):
        counts = sorted(s["reasons"].items(), key=lambda item: (order.index(item[0]) if item[0] in order else len(order) - 2, item[0]))
        total = sum(n for _, n in counts) or 1
        stacks.append(Stack(i, s["run"]["policy"], [Segment(name, wording.in_words(wording.REASONS, name), n, n / total) for name, n in counts]))
    return stacks


def failure_labels(summaries: Sequence[Summary]) -> Grid:
    """A row per label, a column per policy: episodes that carry it."""
    names = [
        name
        for name in [*wording.LABELS, *_in_order(n for s in summaries for n in s["labels"] if n not in wording.LABELS)]
        if any(name in s["labels"] for s in summaries)
    ]
    rows = []
    for name in names:
        cells = []
        for s in summaries:
            count, failures = s["labels"].get(name, 0), max(1, _failures(s))
            cells.append(Cell(str(count) if count else wording.DASH, mean=count / failures if count else None))
        rows.append(Row(wording.in_words(wording.LABELS, name), cells))
    return Grid([s["run"]["policy"] for s in summaries], rows)


def measures(summaries: Sequence[Summary], groups: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Grid:
    """A row per measure, a column per run. ``groups`` are the parts of the summaries that are shown."""
    rows = []
    for name in names:
        about = measure(name)
        cells = [_measure_cell(name, group, s) for group, s in zip(groups, summaries, strict=True)]
        rows.append(
            Row(
                f"{name}@{about.version} {wording.ARROWS[about.direction]}".strip(),
                cells,
            )
        )
    return Grid([s["run"]["policy"] for s in summaries], rows)


def whole_measures(summaries: Sequence[Summary]) -> list[str]:
    """Measures of whole episodes that any of the runs has."""
    return [name for name in MEASURES if any(name in s["measures"] for s in summaries)]


def definitions(headers: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Versioned name, direction and unit, definition of every measure the runs computed."""
    versions = {name: version for header in headers for name, version in (header.get("measures") or {}).items()}
    entries = []
    for name, about in MEASURES.items():
        if name in versions:
            direction = {"higher": "higher is better", "lower": "lower is better", "neither": "describes, does not rank"}[about.direction]
            now = "" if versions[name] == about.version else f" (the run used version {versions[name]}; this text is of version {about.version})"
            entries.append((f"{name}@{versions[name]}", direction + (f", {about.unit}" if about.unit else ""), about.definition + now))
    return entries


def _rate_cell(group: Mapping[str, Any] | None) -> Cell:
    success = (group or {}).get("measures", {}).get("success")
    if not group or not success or success["mean"] is None:
        return Cell(wording.DASH, note=_count_note(group) if group else "none run")
    text, interval = wording.value("success", success["mean"]), wording.interval("success", success["low"], success["high"])
    return Cell(text, interval, _count_note(group), success["mean"], success["low"], success["high"])


def _count_note(group: Mapping[str, Any]) -> str:
    errors = group["n"]["error"]
    return f"n {group['n']['scored']}" + (f", {wording.counted(errors, 'error')}" if errors else "")


def _measure_cell(name: str, group: Mapping[str, Any], summary: Summary) -> Cell:
    row = (group.get("measures") or {}).get(name)
    if not row or row["mean"] is None:
        why = wording.unscored_words(row["unscored"]) if row else "not computed"
        return Cell(wording.DASH, note=why)
    planned = f" of {summary['n']['planned']}" if group["n"] is summary["n"] else ""
    notes = [f"n {row['n']}{planned}"]
    notes += [f"unscored: {wording.unscored_words(row['unscored'])}"] if row["unscored"] else []
    notes += [f"strict {wording.value(name, row['strict'], row['unit'])}"] if row["strict"] is not None and group["n"]["error"] else []
    share = wording.is_share(name)
    return Cell(
        wording.value(name, row["mean"], row["unit"]),
        wording.interval(name, row["low"], row["high"]) if row["low"] is not None else "",
        "; ".join(notes),
        row["mean"] if share else None,
        row["low"] if share else None,
        row["high"] if share else None,
    )


def _failures(summary: Summary) -> int:
    return int(sum(n for reason, n in summary["reasons"].items() if reason not in ("success", "error")))


def _in_order(names: Any) -> list[str]:
    return list(dict.fromkeys(names))
