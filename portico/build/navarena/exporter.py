"""``export_navarena``: a world becomes a scene folder that NavArena's tools read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.build.captures import gaussians_of
from portico.build.navarena.assets import NAV_MASK, scene_id
from portico.build.navarena.kept_map import kept_map
from portico.build.navarena.labels import labels_of
from portico.build.navarena.schema import LABELS, MANIFEST, SCHEMA_VERSION
from portico.build.rosmap import MapGrid, OccupancyMap, grid_around, occupancy_of
from portico.build.rosmap.write import write_pgm, write_yaml
from portico.build.splats import write_ply, write_splat
from portico.errors import UserError
from portico.space.body import BodySize
from portico.world import World
from portico.world.whole_file import whole_file

RESOLUTION_M = 0.05
DATASET = "portico"
_FREE, _FILLED, _VALID = 255, 0, 255
_OCCUPIED_THRESH, _FREE_THRESH = 0.65, 0.25


@dataclass(frozen=True)
class ExportedAsset:
    """A scene's id, its files, and what people should know."""

    scene_id: str
    files: tuple[str, ...]
    lines: tuple[str, ...]


def export_navarena(
    world: World,
    folder: Path | str,
    body: BodySize,
    *,
    level: int = 0,
    resolution_m: float | None = None,
    dataset: str | None = None,
    taken: tuple[str, ...] = (),
    compressed: bool = False,
    now: datetime | None = None,
) -> ExportedAsset:
    """Write manifest, aligned capture, map, mask and labels, and on request the viewer's compressed capture.

    The map has two greys; what nobody knows is filled and invalid in the mask. A mesh world becomes a capture first. A world that was
    imported from such a folder keeps its id, source, labels and map.

    Args:
        body: whose interval of heights decides what is in the way. level: which floor is mapped.
        dataset: first half of what the id is made of; a world's own source by default, else ``portico``.
        taken: ids that other scenes have. now: the time that the manifest states.

    Raises:
        UserError: no such floor, or an impossible resolution, or nothing free on that floor.
        StorageError: the folder cannot be written.
    """
    folder = Path(folder)
    occupancy, lines = _navigation_map(world, body, level, resolution_m)
    gaussians = world.appearance.gaussians
    if gaussians is None:
        gaussians = gaussians_of(world)
        lines.append(f"the mesh became {len(gaussians):,} Gaussians")
    write_ply(gaussians, folder / "aligned.ply")
    write_pgm(np.where(occupancy.free, _FREE, _FILLED).astype(np.uint8), folder / "nav_map.pgm")
    write_yaml("nav_map.pgm", occupancy.grid, folder / "nav_map.yaml", occupied_thresh=_OCCUPIED_THRESH, free_thresh=_FREE_THRESH)
    _write_mask(~occupancy.unknown, folder / NAV_MASK)
    _write_json(labels_of(world), folder / LABELS)
    if compressed:
        write_splat(gaussians, folder / "compressed.splat")
    source, name = _identity(world, dataset, taken)
    _write_json(_manifest(world, occupancy, source, name, compressed, now or datetime.now(UTC)), folder / MANIFEST)
    files = (MANIFEST, "aligned.ply", "nav_map.pgm", "nav_map.yaml", NAV_MASK, LABELS, *(("compressed.splat",) if compressed else ()))
    return ExportedAsset(name, files, tuple(lines))


def _navigation_map(world: World, body: BodySize, level: int, resolution_m: float | None) -> tuple[OccupancyMap, list[str]]:
    own = MapGrid.kept(world.manifest.recipe)
    usual = own.resolution_m if own and "navarena" in world.manifest.recipe else RESOLUTION_M
    wanted = usual if resolution_m is None else resolution_m
    # The format has no place for a turned map.
    grid = own if own and own.yaw_rad == 0.0 and own.resolution_m == wanted else grid_around(world, wanted)
    kept = kept_map(world, grid) if level == 0 else None
    occupancy = kept or occupancy_of(world, body, level=level, grid=grid)
    if not occupancy.free.any():
        raise UserError(f"floor {level} has no free cell", where=f"world {world.id!r}", why=occupancy.account(), next_step="choose another --floor or --robot")
    how = "as imported" if kept else f"floor {level} as {body.name} meets it"
    return occupancy, [f"map {how}: {occupancy.account()}"]


def _identity(world: World, dataset: str | None, taken: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The source block and the id."""
    kept = world.manifest.recipe.get("navarena")
    if kept and dataset in (None, kept["source"]["dataset"]):
        return kept["source"], kept["scene_id"]
    dataset = dataset or DATASET
    provenance = world.manifest.provenance
    source = {"dataset": dataset, "subset": None, "original_id": world.id, "original_name": world.id, "url": None, "license": provenance.licence}
    return source, scene_id(dataset, world.id, taken)


def _manifest(world: World, occupancy: OccupancyMap, source: dict[str, Any], name: str, compressed: bool, now: datetime) -> dict[str, Any]:
    grid, stamp = occupancy.grid, now.strftime("%Y-%m-%dT%H:%M:%SZ")
    kept = world.manifest.recipe.get("navarena", {})
    return {
        "schema_version": SCHEMA_VERSION,
        "scene_id": name,
        "source": source,
        "files": {
            "source_ply": None,
            "aligned_ply": "aligned.ply",
            "nav_map": "nav_map.pgm",
            "nav_map_config": "nav_map.yaml",
            "nav_mask": NAV_MASK,
            "labels": LABELS,
            "structure": None,
            "compressed_ply": "compressed.splat" if compressed else None,
        },
        "map_info": {"resolution": grid.resolution_m, "origin": [grid.x_m, grid.y_m, 0.0], "size": [grid.width, grid.height]},
        "nav_region": {"area_m2": round(float((~occupancy.unknown).sum()) * grid.resolution_m**2, 4), "method": "surveyed_cells", "params": {}},
        "processing": {
            "normalizer_version": None,
            "processed_at": stamp,
            "normalized": True,
            "extrinsic_matrix": np.eye(4).tolist(),
            "steps": [],
        },
        "tags": kept.get("tags", []),
        "created_at": kept.get("created_at") or stamp,
        "updated_at": stamp,
    }


def _write_mask(valid: NDArray[np.bool_], path: Path) -> None:
    buffer = BytesIO()
    Image.fromarray(np.where(valid, _VALID, 0).astype(np.uint8)).save(buffer, "png")
    with whole_file(path) as file:
        file.write(buffer.getvalue())


def _write_json(value: dict[str, Any], path: Path) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())
