"""What a terminal shows after a run: measures with intervals and counts, tasks, stages, and several policies side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from portico.evaluate.measures import measure
from portico.report import wording
from portico.report.stages import STAGE_ORDER, pooled_stage, tasks_in_order
from portico.report.wording import ARROWS, DASH, counted

#: Tables in a file are laid out for at least this many columns.
#: Narrower, and policies' names would be lost in a page of 100 columns.
POLICY_WIDTH = 20
_FILE_WIDTH = 112
#: The measures a terminal shows; all of them are in summary.json and on the page.
TERMINAL_MEASURES = (
    "success",
    "pose_success",
    "spl",
    "completion",
    "oracle_success",
    "soft_spl",
    "navigation_error_m",
    "route_completion",
    "distance_compliance",
    "collision",
    "collision_rate",
    "navigable_ratio",
    "obstacle_distance_m",
    "coverage_efficiency",
    "path_length_m",
    "steps",
)

#: What is told per level of difficulty, and how it is headed [NA].
LEVEL_MEASURES = {
    "success": "SR",
    "pose_success": "Pose SR",
    "spl": "SPL",
    "navigation_error_m": "NE",
    "collision_rate": "CR",
    "steps": "steps",
    "dtw": "DTW",
    "ndtw": "nDTW",
}

Summary = dict[str, Any]


def print_summary(summary: Summary, console: Console) -> None:
    """One run: stamps and counts, measures over all episodes, success by task, and the stage table of chained tasks."""
    run, n = summary["run"], summary["n"]
    console.print()
    console.print(Text.assemble((f"{run['policy']}", "bold"), f" on {run['suite']}: {counted(n['scored'], 'episode')} scored of {n['planned']} planned"))
    for fact in wording.run_facts(summary):
        console.print(Text(fact, "yellow"))
    if not n["scored"]:
        console.print(Text("Nothing was scored, so there are no means to show."))
        return
    show(console, _measure_table(summary))
    if len(summary["breakdowns"]["task"]) > 1:
        show(console, _task_table(summary))
    if summary["breakdowns"].get("level"):
        show(console, _level_table(summary))
    if any(len(table["C"]) > 1 for table in summary["stages"].values()):
        show(console, _stage_table(summary))


def print_runs(summaries: Sequence[Summary], console: Console) -> None:
    """Several runs of one suite: success by task, and how often each policy managed each stage, a row per policy."""
    console.print()
    show(console, _success_by_task(summaries))
    if stages := _stages_of(summaries):
        show(console, _success_by_stage(summaries, stages))
    notes = [f"{s['run']['policy']}: {fact}" for s in summaries for fact in wording.run_facts(s)]
    for note in notes:
        console.print(Text(note, "yellow"))


def print_comparison(result: dict[str, Any], a: Summary, b: Summary, console: Console) -> None:
    """Paired differences of two runs (see ``portico.evaluate.compare.compare``), and what may not be paired."""
    n, names = result["n"], [wording.sided(result[side]) for side in ("a", "b")]
    console.print()
    console.print(Text.assemble((f"A {names[0]}", "bold"), "  against  ", (f"B {names[1]}", "bold"), f": {counted(n['pairs'], 'episode')} scored by both"))
    for name, (of_a, of_b) in result["conditions"].items():
        console.print(Text(f"{name}: {of_a} in A, {of_b} in B", "yellow"))
    left_out = {"only in A": n["only_a"], "only in B": n["only_b"], "dropped, an error in either": n["errors"]}
    if any(left_out.values()):
        console.print(Text("; ".join(f"{words}: {count}" for words, count in left_out.items() if count), "yellow"))
    for letter, summary in (("A", a), ("B", b)):
        for fact in wording.run_facts(summary):
            console.print(Text(f"{letter}: {fact}", "yellow"))
    show(console, _difference_table(result["measures"]))
    test = result["mcnemar"]
    console.print(
        f"success: both {test['both']}, only A {test['only_a']}, only B {test['only_b']}, neither {test['neither']}; McNemar's exact test p = {test['p_value']:.3g}"
    )


def _difference_table(rows: dict[str, Any]) -> Table:
    table = Table(title="B minus A, paired", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for header, justify in (
        ("measure", "left"),
        ("", "left"),
        ("A", "right"),
        ("B", "right"),
        ("B - A", "right"),
        ("95 % interval", "left"),
        ("n", "right"),
        ("", "left"),
    ):
        table.add_column(header, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for name in TERMINAL_MEASURES:
        row = rows.get(name)
        if row is not None and row["n"]:
            figures = [wording.value(name, row[side], row["unit"]) for side in ("a", "b")]
            table.add_row(
                name,
                ARROWS[row["direction"]],
                *figures,
                wording.difference(name, row["difference"], row["unit"]),
                wording.interval(name, row["low"], row["high"]),
                str(row["n"]),
                _verdict(row),
            )
    if any(row["low"] is None and row["n"] for row in rows.values()):
        table.caption, table.caption_justify = "– : no interval, it takes episodes from two worlds", "left"
    return table


def _verdict(row: dict[str, Any]) -> Text:
    """Which side is better where the interval leaves zero out."""
    if row["low"] is None or row["low"] <= 0.0 <= row["high"] or row["direction"] == "neither":
        return Text("")
    better = (row["difference"] > 0.0) == (row["direction"] == "higher")
    return Text("B better", "green") if better else Text("A better", "green")


def _measure_table(summary: Summary) -> Table:
    table = Table(title="All episodes", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for header, justify in (
        ("measure", "left"),
        ("", "left"),
        ("mean", "right"),
        ("95 % interval", "left"),
        ("n", "right"),
        ("unscored, why", "left"),
        ("strict", "right"),
    ):
        table.add_column(header, justify=justify, no_wrap=header != "unscored, why")  # type: ignore[arg-type]
    for name in TERMINAL_MEASURES:
        row = summary["measures"].get(name)
        if row is not None:
            table.add_row(*_measure_cells(name, row, summary["n"]["planned"]))
    lone = any(row["low"] is None and row["n"] for row in summary["measures"].values())
    notes = ["strict: errors counted as failures"] + (["– : no interval, it takes episodes from two worlds"] if lone else [])
    table.caption, table.caption_justify = "; ".join(notes), "left"
    return table


def _measure_cells(name: str, row: dict[str, Any], planned: int) -> tuple[str, ...]:
    return (
        f"{name}@{row['version']}",
        ARROWS[row["direction"]],
        wording.value(name, row["mean"], row["unit"]),
        wording.interval(name, row["low"], row["high"]),
        f"{row['n']}/{planned}",
        wording.unscored_words(row["unscored"]),
        wording.value(name, row["strict"], row["unit"]),
    )


def _task_table(summary: Summary) -> Table:
    table = Table(title="By task", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task")
    for header in ("success ↑", "95 %", "spl ↑", "stages done ↑", "n", "errors"):
        table.add_column(header, justify="right", no_wrap=True)
    for task in tasks_in_order([summary]):
        group = summary["breakdowns"]["task"][task]
        success = group["measures"].get("success") or {}
        others = [wording.value(name, (group["measures"].get(name) or {}).get("mean")) for name in ("spl", "completion")]
        table.add_row(
            task,
            wording.value("success", success.get("mean")),
            wording.interval("success", success.get("low"), success.get("high")),
            *others,
            str(group["n"]["scored"]),
            str(group["n"]["error"]) if group["n"]["error"] else "",
        )
    return table


def _level_table(summary: Summary) -> Table:
    table = Table(title="By difficulty within each task", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task")
    table.add_column("level")
    for header in (*(f"{LEVEL_MEASURES[name]} {ARROWS[measure(name).direction]}" for name in LEVEL_MEASURES), "n", "errors"):
        table.add_column(header, justify="right", no_wrap=True)
    previous = ""
    for name, group in summary["breakdowns"]["level"].items():
        task, level = name.split("/")
        rows = [group["measures"].get(m) or {} for m in LEVEL_MEASURES]
        figures = [wording.value(m, row.get("mean"), row.get("unit", "")) for m, row in zip(LEVEL_MEASURES, rows, strict=True)]
        table.add_row(task if task != previous else "", level, *figures, str(group["n"]["scored"]), str(group["n"]["error"] or ""))
        previous = task
    return table


def _stage_table(summary: Summary) -> Table:
    table = Table(title="Stage by stage, tasks of several stages", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for header, justify in (
        ("task", "left"),
        ("stage", "left"),
        ("reached", "right"),
        ("done", "right"),
        ("C", "right"),
        ("95 %", "left"),
        ("FSR", "right"),
        ("CSR", "right"),
    ):
        table.add_column(header, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for task in tasks_in_order([summary]):
        counts = summary["stages"][task]
        if len(counts["C"]) < 2:
            continue
        kinds = counts["kinds"] or [f"stage {k + 1}" for k in range(len(counts["C"]))]
        for k, kind in enumerate(kinds):
            whole = (wording.percent(counts["FSR"]), wording.percent(counts["CSR"])) if k == 0 else ("", "")
            table.add_row(
                task if k == 0 else "",
                kind,
                str(counts["N"][k]),
                str(counts["N"][k + 1]),
                wording.percent(counts["C"][k]),
                wording.interval("success", counts["low"][k], counts["high"][k]),
                *whole,
                end_section=k + 1 == len(kinds),
            )
    table.caption, table.caption_justify = "C: share of those who reached the stage; FSR: all stages; CSR: mean share of stages", "left"
    return table


def _success_by_task(summaries: Sequence[Summary]) -> Table:
    tasks = tasks_in_order(summaries)
    table = Table(title="Success by task; overall with its 95 % interval", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("policy", overflow="fold", min_width=POLICY_WIDTH)
    for task in [*tasks, "all"]:
        table.add_column(task, justify="right", no_wrap=True)
    for s in summaries:
        groups = [s["breakdowns"]["task"].get(task, {}).get("measures", {}).get("success") for task in tasks]
        table.add_row(_policy(s), *(_with_count(group) for group in groups), _with_interval(s["measures"].get("success")))
    return table


def _success_by_stage(summaries: Sequence[Summary], stages: Sequence[str]) -> Table:
    table = Table(title="How often each policy managed each stage it reached", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("policy", overflow="fold", min_width=POLICY_WIDTH)
    for kind in stages:
        table.add_column(wording.in_words(wording.STAGES, kind), justify="right", no_wrap=True)
    for s in summaries:
        cells = []
        for kind in stages:
            pooled = pooled_stage(s, kind)
            cells.append(
                Text(DASH, "dim")
                if pooled is None
                else Text.assemble(
                    f"{pooled.done} of {pooled.reached}", (f"\n{wording.percent(pooled.rate)} {wording.interval('success', pooled.low, pooled.high)}", "dim")
                )
            )
        table.add_row(_policy(s), *cells)
    return table


def _stages_of(summaries: Sequence[Summary]) -> list[str]:
    return [kind for kind in STAGE_ORDER if any(pooled_stage(s, kind) is not None for s in summaries)]


def _with_count(group: dict[str, Any] | None) -> Text:
    if not group or group["mean"] is None:
        return Text(DASH, "dim")
    return Text.assemble(wording.value("success", group["mean"]), (f"\n{round(group['mean'] * group['n'])} of {group['n']}", "dim"))


def _with_interval(group: dict[str, Any] | None) -> Text:
    if not group or group["mean"] is None:
        return Text(DASH, "dim")
    return Text.assemble(wording.value("success", group["mean"]), ("\n" + wording.interval("success", group["low"], group["high"]), "dim"))


def _policy(summary: Summary) -> Text:
    stamp = wording.privileged_stamp(summary["run"]["privileged"])
    return Text.assemble(str(summary["run"]["policy"]), *([("\n" + stamp, "yellow")] if stamp else []))


def show(console: Console, table: Table) -> None:
    """Print without soft wrapping, which tears tables; a file is as wide as a page."""
    if not console.is_terminal and console.width < _FILE_WIDTH:
        console.width = _FILE_WIDTH
    console.print(table, soft_wrap=False)
