"""Worlds for other tools: GLB for viewers and engines, JSON for everything that is not a triangle.

glTF is y-up: a world point (x, y, z) becomes (x, z, -y), so that north lies along -z and faces keep their winding.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray
from PIL import Image

from portico.errors import WorldError
from portico.world.semantics import InstanceLabel
from portico.world.whole_file import whole_file
from portico.world.world import Material, Surface, World

# Only parts of trimesh carry type annotations.
_visuals: Any = trimesh.visual


def export_glb(world: World, path: Path | str) -> None:
    """Write the world as binary glTF 2.0: one node per instance, surface and material, named, with ``extras``.

    ``extras`` hold instance, category, object, name, surface, collides and indoor, so that labels survive the trip.

    Raises:
        WorldError: a world without triangles has no such form. StorageError: the file cannot be written there.
    """
    if world.appearance.raster is not None:
        raise WorldError(
            "an aerial world has no triangles to export",
            where=world.id,
            why="what it looks like is a picture",
            next_step="take its imagery.tif, which is a GeoTIFF",
        )
    scene: Any = trimesh.Scene(metadata={"world": world.id, "licence": world.manifest.provenance.licence, "source": world.manifest.provenance.source})
    labels = {label.id: label for label in world.semantics.instances}
    names = {item.id: item.name for item in world.semantics.objects} | {item.id: item.name for item in world.semantics.buildings}
    materials = [_material(material, world) for material in world.appearance.materials]
    for faces in _groups(world):
        geometry = world.geometry
        label = labels.get(int(geometry.instance[faces[0]]), InstanceLabel(id=1, category="unknown"))
        surface = Surface(int(geometry.surface[faces[0]])).name.lower()
        material = int(geometry.material[faces[0]])
        extras: dict[str, Any] = {
            "instance": int(geometry.instance[faces[0]]),
            "category": label.category,
            "object": label.object,
            "name": names.get(label.object or "", ""),
            "surface": surface,
            "collides": bool(geometry.collides[faces[0]]),
            "indoor": bool(geometry.indoor[faces[0]]),
        }
        node = f"{label.object or label.category}/{extras['instance']}/{surface}/{world.appearance.materials[material].name}/{len(scene.geometry)}"
        scene.add_geometry(_mesh(world, faces, materials[material]), node_name=node, geom_name=node, metadata=extras)
    if len(world.geometry.boxes):
        corners = to_gltf_frame(world.geometry.box_triangles().reshape(-1, 3))
        solid = trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
        scene.add_geometry(solid, node_name="boxes", geom_name="boxes", metadata={"instance": 0, "category": "obstacle", "collides": True, "indoor": True})
    _write(Path(path), scene.export(file_type="glb"))


def export_json(world: World, path: Path | str) -> None:
    """Write manifest, light, materials and semantics as one JSON document.

    Raises:
        StorageError: the file cannot be written there.
    """
    document = {
        "manifest": world.manifest.model_dump(mode="json"),
        "light": world.appearance.light.model_dump(mode="json"),
        "materials": [material.model_dump(mode="json") for material in world.appearance.materials],
        "semantics": world.semantics.model_dump(mode="json"),
        "categories": {str(number): category for number, category in world.semantics.categories().items()},
    }
    _write(Path(path), (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def to_gltf_frame(points_world: NDArray[np.floating]) -> NDArray[np.float64]:
    """Points (..., 3), x east, y north, z up, as glTF's x right, y up, z towards the viewer."""
    points = np.asarray(points_world, np.float64)
    return np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)


def _groups(world: World) -> list[NDArray[np.int64]]:
    """Faces that share instance, surface, material and flags, in the order of their instances."""
    geometry = world.geometry
    keys = np.stack([geometry.instance, geometry.surface, geometry.material, geometry.collides, geometry.indoor], axis=1).astype(np.int64)
    _, which = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    return [group for group in np.split(order, np.flatnonzero(np.diff(which.ravel()[order])) + 1) if len(group)]


def _mesh(world: World, faces: NDArray[np.int64], material: Any) -> trimesh.Trimesh:
    if material.baseColorTexture is None:
        used, corners = np.unique(world.geometry.faces[faces].ravel(), return_inverse=True)
        vertices, uv = world.geometry.vertices[used], None
        indices = corners.reshape(-1, 3)
    else:
        vertices, uv = world.geometry.triangles[faces].reshape(-1, 3), world.geometry.uv[faces].reshape(-1, 2)
        indices = np.arange(3 * len(faces)).reshape(-1, 3)
    visual = _visuals.TextureVisuals(uv=uv, material=material)
    return trimesh.Trimesh(to_gltf_frame(vertices), indices, visual=visual, process=False)


def _material(material: Material, world: World) -> Any:
    image = None if material.texture is None else Image.fromarray(world.appearance.textures[material.texture])
    return _visuals.material.PBRMaterial(
        name=material.name,
        baseColorFactor=[*np.clip(material.color, 0.0, 1.0).tolist(), 1.0],
        baseColorTexture=image,
        emissiveFactor=np.clip(np.array(material.color) * material.emission, 0.0, 1.0).tolist(),
        metallicFactor=0.0,
        roughnessFactor=0.9,
        doubleSided=True,
    )


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)
