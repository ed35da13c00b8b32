"""What an agent adds to a fixed chain of the same executors: missions stage by stage, matched episodes, verdicts, and what they cost [I2 D]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from portico.errors import SuiteError
from portico.evaluate.compare import Run as Side
from portico.evaluate.compare import compare
from portico.policies import parse_name
from portico.report import wording
from portico.report.runs import Run
from portico.report.sections import Cell, Grid, Row
from portico.report.studies import cells
from portico.report.studies.cases import Case, cases, tasks_of, where
from portico.report.studies.study import Table, row
from portico.tasks.episode import TASK_STAGES

#: Measures of a mission, as the source's tables name them [I2 Tables 3, 4].
_MISSION = {"completion": "CSR ↑", "spl": "SPL ↑", "route_completion": "RC ↑", "distance_compliance": "DCR ↑"}
_MATCHED = {"success": "FSR", "completion": "CSR", "spl": "SPL", "route_completion": "RC", "distance_compliance": "DCR"}
_CONTINUATION = "continuation"
_OF_EXECUTORS = frozenset({"exit", "outdoor", "entrance", "ovon", "detector", "slips"})


def has_agents(runs: Sequence[Run]) -> bool:
    """Whether any run is an agent's."""
    return any("agent" in record for run in runs for record in run.records.values())


def agent_tables(runs: Sequence[Run]) -> list[Table]:
    """Success per task, composed tasks stage by stage, matched differences, verdicts by stage, resources.

    Raises:
        SuiteError: no run is an agent's.
    """
    if not has_agents(runs):
        raise SuiteError("no run is an agent's", where=", ".join(run.policy for run in runs), next_step="add a run of --policy agent")
    found = [(run, cases(run)) for run in runs]
    tasks = tasks_of(case for _, mine in found for case in mine)
    tables = [_primitives(found, runs, tasks)] if any(_stages(task) == 1 for task in tasks) else []
    tables += [_mission(task, found, runs) for task in tasks if _stages(task) > 1]
    tables += [table for task in tasks if (table := _matched(task, runs)) is not None]
    return [*tables, *_verdicts(runs), _resources(runs)]


def _stages(task: str) -> int:
    return len(TASK_STAGES.get(task, ("",)))  # type: ignore[call-overload]


def _primitives(found: Sequence[tuple[Run, list[Case]]], runs: Sequence[Run], tasks: Sequence[str]) -> Table:
    """Level 1: success, with SPL and the number of episodes beside it."""
    single = [task for task in tasks if _stages(task) == 1]
    rows = [row(run, runs, [cells.success(where(mine, lambda c, t=task: c.task == t)) for task in single]) for run, mine in found]  # type: ignore[misc]
    return Table("Level 1", "policy", Grid(single, rows))


def _mission(task: str, found: Sequence[tuple[Run, list[Case]]], runs: Sequence[Run]) -> Table:
    """FSR, CSR, SPL, RC, DCR, and C per stage with N of N before."""
    kinds: tuple[str, ...] = TASK_STAGES[task]  # type: ignore[index]
    rows = []
    for run, mine in found:
        group = where(mine, lambda c: c.task == task)
        scored = [case for case in group if case.scored and case.record is not None]
        reached = [sum(int((case.record or {})["completed"]) >= k for case in scored) for k in range(len(kinds) + 1)]
        conditional = [cells.share(after, before) for before, after in pairwise(reached)]
        measures = [cells.mean(group, name) for name in _MISSION]
        rows.append(row(run, runs, [cells.rate(group, lambda c: c.succeeded, cells.count_words(group)), *measures, *conditional]))
    heads = ["FSR ↑", *_MISSION.values(), *(f"C{k} {kind}" for k, kind in enumerate(kinds, start=1))]
    return Table(f"{task}: {' → '.join(kinds)}", "policy", Grid(heads, rows), ("C: share of those who reached the stage; a dash where nobody did",))


def _matched(task: str, runs: Sequence[Run]) -> Table | None:
    """Every agent less the chain of the same executors, over the episodes that both scored, and how much of its gain continuation has."""
    rows: list[Row] = []
    notes = ["differences to the run without an agent that has the same executors, matched by episode, 95 % by drawing whole worlds; p: McNemar's exact test"]
    gains: dict[tuple[str, str], float] = {}
    for run in runs:
        base = _base(run, runs)
        first, second = _of_task(base, task), _of_task(run, task)
        if base is run or not first.records or not second.records:
            continue
        result = compare(first, second)
        measures, test = result["measures"], result["mcnemar"]
        figures = [_difference(name, measures.get(name)) for name in _MATCHED]
        words = f"only chain {test['only_a']}, only this {test['only_b']}"
        p_value = f"{test['p_value']:.2g}" if test["p_value"] >= 1e-4 else f"{test['p_value']:.0e}"
        rows.append(row(run, runs, [*figures, Cell(p_value, note=words)], note=f"{result['n']['pairs']} pairs"))
        gains[base.policy, _setting(run)] = measures["success"]["difference"]
    for (chain, setting), gain in gains.items():
        ours = gains.get((chain, "agent"))
        if setting == _CONTINUATION and ours:
            notes.append(f"against {chain}, continuation without verification has {gain / ours:.0%} of the agent's gain in full success")
    return Table(f"Matched: {task}", "policy", Grid([*(f"Δ {name}" for name in _MATCHED.values()), "p"], rows), tuple(notes)) if rows else None


def _base(run: Run, runs: Sequence[Run]) -> Run:
    """The run that an agent's is held against: without an agent, with the same executors; itself where there is none."""
    if not _setting(run):
        return run
    return next((other for other in runs if not _setting(other) and _executors(other) == _executors(run)), run)


def _executors(run: Run) -> dict[str, str]:
    """Options that say who carries a policy out, and how well it declares."""
    _, options = parse_name(run.policy)
    return {name: value for name, value in options.items() if name in _OF_EXECUTORS}


def _of_task(run: Run, task: str) -> Side:
    return Side(run.folder.name, run.header, tuple(record for record in run.records.values() if record["task"] == task))


def _difference(name: str, result: Mapping[str, Any] | None) -> Cell:
    if result is None or result["difference"] is None:
        return Cell(wording.DASH)
    ends = "" if result["low"] is None else f"[{wording.difference(name, result['low'])}, {wording.difference(name, result['high'])}]"
    return Cell(wording.difference(name, result["difference"], result["unit"]), ends)


def _reports(run: Run) -> Iterator[Mapping[str, Any]]:
    return (record["agent"] for record in run.records.values() if "agent" in record)


def _setting(run: Run) -> str:
    """``agent``, ``continuation``, or "" for a policy that reports nothing."""
    return next((str(report["control"]) for report in _reports(run)), "")


def _verdicts(runs: Sequence[Run]) -> list[Table]:
    """Per agent, a row per kind of stage: what its verifications said, and whether the states they judged would have counted."""
    tables = []
    heads = ["judged", "accepted rightly", "accepted wrongly", "rejected rightly", "rejected wrongly", "uncertain", "unreadable", "right"]
    for run in runs:
        counts: dict[str, Counter[str]] = {}
        for kind, event in _judgements(run):
            counts.setdefault(kind, Counter())[_sort_of(event)] += 1
        if not counts:
            continue
        rows = []
        for kind in (k for k in TASK_STAGES["i2o2i"] if k in counts):
            c = counts[kind]
            sure = sum(c[name] for name in heads[1:5])
            figures = [Cell(str(c.total())), *(Cell(str(c[name])) for name in heads[1:7])]
            rows.append(Row(kind, [*figures, cells.share(c[heads[1]] + c[heads[3]], sure)], policy=list(runs).index(run)))
        notes = ("right: of the verdicts that were sure; the evaluator's predicates decide afterwards, over the state that was judged",)
        tables.append(Table(f"Verdicts of {run.policy}", "stage", Grid(heads, rows), notes))
    return tables


def _judgements(run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for report in _reports(run):
        for event in report["events"]:
            if event["event"] in ("verification", "verification_schema_failure"):
                yield report["stages"][event["stage"]]["kind"], event


def _sort_of(event: Mapping[str, Any]) -> str:
    if event["event"] == "verification_schema_failure":
        return "unreadable"
    if event["outcome"] == "UNCERTAIN" or "valid" not in event:
        return "uncertain"
    accepted = event["outcome"] == "ACCEPT"
    return ("accepted" if accepted else "rejected") + (" rightly" if accepted == event["valid"] else " wrongly")


def _resources(runs: Sequence[Run]) -> Table:
    """Means per episode: policy and verifier calls, actions, tokens and seconds, apart from each other."""
    names = {
        "actions": "actions",
        "executor_calls": "executor calls",
        "attempts": "attempts",
        "replans": "replans",
        "verifications": "verifications",
        "looks": "looks",
        "requests": "requests",
        "tokens_in": "tokens in",
        "tokens_out": "tokens out",
    }
    rows = []
    for run in runs:
        reports = list(_reports(run))
        steps = [float(r["measures"]["steps"]) for r in run.records.values() if (r.get("measures") or {}).get("steps") is not None]
        if reports:
            figures = [wording.decimals(sum(float(r["counts"][name]) for r in reports) / len(reports)) for name in names]
        else:
            figures = [wording.decimals(sum(steps) / len(steps)) if steps else wording.DASH, *[wording.DASH] * (len(names) - 1)]
        rows.append(row(run, runs, [*map(Cell, figures), *_seconds(run)]))
    return Table("What it took, per episode", "policy", Grid([*names.values(), "executors s", "reasoner s", "models s"], rows))


def _seconds(run: Run) -> list[Cell]:
    timings = [record.get("timing") or {} for record in run.records.values() if record["status"] != "error"]
    agents = [timing["agent"] for timing in timings if "agent" in timing]
    if agents:
        return [Cell(wording.decimals(sum(t[name] for t in agents) / len(agents))) for name in ("executor_s", "reasoner_s", "model_s")]
    spent = [float(timing["policy_s"]) for timing in timings if "policy_s" in timing]
    return [Cell(wording.decimals(sum(spent) / len(spent)) if spent else wording.DASH), Cell(wording.DASH), Cell(wording.DASH)]
