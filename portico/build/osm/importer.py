"""``import_osm``: an OpenStreetMap extract becomes an outdoor world, with an account of what was done to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

import numpy as np
import shapely

from portico.build.osm.assemble import assemble
from portico.build.osm.extract import Box, Extract
from portico.build.osm.projection import LocalFrame, centre
from portico.build.osm.read_geojson import read_geojson
from portico.build.osm.read_osm import header_box, read_osm
from portico.build.osm.report import ImportReport, Ledger
from portico.build.osm.survey import survey
from portico.errors import ImportFailed, UserError
from portico.world import GeographicOrigin, Provenance, World

MARGIN_M = 15.0
_SMALL_M = 200.0
#: An extract without any of these holds nothing to build a world from; with them it is as large as they reach.
_GROUND_KEYS = ("building", "building:part", "highway", "railway")
_FINE_CELL_M, _CITY_CELL_M = 0.1, 0.2
#: A survey of more cells takes minutes and many gigabytes; larger extracts get larger cells, in steps of 0.05 m, as long
#: as they are no larger than the radius of a quadruped.
_MOST_CELLS, _CELLS_PER_M, _LARGEST_CELL_M = 35e6, 20, 0.35
_ATTRIBUTION = "© OpenStreetMap contributors, https://www.openstreetmap.org/copyright"
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
    extract, box = _read(path, bbox, max_area_km2, ledger)
    frame = centre(*box)
    extent = _extent(extract, box, frame)
    found = survey(extract, frame, extent, ledger)
    if not (found.streets or found.buildings):
        raise _nothing(path)
    scene, kept = assemble(found, ledger)
    size_m = (extent.bounds[2] - extent.bounds[0], extent.bounds[3] - extent.bounds[1])
    cell_m = _cell_for(*size_m)
    if cell_m > _CITY_CELL_M:
        ledger.note("assumed", f"cells of {cell_m:g} m, since the extract is large; a smaller bbox has finer ones", "the whole extract")
    report = ImportReport(path.name, size_m, extract.read, kept, ledger.remarks())
    scene.notes += report.lines()
    world = scene.world(
        world_id or _stem(path),
        "outdoor",
        Provenance(source=f"OpenStreetMap extract {path.name}", licence="ODbL-1.0", attribution=_ATTRIBUTION),
        recipe={"importer": "osm", "file": path.name, "bbox": list(bbox) if bbox else None},
        origin=GeographicOrigin(latitude_deg=frame.latitude_deg, longitude_deg=frame.longitude_deg),
        cell_m=cell_m,
    )
    return ImportedWorld(world, report)


def _cell_for(width_m: float, depth_m: float) -> float:
    """Side of the cells in which an extract is surveyed."""
    if max(width_m, depth_m) < _SMALL_M:
        return _FINE_CELL_M
    wanted = ceil(sqrt(width_m * depth_m / _MOST_CELLS) * _CELLS_PER_M) / _CELLS_PER_M
    return min(max(_CITY_CELL_M, wanted), _LARGEST_CELL_M)


def _read(path: Path, bbox: Box | None, max_area_km2: float, ledger: Ledger) -> tuple[Extract, Box]:
    """The extract and the box that its world will cover; refused before reading when the header already says it is too large."""
    geojson = path.name.lower().endswith(".geojson")
    declared = None if geojson or bbox else header_box(path)
    if declared is not None:
        _check_area(_across_seam(declared), path, max_area_km2)
    extract = (read_geojson if geojson else read_osm)(path, bbox, ledger)
    if not any(key in element.tags for element in extract.elements for key in _GROUND_KEYS):
        raise _nothing(path)
    box = _covered(extract)
    _check_area(box, path, max_area_km2)
    return extract, box


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


def _nothing(path: Path) -> ImportFailed:
    return ImportFailed(
        "there is no ground to stand on: the extract holds no building, street or path",
        where=str(path),
        why="no way with building=* or highway=* lies in it",
        next_step="export the area again with its ways, or widen the bbox",
    )


def _stem(path: Path) -> str:
    """The file's name without the ending that says what it is."""
    return next(path.name[: -len(suffix)] for suffix in sorted(_SUFFIXES, key=len, reverse=True) if path.name.lower().endswith(suffix))


def _across_seam(box: Box) -> Box:
    west, south, east, north = box
    return (west, south, east + 360.0 if east < west else east, north)


def _covered(extract: Extract) -> Box:
    """The box that the world covers, in degrees; east beyond 180 where it crosses the antimeridian."""
    if extract.bounds is not None:
        return _across_seam(extract.bounds)
    kept = [e.shape for e in extract.elements if e.shape.geom_type == "Point" or any(key in e.tags for key in _GROUND_KEYS)]
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
