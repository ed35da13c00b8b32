"""``aerial_view``: any outdoor world as its own satellite view, to be flown over: its roofs, streets and trees from straight above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import shapely
from numba import get_num_threads
from numpy.typing import NDArray

from portico.build.aerial.generated import local_crs
from portico.build.aerial.masks import centre_lines
from portico.build.aerial.raster_file import STRIP_PX, write_raster
from portico.build.aerial.town import rounded
from portico.errors import UserError
from portico.geometry import Floats
from portico.render.mesh import prepare
from portico.render.paint import paint, shadow_map, texture_atlas
from portico.render.renderer import average_samples, shade_view
from portico.render.views import orthographic_view
from portico.render.visibility import buffers, draw
from portico.world import Appearance, GeographicOrigin, LocalFrame, Manifest, Provenance, Semantics, Way, World, no_geometry

_DOWN = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
_SAMPLES = 2
#: What lies beyond a world's edge: meadow.
_BEYOND = np.array([104, 122, 80], np.uint8)
#: Streets are found on a grid of this pitch.
_STREET_GSD_M = 0.5
#: Streets whose middles are shorter than this are corners of lots.
_STREET_M = 25.0
#: Where a world that lies nowhere on earth is put.
_SOMEWHERE = GeographicOrigin(latitude_deg=47.0, longitude_deg=8.0)
#: Things smaller than this cannot be told apart from above.
_THING_M = 4.0


def aerial_view(world: World, *, gsd_m: float = 0.25, margin_m: float = 80.0) -> World:
    """The satellite view of a world that has an outdoors.

    Args:
        margin_m: meadow around it, so that a flyer at 50 m can go over all of it.

    Raises:
        UserError: the world has no outdoors, or is seen from the air already.
    """
    if world.manifest.kind not in ("outdoor", "composite") or not len(world.geometry.faces):
        raise UserError(
            "only worlds with an outdoors have a satellite view",
            where=world.id,
            why=f"this one is {world.manifest.kind}",
            next_step="give an outdoor or composite world",
        )
    low, high = world.geometry.bounds()
    west, south = np.floor(low[:2] - margin_m)
    east, north = np.ceil(high[:2] + margin_m)
    width, height = round((east - west) / gsd_m), round((north - south) / gsd_m)
    origin = world.manifest.origin or _SOMEWHERE
    crs, transform = local_crs(LocalFrame(origin.latitude_deg, origin.longitude_deg), gsd_m, float(west), float(north))
    raster = write_raster(_strips(world, gsd_m, float(west), float(north), width, height), width, height, crs, transform)
    s = world.semantics
    things = [o for o in s.objects if o.building is None and max(o.size[:2]) >= _THING_M]
    water = [r for r in s.regions if r.type == "water"]
    notes = [] if world.manifest.origin else ["the world lies nowhere on earth: its middle was put at 47° north, 8° east"]
    manifest = Manifest(
        id=f"{world.id}-aerial",
        kind="aerial",
        provenance=Provenance(
            source=f"satellite view of {world.id}: {world.manifest.provenance.source}",
            licence=world.manifest.provenance.licence,
            attribution=world.manifest.provenance.attribution,
        ),
        recipe={"view_of": world.id, "view_of_hash": world.manifest.content_hash, "gsd_m": gsd_m, "margin_m": margin_m},
        seed=world.manifest.seed,
        origin=origin,
        cell_m=1.0,
        notes=notes,
    )
    # Floors, rooms and doors cannot be seen from above.
    buildings = [b.model_copy(update={"floors": [], "enterable": False}) for b in s.buildings]
    places = [p for p in s.places if p.building is None]
    semantics = Semantics(buildings=buildings, regions=water, objects=things, places=places, ways=_streets(world))
    return World(manifest, no_geometry(), Appearance((), raster=raster), semantics)


def _strips(world: World, gsd_m: float, west: float, north: float, width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    """The mesh from straight above, a strip of rows at a time, two samples a pixel."""
    triangles = world.geometry.triangles
    mesh, colors, atlas = prepare(triangles), paint(world), texture_atlas(world)
    light = shadow_map(mesh, world.appearance.light)
    top, bottom = float(triangles[:, :, 2].max()), float(triangles[:, :, 2].min())
    seen = buffers(width * _SAMPLES, STRIP_PX * _SAMPLES)
    for row in range(0, height, STRIP_PX):
        middle = np.array([west + 0.5 * width * gsd_m, north - (row + 0.5 * STRIP_PX) * gsd_m, top + 1.0])
        view = orthographic_view(_DOWN, middle, _SAMPLES / gsd_m, width * _SAMPLES, STRIP_PX * _SAMPLES, top - bottom + 2.0)
        draw(mesh, view, seen, get_num_threads())
        image = shade_view(seen, view, colors, atlas, *light)
        image[seen.face < 0] = _BEYOND
        rows = min(STRIP_PX, height - row)
        strip = np.full((rows, width, 4), 255, np.uint8)
        strip[:, :, :3] = average_samples(image, _SAMPLES)[:rows]
        yield strip


def _streets(world: World) -> list[Way]:
    """Lines in the middle of where vehicles drive, and of waters that are long and narrow enough to be one."""
    found: list[Way] = []
    for kind, types in (("road", ("vehicle_lane", "shared_road", "crosswalk")), ("waterway", ("water",))):
        area = shapely.union_all([shapely.Polygon(r.polygon) for r in world.semantics.regions if r.type in types])
        if area.is_empty:
            continue
        # Kerbs and crossings cut lanes apart by centimetres.
        area = area.buffer(0.6).buffer(-0.6)
        lines = list(_middles(area))
        ends = Counter(_end(line, k) for line, _ in lines for k in (0, -1))
        for line, width_m in lines:
            length = float(np.hypot(*np.diff(line, axis=0).T).sum())
            # A junction's own stretches are short and wide; without them the streets that meet there would not.
            links = all(ends[_end(line, k)] > 1 for k in (0, -1))
            if links or (length >= _STREET_M and width_m < 0.5 * length):
                found.append(Way(id=f"{kind}-{len(found):03d}", kind=kind, line=rounded(line), width_m=round(width_m, 2)))
    return found


def _end(line: Floats, k: int) -> tuple[int, int]:
    """An end of a line, the same for all that meet there."""
    return round(float(line[k, 0]) / _STREET_GSD_M), round(float(line[k, 1]) / _STREET_GSD_M)


def _middles(area: shapely.Geometry) -> Iterator[tuple[Floats, float]]:
    west, south, east, north = area.bounds
    columns, rows = int((east - west) / _STREET_GSD_M) + 3, int((north - south) / _STREET_GSD_M) + 3
    x, y = west + (np.arange(columns) - 0.5) * _STREET_GSD_M, north - (np.arange(rows) - 0.5) * _STREET_GSD_M
    mask = np.zeros((rows, columns), bool)
    shapely.prepare(area)
    for r in range(rows):
        mask[r] = shapely.contains_xy(area, x, np.full(columns, y[r]))
    for line, width_px in centre_lines(mask):
        if len(line) < 2:
            continue
        metres = np.stack([west + (line[:, 0] - 1.0) * _STREET_GSD_M, north - (line[:, 1] - 1.0) * _STREET_GSD_M], axis=1)
        yield np.array(shapely.LineString(metres).simplify(0.6).coords), width_px * _STREET_GSD_M
