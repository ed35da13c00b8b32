"""What is to be run, in which order, and whose share of it: the same list on every rank and at every restart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portico.errors import EpisodeError, SuiteError
from portico.evaluate.records import Key, Record, scan
from portico.seeding import generator
from portico.suites import Suite
from portico.tasks.episode import Episode

if TYPE_CHECKING:
    from portico.evaluate.prepare import Prepared


@dataclass(frozen=True)
class Assignment:
    """One episode to run."""

    key: Key
    episode: Episode


@dataclass(frozen=True)
class Shard:
    """One rank's share of a run: every ``world_size``-th episode of its order, from the ``rank``-th on."""

    rank: int = 0
    world_size: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.world_size:
            raise SuiteError(
                "there is no such rank",
                where=f"--rank {self.rank} --world-size {self.world_size}",
                next_step=f"ranks count from 0 to {max(self.world_size, 1) - 1}; in a job array give its index and the number of its tasks",
            )

    def of(self, keys: Sequence[Key]) -> list[Key]:
        """The rank's own."""
        return list(keys[self.rank :: self.world_size])


def plan_of(suite: Suite, prepared: Iterable[Prepared], repeats: int) -> dict[Key, Assignment]:
    """Every episode of a run, by identity, in the order of the suite.

    Raises:
        EpisodeError: two episodes of one identity, or two whose trajectories would share a file.
    """
    plan: dict[Key, Assignment] = {}
    files: dict[str, Key] = {}
    kept = list(prepared)
    for repeat in range(repeats):
        for p in kept:
            for episode in p.episodes.episodes:
                key = Key(suite.name, suite.split, p.episodes.world, episode.id, repeat)
                other = files.setdefault(key.slug().casefold(), key)
                if key in plan or other != key:
                    why = "" if other == key else f"the trajectory of {other} has the same file name"
                    raise EpisodeError("two episodes of a run have one identity", where=str(key), why=why, next_step="give each episode of a world its own id")
                plan[key] = Assignment(key, episode)
    return plan


def dealt(keys: Sequence[Key], shuffle: int | None) -> list[Key]:
    """The order in which ranks are dealt: the suite's, or one shuffled by a seed, so that no rank gets all that is hard."""
    if shuffle is None:
        return list(keys)
    return [keys[i] for i in generator("order of a run", shuffle).permutation(len(keys))]


def question(episode: Episode) -> str:
    """Digest of all that an episode asks: records of equal questions may be compared and kept, others not."""
    return hashlib.sha256(json.dumps(episode.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]


def selection(plan: Mapping[Key, Assignment]) -> str:
    """Digest of what a plan asks, whatever its order."""
    digest = hashlib.sha256()
    for key in sorted(plan):
        digest.update(f"{key!r} {question(plan[key].episode) if key.repeat == 0 else ''}\n".encode())
    return digest.hexdigest()[:32]


def tries(run_folder: Path) -> dict[Key, int]:
    """How often each episode has ended in an error."""
    counts: dict[Key, int] = {}
    for line in scan(run_folder):
        if line.record is not None and line.record["status"] == "error":
            key = Key.of(line.record)
            counts[key] = counts.get(key, 0) + 1
    return counts


def settled(run_folder: Path, plan: Mapping[Key, Assignment], records: Mapping[Key, Record], retries: int) -> set[Key]:
    """Episodes that are not run again: those with an outcome and its trajectory, and errors that were retried often enough.

    Raises:
        SuiteError: a record answers another question than the one of its name in the plan.
    """
    done: set[Key] = set()
    errors = tries(run_folder)
    folder = run_folder / "trajectories"
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    for key, record in records.items():
        if key not in plan:
            continue
        if record.get("question") not in (None, question(plan[key].episode)):
            raise SuiteError(
                "the folder holds answers to other questions",
                where=f"{run_folder}: {key}",
                why="an episode of this name was another one when it was run",
                next_step="choose another --out",
            )
        given_up = record["status"] == "error" and errors[key] > retries
        if given_up or (record["status"] != "error" and f"{key.slug()}.npz" in there):
            done.add(key)
    return done
