"""Roads, waters, buildings and other things to follow or to name, from GeoJSON, OpenStreetMap and masks, in the world's metres."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from portico.build.aerial.masks import centre_lines
from portico.build.aerial.town import rounded
from portico.build.osm.extract import polygons_of
from portico.build.osm.report import Ledger
from portico.errors import ImportFailed
from portico.world import Building, LocalFrame, ObjectInstance, Region, Semantics, Way
from portico.world.raster import GeoGrid, aerial_package

_OSM = (".osm", ".pbf", ".bz2", ".gz")
_LANE_M, _ROAD_M = 3.5, 7.0
#: Footpaths are not what SatNav calls a road.
_NO_ROADS = frozenset({"footway", "path", "steps", "cycleway", "pedestrian", "platform", "corridor", "bridleway", "elevator", "proposed", "construction"})
#: tag, value -> category of a thing that can be told apart from above.
_THINGS = {
    ("leisure", "pitch"): "pitch",
    ("leisure", "swimming_pool"): "swimming_pool",
    ("leisure", "stadium"): "stadium",
    ("leisure", "playground"): "playground",
    ("amenity", "parking"): "car_park",
    ("amenity", "fountain"): "fountain",
    ("man_made", "storage_tank"): "tank",
    ("man_made", "silo"): "silo",
    ("man_made", "water_tower"): "water_tower",
    ("man_made", "wastewater_plant"): "sewage_works",
}


@dataclass(frozen=True)
class Found:
    """What the files hold of the raster's ground, and what was dropped or assumed."""

    semantics: Semantics
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Feature:
    """A shape in degrees with its tags, and what the name of its file says it is."""

    id: str
    tags: dict[str, Any]
    shape: shapely.Geometry
    hint: str = ""


def read_vectors(files: Sequence[Path], grid: GeoGrid, local: LocalFrame) -> Found:
    """Features of some files that lie on a raster.

    Raises:
        ImportFailed: a file that cannot be read, is in no known reference system, or lies elsewhere; named with the field.
    """
    box = shapely.Polygon(_local(local, grid.to_degrees(np.array([[0, 0], [grid.width, 0], [grid.width, grid.height], [0, grid.height]]))))
    sorted_ = _Sorted(box)
    lines: list[str] = []
    for file in files:
        if not file.is_file():
            raise ImportFailed("no such file", where=str(file), next_step="check the path of --vectors")
        before = sorted_.count
        features, notes = _features(file, grid)
        for feature in features:
            sorted_.add(feature, shapely.transform(feature.shape, lambda xy: _local(local, xy)))
        lines += [f"{file.name}: {note}" for note in notes]
        if sorted_.count == before:
            raise _elsewhere(file, features, box, local)
    lines += sorted_.lines()
    return Found(Semantics(buildings=sorted_.buildings, regions=sorted_.regions, objects=sorted_.objects, ways=sorted_.ways), tuple(lines))


class _Sorted:
    """Sorts features into what they are, as far as they lie on the raster."""

    def __init__(self, box: shapely.Polygon) -> None:
        self.box = box
        self.ways: list[Way] = []
        self.buildings: list[Building] = []
        self.regions: list[Region] = []
        self.objects: list[ObjectInstance] = []

    @property
    def count(self) -> int:
        return len(self.ways) + len(self.buildings) + len(self.regions) + len(self.objects)

    def lines(self) -> Iterator[str]:
        counts = Counter(w.kind for w in self.ways)
        parts = [f"{counts['road']} roads", f"{counts['waterway']} waterways", f"{len(self.buildings)} buildings", f"{len(self.regions)} waters"]
        if self.count:
            yield ", ".join([*parts, f"{len(self.objects)} other things"])

    def add(self, feature: Feature, shape: shapely.Geometry) -> None:
        """Take a feature whose shape is in metres."""
        if not shape.is_valid:
            shape = shapely.make_valid(shape)
        shape = shape.intersection(self.box)
        tags, name = feature.tags, str(feature.tags.get("name") or "")
        kind = _line_kind(feature)
        for k, part in enumerate(p for p in getattr(shape, "geoms", [shape]) if isinstance(p, shapely.LineString)):
            if kind and part.length > 1.0:
                category = str(tags.get("highway") or tags.get("waterway") or kind)
                width = _width_m(tags) if kind == "road" else None
                line = rounded(np.array(part.coords))
                self.ways.append(Way(id=f"{feature.id}-{k}", kind=kind, category=category, name=name, line=line, width_m=width))
        for k, area in enumerate(p for p in polygons_of(shape) if p.area > 4.0):
            self._add_area(feature, area, f"{feature.id}-{k}", name)

    def _add_area(self, feature: Feature, area: shapely.Polygon, identity: str, name: str) -> None:
        tags = feature.tags
        outline = rounded(np.array(shapely.remove_repeated_points(area, 0.02).exterior.coords)[:-1])
        if len(outline) < 3 or not shapely.Polygon(outline).is_valid:
            return
        thing = next((category for (key, value), category in _THINGS.items() if tags.get(key) == value), None)
        if tags.get("natural") == "water" or tags.get("waterway") == "riverbank" or tags.get("water") or feature.hint == "water":
            self.regions.append(Region(id=identity, type="water", access="prohibited", polygon=outline))
        elif thing:
            self._add_thing(area, identity, thing, name)
        elif tags.get("building") not in (None, "", "no") or feature.hint == "building":
            category = str(tags.get("building") or "building")
            self.buildings.append(
                Building(id=identity, name=name, category=category if category.islower() and category != "yes" else "building", footprint=outline)
            )

    def _add_thing(self, area: shapely.Polygon, identity: str, category: str, name: str) -> None:
        box = np.array(area.minimum_rotated_rectangle.exterior.coords)
        a, b = box[1] - box[0], box[2] - box[1]
        center = (round(area.centroid.x, 2), round(area.centroid.y, 2), 0.25)
        size = (round(float(np.hypot(*a)), 2), round(float(np.hypot(*b)), 2), 0.5)
        self.objects.append(
            ObjectInstance(id=identity, category=category, name=name, center=center, size=size, yaw_rad=round(float(np.arctan2(a[1], a[0])), 6))
        )


def _line_kind(feature: Feature) -> str:
    tags = feature.tags
    if tags.get("highway"):
        return "" if tags["highway"] in _NO_ROADS else "road"
    if tags.get("waterway"):
        return "waterway"
    if any(key in tags for key in ("road_type", "road_id", "lane_numbe", "lane_number")):
        return "road"
    return {"water": "waterway", "road": "road"}.get(feature.hint, "")


def _width_m(tags: dict[str, Any]) -> float:
    for key, factor in (("width", 1.0), ("lanes", _LANE_M), ("lane_number", _LANE_M), ("lane_numbe", _LANE_M)):
        try:
            value = float(tags[key]) * factor
        except (KeyError, TypeError, ValueError):
            continue
        if 1.0 <= value <= 80.0:
            return round(value, 2)
    return _ROAD_M


def _features(file: Path, grid: GeoGrid) -> tuple[list[Feature], list[str]]:
    name = file.name.lower()
    if name.endswith((".tif", ".tiff")):
        return _of_mask(file)
    if name.endswith(_OSM):
        from portico.build.osm.read_osm import read_osm

        ledger = Ledger()
        elements = read_osm(file, None, ledger).elements
        return [Feature(e.id, dict(e.tags), e.shape) for e in elements], [str(r) for r in ledger.remarks()][:5]
    return _of_geojson(file)


def _of_geojson(file: Path) -> tuple[list[Feature], list[str]]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ImportFailed("this is not complete GeoJSON", where=str(file), why=str(error), next_step="export the vectors again") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("features"), list):
        raise ImportFailed("the GeoJSON holds no FeatureCollection", where=f"{file}: features", next_step="export the vectors as a FeatureCollection")
    name = str(((raw.get("crs") or {}).get("properties") or {}).get("name") or "EPSG:4326")
    pyproj = aerial_package("pyproj")
    try:
        to_degrees = pyproj.Transformer.from_crs(name, "EPSG:4326", always_xy=True)
    except pyproj.exceptions.CRSError as error:
        raise ImportFailed("the GeoJSON is in an unknown reference system", where=f"{file}: crs", why=name, next_step="export it in EPSG:4326") from error
    hint = next((what for word, what in _HINTS.items() if word in file.stem.lower()), "")
    found, dropped = [], 0
    for n, feature in enumerate(raw["features"]):
        try:
            shape = shapely.force_2d(shapely.from_geojson(json.dumps(feature["geometry"])))
        except (shapely.GEOSException, ValueError, TypeError, KeyError):
            dropped += 1
            continue
        xy = shapely.get_coordinates(shape) if shape is not None else np.zeros((0, 2))
        if not len(xy) or not np.isfinite(xy).all():
            dropped += 1
            continue
        tags = {str(k): v for k, v in (feature.get("properties") or {}).items() if v not in (None, "")}
        found.append(Feature(f"{file.stem}-{n}", tags, shapely.transform(shape, lambda p: np.stack(to_degrees.transform(p[:, 0], p[:, 1]), axis=1)), hint))
    return found, [f"{dropped} features without coordinates that are numbers were dropped"] if dropped else []


_HINTS = {"water": "water", "river": "water", "lake": "water", "canal": "water", "road": "road", "street": "road", "build": "building", "footprint": "building"}


def _of_mask(file: Path) -> tuple[list[Feature], list[str]]:
    rasterio = aerial_package("rasterio")
    try:
        with rasterio.Env(CPL_LOG_ERRORS="OFF"), rasterio.open(file) as mask:
            if mask.crs is None:
                raise ImportFailed("the mask has no coordinate reference system (CRS)", where=f"{file}: crs", next_step="give it the one of the imagery")
            grid = GeoGrid(mask.crs.to_wkt(), tuple(mask.transform)[:6], mask.width, mask.height)
            marked = mask.read(1) > 0
    except rasterio.errors.RasterioError as error:
        raise ImportFailed("the mask (.tif) cannot be read", where=str(file), why=str(error), next_step="fetch the file again") from error
    scale = float(np.sqrt(abs(np.linalg.det(grid.around(*grid.to_degrees([[0.5 * grid.width, 0.5 * grid.height]])[0])[1]))))
    lines = centre_lines(marked)
    found = [
        Feature(
            f"{file.stem}-{n}",
            {"width": width / scale},
            shapely.LineString(grid.to_degrees(shapely.get_coordinates(shapely.LineString(line).simplify(1.5)))),
            "road",
        )
        for n, (line, width) in enumerate(lines)
        if len(line) > 1
    ]
    return found, [f"the middle of what the mask marks: {len(found)} lines"]


def _local(local: LocalFrame, lonlat: Any) -> Any:
    return local.to_local(lonlat[:, 0], lonlat[:, 1])


def _elsewhere(file: Path, features: list[Feature], box: shapely.Polygon, local: LocalFrame) -> ImportFailed:
    why = "it holds no feature at all"
    if features:
        x, y = shapely.get_coordinates(features[0].shape)[0]
        swapped = shapely.Polygon(box).contains(shapely.Point(local.to_local([y], [x])[0])) if abs(x) <= 90.0 else False
        why = (
            "longitude and latitude seem to be swapped"
            if swapped
            else f"its first feature lies at longitude {x:.5f}, latitude {y:.5f}, or its tags name nothing to follow"
        )
    return ImportFailed(
        "no road, water or building of this file lies on the imagery",
        where=f"{file}: features",
        why=why,
        next_step=f"the imagery lies around longitude {local.longitude_deg:.5f}, latitude {local.latitude_deg:.5f}",
    )
