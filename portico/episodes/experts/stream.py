"""Streams experts into NavArena's data. A run that was killed goes on where it was, to the same bytes.

Experts come block after block in a fixed order, so that a position is the number of a block. The checkpoint beside the data is
written after a chunk is, and says which block was being worked on; what of it lies on disk already is made again and skipped.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from portico.episodes.experts.workshop import Source, Workshop, blocks_from
from portico.episodes.navarena.chunks import CHUNK_SIZE, EPISODES_FILE, read_table
from portico.episodes.navarena.convert import TASK_TYPES, scene_meta
from portico.episodes.navarena.metadata import INFO, read_meta, register, write_meta
from portico.episodes.navarena.rows import EPISODES
from portico.episodes.navarena.writer import TrajectoryWriter
from portico.errors import EpisodeError
from portico.tasks.episode import TASK_STAGES
from portico.tasks.predicates import DEFAULT_RADIUS_M

Watch = Callable[[int, int, Counter[str]], None]


class Checkpoint(BaseModel):
    """Where a run is: at the beginning of a block, before which so many experts were made and so many questions rejected.

    Attributes:
        of: what the experts are made of; another seed or robot must not go on in their folder.
        rejected_since: the same, the block's own rejections included; to be told, not to be gone on from.
    """

    of: dict[str, Any]
    block: int = 0
    episodes: int = 0
    rejected: dict[str, int] = {}
    rejected_since: dict[str, int] = {}


@dataclass(frozen=True)
class Summary:
    """What a run left.

    Attributes:
        folder: of the task. made: experts of this run. total: experts in the folder. hours: of navigation, all together.
        rejected: questions that fell out, by reason. seconds: that this run took. exhausted: every question has been asked.
    """

    folder: Path
    made: int
    total: int
    hours: float
    rejected: dict[str, int]
    seconds: float
    exhausted: bool


def write_experts(
    source: Source,
    dataset: Path,
    count: int,
    *,
    workshop: Workshop | None = None,
    dataset_name: str = "portico",
    scene_path: str | None = None,
    split: str = "train",
    workers: int = 1,
    chunk_size: int = CHUNK_SIZE,
    now: datetime | None = None,
    watch: Watch = lambda *_: None,
) -> Summary:
    """Fill a task's folder of a dataset with so many experts, those that are there already included.

    Args:
        workshop: of the source, when it is open already. scene_path: group and scene, ``portico/{world}`` by default.
        watch: told (experts, experts wanted, questions rejected by reason) after every block.

    Raises:
        UnknownName: no such split.
        EpisodeError: the folder holds other episodes, or nothing could be made.
        StorageError: the disk refuses.
    """
    began, now = time.perf_counter(), now or datetime.now(UTC)
    workshop = workshop or Workshop.open(source)
    world = workshop.grounds.world
    scene_path = scene_path or f"portico/{world.id}"
    task_type = TASK_TYPES[source.task]
    folder = dataset / scene_path / task_type
    of = _of(source, workshop)
    path = folder / f".{split}_checkpoint.json"
    writer = TrajectoryWriter(
        folder,
        dataset_name=dataset_name,
        scene_path=scene_path,
        task_type=task_type,
        split=split,
        chunk_size=chunk_size,
        checkpoint=chunk_size,
        run={"tool": "portico", "made": "experts", **of, "success_distance": DEFAULT_RADIUS_M[TASK_STAGES[source.task][0]]},
        now=now,
    )
    there = writer.count
    run = _Run(writer, _resumed(path, of, there, folder), path, count, watch)
    exhausted = there < count and run.through(workshop, source, workers)
    if writer.count == 0:
        raise _nothing(world.id, run.rejected)
    if writer.count > there or not (folder / INFO).is_file():
        writer.close()
        register(dataset, dataset_name, scene_meta(world, scene_path, [task_type], now), now)
    run.keep()
    index = read_table(folder / "meta" / EPISODES_FILE, EPISODES)
    hours = sum(index.column("total_time").to_pylist()) / 3600.0
    return Summary(folder, writer.count - there, writer.count, hours, dict(run.rejected), time.perf_counter() - began, exhausted)


class _Run:
    """One run: takes blocks, writes what they hold, and remembers where it is."""

    def __init__(self, writer: TrajectoryWriter, at: Checkpoint, path: Path, count: int, watch: Watch) -> None:
        self._writer, self._at, self._path, self._count, self._watch = writer, at, path, count, watch
        self._saved = writer.saved
        self.rejected = Counter(at.rejected_since)

    def through(self, workshop: Workshop, source: Source, workers: int) -> bool:
        """Write experts until there are enough, False, or nothing is left to ask, True."""
        blocks = blocks_from(self._at.block, workshop, source, workers)
        try:
            for block in blocks:
                self.rejected = Counter(self._at.rejected) + block.rejected
                fresh = block.experts[max(0, self._writer.count - self._at.episodes) :]
                self._add(fresh[: self._count - self._writer.count])
                self._watch(self._writer.count, self._count, self.rejected)
                if self._writer.count >= self._count:
                    return False
                self._at = Checkpoint(
                    of=self._at.of, block=self._at.block + 1, episodes=self._at.episodes + len(block.experts), rejected=dict(sorted(self.rejected.items()))
                )
        except KeyboardInterrupt:
            self._writer.flush()
            self.keep()
            raise
        finally:
            blocks.close()
        return True

    def _add(self, experts: list[Any]) -> None:
        self._writer.add_all(experts)
        if self._writer.saved > self._saved:
            self._saved = self._writer.saved
            self.keep()

    def keep(self) -> None:
        """Write the checkpoint. What it counts lies on disk: it stands at the beginning of the block that is being written."""
        write_meta(self._at.model_copy(update={"rejected_since": dict(sorted(self.rejected.items()))}), self._path)


def _of(source: Source, workshop: Workshop) -> dict[str, Any]:
    asked = {"seed": source.seed} if source.episodes is None else {"episodes": hashlib.sha256(source.episodes.read_bytes()).hexdigest()[:16]}
    world = workshop.grounds.world
    return {"world": world.id, "world_hash": world.manifest.content_hash, "embodiment": source.robot, **asked, "limits": asdict(workshop.limits)}


def _resumed(path: Path, of: dict[str, Any], there: int, folder: Path) -> Checkpoint:
    """Where an earlier run was, or the beginning."""
    if not path.is_file():
        if there:
            raise EpisodeError("the folder holds episodes that are none of an experts' run", where=str(folder), next_step="choose another --out or --scene")
        fresh = Checkpoint(of=of)
        write_meta(fresh, path)
        return fresh
    found = read_meta(path, Checkpoint)
    for name in dict.fromkeys([*of, *found.of]):
        if of.get(name) != found.of.get(name):
            why = f"{found.of.get(name)!r}, not {of.get(name)!r}"
            raise EpisodeError(f"the folder holds experts of another {name}", where=str(folder), why=why, next_step="choose another --out or --scene")
    if there < found.episodes:
        # Chunks were taken away: what is missing is made again from the beginning.
        return Checkpoint(of=of)
    return found


def _nothing(world: str, rejected: Counter[str]) -> EpisodeError:
    why = "; ".join(f"{reason}: {n}" for reason, n in rejected.most_common()) or "there is nothing to ask for"
    return EpisodeError(
        "no expert could be made", where=world, why=why, next_step="choose a task that the world has the ground and objects for, or another robot"
    )
