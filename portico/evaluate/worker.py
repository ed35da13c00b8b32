"""Carries out single episodes: keeps worlds and simulators warm, turns every outcome into a record."""

from __future__ import annotations

import time
import traceback
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from portico.errors import PolicyRefused, StorageError, UserError, stems_from
from portico.evaluate.deadline import Punctual, last_words_of
from portico.evaluate.episode import PolicyFault, run_episode
from portico.evaluate.measures import Evaluation
from portico.evaluate.plan import Assignment as Assignment
from portico.evaluate.plan import question
from portico.evaluate.records import Key, Record, RecordWriter, add_report, storage_error
from portico.evaluate.scoring import scored, scoring_context
from portico.evaluate.storage import sync
from portico.evaluate.timing import timing_mode
from portico.evaluate.verifications import mark_verifications
from portico.interface import TRACKS, Policy, PolicyFailure, PolicySpec
from portico.policies import create
from portico.policies.privileged import Privileged
from portico.render import WorldRenderer, renderer_of
from portico.robots import embodiment
from portico.seeding import derive_seed
from portico.sim import Simulator
from portico.space import Space, cached_space
from portico.suites import Suite
from portico.tasks.episode import Episode
from portico.tasks.trajectory import Trajectory
from portico.world import World, load


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know; travels to other processes and machines as it is."""

    run_folder: Path
    suite: Suite
    policy: str
    worlds: dict[str, Path]
    allow_privileged: bool = False
    measures: tuple[str, ...] = ()
    timing: str = "paused"
    rank: int = 0
    policy_timeout_s: float | None = None


@dataclass(frozen=True)
class _Site:
    """A world made ready for a robot; what policies of different needs share."""

    folder: Path
    embodiment: str
    world: World
    space: Space
    renderer: WorldRenderer


class Worker:
    """Runs assignments one after the other and writes a record for each; worlds stay ready from one job to the next.

    Args:
        number: which of the rank's workers this is; names its record file.
        killable: whether its process may end itself where a policy hangs and cannot be interrupted.
    """

    def __init__(self, number: int, *, killable: bool = False) -> None:
        self.number, self._killable = number, killable
        self._job: Job | None = None
        self._policy: Policy | None = None
        self._site: _Site | None = None
        self._simulator: Simulator | None = None

    def run(self, job: Job, assignment: Assignment) -> Record:
        """Run one episode; the record is on disk when this returns.

        Raises:
            StorageError: the disk refused; the episode will be run again by the next start.
            PolicyRefused: the policy needs more than the protocol grants.
        """
        record, trajectory = self.attempt(job, assignment)
        store(job, record, trajectory)
        return record

    def attempt(self, job: Job, assignment: Assignment) -> tuple[Record, Trajectory | None]:
        """Run one episode and score it; nothing is written. What happened is None where a fault cut it off.

        Raises:
            StorageError, PolicyRefused: as ``run``.
        """
        began = time.perf_counter()
        key, episode = assignment.key, assignment.episode
        if job != self._job:
            self.close()
            self._job = job
        trajectory: Trajectory | None = None
        try:
            record, trajectory = self._outcome(job, key, episode)
        except (StorageError, PolicyRefused):
            raise
        except Exception as error:
            if stems_from(error, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            record = failed_record(key, episode, job.policy, error)
            with suppress(Exception):
                add_report(record, self._policy)
            if record["error"].get("kind") == "timeout":
                # It was interrupted wherever it was: the next episode gets a fresh one.
                self.close()
        record["timing"] = {**record.get("timing", {}), "wall_s": round(time.perf_counter() - began, 3)}
        record |= {"rank": job.rank, "worker": self.number}
        return record, trajectory

    def close(self) -> None:
        """Release the policy; what it raises then changes nothing any more."""
        policy, self._policy, self._simulator = self._policy, None, None
        if policy is not None:
            with suppress(Exception):
                policy.close()

    def _outcome(self, job: Job, key: Key, episode: Episode) -> tuple[Record, Trajectory]:
        if self._policy is None:
            policy = create(job.policy)
            check_allowance(policy.spec, job.suite.track, job.allow_privileged)
            self._policy = policy
        policy, simulator = self._policy, self._simulator_for(job, episode.world, self._policy.spec)
        if isinstance(policy, Privileged):
            policy.attach(simulator, episode)
        seed = derive_seed(job.suite.seed, key.world, key.episode, key.repeat, "policy") % 2**63
        with self._in_time(job, policy) as decider:
            rollout = run_episode(simulator, decider, episode, key=key.slug(), seed=seed, timing=timing_mode(job.timing))
        beyond = sorted(policy.spec.beyond(job.suite.track))
        context = scoring_context(simulator.annotations, simulator.body, simulator.space)
        record = scored(key, job.policy, beyond, episode, rollout.trajectory, context, job.measures)
        slowest_s = max(rollout.decisions_s, default=0.0)
        record["timing"] = {"policy_s": round(rollout.policy_s, 3), "simulator_s": round(rollout.simulator_s, 3), "slowest_decision_s": round(slowest_s, 4)}
        add_report(record, policy)
        if "agent" in record:
            mark_verifications(record["agent"], Evaluation(episode, rollout.trajectory, context))
        return record, rollout.trajectory

    def _in_time(self, job: Job, policy: Policy) -> AbstractContextManager[Policy]:
        """The policy, under the job's limit on every decision if it has one."""
        if job.policy_timeout_s is None:
            return nullcontext(policy)
        return closing(Punctual(policy, job.policy_timeout_s, last_words_of(job.run_folder, job.rank, self.number) if self._killable else None))

    def _simulator_for(self, job: Job, world_id: str, spec: PolicySpec) -> Simulator:
        site = self._site_at(job.worlds[world_id], job.suite.embodiment)
        if self._simulator is None or self._simulator.world is not site.world:
            self._simulator = Simulator(
                site.world,
                embodiment(site.embodiment),
                space=site.space,
                renderer=site.renderer,
                track=job.suite.track,
                needs=spec.needs,
                image_size=spec.image_size,
                cameras=spec.cameras,
                keeps_cameras=spec.keeps_cameras,
                actions=job.suite.actions.space(),
                robot=job.suite.robot(site.world, site.space),
            )
        return self._simulator

    def _site_at(self, folder: Path, name: str) -> _Site:
        if self._site is None or (self._site.folder, self._site.embodiment) != (folder, name):
            # One world at a time: a block's space and renderer are hundreds of megabytes.
            self._site = self._simulator = None
            world = load(folder)
            self._site = _Site(folder, name, world, cached_space(world, embodiment(name), folder), renderer_of(world))
        return self._site


def store(job: Job, record: Record, trajectory: Trajectory | None) -> None:
    """Put an episode on disk: what happened first, so that no record ever lacks it.

    Raises:
        StorageError: the disk refused; the episode will be run again by the next start.
    """
    if trajectory is not None:
        path = job.run_folder / "trajectories" / f"{Key.of(record).slug()}.npz"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            trajectory.save(path)
            sync(path)
        except OSError as error:
            path.with_suffix(".tmp.npz").unlink(missing_ok=True)
            raise storage_error(error, path) from error
    RecordWriter(job.run_folder, job.rank, record["worker"]).append(record)


def check_allowance(spec: PolicySpec, track: str, allow_privileged: bool) -> None:
    """Refuse a policy that needs more than the protocol grants, unless that was asked for.

    Raises:
        PolicyRefused: naming what goes beyond the track.
    """
    beyond = spec.beyond(track)
    if beyond and not allow_privileged:
        raise PolicyRefused(
            f"policy {spec.name!r} needs more than track {track!r} grants",
            why=f"it asks for {', '.join(sorted(beyond))}; the track grants {', '.join(sorted(TRACKS[track]))}",
            next_step="add --allow-privileged to run it anyway: every record and table will carry the stamp",
        )


def failed_record(key: Key, episode: Episode, policy: str, error: Exception) -> Record:
    """The record of an episode that a fault of policy, harness or simulator cut off: an error, not a failure."""
    where = "policy" if isinstance(error, PolicyFault | PolicyFailure) else "harness"
    failure = error if isinstance(error, PolicyFailure) else error.__cause__
    trace = "" if isinstance(error, UserError) and not isinstance(error, PolicyFault) else "".join(traceback.format_exception(error))[-4000:]
    fault = {"where": where, "type": type(error.__cause__ or error).__name__, "message": str(error), "traceback": trace}
    if isinstance(failure, PolicyFailure):
        fault |= {"kind": failure.kind, "traceback": ""}
    return {
        "key": key.as_dict(),
        "task": episode.task,
        "difficulty": episode.difficulty,
        "scene": episode.scene,
        "phrased": episode.phrased,
        "policy": policy,
        "privileged": [],
        "status": "error",
        "reason": "error",
        "error": fault,
        "stages": len(episode.stages),
        "completed": 0,
        "stage_outcomes": [],
        "measures": {},
        "unscored": {},
        "labels": [],
        "reference_length_m": episode.reference.length_m if episode.reference else None,
        "question": question(episode),
    }
