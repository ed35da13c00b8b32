"""Studies that change one thing and keep the questions: length, oracles, bodies and ground, words [NV 4.4, 10]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from portico.errors import SuiteError
from portico.report import wording
from portico.report.runs import Run
from portico.report.sections import Cell, Grid
from portico.report.studies import cells
from portico.report.studies.cases import Case, cases, scenes_among, tasks_of
from portico.report.studies.scenic import words
from portico.report.studies.study import Table, row
from portico.tasks.episode import INSTRUCTION_TYPES, LEVELS

#: Settings of a feasibility study, by the policy that makes them [NV 10].
_SETTINGS = {"privileged/oracle-goal": "oracle goal", "privileged/oracle-trajectory": "oracle trajectory"}
_NO_ORACLE = "no oracle"
_CONDITIONS = ("embodiment", "motion", "friction")


def difficulty_tables(runs: Sequence[Run]) -> list[Table]:
    """SR and SPL by thirds of L within each task: at its 1/3 and 2/3 quantiles over the questions asked, whatever became of them [NV 4.4]."""
    found = [(run, cases(run)) for run in runs]
    tables = []
    for task in tasks_of(case for _, mine in found for case in mine):
        lengths = {case.question: case.length_m for _, mine in found for case in mine if case.task == task and case.length_m is not None}
        if not lengths:
            continue
        limits = np.quantile(list(lengths.values()), [1 / 3, 2 / 3])
        rows = []
        for run, mine in found:
            groups: dict[str, list[Case]] = {level: [] for level in LEVELS}
            for case in (c for c in mine if c.task == task and c.length_m is not None):
                groups[LEVELS[int((limits < case.length_m).sum())]].append(case)
            rows.append(row(run, runs, [cells.success(groups[level]) for level in LEVELS]))
        note = f"easy up to {limits[0]:.2f} m, hard beyond {limits[1]:.2f} m, of {len(lengths)} questions"
        tables.append(Table(f"By length: {task}", "policy", Grid(list(LEVELS), rows), (note,)))
    return tables


def is_feasibility(runs: Sequence[Run]) -> bool:
    """Whether a policy stands beside an oracle."""
    settings = {_setting(run) for run in runs}
    return len(settings) > 1


def feasibility_tables(runs: Sequence[Run]) -> list[Table]:
    """The episodes that every run scored, with no oracle, an oracle of the goal, and one of the trajectory [NV 10].

    Raises:
        SuiteError: no oracle is among the runs, or no episode was scored by all of them.
    """
    if not any(_setting(run) != _NO_ORACLE for run in runs):
        raise SuiteError("a feasibility study needs an oracle", where=", ".join(run.policy for run in runs), next_step=f"add a run of {' or '.join(_SETTINGS)}")
    found = [(run, cases(run)) for run in runs]
    shared = set.intersection(*({case.key for case in mine if case.scored} for _, mine in found))
    if not shared:
        raise SuiteError("no episode was scored by all of the runs", where=", ".join(run.policy for run in runs), next_step="finish them, or leave one out")
    order = [_NO_ORACLE, *_SETTINGS.values()]
    ordered = sorted(found, key=lambda pair: order.index(_setting(pair[0])))
    tables = []
    for task in tasks_of(case for _, mine in found for case in mine):
        groups = [(run, [c for c in mine if c.task == task and c.key in shared]) for run, mine in ordered]
        scenes = scenes_among(case for _, group in groups for case in group)
        rows = [
            row(
                run,
                runs,
                [*(cells.success([c for c in group if c.scene == scene]) for scene in scenes), cells.success(group)],
                title=_setting(run),
                note=run.policy if _setting(run) == _NO_ORACLE else "",
            )
            for run, group in groups
        ]
        planned = max(sum(case.task == task for case in mine) for _, mine in found)
        note = f"{len(groups[0][1])} of {planned} planned episodes, those that every run scored"
        tables.append(Table(f"Feasibility: {task}", "setting", Grid([*map(words, scenes), "all"], rows), (note,)))
    return tables


def is_embodied(runs: Sequence[Run]) -> bool:
    """Whether runs differ in body, motion or ground."""
    return len({_condition(run) for run in runs}) > 1


def embodiment_tables(runs: Sequence[Run]) -> list[Table]:
    """The same policy in several bodies and over several grounds: success, falls, contacts, and how fast it went [NV 4.4]."""
    rows = []
    for run in runs:
        group = cases(run)
        body, motion, friction = _condition(run)
        figures = [
            cells.rate(group, lambda c: c.succeeded),
            cells.mean(group, "spl"),
            cells.rate(group, lambda c: c.reason == "fall"),
            cells.rate(group, lambda c: c.reason == "timeout"),
            cells.rate(group, lambda c: c.value("collision") == 1.0),
            _speed(group),
            _stopped_on(group),
        ]
        rows.append(row(run, runs, [Cell(motion, note=cells.count_words(group)), Cell(friction), *figures], title=body, note=run.policy))
    heads = ["motion", "friction", "success", "SPL", "fall", "timeout", "CR ↓", "speed", "failed on"]
    notes = [
        "speed is all metres over all simulated seconds of scored episodes",
        "failed on: the surface with the largest step under and around the body where a failed episode ended, under physics",
    ]
    if not _same_questions(runs):
        notes.append("the runs do not ask the same questions: starts and goals differ with the body; use --same-questions to keep them")
    return [Table("Bodies and ground", "body", Grid(heads, rows), tuple(notes))]


def is_worded(runs: Sequence[Run]) -> bool:
    """Whether places are put into words in several ways."""
    return len({_wording(run) for run in runs}) > 1 and any(case.task == "place" for run in runs for case in cases(run))


def instruction_tables(runs: Sequence[Run]) -> list[Table]:
    """PlaceNav by instruction type: the same places asked for by category, by the way there and by intention [NV 4.4].

    Raises:
        SuiteError: none of the runs asks for places.
    """
    found = [(run, [case for case in cases(run) if case.task == "place"]) for run in runs]
    if not any(mine for _, mine in found):
        raise SuiteError("no run asks for places", where=", ".join(run.folder.name for run in runs), next_step="give runs of a suite with the task place")
    scenes = scenes_among(case for _, mine in found for case in mine)
    known: list[str] = list(INSTRUCTION_TYPES)
    ordered = sorted(found, key=lambda pair: (pair[0].policy, known.index(_wording(pair[0]))))
    rows = [
        row(run, runs, [Cell(_wording(run)), *(cells.success([c for c in mine if c.scene == scene]) for scene in scenes), cells.success(mine)])
        for run, mine in ordered
    ]
    return [Table("Places by kind of instruction", "policy", Grid(["instruction", *map(words, scenes), "all"], rows))]


def _setting(run: Run) -> str:
    return _SETTINGS.get(run.policy.partition("?")[0], _NO_ORACLE)


def _wording(run: Run) -> str:
    return str(run.header["suite"].get("instructions") or "category")


def _condition(run: Run) -> tuple[str, str, str]:
    suite = run.header["suite"]
    friction = suite.get("friction")
    physical = suite.get("motion", "kinematic") == "physics"
    return str(suite.get("embodiment")), str(suite.get("motion", "kinematic")), f"{friction:g}" if physical and friction is not None else wording.DASH


def _speed(group: Sequence[Case]) -> Cell:
    pairs = [(c.value("path_length_m"), c.value("duration_s")) for c in group if c.scored]
    known = [(length, time) for length, time in pairs if length is not None and time is not None]
    seconds = sum(time for _, time in known)
    if seconds <= 0.0:
        return Cell(wording.DASH, note="no time passed")
    return Cell(f"{wording.decimals(sum(length for length, _ in known) / seconds)} m/s")


def _stopped_on(group: Sequence[Case]) -> Cell:
    """Surfaces on which failed episodes ended, the most frequent first."""
    found = Counter(case.surface for case in group if case.failed and case.surface is not None)
    return Cell(", ".join(f"{words(surface)} {n}" for surface, n in found.most_common()) or wording.DASH)


def _same_questions(runs: Sequence[Run]) -> bool:
    """Whether all runs start the same episodes in the same places."""
    asked = [{name: (e.start, tuple(s.model_dump_json() for s in e.stages)) for name, e in run.episodes.items()} for run in runs]
    return all(other == asked[0] for other in asked[1:])
