"""Episode sets on disk: JSON, checked on load, written whole or not at all."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

from pydantic import ValidationError

from portico.errors import EpisodeError, StorageError
from portico.tasks.episode import EPISODES_SCHEMA, EpisodeSet


def save_episodes(episodes: EpisodeSet, path: Path) -> None:
    """Write an episode set.

    Raises:
        StorageError: the disk refused.
    """
    staging = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(episodes.model_dump(mode="json"), ensure_ascii=False, allow_nan=False, indent=1)
        staging.write_text(text + "\n", encoding="utf-8")
        staging.replace(path)
    except OSError as error:
        raise StorageError("the episodes could not be written", where=str(path), why=str(error), next_step="choose another --out") from error


def load_episodes(path: Path) -> EpisodeSet:
    """Read an episode set, gzipped or not whatever its name says.

    Raises:
        EpisodeError: missing, truncated, of another schema, or with the same id twice.
    """
    try:
        data = path.read_bytes()
        raw = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except FileNotFoundError as error:
        raise EpisodeError("there is no episode file", where=str(path), next_step="make one with `portico episodes generate`") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise EpisodeError("the episode file is truncated or damaged", where=str(path), why=str(error), next_step="generate it again") from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != EPISODES_SCHEMA:
        foreign = version is None and isinstance(raw, dict) and "episodes" in raw
        raise EpisodeError(
            "episode schema not supported",
            where=str(path),
            why=f"found {version!r}, expected {EPISODES_SCHEMA!r}",
            next_step="SatNav's files go through `portico episodes convert FILE --from satnav --world W --out E.json`" if foreign else "generate it again",
        )
    try:
        episodes = EpisodeSet.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{path}: {'.'.join(map(str, first['loc']))}"
        raise EpisodeError("an episode breaks the schema", where=where, why=first["msg"], next_step="mend the field, or make the file again") from error
    check_unique(episodes, str(path))
    return episodes


def check_unique(episodes: EpisodeSet, where: str) -> None:
    """Refuse two episodes of one identity, naming both positions.

    Raises:
        EpisodeError: duplicate ids.
    """
    first_at: dict[str, int] = {}
    for i, episode in enumerate(episodes.episodes):
        if episode.id in first_at:
            raise EpisodeError(
                f"duplicate episode id {episode.id!r}",
                where=f"{where}: episodes[{first_at[episode.id]}] and episodes[{i}]",
                why="records are kept by identity, so one of the two would be lost",
                next_step="rename one of them",
            )
        first_at[episode.id] = i
