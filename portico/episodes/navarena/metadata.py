"""``dataset_meta.json``, ``scene_meta.json`` and ``meta/info.json``."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from portico.episodes.navarena.rows import FORMAT_VERSION
from portico.errors import EpisodeError
from portico.world.whole_file import whole_file

DATASET_META, SCENE_META, INFO = "dataset_meta.json", "scene_meta.json", "meta/info.json"
_Model = TypeVar("_Model", bound=BaseModel)


class DatasetMeta(BaseModel):
    """What a dataset holds."""

    dataset_name: str
    format_version: str = FORMAT_VERSION
    created_date: str
    updated_date: str
    scene_ids: list[str] = []
    scene_paths: list[str] = []
    task_types: list[str] = []


class SceneMeta(BaseModel):
    """What a scene holds; areas in square metres."""

    scene_id: str
    scene_path: str
    navigable_area: float = 0.0
    num_objects: int = 0
    task_types: list[str] = []
    created_date: str
    updated_date: str
    source: dict[str, Any] = {}


class Info(BaseModel):
    """What a task's folder holds. The shape of a run's record is not part of the format."""

    dataset_name: str
    scene_path: str
    task_type: str
    split: str
    num_episodes: int
    num_chunks: int
    chunk_size: int
    format_version: str = FORMAT_VERSION
    created_date: str
    generation_runs: list[dict[str, Any]] = []


def stamp(now: datetime) -> str:
    """A time as the format writes it."""
    return now.strftime("%Y-%m-%d %H:%M:%S")


def write_meta(model: BaseModel, path: Path) -> None:
    """Write one of the files, whole or not at all."""
    with whole_file(path) as file:
        file.write((json.dumps(model.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def read_meta(path: Path, model: type[_Model]) -> _Model:
    """Read one of the files.

    Raises:
        EpisodeError: missing, damaged, of another format version, or a field breaks the format.
    """
    try:
        found = model.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise EpisodeError(f"{path.name} is missing", where=str(path), next_step="give a dataset's, scene's or task's folder in NavArena's format") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise EpisodeError(f"{path.name} is cut short or damaged", where=str(path), why=str(error), next_step="copy or generate it again") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise EpisodeError(f"{path.name} breaks the format", where=f"{path}: {'.'.join(map(str, first['loc']))}", why=first["msg"]) from error
    version = getattr(found, "format_version", FORMAT_VERSION)
    if version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
        raise EpisodeError("this version of the format is not supported", where=f"{path}: format_version", why=f"found {version}, expected {FORMAT_VERSION}")
    return found


def register(dataset: Path, dataset_name: str, scene: SceneMeta, now: datetime) -> None:
    """Note a scene and its tasks in the dataset's and the scene's files, beside what they note already."""
    folder = dataset / scene.scene_path
    if (folder / SCENE_META).is_file():
        before = read_meta(folder / SCENE_META, SceneMeta)
        kept = {"created_date": before.created_date, "task_types": _union(before.task_types, scene.task_types)}
        scene = scene.model_copy(update=kept)
    if (dataset / DATASET_META).is_file():
        known = read_meta(dataset / DATASET_META, DatasetMeta)
    else:
        known = DatasetMeta(dataset_name=dataset_name, created_date=stamp(now), updated_date=stamp(now))
    noted = {
        "updated_date": stamp(now),
        "scene_ids": _union(known.scene_ids, [scene.scene_id]),
        "scene_paths": _union(known.scene_paths, [scene.scene_path]),
        "task_types": _union(known.task_types, scene.task_types),
    }
    write_meta(scene, folder / SCENE_META)
    write_meta(known.model_copy(update=noted), dataset / DATASET_META)


def _union(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))
