"""Ground before a standalone building: paving at the door and a sidewalk along it, so that leaving can be asked for."""

from __future__ import annotations

import shapely

from portico.build.indoor.finishes import material, textured
from portico.build.indoor.lot import Lot
from portico.build.primitives import flat_polygon
from portico.build.scene import Scene
from portico.world import Region, Surface
from portico.world.semantics import RegionType

_MARGIN_M = 4.0
_COURT_M = 4.0
_SIDEWALK_M = 3.5


def lay_forecourt(scene: Scene, lot: Lot) -> None:
    """An open area up to the front, which is the south side, and a sidewalk beyond it."""
    x0, x1 = lot.x0 - _MARGIN_M, lot.x1 + _MARGIN_M
    strips: tuple[tuple[RegionType, Surface, str, str, float, float], ...] = (
        ("open_area", Surface.OPEN_AREA, "slabs", "#b9b2a4", lot.y0 - _COURT_M, lot.y0),
        ("sidewalk", Surface.SIDEWALK, "panels", "#a9a8a4", lot.y0 - _COURT_M - _SIDEWALK_M, lot.y0 - _COURT_M),
    )
    for name, surface, texture, color, y0, y1 in strips:
        ground = shapely.box(x0, y0, x1, y1)
        vertices, faces = flat_polygon(ground, lot.z_m)
        finish = textured(texture, color, 2.0)
        scene.add_mesh(
            vertices,
            faces,
            surface=surface,
            material=material(scene, finish),
            instance=scene.instance(name.replace("_", " ")),
            uv=vertices[faces][:, :, :2] / finish.tile_m,
        )
        polygon = [(float(x), float(y)) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]
        scene.regions.append(Region(id=f"{lot.id}/{name}", type=name, access="allowed", polygon=polygon))
