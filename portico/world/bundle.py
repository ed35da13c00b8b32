"""The world on disk: ``world.json``, ``geometry.npz``, ``appearance.json`` with ``textures/*.png`` and, for a capture,
``gaussians.npz`` and ``boxes.npz``, for an aerial world ``imagery.tif``, and ``semantics.json``.

A directory is written beside its final place and renamed, so a world is there whole or not at all. The content hash
covers values, not file bytes: another zip or PNG library leaves it alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, ValidationError

from portico.errors import StorageError, WorldError
from portico.world.arrays import REBUILD, check_finite, check_lengths, read_arrays
from portico.world.gaussians import SH_COEFFICIENTS, Gaussians
from portico.world.raster import Raster, RasterInfo
from portico.world.semantics import ObjectInstance, Portal, Room, Semantics
from portico.world.world import SCHEMA, Appearance, Geometry, Light, Manifest, Material, World

_ARRAYS: dict[str, tuple[type, int]] = {
    "vertices": (np.float32, 2),
    "faces": (np.int32, 2),
    "surface": (np.uint8, 1),
    "instance": (np.int32, 1),
    "material": (np.int32, 1),
    "indoor": (np.bool_, 1),
    "uv": (np.float32, 3),
    "collides": (np.bool_, 1),
}
_GAUSSIAN_ARRAYS: dict[str, tuple[type, int]] = {
    "means": (np.float32, 2),
    "rotations_wxyz": (np.float32, 2),
    "scales_m": (np.float32, 2),
    "opacity": (np.float32, 1),
    "sh": (np.float32, 3),
    "instance": (np.int32, 1),
}
IMAGERY = "imagery.tif"
_Model = TypeVar("_Model", bound=BaseModel)


def content_hash(world: World) -> str:
    """SHA-256 over geometry, appearance, semantics and every manifest field but the hash itself."""
    digest = hashlib.sha256()
    layers: list[tuple[object, str]] = [(world.geometry, name) for name in _ARRAYS]
    if len(world.geometry.boxes):
        layers.append((world.geometry, "boxes"))
    if world.appearance.gaussians is not None:
        layers += [(world.appearance.gaussians, name) for name in _GAUSSIAN_ARRAYS]
    for layer, name in layers:
        array = np.ascontiguousarray(getattr(layer, name))
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode() + array.tobytes())
    for name in sorted(world.appearance.textures):
        texture = np.ascontiguousarray(world.appearance.textures[name])
        digest.update(f"{name}{texture.shape}".encode() + texture.tobytes())
    manifest = world.manifest.model_dump(mode="json", exclude={"content_hash"})
    for part in (manifest, _appearance_json(world.appearance), world.semantics.model_dump(mode="json")):
        digest.update(_canonical(part).encode())
    return digest.hexdigest()


def check_free(folder: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is, before the work that leads there.

    Raises:
        StorageError: the folder holds something and ``overwrite`` is off, or it is a file.
    """
    if folder.is_file():
        raise StorageError("the output folder is a file", where=str(folder), next_step="choose another --out")
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        raise StorageError("the output folder is not empty", where=str(folder), next_step="choose another --out, or add --overwrite")


def save(world: World, folder: Path | str, *, overwrite: bool = False) -> World:
    """Write a world; returns it with counts and content hash filled in.

    Raises:
        StorageError: the folder exists and ``overwrite`` is off, or the disk refuses.
    """
    folder = Path(folder)
    check_free(folder, overwrite=overwrite)
    world = _sealed(world)
    raster = world.appearance.raster
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise StorageError("cannot write there", where=str(folder), why=str(error), next_step="choose a folder you may write to") from error
    try:
        _write(world, staging)
        os.chmod(staging, 0o755)
        if folder.exists():
            shutil.rmtree(folder)
        staging.rename(folder)
    except OSError as error:
        raise StorageError("the world could not be written", where=str(folder), why=str(error), next_step="free some space or choose another --out") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return world if raster is None else replace(world, appearance=replace(world.appearance, raster=Raster(raster.info, folder / IMAGERY)))


def load(folder: Path | str, *, verify_hash: bool = True) -> World:
    """Read and check a world.

    Raises:
        WorldError: naming the file and the element that is missing, damaged, of another schema or inconsistent.
    """
    folder = Path(folder)
    if not (folder / "world.json").is_file():
        raise WorldError(
            "this is not a world", where=str(folder), why="world.json is missing", next_step="give a folder made by `portico world build` or `world import`"
        )
    raw = _read_json(folder / "world.json")
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA:
        raise WorldError("world schema not supported", where=str(folder / "world.json"), why=f"found {version!r}, expected {SCHEMA!r}", next_step=REBUILD)
    manifest = _parse(Manifest, raw, folder / "world.json")
    world = World(
        manifest=manifest,
        geometry=_read_geometry(folder, boxes=manifest.counts.get("boxes", 0) > 0),
        appearance=_read_appearance(folder),
        semantics=_parse(Semantics, _read_json(folder / "semantics.json"), folder / "semantics.json"),
    )
    _check_references(world, folder)
    if verify_hash and content_hash(world) != world.manifest.content_hash:
        raise WorldError(
            "the world's content differs from its hash",
            where=str(folder),
            why="a file was changed after it was written",
            next_step=f"{REBUILD}, or load with verify_hash=False",
        )
    return world


def _sealed(world: World) -> World:
    s = world.semantics
    counts = {
        "triangles": len(world.geometry.faces),
        "buildings": len(s.buildings),
        "enterable": sum(b.enterable for b in s.buildings),
        "regions": len(s.regions),
        "rooms": len(s.rooms),
        "objects": len(s.objects),
        "categories": len(s.object_categories()),
        "places": len(s.places),
    }
    if len(world.geometry.boxes):
        counts["boxes"] = len(world.geometry.boxes)
    if world.appearance.gaussians is not None:
        counts["gaussians"] = len(world.appearance.gaussians)
    if world.appearance.raster is not None:
        info = world.appearance.raster.info
        counts |= {"ways": len(s.ways), "pixels": info.width * info.height}
    world = World(world.manifest.model_copy(update={"counts": counts}), world.geometry, world.appearance, s)
    manifest = world.manifest.model_copy(update={"content_hash": content_hash(world)})
    return World(manifest, world.geometry, world.appearance, s)


def _write(world: World, folder: Path) -> None:
    arrays: dict[str, Any] = {name: getattr(world.geometry, name) for name in _ARRAYS}
    np.savez_compressed(folder / "geometry.npz", **arrays)
    if len(world.geometry.boxes):
        np.savez(folder / "boxes.npz", boxes=world.geometry.boxes)
    if world.appearance.gaussians is not None:
        # Noise does not compress: packing would cost ten times the time for a tenth of the bytes.
        np.savez(folder / "gaussians.npz", **{name: getattr(world.appearance.gaussians, name) for name in _GAUSSIAN_ARRAYS})
    (folder / "semantics.json").write_text(_canonical(world.semantics.model_dump(mode="json")), encoding="utf-8")
    (folder / "appearance.json").write_text(_canonical(_appearance_json(world.appearance)), encoding="utf-8")
    if world.appearance.raster is not None:
        shutil.copyfile(world.appearance.raster.path, folder / IMAGERY)
    if world.appearance.textures:
        (folder / "textures").mkdir()
    for name, texture in world.appearance.textures.items():
        Image.fromarray(texture).save(folder / "textures" / f"{name}.png", optimize=False)
    manifest = world.manifest.model_dump(mode="json")
    (folder / "world.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _appearance_json(appearance: Appearance) -> dict[str, Any]:
    return {
        "materials": [m.model_dump(mode="json") for m in appearance.materials],
        "light": appearance.light.model_dump(mode="json"),
        "textures": sorted(appearance.textures),
        **({"gaussians": True} if appearance.gaussians is not None else {}),
        **({"raster": appearance.raster.info.model_dump(mode="json")} if appearance.raster is not None else {}),
    }


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WorldError("a layer of the world is missing", where=str(path), next_step=REBUILD) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise WorldError("a layer of the world is truncated or damaged", where=str(path), why=str(error), next_step=REBUILD) from error


def _parse(model: type[_Model], raw: object, path: Path) -> _Model:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        element = ".".join(str(part) for part in first["loc"])
        raise WorldError("a layer of the world breaks its schema", where=f"{path}: {element}", why=first["msg"], next_step=REBUILD) from error


def _read_geometry(folder: Path, *, boxes: bool) -> Geometry:
    path = folder / "geometry.npz"
    geometry = Geometry(**read_arrays(path, _ARRAYS, "geometry"), **(_read_boxes(folder / "boxes.npz") if boxes else {}))
    check_finite(geometry.vertices, "vertices", "vertices", path)
    faces = len(geometry.faces)
    per_face = ("surface", "instance", "material", "indoor", "uv", "collides")
    check_lengths({name: getattr(geometry, name) for name in per_face}, faces, "faces", path, "geometry")
    if faces and (geometry.faces.min() < 0 or geometry.faces.max() >= len(geometry.vertices)):
        raise WorldError("a face refers to a vertex that does not exist", where=f"{path}: faces", next_step=REBUILD)
    return geometry


def _read_boxes(path: Path) -> dict[str, NDArray[Any]]:
    arrays = read_arrays(path, {"boxes": (np.float32, 3)}, "boxes")
    boxes = arrays["boxes"]
    if boxes.shape[1:] != (2, 3):
        raise WorldError("the boxes have the wrong shape", where=f"{path}: boxes", why=f"{boxes.shape}, expected (B, 2, 3)", next_step=REBUILD)
    check_finite(boxes, "boxes", "boxes", path)
    if (boxes[:, 0] > boxes[:, 1]).any():
        raise WorldError("a box is inside out", where=f"{path}: boxes[{int(np.argmax((boxes[:, 0] > boxes[:, 1]).any(axis=1)))}]", next_step=REBUILD)
    return arrays


def _read_gaussians(path: Path) -> Gaussians:
    gaussians = Gaussians(**read_arrays(path, _GAUSSIAN_ARRAYS, "capture"))
    check_lengths({name: getattr(gaussians, name) for name in _GAUSSIAN_ARRAYS}, len(gaussians), "Gaussians", path, "capture")
    for name in ("means", "rotations_wxyz", "scales_m", "opacity", "sh"):
        check_finite(getattr(gaussians, name), name, "Gaussians", path)
    if gaussians.sh.shape[1:] not in [(k, 3) for k in SH_COEFFICIENTS]:
        raise WorldError("a capture array has the wrong shape", where=f"{path}: sh", why=f"{gaussians.sh.shape}", next_step=REBUILD)
    return gaussians


def _read_appearance(folder: Path) -> Appearance:
    path = folder / "appearance.json"
    raw = _read_json(path)
    textures: dict[str, NDArray[np.uint8]] = {}
    for name in raw.get("textures", []):
        file = folder / "textures" / f"{name}.png"
        try:
            textures[name] = np.array(Image.open(file).convert("RGB"))
        except FileNotFoundError as error:
            raise WorldError("a layer of the world is missing", where=str(file), next_step=REBUILD) from error
        except OSError as error:
            raise WorldError("a layer of the world is truncated or damaged", where=str(file), why=str(error), next_step=REBUILD) from error
    materials = tuple(_parse(Material, m, path) for m in raw.get("materials", []))
    gaussians = _read_gaussians(folder / "gaussians.npz") if raw.get("gaussians") else None
    raster = _read_raster(raw["raster"], folder) if raw.get("raster") else None
    return Appearance(materials, textures, _parse(Light, raw.get("light", {}), path), gaussians, raster)


def _read_raster(raw: object, folder: Path) -> Raster:
    """The raster's facts; its pixels are read when somebody looks at them."""
    raster = Raster(_parse(RasterInfo, raw, folder / "appearance.json"), folder / IMAGERY)
    if not raster.path.is_file():
        raise WorldError("a layer of the world is missing", where=str(raster.path), next_step=REBUILD)
    size = raster.path.stat().st_size
    if size != raster.info.size_bytes:
        why = f"{size:,} bytes, not {raster.info.size_bytes:,}"
        raise WorldError("a layer of the world is truncated or damaged", where=str(raster.path), why=why, next_step=REBUILD)
    return raster


def _check_references(world: World, folder: Path) -> None:
    geometry, appearance = world.geometry, world.appearance
    if len(geometry.material) and geometry.material.max() >= len(appearance.materials):
        raise WorldError("a triangle refers to a material that does not exist", where=f"{folder}/geometry.npz: material", next_step=REBUILD)
    for material in appearance.materials:
        if material.texture is not None and material.texture not in appearance.textures:
            raise WorldError("a material refers to a texture that does not exist", where=f"{folder}/appearance.json: {material.name}", next_step=REBUILD)
    known = {label.id for label in world.semantics.instances}
    used = np.unique(geometry.instance)
    if appearance.gaussians is not None:
        used = np.union1d(used, appearance.gaussians.instance[appearance.gaussians.instance != 0])
    unknown = set(used.tolist()) - known
    if unknown:
        raise WorldError(
            "a triangle or Gaussian refers to an instance that semantics.json does not list",
            where=f"{folder}/semantics.json: instances",
            why=f"missing {sorted(unknown)[:5]}",
            next_step=REBUILD,
        )
    _check_homes(world, folder)
    for kind in ("buildings", "portals", "regions", "rooms", "objects", "places"):
        ids = [item.id for item in getattr(world.semantics, kind)]
        twice = sorted({i for i in ids if ids.count(i) > 1}) if len(set(ids)) != len(ids) else []
        if twice:
            raise WorldError("the same id twice", where=f"{folder}/semantics.json: {kind} {twice[0]!r}", next_step=REBUILD)


def _check_homes(world: World, folder: Path) -> None:
    """Rooms, portals and objects lie in buildings, floors and rooms that exist."""
    semantics = world.semantics
    floors = {(b.id, f.id) for b in semantics.buildings for f in b.floors}
    buildings, rooms = {b.id for b in semantics.buildings}, {r.id for r in semantics.rooms}
    items: list[Room | Portal | ObjectInstance] = [*semantics.rooms, *semantics.portals, *semantics.objects]
    for item in items:
        room = getattr(item, "room", None)
        lost = [
            *([f"building {item.building!r}"] if item.building is not None and item.building not in buildings else []),
            *([f"floor {item.floor!r}"] if item.floor is not None and item.building in buildings and (item.building, item.floor) not in floors else []),
            *([f"room {room!r}"] if room is not None and room not in rooms else []),
        ]
        if lost:
            raise WorldError(
                "the semantics refer to what does not exist", where=f"{folder}/semantics.json: {item.id}", why=f"there is no {lost[0]}", next_step=REBUILD
            )
