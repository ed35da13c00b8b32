"""The ``capture`` recipe: a generated home, seen as a capture of its inside and walked in as any capture, with its labels known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import shapely

from portico.build.captures.from_mesh import gaussians_of
from portico.build.captures.importer import captured_world
from portico.build.captures.solid import solidify
from portico.build.captures.voxels import voxelise
from portico.build.indoor import build_indoor
from portico.world import Gaussians, InstanceLabel, Provenance, Semantics, World

#: Walls are thinner than this; what lies farther out is the facade, which nobody inside sees.
_WALL_M = 0.1


def build_capture(seed: int, program: str = "apartments", floors: int = 1, spacing_m: float = 0.05) -> World:
    """The inside of a building of the indoor generator as Gaussians ``spacing_m`` apart.

    Bodies meet what the Gaussians fill, as in an imported capture; rooms, floors, objects and instances are the generator's.

    Raises:
        UnknownName: no such program.
        WorldError: the spacing or the floors are unfit.
    """
    mesh = build_indoor(seed, program, floors)
    gaussians = _inside(gaussians_of(mesh, spacing_m=spacing_m), mesh)
    solid = solidify(voxelise(gaussians))
    recipe = {"generator": "capture", "program": program, "floors": floors, "spacing_m": spacing_m}
    world = captured_world(f"capture-{program}-{floors}f-{seed}", gaussians, solid, source="Portico capture generator", recipe=recipe)
    semantics, label = _known(mesh, gaussians)
    geometry = replace(world.geometry, instance=np.full(len(world.geometry.faces), label, np.int32))
    provenance = Provenance(source="Portico capture generator", licence="Apache-2.0", attribution="Portico")
    manifest = world.manifest.model_copy(update={"provenance": provenance, "seed": seed})
    return World(manifest, geometry, world.appearance, semantics)


def _inside(gaussians: Gaussians, mesh: World) -> Gaussians:
    """Those between the outer walls and under the highest ceiling."""
    building = mesh.semantics.buildings[0]
    area = shapely.Polygon(building.footprint).buffer(-_WALL_M)
    x, y, z = gaussians.means.T.astype(np.float64)
    top = max(floor.z_m + floor.height_m for floor in building.floors)
    return gaussians.chosen(np.asarray(shapely.contains_xy(area, x, y) & (z < top - _WALL_M)))


def _known(mesh: World, gaussians: Gaussians) -> tuple[Semantics, int]:
    """What the generator knows of the inside, and the id of the label that all ground gets."""
    known, seen = mesh.semantics, set(np.unique(gaussians.instance).tolist())
    ground = max(label.id for label in known.instances) + 1
    kept = [label for label in known.instances if label.id in seen]
    objects = {label.object for label in kept}
    return (
        Semantics(
            buildings=known.buildings,
            rooms=known.rooms,
            portals=known.portals,
            objects=[item for item in known.objects if item.id in objects],
            instances=[*kept, InstanceLabel(id=ground, category="capture")],
        ),
        ground,
    )
