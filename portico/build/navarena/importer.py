"""``import_navarena``: a scene folder becomes a world that cameras see as its capture and bodies meet as its capture or its map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from portico.build.captures import captured_world, solidify, voxelise
from portico.build.captures.solid import Solid
from portico.build.navarena.assets import NAV_MASK, Asset, read_asset
from portico.build.navarena.kept_map import written
from portico.build.navarena.labels import labelled, objects_of, predicted, with_objects
from portico.build.rosmap import map_world
from portico.build.splats import alignment, read_splats
from portico.errors import ImportFailed
from portico.world import Gaussians, Provenance, World

COLLISIONS = ("gaussians", "map")
_WALL_HEIGHT_M = 2.5
_GROUND_OFF_M = 0.1


@dataclass(frozen=True)
class ImportedAsset:
    """A world and what was done to the scene, line by line."""

    world: World
    asset: Asset
    lines: tuple[str, ...]


def import_navarena(folder: Path | str, *, collision: str = "gaussians", voxel_m: float = 0.05, world_id: str | None = None) -> ImportedAsset:
    """Read a scene's folder, whatever it is called.

    The world is called after the scene's id. Map and mask stay with it (``recipe``), so that an export writes them again.

    Args:
        collision: what bodies meet. ``gaussians``: what of the capture is solid, its ground limited to the mask's valid region; the
            map is only compared. ``map``: a floor where the map is free and valid, walls where it is occupied; the capture is only seen.
        voxel_m: edge of the voxels that what is solid is made of.

    Raises:
        ImportFailed: a file is missing or damaged, or two disagree; names file and field.
    """
    if collision not in COLLISIONS:
        raise ImportFailed(f"bodies cannot meet {collision!r}", where="--collision", next_step=f"choose one of {', '.join(COLLISIONS)}")
    asset = read_asset(folder)
    gaussians, lines = _capture(asset)
    source = asset.manifest.source
    recipe: dict[str, Any] = {"importer": "navarena", "collision": collision, "navarena": _kept(asset)}
    name = world_id or asset.manifest.scene_id
    origin = f"NavArena scene {source.dataset}:{source.original_name}"
    if collision == "map":
        if not asset.navigation_map.free.any():
            raise ImportFailed(
                "the map has no free and valid cell", where=str(asset.folder), why=asset.navigation_map.account(), next_step="check map and mask"
            )
        lines.append(f"bodies meet the map: {asset.navigation_map.account()}")
        world = map_world(name, asset.navigation_map, wall_height_m=_WALL_HEIGHT_M, source=origin, recipe=recipe)
        world = replace(world, appearance=replace(world.appearance, gaussians=gaussians))
    else:
        recipe["voxel_m"] = voxel_m
        solid = _valid(solidify(voxelise(gaussians, size_m=voxel_m)), asset, lines)
        world = captured_world(name, gaussians, solid, source=origin, recipe=recipe | {"map": asset.navigation_map.grid.recipe()})
    return ImportedAsset(_finished(world, asset, lines), asset, tuple(lines))


def _capture(asset: Asset) -> tuple[Gaussians, list[str]]:
    """The capture as it lies: aligned already, by the format's own rule."""
    capture = read_splats(asset.ply)
    try:
        placed = alignment(capture.gaussians, up="z", floor="keep")
    except ImportFailed as error:
        raise ImportFailed(error.what, where=str(asset.ply), why=error.why, next_step="the format wants metres and z up: align it again") from error
    return capture.gaussians, [*asset.remarks, *capture.remarks, *placed.reasons]


def _valid(solid: Solid, asset: Asset, lines: list[str]) -> Solid:
    """The ground that the mask calls valid, compared with what the map calls free."""
    grid = asset.navigation_map.grid
    cells = grid.cells((solid.column + 0.5) * solid.cell_m)
    inside = grid.inside(cells)
    kept = np.zeros(len(cells), np.bool_)
    kept[inside] = asset.valid[tuple(cells[inside].T)]
    if not kept.any():
        raise ImportFailed(
            "the capture has no ground in the valid region",
            where=str(asset.folder / NAV_MASK),
            why=f"{solid.ground_m2:.1f} m² of ground lie elsewhere",
            next_step="check that map and capture belong together, or import with --collision map",
        )
    found = np.zeros(asset.valid.shape, np.bool_)
    found[tuple(cells[kept].T)] = True
    free = asset.navigation_map.free
    share = found[free].mean() if free.any() else 0.0
    lines.append(f"bodies meet the Gaussians: {kept.sum() * solid.cell_m**2:.1f} of {solid.ground_m2:.1f} m² of ground are valid")
    lines.append(f"the map is only compared: {share:.0%} of its free cells are ground of the capture")
    height = float(np.median(solid.z_m[kept]))
    if abs(height) > _GROUND_OFF_M:
        lines.append(f"most ground lies at {height:.2f} m; the format wants it at 0")
    return replace(solid, column=solid.column[kept], z_m=solid.z_m[kept])


def _finished(world: World, asset: Asset, lines: list[str]) -> World:
    """The world with objects, licence and notes."""
    semantics, gaussians = world.semantics, world.appearance.gaussians
    assert gaussians is not None
    if asset.labels is not None:
        where = str(asset.folder / (asset.manifest.files.labels or "labels.json"))
        objects, remarks = objects_of(asset.labels, asset.navigation_map.grid, semantics.buildings[0], where)
        lines += [f"{len(objects)} labels became objects", *remarks]
        semantics, first = with_objects(semantics, objects)
        gaussians = replace(gaussians, instance=labelled(gaussians.instance, gaussians.means, objects, first))
    source = asset.manifest.source
    provenance = Provenance(source=world.manifest.provenance.source, licence=source.license or "unknown", attribution=source.url or "")
    manifest = world.manifest.model_copy(update={"provenance": provenance, "notes": lines})
    return World(manifest, world.geometry, replace(world.appearance, gaussians=gaussians), semantics)


def _kept(asset: Asset) -> dict[str, Any]:
    """What an export of the world writes again."""
    manifest = asset.manifest
    kept: dict[str, Any] = {
        "scene_id": manifest.scene_id,
        "source": manifest.source.model_dump(),
        "tags": manifest.tags,
        "created_at": manifest.created_at,
        "cells": written(asset.navigation_map.cells),
    }
    if asset.labels is not None:
        kept["predicted"] = predicted(asset.labels)
    return kept
