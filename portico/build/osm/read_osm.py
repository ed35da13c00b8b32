"""Reads .osm, .osm.bz2, .osm.gz and .osm.pbf with pyosmium into an ``Extract``."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.osm.extract import Box, Element, Extract, multipolygon, way_shape
from portico.build.osm.report import Ledger
from portico.errors import ImportFailed, UserError

_RELATION_TYPES = {"multipolygon"}
_BOX_MARGIN_DEG = 0.001


@dataclass
class _Nodes:
    """Positions by node id. Compact, since a city has millions; ``finish`` sorts them for look-up."""

    ids: array[int] = field(default_factory=lambda: array("q"))
    lons: array[float] = field(default_factory=lambda: array("d"))
    lats: array[float] = field(default_factory=lambda: array("d"))
    tagged: list[tuple[int, dict[str, str], float, float]] = field(default_factory=list)

    def finish(self, ledger: Ledger) -> None:
        ids = np.frombuffer(self.ids, np.int64) if len(self.ids) else np.zeros(0, np.int64)
        order = np.argsort(ids, kind="stable")
        for twice in np.unique(ids[order][1:][np.diff(ids[order]) == 0]):
            ledger.note("repaired", "node given more than once, its first position used", f"n{twice}")
        self.sorted_ids = ids[order]
        self.sorted_points = np.stack([np.asarray(self.lons, np.float64), np.asarray(self.lats, np.float64)], axis=1)[order]

    def find(self, refs: list[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Points (N, 2) of a way's node ids, and (N,) which of them have one."""
        wanted = np.asarray(refs, np.int64)
        if not len(self.sorted_ids) or not len(wanted):
            return np.zeros((len(wanted), 2)), np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(self.sorted_ids, wanted), len(self.sorted_ids) - 1)
        return self.sorted_points[at], self.sorted_ids[at] == wanted


def read_osm(path: Path, bbox: Box | None, ledger: Ledger) -> Extract:
    """Every tagged element of the file that touches ``bbox`` (degrees), or every one.

    Raises:
        UserError: the osmium package is not installed.
        ImportFailed: the file is not OSM data or is damaged; names the place.
    """
    osmium = _osmium()
    try:
        return _Reader(osmium, path, bbox, ledger).extract(header_box(path))
    except (RuntimeError, ValueError, OSError, osmium.InvalidLocationError) as error:
        raise _explained(path, error) from error


def header_box(path: Path) -> Box | None:
    """The box that a file says it covers, west, south, east, north in degrees; None when it says nothing."""
    osmium = _osmium()
    try:
        with osmium.io.Reader(str(path), osmium.osm.NOTHING) as reader:
            box = reader.header().box()
    except (RuntimeError, ValueError, OSError, osmium.InvalidLocationError) as error:
        raise _explained(path, error) from error
    return (box.bottom_left.lon, box.bottom_left.lat, box.top_right.lon, box.top_right.lat) if box.valid() else None


class _Reader:
    """Three passes, so that the order of elements in the file does not matter and only what is used is held."""

    def __init__(self, osmium: Any, path: Path, bbox: Box | None, ledger: Ledger) -> None:
        self.osmium, self.path, self.bbox, self.ledger = osmium, path, bbox, ledger
        self.read = {"nodes": 0, "ways": 0, "relations": 0}
        self.nodes = _Nodes()
        self.relations: list[tuple[int, dict[str, str], list[tuple[int, str]]]] = []
        self.member_ways: dict[int, NDArray[np.float64]] = {}
        self.elements: list[Element] = []

    def extract(self, header_box: Box | None) -> Extract:
        self._read_nodes()
        self._read_relations()
        self._read_ways()
        self._assemble_relations()
        return Extract(tuple(self.elements), self.bbox or header_box, self.read)

    def _objects(self, kind: Any) -> Iterator[Any]:
        yield from self.osmium.FileProcessor(str(self.path), kind)

    def _read_nodes(self) -> None:
        for node in self._objects(self.osmium.osm.NODE):
            self.read["nodes"] += 1
            location = node.location
            if not location.valid():
                self.ledger.note("dropped", "node without coordinates on earth", f"n{node.id}")
                continue
            self.nodes.ids.append(node.id)
            self.nodes.lons.append(location.lon)
            self.nodes.lats.append(location.lat)
            if len(node.tags) and self._near(location.lon, location.lat):
                self.elements.append(Element(f"n{node.id}", dict(node.tags), shapely.Point(location.lon, location.lat)))
        self.nodes.finish(self.ledger)

    def _read_relations(self) -> None:
        for relation in self._objects(self.osmium.osm.RELATION):
            self.read["relations"] += 1
            tags = dict(relation.tags)
            if tags.get("type") in _RELATION_TYPES:
                self.relations.append((relation.id, tags, [(m.ref, m.role) for m in relation.members if m.type == "w"]))

    def _read_ways(self) -> None:
        members = {ref for _, _, refs in self.relations for ref, _ in refs}
        for way in self._objects(self.osmium.osm.WAY):
            self.read["ways"] += 1
            if not len(way.tags) and way.id not in members:
                continue
            refs = [n.ref for n in way.nodes]
            points, known = self.nodes.find(refs)
            tags = dict(way.tags)
            if known.all() and way.id in members:
                self.member_ways[way.id] = points
            if not tags or not known.any() or not self._near(points[known, 0], points[known, 1]):
                continue
            shape = self._cut_way(f"w{way.id}", refs, points, known) if not known.all() else way_shape(f"w{way.id}", tags, points, self.ledger)
            if shape is not None:
                self.elements.append(Element(f"w{way.id}", tags, shape))

    def _cut_way(self, element_id: str, refs: list[int], points: NDArray[np.float64], known: NDArray[np.bool_]) -> shapely.Geometry | None:
        """The stretches of an open way whose nodes are there; nothing of an outline, whose shape would be a guess."""
        named = f"{element_id} by n{refs[int(np.argmin(known))]}"
        runs = np.split(np.arange(len(refs)), np.flatnonzero(np.diff(known.astype(np.int8))) + 1)
        stretches = [points[run] for run in runs if known[run[0]] and len(run) >= 2 and (points[run] != points[run[0]]).any()]
        if refs[0] == refs[-1] or not stretches:
            self.ledger.note("dropped", "way that refers to a node absent from the extract or without coordinates", named)
            return None
        self.ledger.note("repaired", "open way that refers to a node absent from the extract, the stretches that are there kept", named)
        lines = [shapely.LineString(stretch) for stretch in stretches]
        return lines[0] if len(lines) == 1 else shapely.MultiLineString(lines)

    def _assemble_relations(self) -> None:
        for relation_id, tags, members in self.relations:
            present = [(self.member_ways[ref], role) for ref, role in members if ref in self.member_ways]
            if not present or not any(self._near(points[:, 0], points[:, 1]) for points, _ in present):
                continue
            if len(present) < len(members):
                self.ledger.note("ignored", "members of a multipolygon that are absent from the extract", f"r{relation_id}")
            outers = [points for points, role in present if role != "inner"]
            shape = multipolygon(f"r{relation_id}", outers, [points for points, role in present if role == "inner"], self.ledger)
            if shape is not None:
                self.elements.append(Element(f"r{relation_id}", tags, shape))

    def _near(self, lon: Any, lat: Any) -> bool:
        if self.bbox is None:
            return True
        west, south, east, north = self.bbox
        lon = np.where(np.asarray(lon) < west - 180.0, np.asarray(lon) + 360.0, lon)
        overlap = np.max(lon) >= west - _BOX_MARGIN_DEG and np.min(lon) <= east + _BOX_MARGIN_DEG
        return bool(overlap and np.max(lat) >= south - _BOX_MARGIN_DEG and np.min(lat) <= north + _BOX_MARGIN_DEG)


def _osmium() -> Any:
    try:
        import osmium
        import osmium.io
    except ImportError as error:
        raise UserError(
            "reading OpenStreetMap files needs the package osmium",
            why=str(error),
            next_step="pip install 'portico-nav[osm]' (GeoJSON extracts need no package)",
        ) from error
    return osmium


_BAD_COORDINATE = re.compile(rb"<node\b(?=[^>]*\bid=['\"](-?\d+)['\"])[^>]*\b(?:lat|lon)=['\"](?!\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*['\"])([^'\"]*)['\"]")


def _explained(path: Path, error: Exception) -> ImportFailed:
    text = str(error)
    if path.stat().st_size == 0:
        return ImportFailed("the OSM file is empty", where=str(path), next_step="download or export the extract again")
    if "coordinate" in text and path.suffix == ".osm":
        bad = _BAD_COORDINATE.search(path.read_bytes())
        element = f": node {bad[1].decode()}, coordinate {bad[2].decode()!r}" if bad else ""
        return ImportFailed("a node has a coordinate that is not a number", where=f"{path}{element}", why=text, next_step="correct or remove the node")
    if "XML" in text:
        return ImportFailed(
            "this is not complete OSM xml: the file is cut short or damaged, or something else altogether",
            where=str(path),
            why=text,
            next_step="download or export the extract again; `xmllint --noout FILE` shows the spot",
        )
    return ImportFailed(
        "this file cannot be read as OpenStreetMap data", where=str(path), why=text, next_step="give an .osm, .osm.pbf, .osm.bz2 or .geojson extract"
    )
