"""One page for one or several runs: self-contained, opens offline, small enough to mail."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from portico.errors import StorageError, SuiteError
from portico.evaluate.compare import check_comparable
from portico.report import deciding, sections, wording
from portico.report.audit import audits
from portico.report.cards import Deck, deal
from portico.report.runs import Run, WorldShelf, load_run
from portico.report.stages import STAGE_ORDER, tasks_in_order
from portico.report.studies import STUDIES, has_scenes
from portico.tasks.episode import TASK_STAGES


@dataclass(frozen=True)
class ReportOptions:
    """What a page holds.

    Attributes:
        worlds: folder that holds the worlds, when they are no longer where the run found them.
        maps: most episode cards. frames: failures shown as the robot saw them when they ended.
    """

    worlds: Path | None = None
    maps: int = 60
    frames: int = 12


def write_report(run_folders: Sequence[Path], out: Path | None = None, options: ReportOptions | None = None) -> Path:
    """Write ``report.html``; returns where.

    Args:
        run_folders: one run or several; several are shown side by side.
        out: the file; ``report.html`` in the first run folder by default.

    Raises:
        SuiteError: no folder, or one that holds no run.
        StorageError: the page cannot be written.
    """
    if not run_folders:
        raise SuiteError("there is no run to report on", next_step="name at least one run folder")
    runs = [load_run(Path(folder)) for folder in run_folders]
    path = Path(out) if out is not None else Path(run_folders[0]) / "report.html"
    _write(path, page(runs, options or ReportOptions()))
    return path


def page(runs: Sequence[Run], options: ReportOptions) -> str:
    """The page as text."""
    shelf = WorldShelf(options.worlds)
    deck = deal(runs, shelf, limit=options.maps, frames=options.frames)
    summaries = [run.summary for run in runs]
    text: str = _template().render(
        title=" and ".join(dict.fromkeys(run.suite for run in runs)),
        description=_first_line(str(runs[0].header["suite"].get("description", ""))),
        runs=[{"policy": run.policy, "folder": run.folder.name, "facts": wording.run_facts(run.summary), "n": run.summary["n"]} for run in runs],
        settings=_settings(runs),
        warnings=[*_not_comparable(runs), *shelf.notes],
        tasks=sections.success_by_task(summaries),
        task_words={task: wording.in_words(wording.TASKS, task) for task in tasks_in_order(summaries)},
        stages=sections.success_by_stage(summaries),
        funnels=sections.funnels(summaries),
        difficulty=sections.success_by_difficulty(summaries),
        graded=any(s["breakdowns"].get("level") for s in summaries),
        levels=sections.measures_by_level(summaries),
        by_world=sections.success_by_world(summaries),
        endings=sections.endings(summaries),
        labels=sections.failure_labels(summaries),
        measures=sections.measures(summaries, summaries, sections.whole_measures(summaries)),
        task_measures=_task_measures(summaries),
        deciding=deciding.deciding(runs),
        notes=deciding.notes(runs),
        transition=[] if has_scenes(runs) else _transitions(runs),
        studies=_studies(runs),
        audits=audits(runs, shelf, limit=options.frames),
        cards=deck.cards,
        left_out=_left_out(deck, options),
        backgrounds=deck.backgrounds,
        outcomes=_outcomes(deck),
        stage_kinds=[kind for kind in STAGE_ORDER if any(kind == spec.kind for run in runs for e in run.episodes.values() for spec in e.stages)],
        stage_words=wording.STAGES,
        definitions=sections.definitions([run.header for run in runs]),
        worlds=_worlds(runs, shelf),
        versions=_versions(runs),
    )
    return text


@cache
def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("portico.report", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html.j2")


def _settings(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """What was asked, one value per distinct answer among the runs."""

    def each(name: str) -> str:
        return ", ".join(dict.fromkeys(str(run.header["suite"].get(name, wording.DASH)) for run in runs))

    worlds = list(dict.fromkeys(world for run in runs for world in run.header["worlds"]))
    return [
        ("robot", each("embodiment")),
        ("motion", ", ".join(dict.fromkeys(_motion(run) for run in runs))),
        ("policies may see", each("track")),
        ("budget", _budget(runs)),
        ("split", each("split")),
        ("seed", each("seed")),
        ("suite version", each("version")),
        ("repeats", ", ".join(dict.fromkeys(str(run.summary["run"]["repeats"]) for run in runs))),
        ("worlds", str(len(worlds))),
    ]


def _motion(run: Run) -> str:
    """How the robot moved, and under physics on what ground."""
    suite = run.header["suite"]
    motion, friction = str(suite.get("motion", "kinematic")), float(suite.get("friction", 1.0))
    return motion if motion == "kinematic" or friction == 1.0 else f"{motion}, friction x {friction:g}"


def _budget(runs: Sequence[Run]) -> str:
    """What the episodes were given, or the suite where their files are gone."""
    suite = runs[0].header["suite"].get("budget") or {}
    given = [episode.budget for run in runs for episode in run.episodes.values()]
    actions = sorted({budget.max_actions for budget in given} or {int(suite.get("max_actions", 0))})
    times = sorted({budget.max_time_s for budget in given if budget.max_time_s})
    limits = " / ".join(f"{n:,}" for n in actions) + " actions"
    return limits + (", " + " / ".join(f"{t:g}" for t in times) + " s" if times else "")


def _not_comparable(runs: Sequence[Run]) -> list[str]:
    """Why some of the runs should not be read side by side."""
    notes = []
    for other in runs[1:]:
        try:
            check_comparable(runs[0].side(), other.side())
        except SuiteError as error:
            notes.append(f"{runs[0].policy} and {other.policy} were not asked the same: {error.why}. Do not compare their figures.")
    return notes


def _task_measures(summaries: Sequence[sections.Summary]) -> list[tuple[str, sections.Grid]]:
    tasks = tasks_in_order(summaries)
    nothing: dict[str, Any] = {"n": {"scored": 0, "error": 0}, "measures": {}}
    grids = []
    for task in tasks:
        groups = [s["breakdowns"]["task"].get(task, nothing) for s in summaries]
        names = list(dict.fromkeys(name for group in groups for name in group["measures"]))
        grids.append((task, sections.measures(summaries, groups, names)))
    return grids


def _transitions(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """How runs got out of buildings, for those that had to."""
    rows = []
    for i, run in enumerate(runs):
        table = run.summary["transition"]
        leaves = any(TASK_STAGES.get(task, ("",))[0] == "exit" for task in run.summary["breakdowns"]["task"])
        if table["n"] and (leaves or table["not_reached"] < table["n"]):
            ce = [wording.value("coverage_efficiency", table[f"coverage_efficiency_{side}_exit"]["mean"], "1/m") for side in ("before", "after")]
            reasons = ", ".join(f"{wording.in_words(wording.REASONS, r)} {n}" for r, n in table["reasons_after"].items()) or wording.DASH
            rows.append(
                {
                    "policy": i,
                    "title": run.policy,
                    "n": table["n"],
                    "out": table["n"] - table["not_reached"],
                    "before": ce[0],
                    "after": ce[1],
                    "reasons": reasons,
                }
            )
    return rows


def _studies(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """NavVerse's tables, those that apply; one whose runs are not alike says so instead."""
    found = []
    for study in STUDIES.values():
        if study.name in ("transition", "difficulty") and not has_scenes(runs):
            continue
        if study.applies(runs):
            try:
                found.append({"title": study.title, "tables": study.tables(runs), "refused": ""})
            except SuiteError as error:
                found.append({"title": study.title, "tables": [], "refused": str(error.why or error.what)})
    return found


def _left_out(deck: Deck, options: ReportOptions) -> str:
    if not deck.left_out:
        return ""
    parts = [
        wording.counted(n, {"failure": "failure", "error": "error", "success": "success"}.get(s, s), {"success": "successes"}.get(s, ""))
        for s, n in deck.left_out.items()
    ]
    total = len(deck.cards) + sum(deck.left_out.values())
    return f"{len(deck.cards)} of {total} episodes are shown; left out: {', '.join(parts)}. Show all: portico report RUN --maps {total}"


def _outcomes(deck: Deck) -> list[str]:
    return [s for s in ("failure", "error", "success") if any(card.status == s for card in deck.cards)]


def _worlds(runs: Sequence[Run], shelf: WorldShelf) -> list[dict[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for run in runs:
        for world_id, facts in run.header["worlds"].items():
            world = shelf.world(run, world_id)
            provenance = world.manifest.provenance if world is not None else None
            source = ", ".join(part for part in (provenance.source, provenance.licence, provenance.attribution) if part) if provenance else "not found"
            found.setdefault((world_id, str(facts.get("hash"))), {"id": world_id, "hash": str(facts.get("hash", "")), "source": source})
    return list(found.values())


def _versions(runs: Sequence[Run]) -> list[tuple[str, str]]:
    names = list(dict.fromkeys(name for run in runs for name in run.header.get("versions") or {}))
    return [(name, ", ".join(dict.fromkeys(str((run.header.get("versions") or {}).get(name, wording.DASH)) for run in runs))) for name in names]


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0] if text.strip() else ""


def _write(path: Path, text: str) -> None:
    """Write the page, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, staging = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(staging, 0o644)
        Path(staging).replace(path)
    except OSError as error:
        raise StorageError("the report could not be written", where=str(path), why=str(error), next_step="choose another --out") from error
