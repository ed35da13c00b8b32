"""Chunk files: where they lie, how they are written whole, and how they are read with reasons when they cannot be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portico.episodes.navarena.rows import TRAJECTORIES
from portico.errors import EpisodeError
from portico.world.whole_file import whole_file

CHUNK_SIZE = 1000
EPISODES_FILE, TRAJECTORIES_FILE = "episodes.parquet", "trajectories.parquet"
#: Early data has three digits, later six.
_CHUNK = re.compile(r"chunk-(\d{3,})")
_ID = re.compile(r"(.+)_(\d+)")


def chunk_folder(task: Path, number: int) -> Path:
    """Where a chunk is written."""
    return task / "data" / f"chunk-{number:06d}"


def chunk_folders(task: Path) -> dict[int, Path]:
    """The chunks that are there, by number."""
    found = {int(match[1]): path for path in sorted(task.glob("data/chunk-*")) if (match := _CHUNK.fullmatch(path.name))}
    return dict(sorted(found.items()))


def episode_id(split: str, index: int) -> str:
    """``train_000042``."""
    return f"{split}_{index:06d}"


def index_of(name: str) -> int:
    """The number in an episode's id, -1 where it has none."""
    match = _ID.fullmatch(name)
    return int(match[2]) if match else -1


def write_table(table: Any, path: Path) -> None:
    """Write a Parquet file, whole or not at all.

    Raises:
        StorageError: the disk refuses.
    """
    with whole_file(path) as file:
        # Measured numbers hardly repeat, and nobody looks rows up by them: dictionaries of them and their extremes quadruple the time.
        kinds = {field.name: field.type for field in table.schema}
        texts = [name for name, kind in kinds.items() if pa.types.is_string(kind)]
        exact = [name for name, kind in kinds.items() if not pa.types.is_floating(kind)]
        pq.write_table(table, file, use_dictionary=texts, write_statistics=exact)


def read_table(path: Path, schema: Any) -> Any:
    """A table with at least the schema's columns, in its types; columns beyond them are kept.

    Raises:
        EpisodeError: missing or damaged, or a column is missing or of another kind.
    """
    try:
        table = pq.read_table(path)
    except FileNotFoundError as error:
        raise EpisodeError("a part of the data is missing", where=str(path), next_step="copy the task's folder again, whole") from error
    except (OSError, pa.ArrowException) as error:
        raise EpisodeError("a part of the data is cut short or damaged", where=str(path), why=str(error), next_step="copy or generate it again") from error
    for field in schema:
        if field.name not in table.column_names:
            raise EpisodeError(f"the column {field.name} is missing", where=str(path), why=f"there are {', '.join(table.column_names)}")
        at = table.column_names.index(field.name)
        try:
            table = table.set_column(at, field, table.column(at).cast(field.type))
        except pa.ArrowException as error:
            raise EpisodeError(f"the column {field.name} is of another kind", where=str(path), why=f"{error}; expected {field.type}") from error
    return table


def read_trajectories(path: Path) -> Any:
    """The table of a chunk's trajectories."""
    return read_table(path, TRAJECTORIES)
