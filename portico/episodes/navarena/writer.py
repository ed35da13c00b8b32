"""``TrajectoryWriter``: episodes and trajectories go into chunks as they are made, and a stopped run goes on where it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from portico.episodes.navarena.chunks import (
    CHUNK_SIZE,
    EPISODES_FILE,
    TRAJECTORIES_FILE,
    chunk_folder,
    chunk_folders,
    episode_id,
    index_of,
    read_table,
    read_trajectories,
    write_table,
)
from portico.episodes.navarena.metadata import INFO, Info, read_meta, stamp, write_meta
from portico.episodes.navarena.rows import SPLITS, TRAJECTORIES, EpisodeRow, Trajectory, episode_schema, record, trajectory_table
from portico.errors import EpisodeError, UnknownName

_CHECKPOINT = 50
#: A folder of a scene's path: no way up, no root.
_NAME = re.compile(r"(?!\.+$)[^/\\:\0]+")


class TrajectoryWriter:
    """Writes one task of one scene. Use it as a context manager, or call ``close`` at the end.

    What lies on disk is whole at any time: the chunk being filled is written again every ``checkpoint`` episodes, trajectories
    before episodes. A writer that opens a folder with episodes in it goes on after the highest id; a last chunk that a killed
    writer left half-written is taken up to its last whole episode and written again.

    Args:
        task: the task's folder, ``{dataset}/{scene_path}/{task_type}``; made when absent.
        run: a record of how these episodes were made, for ``generation_runs``.
        now: the time that the files state.

    Raises:
        UnknownName: no such split.
        EpisodeError: the scene's path leaves the dataset, or the folder holds damaged chunks before the last, or episodes of another scene or chunk size.
    """

    def __init__(
        self,
        task: Path | str,
        *,
        dataset_name: str,
        scene_path: str,
        task_type: str,
        split: str,
        chunk_size: int = CHUNK_SIZE,
        checkpoint: int = _CHECKPOINT,
        run: dict[str, Any] | None = None,
        now: datetime | None = None,
    ) -> None:
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        if not all(_NAME.fullmatch(part) for part in scene_path.split("/")):
            raise EpisodeError(
                f"{scene_path!r} is no path of a scene",
                where="--scene",
                why="it would lie outside of the dataset",
                next_step="write GROUP/SCENE, e.g. mine/home",
            )
        self._task, self._place = Path(task), {"scene_path": scene_path, "task_type": task_type, "split": split}
        self._schema, self._size, self._checkpoint = episode_schema(task_type), chunk_size, checkpoint
        started = stamp(now or datetime.now(UTC))
        self._info = self._opened(dataset_name, started)
        if run is not None:
            self._info = self._info.model_copy(update={"generation_runs": [*self._info.generation_runs, run | {"date": started}]})
        self._chunk, self._episodes, self._trajectories = self._last_chunk()
        self._next = 1 + max((index_of(name) for name in self._ids()), default=-1)
        self._rows: list[dict[str, Any]] = []
        self._driven: dict[str, Trajectory] = {}

    @property
    def next_id(self) -> str:
        """The id that the next episode gets."""
        return episode_id(self._place["split"], self._next)

    @property
    def count(self) -> int:
        """How many episodes the task holds."""
        return self._chunk * self._size + self._in_chunk

    @property
    def saved(self) -> int:
        """How many of them lie on disk."""
        return self.count - len(self._rows)

    @property
    def _in_chunk(self) -> int:
        return len(self._episodes) + len(self._rows)

    def add(self, row: EpisodeRow, trajectory: Trajectory | None = None) -> str:
        """Append an episode, with what the expert did when that is known; returns its id."""
        return self.add_all([(row, trajectory)])[0]

    def add_all(self, episodes: Sequence[tuple[EpisodeRow, Trajectory | None]]) -> list[str]:
        """Append many episodes, which is faster than one by one; returns their ids."""
        names: list[str] = []
        while len(names) < len(episodes):
            room = min(self._size - self._in_chunk, self._checkpoint - len(self._rows))
            names += self._take(episodes[len(names) : len(names) + room])
        return names

    def _take(self, episodes: Sequence[tuple[EpisodeRow, Trajectory | None]]) -> list[str]:
        """Append episodes that the chunk has room for, and write it when it is time."""
        split = self._place["split"]
        names = [episode_id(split, self._next + k) for k in range(len(episodes))]
        for name, (row, trajectory) in zip(names, episodes, strict=True):
            self._rows.append(record(row, trajectory, episode_id=name, chunk_index=self._chunk, **self._place))
            if trajectory is not None:
                self._driven[name] = trajectory
        self._next += len(episodes)
        full = self._in_chunk >= self._size
        if full or len(self._rows) >= self._checkpoint:
            self.flush()
        if full:
            self._chunk, self._episodes, self._trajectories = self._chunk + 1, self._schema.empty_table(), TRAJECTORIES.empty_table()
        return names

    def flush(self) -> None:
        """Write the chunk being filled.

        Raises:
            StorageError: the disk refuses.
        """
        if not self._rows:
            return
        folder = chunk_folder(self._task, self._chunk)
        self._episodes = _joined(self._episodes, pa.Table.from_pylist(self._rows, schema=self._schema))
        if self._driven:
            self._trajectories = _joined(self._trajectories, trajectory_table(list(self._driven), list(self._driven.values())))
        write_table(self._trajectories, folder / TRAJECTORIES_FILE)
        write_table(self._episodes, folder / EPISODES_FILE)
        self._rows, self._driven = [], {}

    def close(self) -> Info:
        """Write what is left, the merged index and ``meta/info.json``; returns the latter."""
        self.flush()
        tables = [read_table(path / EPISODES_FILE, self._schema).select(self._schema.names) for path in chunk_folders(self._task).values()]
        index = pa.concat_tables([self._schema.empty_table(), *tables])
        write_table(index, self._task / "meta" / EPISODES_FILE)
        self._info = self._info.model_copy(update={"num_episodes": len(index), "num_chunks": len(tables)})
        write_meta(self._info, self._task / INFO)
        return self._info

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _opened(self, dataset_name: str, started: str) -> Info:
        """What the folder says of itself, or what a new one will say."""
        fresh = Info(dataset_name=dataset_name, **self._place, num_episodes=0, num_chunks=0, chunk_size=self._size, created_date=started)
        if not (self._task / INFO).is_file():
            return fresh
        found = read_meta(self._task / INFO, Info)
        for name in ("scene_path", "task_type", "split", "chunk_size"):
            if getattr(found, name) != getattr(fresh, name):
                raise EpisodeError(
                    f"the folder holds episodes of another {name}",
                    where=f"{self._task / INFO}: {name}",
                    why=f"{getattr(found, name)!r}, not {getattr(fresh, name)!r}",
                    next_step="choose another folder",
                )
        return found

    def _last_chunk(self) -> tuple[int, Any, Any]:
        """Number, episodes and trajectories of the chunk to go on with."""
        folders, empty = chunk_folders(self._task), (self._schema.empty_table(), TRAJECTORIES.empty_table())
        if not folders:
            return 0, *empty
        number = max(folders)
        for k in range(number):
            whole = read_table(folders.get(k, chunk_folder(self._task, k)) / EPISODES_FILE, self._schema)
            if len(whole) != self._size:
                raise EpisodeError(
                    "a chunk before the last is not full",
                    where=str(folders[k]),
                    why=f"{len(whole)} of {self._size} episodes",
                    next_step="choose another folder",
                )
        try:
            episodes = read_table(folders[number] / EPISODES_FILE, self._schema).select(self._schema.names)
            steps = read_trajectories(folders[number] / TRAJECTORIES_FILE).select(TRAJECTORIES.names)
        except EpisodeError:
            return number, *empty
        episodes, steps = _agreeing(episodes, steps)
        if len(episodes) == self._size:
            return number + 1, *empty
        return number, episodes, steps

    def _ids(self) -> list[str]:
        names: list[str] = self._episodes.column("episode_id").to_pylist()
        if self._chunk and not names:
            last = chunk_folders(self._task)[self._chunk - 1]
            names = read_table(last / EPISODES_FILE, self._schema).column("episode_id").to_pylist()
        return names


def _joined(before: Any, after: Any) -> Any:
    """Both tables in one piece, so that the bytes do not depend on how the episodes came."""
    return pa.concat_tables([before, after]).combine_chunks() if len(before) else after


def _agreeing(episodes: Any, steps: Any) -> tuple[Any, Any]:
    """Episodes whose trajectories are whole, and the trajectories of those."""
    ids = steps.column("episode_id").combine_chunks()
    counted = {entry["values"]: entry["counts"] for entry in pc.value_counts(ids).to_pylist()}
    wanted = zip(episodes.column("episode_id").to_pylist(), episodes.column("num_steps").to_pylist(), strict=True)
    whole = [counted.get(name, 0) == (count or 0) for name, count in wanted]
    episodes = episodes.filter(pa.array(whole, pa.bool_()))
    return episodes, steps.filter(pc.is_in(ids, value_set=episodes.column("episode_id").combine_chunks()))
