"""Reads a GeoJSON export of OSM data (one feature per element, tags as properties) into an ``Extract``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from portico.build.osm.extract import Box, Element, Extract, is_area, repaired_area
from portico.build.osm.report import Ledger
from portico.errors import ImportFailed

_META = {"id", "@id", "timestamp", "version", "changeset", "user", "uid", "type", "meta", "relations", "tainted"}
_PREFIX = {"node": "n", "way": "w", "relation": "r"}


def read_geojson(path: Path, bbox: Box | None, ledger: Ledger) -> Extract:
    """Every feature that touches ``bbox`` (degrees), or every one.

    Raises:
        ImportFailed: not JSON, not a FeatureCollection in longitude and latitude.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ImportFailed("this is not complete GeoJSON", where=str(path), why=str(error), next_step="export the extract again") from error
    if not isinstance(raw, dict) or raw.get("type") != "FeatureCollection" or not isinstance(raw.get("features"), list):
        raise ImportFailed("the GeoJSON holds no FeatureCollection", where=str(path), next_step="export the extract as a FeatureCollection of OSM elements")
    elements: list[Element] = []
    read = {"nodes": 0, "ways": 0, "relations": 0}
    window = shapely.box(*bbox) if bbox else None
    for number, feature in enumerate(raw["features"]):
        element = _element(feature, number, path, ledger)
        if element is None:
            continue
        read[{"n": "nodes", "w": "ways", "r": "relations"}[element.id[0]]] += 1
        if element.tags and (window is None or element.shape.intersects(window)):
            elements.append(element)
    return Extract(tuple(elements), bbox, read)


def _element(feature: Any, number: int, path: Path, ledger: Ledger) -> Element | None:
    properties = feature.get("properties") if isinstance(feature, dict) else None
    properties = properties if isinstance(properties, dict) else {}
    element_id = _identity(feature, properties, number)
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    if not geometry:
        ledger.note("dropped", "feature without a geometry", element_id)
        return None
    try:
        shape = shapely.force_2d(shapely.from_geojson(json.dumps(geometry)))
    except (shapely.GEOSException, ValueError):
        ledger.note("dropped", "feature whose geometry cannot be read", element_id)
        return None
    xy = shapely.get_coordinates(shape)
    if not len(xy) or not np.isfinite(xy).all():
        ledger.note("dropped", "feature without coordinates on earth", element_id)
        return None
    if (np.abs(xy[:, 0]) > 360.0).any() or (np.abs(xy[:, 1]) > 90.0).any():
        raise ImportFailed(
            "the GeoJSON is not in longitude and latitude",
            where=f"{path}: {element_id}",
            why=f"a coordinate is {xy[0].tolist()}",
            next_step="export it in WGS84 degrees",
        )
    nested = properties.get("tags")
    source = nested if isinstance(nested, dict) else properties
    tags = {k: str(v) for k, v in source.items() if k not in _META and isinstance(v, str | int | float)}
    return _typed(Element(element_id, tags, shape), ledger)


def _typed(element: Element, ledger: Ledger) -> Element | None:
    """Areas as polygons and lines as lines, by OSM's custom rather than by the exporter's guess."""
    shape = element.shape
    if isinstance(shape, shapely.Polygon) and not is_area(element.tags, True) and "highway" in element.tags:
        return element.moved(shapely.LineString(shape.exterior.coords))
    if isinstance(shape, shapely.Polygon | shapely.MultiPolygon):
        mended = repaired_area(element.id, shape, ledger)
        return None if mended is None else element.moved(mended)
    if isinstance(shape, shapely.LineString) and shape.is_closed and is_area(element.tags, True):
        mended = repaired_area(element.id, shapely.Polygon(shape.coords), ledger)
        return None if mended is None else element.moved(mended)
    return element


def _identity(feature: Any, properties: dict[str, Any], number: int) -> str:
    text = str((feature.get("id") if isinstance(feature, dict) else None) or properties.get("@id") or properties.get("id") or "")
    kind, _, digits = text.partition("/")
    return f"{_PREFIX[kind]}{digits}" if kind in _PREFIX and digits else f"n{text or f'feature-{number}'}"
