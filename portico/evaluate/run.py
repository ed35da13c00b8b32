"""A run: one suite, one policy, one folder. Starting it again continues it."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np

from portico import __version__
from portico.episodes import save_episodes
from portico.errors import SuiteError, UnknownName
from portico.evaluate.aggregate import summarise
from portico.evaluate.compatibility import Finding, check
from portico.evaluate.executors import Executor, local
from portico.evaluate.measures import MEASURES
from portico.evaluate.prepare import Prepared
from portico.evaluate.records import Key, Record, locked, read_records, write_json
from portico.evaluate.timing import timing_mode
from portico.evaluate.worker import Assignment, Job
from portico.interface import StageKind
from portico.policies import create
from portico.suites import Suite

RUN_SCHEMA = "portico.run/1"


@dataclass(frozen=True)
class RunRequest:
    """What to run. Everything here ends up in ``run.json``."""

    suite: Suite
    policy: str
    folder: Path
    prepared: Sequence[Prepared]
    workers: int = 1
    repeats: int = 1
    allow_privileged: bool = False
    partial: bool = False
    timing: str = "paused"


@dataclass
class Progress:
    """Told to whoever watches, after every finished episode."""

    planned: int
    done: int = 0
    successes: int = 0
    errors: int = 0
    resumed: int = 0
    latest: Record | None = field(default=None, repr=False)

    def count(self, record: Record) -> None:
        """Take one record into account."""
        self.done += 1
        self.successes += record["status"] == "success"
        self.errors += record["status"] == "error"
        self.latest = record


def execute(request: RunRequest, *, watch: Callable[[Progress], None] = lambda _: None, executor: Executor | None = None) -> dict[str, Any]:
    """Run what is not done yet and write ``summary.json``; returns the summary.

    Args:
        watch: told after every finished episode.
        executor: who carries the episodes out; by default processes on this machine that end with the run.

    Raises:
        PolicyRefused: the policy needs more than the track grants, or cannot attempt what is asked.
        SuiteError: the folder holds another run, or the suite names a measure that does not exist.
        StorageError: the disk refused; run the same again to continue.
    """
    measures = check_measures(request.suite)
    timing_mode(request.timing)
    beyond, notes = check_policy_name(request.suite, request.policy, request.allow_privileged, _kinds(request))
    with locked(request.folder):
        _write_header(request, beyond, notes, measures)
        plan = planned(request)
        records = read_records(request.folder)
        done = {key for key, record in records.items() if record["status"] != "error"}
        progress = Progress(planned=len(plan))
        for key in plan:
            if key in done:
                progress.count(records[key])
        progress.resumed = progress.done
        watch(progress)
        folders = {p.episodes.world: p.folder.resolve() for p in request.prepared}
        job = Job(request.folder, request.suite, request.policy, folders, request.allow_privileged, measures, request.timing)
        with ExitStack() as stack:
            chosen = executor or stack.enter_context(closing(local(request.workers)))
            for record in chosen.run(job, [a for key, a in plan.items() if key not in done]):
                progress.count(record)
                watch(progress)
        return write_summary(request.folder)


def planned(request: RunRequest) -> dict[Key, Assignment]:
    """Every episode of the run, by identity, in the order of the suite."""
    suite, plan = request.suite, {}
    for repeat in range(request.repeats):
        for p in request.prepared:
            for episode in p.episodes.episodes:
                key = Key(suite.name, suite.split, p.episodes.world, episode.id, repeat)
                plan[key] = Assignment(key, episode)
    return plan


def check_policy_name(suite: Suite, name: str, allow_privileged: bool, kinds: Collection[StageKind]) -> tuple[list[str], list[Finding]]:
    """What a policy needs beyond the suite's track, and what else to record of how it fits; to be asked before anything slow starts.

    Args:
        kinds: of the stages that it will be asked for.

    Raises:
        PolicyRefused: it does not fit, see ``portico.evaluate.compatibility``.
        PolicyFailure: it lives behind a wire, and nobody answers there.
        UnknownName: no such policy, with the closest matches.
    """
    policy = create(name)
    try:
        notes = check(policy, suite, kinds, allow_privileged=allow_privileged)
        return sorted(policy.spec.beyond(suite.track)), notes
    finally:
        policy.close()


def _kinds(request: RunRequest) -> set[StageKind]:
    return {stage.kind for p in request.prepared for episode in p.episodes.episodes for stage in episode.stages}


def check_measures(suite: Suite) -> tuple[str, ...]:
    """The measures a suite asks for, all of them when it names none.

    Raises:
        UnknownName: with the closest matches.
    """
    for name in suite.measures:
        if name not in MEASURES:
            raise UnknownName("measure", name, MEASURES, where=f"suite {suite.name}: measures", list_command="portico list measures")
    return tuple(suite.measures)


def write_summary(folder: Path) -> dict[str, Any]:
    """Aggregate the records of a run folder into ``summary.json``."""
    header = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    summary = summarise(list(read_records(folder).values()), header)
    write_json(folder / "summary.json", summary)
    return summary


def _write_header(request: RunRequest, beyond: Sequence[str], notes: Sequence[Finding], measures: tuple[str, ...]) -> None:
    header = {
        "schema_version": RUN_SCHEMA,
        "suite": request.suite.model_dump(mode="json"),
        "policy": request.policy,
        "privileged": list(beyond),
        "timing": request.timing,
        "compatibility": [{"code": note.code, "sentence": note.sentence, "remedy": note.remedy} for note in notes],
        "repeats": request.repeats,
        "partial": request.partial,
        "planned": request.repeats * sum(len(p.episodes.episodes) for p in request.prepared),
        "worlds": {p.episodes.world: {"hash": p.world_hash, "folder": str(p.folder.resolve())} for p in request.prepared},
        "measures": {name: MEASURES[name].version for name in measures or MEASURES},
        "versions": {"portico": __version__, "numpy": np.__version__, "numba": numba.__version__, "python": platform.python_version()},
    }
    path = request.folder / "run.json"
    if path.is_file():
        _check_same_run(json.loads(path.read_text(encoding="utf-8")), header, path)
    else:
        write_json(path, header)
    for p in request.prepared:
        file = request.folder / "episodes" / f"{p.episodes.world}.json"
        if not file.is_file():
            save_episodes(p.episodes, file)


def _check_same_run(there: dict[str, Any], here: dict[str, Any], path: Path) -> None:
    there = {"timing": "paused", **there}
    for name in ("suite", "policy", "timing", "repeats", "planned", "measures"):
        if there.get(name) != here[name]:
            raise SuiteError(
                "the folder holds another run",
                where=f"{path}: {name}",
                why=_difference(there.get(name), here[name]),
                next_step="choose another --out, or start the same run to continue it",
            )
    for world, facts in here["worlds"].items():
        found = there["worlds"].get(world, {}).get("hash")
        if found != facts["hash"]:
            raise SuiteError(
                "the folder holds a run in another version of a world",
                where=f"{path}: worlds.{world}",
                why=f"hash {found} there, {facts['hash']} now",
                next_step="choose another --out",
            )


def _difference(there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        names = sorted(k for k in there.keys() | here.keys() if there.get(k) != here.get(k))
        return "; ".join(f"{k}: {there.get(k)!r} there, {here.get(k)!r} now" for k in names)
    return f"{there!r} there, {here!r} now"
