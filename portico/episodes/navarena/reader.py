"""Reads a task's folder: its episodes chunk by chunk, and the trajectory of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from portico.episodes.navarena.chunks import EPISODES_FILE, TRAJECTORIES_FILE, chunk_folders, read_table, read_trajectories
from portico.episodes.navarena.metadata import DATASET_META, INFO, SCENE_META, DatasetMeta, Info, SceneMeta, read_meta
from portico.episodes.navarena.rows import EPISODES, Trajectory, yaw_of
from portico.errors import EpisodeError

_NUMBERS = (
    "timestamp",
    *(f"position_{a}" for a in ("x", "y", "z")),
    *(f"rotation_{a}" for a in ("qx", "qy", "qz", "qw")),
    "linear_velocity_x",
    "linear_velocity_y",
    "angular_velocity",
)


@dataclass(frozen=True)
class TaskData:
    """A task of a scene: its folder, what it says of itself, and its episodes as plain records in the order of the chunks."""

    folder: Path
    info: Info
    rows: tuple[dict[str, Any], ...]


def task_folders(folder: Path | str) -> list[Path]:
    """The tasks below a dataset's, a scene's or a task's folder.

    Raises:
        EpisodeError: there are none.
    """
    folder = Path(folder)
    found = [folder] if (folder / INFO).is_file() else sorted(path.parent.parent for path in folder.rglob(INFO))
    if not found:
        raise EpisodeError(
            "there are no episodes in NavArena's format", where=str(folder), why=f"no {INFO} lies there or below", next_step="give a dataset's folder"
        )
    return found


def read_task(task: Path | str) -> TaskData:
    """Read a task's episodes. Chunk numbers have three digits or more; without chunks the merged index counts.

    Raises:
        EpisodeError: a file is missing or damaged, a column is missing, or an id appears twice.
    """
    task = Path(task)
    info = read_meta(task / INFO, Info)
    for parent in task.parents:
        if (parent / SCENE_META).is_file():
            read_meta(parent / SCENE_META, SceneMeta)
        if (parent / DATASET_META).is_file():
            read_meta(parent / DATASET_META, DatasetMeta)
            break
    files = [path / EPISODES_FILE for path in chunk_folders(task).values()] or [task / "meta" / EPISODES_FILE]
    rows: list[dict[str, Any]] = []
    for file in files:
        rows += read_table(file, EPISODES).to_pylist()
    seen: set[str] = set()
    for row in rows:
        if row["episode_id"] in seen:
            raise EpisodeError(f"duplicate episode id {row['episode_id']!r}", where=str(task), next_step="generate the episodes again")
        seen.add(row["episode_id"])
    return TaskData(task, info, tuple(rows))


def read_trajectory(data: TaskData, episode_id: str) -> Trajectory | None:
    """What the expert did in an episode; None where nothing is stored.

    Raises:
        EpisodeError: no such episode, or its chunk is damaged.
    """
    chunk = next((row["chunk_index"] for row in data.rows if row["episode_id"] == episode_id), None)
    if chunk is None:
        raise EpisodeError(f"there is no episode {episode_id!r}", where=str(data.folder))
    return dict(_chunk_trajectories(data, chunk, [episode_id])).get(episode_id)


def all_trajectories(data: TaskData) -> dict[str, Trajectory]:
    """What the expert did in every episode that it is stored for.

    Raises:
        EpisodeError: as ``read_trajectory``.
    """
    found: dict[str, Trajectory] = {}
    for chunk in dict.fromkeys(row["chunk_index"] for row in data.rows):
        found |= dict(_chunk_trajectories(data, chunk, [row["episode_id"] for row in data.rows if row["chunk_index"] == chunk]))
    return found


def _chunk_trajectories(data: TaskData, chunk: int, names: list[str]) -> Iterator[tuple[str, Trajectory]]:
    folder = chunk_folders(data.folder).get(chunk)
    if folder is None or not (folder / TRAJECTORIES_FILE).is_file():
        return
    table = read_trajectories(folder / TRAJECTORIES_FILE)
    table = table.filter(pc.is_in(table.column("episode_id"), value_set=pa.array(names, pa.string())))
    table = table.sort_by([("episode_id", "ascending"), ("step", "ascending")])
    ids = table.column("episode_id").to_numpy()
    values = np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in _NUMBERS])
    if len(ids) == 0:
        return
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    for rows, name in zip(np.split(values, starts[1:]), ids[starts], strict=True):
        try:
            yaw = [yaw_of(*turn) for turn in rows[:, 4:8]]
            yield str(name), Trajectory(rows[:, 0], np.column_stack([rows[:, 1:4], yaw]), rows[:, 8:])
        except ValueError as error:
            raise EpisodeError("a trajectory makes no sense", where=f"{folder / TRAJECTORIES_FILE}: {name}", why=str(error)) from error
