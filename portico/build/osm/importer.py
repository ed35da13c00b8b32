"""``import_osm``: an OpenStreetMap extract becomes an outdoor world, with an account of what was done to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely

from portico.build.osm.barriers import add_barriers
from portico.build.osm.extract import Box, Extract
from portico.build.osm.facades import add_canopy, add_house
from portico.build.osm.frontages import Frontages
from portico.build.osm.furniture import add_furniture
from portico.build.osm.houses import House, canopy_height_m, raise_houses, simple_footprints
from portico.build.osm.layers import union
from portico.build.osm.markings import add_markings
from portico.build.osm.pavement import lay_pavement
from portico.build.osm.places import add_entrances, add_places
from portico.build.osm.projection import LocalFrame, centre
from portico.build.osm.read_geojson import read_geojson
from portico.build.osm.read_osm import header_box, read_osm
from portico.build.osm.report import ImportReport, Ledger
from portico.build.osm.routes import pedestrian_network
from portico.build.osm.survey import survey
from portico.build.osm.terrain import add_terrain
from portico.build.scene import Scene
from portico.errors import ImportFailed, UserError
from portico.world import Building, Floor, GeographicOrigin, Provenance, World

MARGIN_M = 15.0
_SMALL_M = 200.0
_SUFFIXES = (".osm", ".osm.pbf", ".pbf", ".osm.bz2", ".osm.gz", ".geojson")


@dataclass(frozen=True)
class ImportedWorld:
    """A world and the account of its import."""

    world: World
    report: ImportReport


def import_osm(path: Path | str, *, world_id: str | None = None, bbox: Box | None = None, max_area_km2: float = 25.0) -> ImportedWorld:
    """Build a world from an OSM extract (.osm, .osm.pbf, .osm.bz2, .osm.gz) or a GeoJSON export of one.

    Ground is flat: sidewalks at z = 0, road beds 0.2 m below, crossings raised to sidewalk level with ramps for vehicles.
    x is east and y north of the middle of the extract, whose position stays in ``manifest.origin``.

    Args:
        world_id: defaults to the file's name. bbox: (west, south, east, north) in degrees; the part to import.
        max_area_km2: a larger extract is refused, since it needs a ``bbox`` rather than an hour.

    Raises:
        ImportFailed: unreadable, damaged or empty input; names the file, the element and the fix.
        UserError: the osmium package is missing.
    """
    path = Path(path)
    _check_input(path, bbox)
    ledger = Ledger()
    geojson = path.name.lower().endswith(".geojson")
    declared = None if geojson or bbox else header_box(path)
    if declared is not None:
        _check_area(declared, path, max_area_km2)
    extract = (read_geojson if geojson else read_osm)(path, bbox, ledger)
    _check_content(extract, path)
    box = _unwrapped(extract)
    _check_area(box, path, max_area_km2)
    frame = centre(*box)
    extent = _extent(extract, box, frame)
    found = survey(extract, frame, extent, ledger)
    houses = raise_houses(found, ledger)
    if not found.streets and not houses:
        raise _nothing(path)
    built = union(h.footprint for h in houses)
    pavement = lay_pavement(found, built, ledger)
    scene = Scene()
    add_terrain(scene, pavement, extent, built)
    add_markings(scene, found.streets, pavement.of("road"), union(c.area for c in pavement.crossings))
    instances = [add_house(scene, house) for house in houses]
    scene.buildings += [record for house in houses for record in _records(house)]
    for canopy in found.canopies:
        add_canopy(scene, canopy, canopy_height_m(canopy.tags))
    scene.routes = pedestrian_network(found, pavement)
    frontages = Frontages(houses, pavement.walkable, built)
    add_entrances(scene, found.entrances, frontages, ledger)
    singles = add_barriers(scene, found, built, pavement.road, ledger)
    add_furniture(scene, [*found.furniture, *singles], pavement.road, built, pavement.of("water"), ledger)
    signs = add_places(scene, found.places, frontages, instances, ledger)
    width, height = extent.bounds[2] - extent.bounds[0], extent.bounds[3] - extent.bounds[1]
    kept = {
        "buildings": len(houses),
        "streets and paths": len(found.streets),
        "crossings": len(pavement.crossings),
        "entrances": len(scene.portals),
        "places": len(scene.places),
        "signs": signs,
        "objects": len(scene.objects),
        "nodes of the pedestrian network": len(scene.routes.nodes),
    }
    report = ImportReport(path.name, (width, height), extract.read, kept, ledger.remarks())
    scene.notes += report.lines()
    provenance = Provenance(
        source=f"OpenStreetMap extract {path.name}",
        licence="ODbL-1.0",
        attribution="© OpenStreetMap contributors, https://www.openstreetmap.org/copyright",
    )
    world = scene.world(
        world_id or path.name.split(".")[0],
        "outdoor",
        provenance,
        recipe={"importer": "osm", "file": path.name, "bbox": list(bbox) if bbox else None},
        origin=GeographicOrigin(latitude_deg=frame.latitude_deg, longitude_deg=frame.longitude_deg),
        cell_m=0.1 if max(width, height) < _SMALL_M else 0.2,
    )
    return ImportedWorld(world, report)


def _check_input(path: Path, bbox: Box | None) -> None:
    if path.is_dir():
        raise ImportFailed("this is a folder, not an OSM extract", where=str(path), next_step=f"give a file ending in {', '.join(_SUFFIXES)}")
    if not path.is_file():
        raise ImportFailed("no such file", where=str(path), next_step="check the path")
    if not path.name.lower().endswith(_SUFFIXES):
        raise ImportFailed(
            "the name does not say which kind of extract this is", where=str(path), next_step=f"rename it so that it ends in {', '.join(_SUFFIXES)}"
        )
    if bbox is None:
        return
    west, south, east, north = bbox
    if not np.isfinite(bbox).all() or not (-90.0 <= south < north <= 90.0 and -180.0 <= west <= 180.0 and west < east <= 540.0):
        raise UserError(
            "the bbox is not a box on earth", where=f"bbox {bbox}", next_step="give west,south,east,north in degrees, west < east and south < north"
        )


def _check_area(box: Box, path: Path, max_area_km2: float) -> None:
    west, south, east, north = box
    (x0, y0), (x1, y1) = centre(*box).to_local([west, east], [south, north])
    area_km2 = abs((x1 - x0) * (y1 - y0)) / 1e6
    if area_km2 > max_area_km2 or east - west > 90.0:
        raise ImportFailed(
            "the extract is too large for one world",
            where=str(path),
            why=f"{area_km2:,.1f} square kilometres, longitude {west:.4f} to {east:.4f}, latitude {south:.4f} to {north:.4f}; at most {max_area_km2:g}",
            next_step="give a bbox of west,south,east,north inside it",
        )


def _check_content(extract: Extract, path: Path) -> None:
    wanted = ("building", "building:part", "highway", "railway")
    if not any(key in element.tags for element in extract.elements for key in wanted):
        raise _nothing(path)


def _nothing(path: Path) -> ImportFailed:
    return ImportFailed(
        "there is no ground to stand on: the extract holds no building, street or path",
        where=str(path),
        why="no way with building=* or highway=* lies in it",
        next_step="export the area again with its ways, or widen the bbox",
    )


def _unwrapped(extract: Extract) -> Box:
    """The box that the world covers, in degrees; east beyond 180 where it crosses the antimeridian."""
    if extract.bounds is not None:
        west, south, east, north = extract.bounds
        return (west, south, east + 360.0 if east < west else east, north)
    kept = [e.shape for e in extract.elements if "highway" in e.tags or "building" in e.tags or e.shape.geom_type == "Point"]
    xy = shapely.get_coordinates(shapely.GeometryCollection(kept))
    lon = xy[:, 0]
    if lon.max() - lon.min() > 180.0:
        lon = np.where(lon < 0.0, lon + 360.0, lon)
    return float(lon.min()), float(xy[:, 1].min()), float(lon.max()), float(xy[:, 1].max())


def _extent(extract: Extract, box: Box, frame: LocalFrame) -> shapely.Polygon:
    """The world's rectangle in metres: the given bounds, or all there is and a margin around it."""
    west, south, east, north = box
    middle = 0.5 * (west + east)
    ring = frame.to_local([west, middle, east, east, middle, west], [south, south, south, north, north, north])
    (x0, y0), (x1, y1) = ring.min(axis=0), ring.max(axis=0)
    margin = MARGIN_M if extract.bounds is None else 0.0
    x0, y0, x1, y1 = (round(float(v), 2) for v in (x0 - margin, y0 - margin, x1 + margin, y1 + margin))
    return shapely.box(x0, y0, x1, y1)


def _records(house: House) -> list[Building]:
    pieces = simple_footprints(house.footprint)
    records = []
    for i, piece in enumerate(pieces):
        identity = house.element.id if i == 0 else f"{house.element.id}/{i + 1}"
        floors = [Floor(id=f"{identity}/level{k}", level=k, z_m=round(k * house.storey_m, 3), height_m=round(house.storey_m, 3)) for k in range(house.levels)]
        outline = [(float(x), float(y)) for x, y in list(piece.exterior.coords)[:-1]]
        records.append(Building(id=identity, name=house.name, category=house.category, footprint=outline, floors=floors, enterable=False))
    return records
