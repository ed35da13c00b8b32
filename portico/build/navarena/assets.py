"""A scene's folder: its id, its files, and whether they agree with one another."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from portico.build.navarena.schema import LABELS, MANIFEST, Labels, Manifest, MapInfo, read_json
from portico.build.rosmap import UNKNOWN, MapGrid, OccupancyMap, read_rosmap
from portico.build.rosmap.read import read_shades
from portico.errors import ImportFailed

NAV_MASK = "nav_mask.png"
_SHORT, _LONG = 8, 12
_APART_M = 1e-6


@dataclass(frozen=True)
class Asset:
    """A scene whose files are there and agree.

    Attributes:
        ply: the aligned capture.
        navigation_map: as stored, unknown where the mask says invalid.
        valid: (H, W) bool, where the mask is not black; everywhere without one.
        labels: None without ``labels.json``.
        remarks: what is odd but harmless.
    """

    folder: Path
    manifest: Manifest
    ply: Path
    navigation_map: OccupancyMap
    valid: NDArray[np.bool_]
    labels: Labels | None
    remarks: tuple[str, ...]


def scene_id(dataset: str, original_name: str, taken: Collection[str] = ()) -> str:
    """A scene's id: the first 8 hexadecimal digits of SHA-256 over ``dataset:original_name`` in UTF-8, 12 where another scene has taken them."""
    digest = hashlib.sha256(f"{dataset}:{original_name}".encode()).hexdigest()
    return digest[:_LONG] if digest[:_SHORT] in taken else digest[:_SHORT]


def ids_beside(folder: Path | str) -> tuple[str, ...]:
    """Ids of the scenes whose folders lie beside this one, as their manifests say; those without a readable one are passed over."""
    folder = Path(folder).resolve()
    found = []
    for file in sorted(folder.parent.glob(f"*/{MANIFEST}")):
        if file.parent != folder:
            with suppress(ImportFailed):
                found.append(read_json(file, Manifest).scene_id)
    return tuple(found)


def read_asset(folder: Path | str) -> Asset:
    """Read and check the folder of one scene.

    Raises:
        ImportFailed: naming the file and the field that is missing, damaged or disagrees with another.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ImportFailed("there is no such folder", where=str(folder), next_step="give the folder of one NavArena scene, with its manifest.json")
    manifest = read_json(folder / MANIFEST, Manifest)
    files = manifest.files
    ply = _required(folder, "aligned_ply", files.aligned_ply, "aligned.ply")
    _required(folder, "nav_map", files.nav_map, "nav_map.pgm")
    config = _required(folder, "nav_map_config", files.nav_map_config, "nav_map.yaml")
    read = read_rosmap(config)
    if read.occupancy.grid.yaw_rad != 0.0:
        third = f"the third number is {read.occupancy.grid.yaw_rad:g}"
        raise ImportFailed("the map's origin is turned", where=f"{config}: origin", why=third, next_step="make it 0: scenes have maps along the axes")
    remarks = [*read.remarks, *_id_remarks(manifest)]
    if manifest.map_info is not None:
        _check_map(manifest.map_info, read.occupancy.grid, folder, config)
    mask = _optional(folder, "nav_mask", files.nav_mask or NAV_MASK, files.nav_mask is not None, remarks)
    valid = np.ones(read.occupancy.cells.shape, np.bool_) if mask is None else _read_mask(mask, read.occupancy.grid, config)
    labels_file = _optional(folder, "labels", files.labels or LABELS, files.labels is not None, remarks)
    labels = read_json(labels_file, Labels) if labels_file else None
    cells = np.where(valid, read.occupancy.cells, np.int8(UNKNOWN))
    return Asset(folder, manifest, ply, OccupancyMap(read.occupancy.grid, cells), valid, labels, tuple(remarks))


def _required(folder: Path, field: str, named: str | None, usual: str) -> Path:
    path = folder / (named or usual)
    if not path.is_file():
        raise ImportFailed(
            f"{path.name} is missing", where=f"{path} ({MANIFEST}: files.{field})", why="every scene needs it", next_step="export the scene again, whole"
        )
    return path


def _optional(folder: Path, field: str, name: str, named: bool, remarks: list[str]) -> Path | None:
    path = folder / name
    if path.is_file():
        return path
    if named:
        remarks.append(f"{MANIFEST}: files.{field} names {name}, which is not there: done without")
    return None


def _id_remarks(manifest: Manifest) -> list[str]:
    source = manifest.source
    whole = scene_id(source.dataset, source.original_name, {manifest.scene_id[:_SHORT]})
    if whole.startswith(manifest.scene_id):
        return []
    return [f"{MANIFEST}: scene_id {manifest.scene_id} is not that of {source.dataset}:{source.original_name}, {whole[:_SHORT]}; kept"]


def _check_map(info: MapInfo, grid: MapGrid, folder: Path, config: Path) -> None:
    """The manifest's map_info must say what the map's own files say."""
    pairs: tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...] = (
        ("resolution", (info.resolution,), (grid.resolution_m,)),
        ("origin", info.origin[:2], (grid.x_m, grid.y_m)),
        ("size", info.size, (grid.width, grid.height)),
    )
    for name, stated, found in pairs:
        if not np.allclose(stated, found, rtol=0.0, atol=_APART_M):
            raise ImportFailed(
                f"manifest and map disagree about the {name}",
                where=f"{folder / MANIFEST}: map_info.{name}",
                why=f"it says {_numbers(stated)}; {config.name} and its image say {_numbers(found)}",
                next_step="mend the one that is wrong",
            )


def _read_mask(path: Path, grid: MapGrid, config: Path) -> NDArray[np.bool_]:
    shades, _ = read_shades(path)
    if shades.shape != (grid.height, grid.width):
        raise ImportFailed(
            "the mask's size is not the map's",
            where=str(path),
            why=f"{shades.shape[1]} x {shades.shape[0]} pixels, while the image of {config.name} has {grid.width} x {grid.height}",
            next_step="make the mask again for this map",
        )
    return np.asarray(shades > 0.0)


def _numbers(values: tuple[float, ...]) -> str:
    return " x ".join(f"{value:g}" for value in values)
