"""A run: one suite, one policy, one folder. Starting it again continues it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from portico.errors import StorageError, UnknownName
from portico.evaluate.compatibility import Finding, check
from portico.evaluate.executors import Executor, local
from portico.evaluate.identity import header_of, read_header, settle_header
from portico.evaluate.locks import alone, locked
from portico.evaluate.logbook import Logbook
from portico.evaluate.measures import MEASURES
from portico.evaluate.plan import Assignment, Shard, dealt, plan_of, settled
from portico.evaluate.prepare import Prepared
from portico.evaluate.records import Key, Record, read_records, write_json
from portico.evaluate.scores import read_scored
from portico.evaluate.summary import summary_of
from portico.evaluate.timing import timing_mode
from portico.evaluate.worker import Job
from portico.interface import Camera, Policy, PolicyFailure, StageKind
from portico.policies.registry import made
from portico.policies.wires.structure import plain
from portico.suites import Suite


@dataclass(frozen=True)
class RunRequest:
    """What to run. What makes it the run it is ends up in ``run.json``, see ``portico.evaluate.identity``.

    Attributes:
        workers: processes on this machine. repeats: how often every episode is run.
        partial: stamps a run of fewer episodes than the suite has.
        timing: what deciding costs in simulated time, see ``portico.evaluate.timing``.
        shuffle: seed of the order in which ranks are dealt; the suite's order when left out.
        shard: which rank's share to run; everything when left out.
        retries: how often an episode that ended in an error is tried again by later starts.
        policy_timeout_s: wall-clock seconds for every decision and reset; a policy that takes longer costs its episode an error.
        command: words of the command line that starts this run, for ``portico reproduce``.
    """

    suite: Suite
    policy: str
    folder: Path
    prepared: Sequence[Prepared]
    workers: int = 1
    repeats: int = 1
    allow_privileged: bool = False
    partial: bool = False
    timing: str = "paused"
    shuffle: int | None = None
    shard: Shard = Shard()
    retries: int = 1
    policy_timeout_s: float | None = None
    command: tuple[str, ...] = ()


class Fit(NamedTuple):
    """How a policy fits a suite: what it needs beyond the track, what else to record, and what it says of itself.

    ``cameras`` are those that it brings in place of the robot's own; ``declared`` is its whole spec as plain data.
    """

    beyond: list[str]
    notes: list[Finding]
    version: str
    seedable: bool
    cameras: tuple[Camera, ...] = ()
    declared: Mapping[str, Any] = MappingProxyType({})


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
        PolicyRefused: the policy needs more than the protocol grants, or cannot attempt what is asked.
        SuiteError: the folder holds another run, or the suite names a measure that does not exist.
        EpisodeError: two episodes have one identity.
        StorageError: the disk refused; run the same again to continue. Or somebody else is at work in the folder.
    """
    measures = check_measures(request.suite)
    timing_mode(request.timing)
    fit = check_policy_name(request.suite, request.policy, request.allow_privileged, _kinds(request))
    plan, shard = plan_of(request.suite, request.prepared, request.repeats), request.shard
    with locked(request.folder, shard.rank, shard.world_size):
        settle_header(request, header_of(request, fit, measures, plan))
        records = read_records(request.folder)
        done = settled(request.folder, plan, records, request.retries)
        mine = shard.of(dealt(list(plan), request.shuffle))
        progress = Progress(planned=len(mine))
        for key in mine:
            if key in done:
                progress.count(records[key])
        progress.resumed = progress.done
        log = Logbook(request.folder, shard.rank)
        log.start(rank=shard.rank, world_size=shard.world_size, shuffle=request.shuffle, workers=request.workers, episodes=len(mine), done=progress.done)
        watch(progress)
        with ExitStack() as stack:
            chosen = executor or stack.enter_context(closing(local(request.workers, killable=request.policy_timeout_s is not None)))
            _carry_out(chosen, _job(request, measures), [plan[key] for key in mine if key not in done], progress, watch, log)
        return write_summary(request.folder)


def _carry_out(executor: Executor, job: Job, assignments: Sequence[Assignment], progress: Progress, watch: Callable[[Progress], None], log: Logbook) -> None:
    """Run episodes and tell log and watcher of each; the log says how it ended, whatever ends it."""
    try:
        for record in executor.run(job, assignments):
            progress.count(record)
            log.note("episode", episode=str(Key.of(record)), status=record["status"], wall_s=record["timing"].get("wall_s"), **_fault(record))
            watch(progress)
    except BaseException as error:
        with suppress(StorageError):
            log.note("stopped", why=f"{type(error).__name__}: {error}".split("\n")[0], done=progress.done)
        raise
    log.note("end", done=progress.done, errors=progress.errors)


def _fault(record: Record) -> dict[str, str]:
    return {"error": str(record["error"]["message"]).replace("\n", " ")} if record["status"] == "error" else {}


def _job(request: RunRequest, measures: tuple[str, ...]) -> Job:
    return Job(
        request.folder,
        request.suite,
        request.policy,
        {p.episodes.world: p.folder.resolve() for p in request.prepared},
        request.allow_privileged,
        measures,
        request.timing,
        request.shard.rank,
        request.policy_timeout_s,
    )


def planned(request: RunRequest) -> dict[Key, Assignment]:
    """Every episode of the run, by identity, in the order of the suite."""
    return plan_of(request.suite, request.prepared, request.repeats)


def check_policy_name(suite: Suite, name: str, allow_privileged: bool, kinds: Collection[StageKind]) -> Fit:
    """How a policy fits; to be asked before anything slow starts.

    Args:
        kinds: of the stages that it will be asked for.

    Raises:
        PolicyRefused: it does not fit, see ``portico.evaluate.compatibility``; or it raises when it is made.
        PolicyFailure: it lives behind a wire, and nobody answers there.
        UnknownName: no such policy, with the closest matches.
    """
    policy = _made(name)
    try:
        notes = check(policy, suite, kinds, allow_privileged=allow_privileged)
        spec = policy.spec
        declared = json.loads(json.dumps(plain(spec), default=repr))
        cameras = () if spec.keeps_cameras else tuple(spec.cameras)
        return Fit(sorted(spec.beyond(suite.track)), notes, spec.version, spec.seedable, cameras, declared)
    finally:
        policy.close()


def _made(name: str) -> Policy:
    try:
        return made(name)
    except PolicyFailure as failure:
        raise PolicyFailure(failure.kind, failure.what, where=f"{failure.where} [server]".lstrip(), why=failure.why, next_step=failure.next_step) from failure


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
    """Aggregate the records of a run folder into ``summary.json``; of ranks that end at once the last sees what all have done."""
    with alone(folder / ".lock-header"):
        records = read_records(folder)
        summary = summary_of(folder, read_header(folder), records, list(read_scored(folder, records).values()))
        write_json(folder / "summary.json", summary)
    return summary
