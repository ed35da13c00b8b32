"""``manifest.json`` and ``labels.json``: what they must hold, as far as a world depends on it. Keys beyond that are left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from portico.build.faults import first_fault
from portico.errors import ImportFailed
from portico.world.semantics import Point3

SCHEMA_VERSION = "1.0"
MANIFEST, LABELS = "manifest.json", "labels.json"
_Model = TypeVar("_Model", bound=BaseModel)


class Source(BaseModel):
    """Where a scene came from; ``dataset`` and ``original_name`` make its id."""

    dataset: Annotated[str, Field(min_length=1)]
    subset: str | None = None
    original_id: str
    original_name: Annotated[str, Field(min_length=1)]
    url: str | None = None
    license: str | None = None


class Files(BaseModel):
    """Paths within the scene; None where there is no such file."""

    source_ply: str | None = None
    aligned_ply: str | None = "aligned.ply"
    nav_map: str | None = "nav_map.pgm"
    nav_map_config: str | None = "nav_map.yaml"
    nav_mask: str | None = None
    labels: str | None = None
    structure: str | None = None
    compressed_ply: str | None = None


class MapInfo(BaseModel):
    """The map's metres per pixel, the world position of its lower left corner, and its width and height in pixels."""

    resolution: Annotated[FiniteFloat, Field(gt=0)]
    origin: Point3
    size: tuple[int, int]


class NavRegion(BaseModel):
    """How much of the scene is valid, and how that was found out."""

    area_m2: FiniteFloat
    method: str
    params: dict[str, Any] = {}


class Processing(BaseModel):
    """What was done to the capture; ``extrinsic_matrix`` takes the source to the aligned one."""

    normalizer_version: str | None = None
    processed_at: str | None = None
    normalized: bool = True
    extrinsic_matrix: list[list[FiniteFloat]] | None = None
    steps: list[dict[str, Any]] = []


class Manifest(BaseModel):
    """``manifest.json``."""

    schema_version: Literal["1.0"]
    scene_id: Annotated[str, Field(pattern=r"^([0-9a-f]{8}|[0-9a-f]{12})$")]
    source: Source
    files: Files = Files()
    map_info: MapInfo | None = None
    nav_region: NavRegion | None = None
    processing: Processing | None = None
    tags: list[str] = []
    created_at: str | None = None
    updated_at: str | None = None


class Box(BaseModel):
    """A box along the axes."""

    min: Point3
    max: Point3


class Label(BaseModel):
    """One thing of the scene."""

    instance_id: int | str
    category: str
    position: Point3
    bounding_box: Box | None = None
    confidence: FiniteFloat = 1.0
    source: str = "ground_truth"


class Labels(BaseModel):
    """``labels.json``."""

    schema_version: Literal["1.0"]
    labels: list[Label]


def read_json(path: Path, model: type[_Model]) -> _Model:
    """A checked JSON file.

    Raises:
        ImportFailed: naming the file and the field that is missing, impossible or of another schema version.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = error.strerror or str(error)
        raise ImportFailed(f"{path.name} cannot be opened", where=str(path), why=why, next_step="give the folder of one NavArena scene") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ImportFailed(f"{path.name} is cut short or damaged", where=str(path), why=str(error), next_step="export the scene again") from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise ImportFailed(
            f"{path.name} is of a schema that is not supported",
            where=f"{path}: schema_version",
            why=f"found {version!r}, expected {SCHEMA_VERSION!r}",
            next_step="migrate the scene to version 1.0",
        )
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        field, why = first_fault(error)
        raise ImportFailed(f"{path.name} breaks its schema", where=f"{path}: {field}", why=why, next_step=f"mend {field}") from error
