"""Studies by scene: success, safety, endings, and the way out of the building [NV 4.2, 4.3]."""

from __future__ import annotations

from collections.abc import Sequence

from portico.report.runs import Run
from portico.report.sections import Cell, Grid
from portico.report.studies import cells
from portico.report.studies.cases import Case, cases, scenes_among, tasks_of, where
from portico.report.studies.study import Table, row

_ENDINGS = ("wrong_goal", "fall", "timeout")
_ENDING_WORDS = ("wrong goal", "fall", "timeout", "other")
_SAFETY = {"collision": "CR", "obstacle_distance_m": "ADO", "navigable_ratio": "NSR", "coverage_efficiency": "CE"}


def has_scenes(runs: Sequence[Run]) -> bool:
    """Whether any of the runs asks NavVerse's questions."""
    return any(e.scene is not None for run in runs for e in run.episodes.values()) or any(r.get("scene") for run in runs for r in run.records.values())


def scene_tables(runs: Sequence[Run]) -> list[Table]:
    """SR and SPL per task and scene, a table per task, a row per run."""
    found = _by_run(runs)
    tables = []
    for task in _tasks(found):
        groups = [(run, where(mine, lambda c, task=task: c.task == task)) for run, mine in found]  # type: ignore[misc]
        scenes = scenes_among(c for _, group in groups for c in group)
        rows = [row(run, runs, [*(cells.success(_of(group, scene)) for scene in scenes), cells.success(group)]) for run, group in groups]
        tables.append(Table(f"Success by scene: {task}", "policy", Grid([*map(words, scenes), "all"], rows)))
    return tables


def safety_tables(runs: Sequence[Run]) -> list[Table]:
    """Collision rate, distance to obstacles, navigable ratio and coverage per run and task [NV 6.5]."""
    found = _by_run(runs)
    tables = []
    for task in ["all tasks", *_tasks(found)]:
        groups = [(run, where(mine, lambda c, task=task: task in ("all tasks", c.task))) for run, mine in found]  # type: ignore[misc]
        rows = [row(run, runs, [*(cells.mean(group, name) for name in _SAFETY), cells.counts(group)]) for run, group in groups if group]
        heads = [f"{short} {arrow}" for short, arrow in zip(_SAFETY.values(), ("↓", "↑", "↑", "↑"), strict=True)]
        tables.append(Table(f"Safety and coverage: {task}", "policy", Grid([*heads, "episodes"], rows)))
    return tables


def termination_tables(runs: Sequence[Run]) -> list[Table]:
    """Why failures ended, a table per scene, a row per run and task [NV 4.3]."""
    found = _by_run(runs)
    scenes = scenes_among(c for _, mine in found for c in mine)
    tables = []
    for scene in scenes:
        rows = []
        for run, mine in found:
            for task in tasks_of(_of(mine, scene)):
                group = where(mine, lambda c, scene=scene, task=task: c.scene == scene and c.task == task)  # type: ignore[misc]
                rows.append(
                    row(run, runs, [_task_cell(task, group), cells.rate(group, lambda c: c.succeeded), *cells.reasons(group, _ENDINGS)]),
                )
        tables.append(Table(f"How episodes ended: {words(scene)}", "policy", Grid(["task", "success", *_ENDING_WORDS], rows), (_OF_FAILURES,)))
    return tables


_OF_FAILURES = "reasons are shares of the failures; errors are in no share"


def transition_tables(runs: Sequence[Run]) -> list[Table]:
    """Who never got out, how well ground was covered before and after the exit, and why those who got out failed [NV 4.3]."""
    rows = []
    for run, mine in _by_run(runs):
        leaving = where(mine, lambda c: c.leaves)
        for task in tasks_of(leaving):
            group = where(leaving, lambda c, task=task: c.task == task)  # type: ignore[misc]
            judged = where(group, lambda c: c.value("reached_outdoors") is not None)
            out = where(judged, lambda c: c.value("reached_outdoors") == 1.0)
            never = cells.share(len(judged) - len(out), len(judged))
            covered = [cells.mean(out, f"coverage_efficiency_{side}_exit") for side in ("before", "after")]
            rows.append(row(run, runs, [_task_cell(task, group), never, *covered, *cells.reasons(out, _ENDINGS)]))
    heads = ["task", "never out", "CE before", "CE after", *_ENDING_WORDS]
    note = "never out: not reached outdoors; coverage before and after the exit is of those who got out, reasons are shares of the failures among them"
    return [Table("Out of the building", "policy", Grid(heads, rows), (note,))]


def leaves(runs: Sequence[Run]) -> bool:
    """Whether any episode of the runs has to get out of a building."""
    return any(case.leaves for run in runs for case in cases(run))


def words(scene: str) -> str:
    """A scene as people say it."""
    return scene.replace("_", " ")


def _by_run(runs: Sequence[Run]) -> list[tuple[Run, list[Case]]]:
    return [(run, cases(run)) for run in runs]


def _tasks(found: Sequence[tuple[Run, list[Case]]]) -> list[str]:
    return tasks_of(case for _, mine in found for case in mine)


def _task_cell(task: str, group: Sequence[Case]) -> Cell:
    return Cell(task, note=cells.count_words(group))


def _of(group: Sequence[Case], scene: str) -> list[Case]:
    return [case for case in group if case.scene == scene]
