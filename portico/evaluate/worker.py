"""Carries out single episodes: keeps worlds and simulators warm, turns every outcome into a record."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from portico.errors import PolicyRefused, StorageError, UserError
from portico.evaluate.episode import PolicyFault, run_episode
from portico.evaluate.records import Key, Record, RecordWriter, storage_error
from portico.evaluate.scoring import scored, scoring_context
from portico.interface import TRACKS, Policy, PolicySpec
from portico.policies import create
from portico.policies.privileged import Privileged
from portico.robots import embodiment
from portico.seeding import derive_seed
from portico.sim import Simulator
from portico.space import cached_space
from portico.suites import Suite
from portico.tasks.episode import Episode
from portico.world import load


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know; travels to other processes and machines as it is."""

    run_folder: Path
    suite: Suite
    policy: str
    worlds: dict[str, Path]
    allow_privileged: bool = False
    measures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """One episode to run."""

    key: Key
    episode: Episode


@dataclass
class Worker:
    """Runs assignments one after the other and writes a record for each."""

    job: Job
    rank: int
    _simulators: dict[str, Simulator] = field(default_factory=dict)
    _policy: Policy | None = None

    def run(self, assignment: Assignment) -> Record:
        """Run one episode; the record is on disk when this returns.

        Raises:
            StorageError: the disk refused; the episode will be run again by the next start.
        """
        began = time.perf_counter()
        key, episode = assignment.key, assignment.episode
        try:
            record = self._outcome(key, episode)
        except (StorageError, PolicyRefused, KeyboardInterrupt):
            raise
        except Exception as error:
            record = failed_record(key, episode, self.job.policy, error)
        record["timing"] = {**record.get("timing", {}), "wall_s": round(time.perf_counter() - began, 3)}
        record["rank"] = self.rank
        RecordWriter(self.job.run_folder, self.rank).append(record)
        return record

    def close(self) -> None:
        """Release the policy."""
        if self._policy is not None:
            self._policy.close()

    def _outcome(self, key: Key, episode: Episode) -> Record:
        policy = self._ready_policy()
        simulator = self._simulator(episode.world, policy.spec)
        if isinstance(policy, Privileged):
            policy.attach(simulator, episode)
        seed = derive_seed(self.job.suite.seed, key.world, key.episode, key.repeat, "policy") % 2**63
        rollout = run_episode(simulator, policy, episode, key=key.slug(), seed=seed)
        path = self.job.run_folder / "trajectories" / f"{key.slug()}.npz"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            rollout.trajectory.save(path)
        except OSError as error:
            raise storage_error(error, path) from error
        beyond = sorted(policy.spec.beyond(self.job.suite.track))
        context = scoring_context(simulator.annotations, simulator.body, simulator.space)
        record = scored(key, self.job.policy, beyond, episode, rollout.trajectory, context, self.job.measures)
        record["timing"] = {"policy_s": round(rollout.policy_s, 3), "simulator_s": round(rollout.simulator_s, 3)}
        return record

    def _ready_policy(self) -> Policy:
        if self._policy is None:
            self._policy = create(self.job.policy)
            check_allowance(self._policy.spec, self.job.suite.track, self.job.allow_privileged)
        return self._policy

    def _simulator(self, world_id: str, spec: PolicySpec) -> Simulator:
        if world_id not in self._simulators:
            suite = self.job.suite
            # One world at a time: a block's space and renderer are hundreds of megabytes.
            self._simulators.clear()
            folder, body = self.job.worlds[world_id], embodiment(suite.embodiment)
            world = load(folder)
            self._simulators[world_id] = Simulator(
                world,
                body,
                space=cached_space(world, body, folder),
                track=suite.track,
                needs=spec.needs,
                image_size=spec.image_size,
                actions=suite.actions.space(),
                slide=suite.actions.slide,
            )
        return self._simulators[world_id]


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
    where = "policy" if isinstance(error, PolicyFault) else "harness"
    trace = "" if isinstance(error, UserError) and not isinstance(error, PolicyFault) else "".join(traceback.format_exception(error))[-4000:]
    fault = {"where": where, "type": type(error.__cause__ or error).__name__, "message": str(error), "traceback": trace}
    return {
        "key": key.as_dict(),
        "task": episode.task,
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
    }
