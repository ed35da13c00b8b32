"""Random towns: whatever is drawn, the import either makes a valid world or says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from osm_text import Drawing

from portico.build.osm import import_osm
from portico.errors import UserError
from portico.world import load, save

coordinates = st.tuples(st.integers(-60, 60).map(float), st.integers(-60, 60).map(float))
line_tags = st.sampled_from(
    [
        {"highway": "residential"},
        {"highway": "primary", "lanes": "4", "sidewalk": "left"},
        {"highway": "motorway_link"},
        {"highway": "footway"},
        {"highway": "footway", "footway": "crossing"},
        {"highway": "steps"},
        {"highway": "service", "tunnel": "building_passage"},
        {"highway": "pedestrian"},
        {"highway": "tertiary", "bridge": "yes", "layer": "1"},
        {"highway": "residential", "width": "40 ft"},
        {"natural": "coastline"},
        {"waterway": "stream"},
        {"railway": "tram"},
        {"barrier": "fence"},
        {"barrier": "hedge"},
        {"natural": "tree_row"},
    ]
)
area_tags = st.sampled_from(
    [
        {"building": "yes"},
        {"building": "house"},
        {"building": "yes", "height": "0"},
        {"building": "office", "building__levels": "12", "shop": "yes", "name": "A/B: C"},
        {"building": "yes", "building__min_level": "2", "building__levels": "3"},
        {"building__part": "yes", "height": "30"},
        {"building": "roof"},
        {"highway": "pedestrian", "area": "yes"},
        {"natural": "water"},
        {"landuse": "grass"},
        {"amenity": "parking"},
        {"place": "square"},
        {"highway": "residential", "junction": "roundabout"},
    ]
)
point_tags = st.sampled_from(
    [{"shop": "bakery", "name": "Ü"}, {"entrance": "main"}, {"highway": "crossing"}, {"natural": "tree"}, {"amenity": "bench"}, {"barrier": "gate"}]
)
lines = st.lists(st.tuples(st.lists(coordinates, min_size=1, max_size=4), line_tags), min_size=1, max_size=7)
areas = st.lists(st.tuples(st.lists(coordinates, min_size=3, max_size=6), area_tags), max_size=7)
points = st.lists(st.tuples(coordinates, point_tags), max_size=6)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, areas, points)
def test_any_town_is_imported_or_refused(
    tmp_path: Path,
    lines: list[tuple[list[tuple[float, float]], dict[str, str]]],
    areas: list[tuple[list[tuple[float, float]], dict[str, str]]],
    points: list[tuple[tuple[float, float], dict[str, str]]],
) -> None:
    drawing = Drawing()
    for corners, tags in lines:
        drawing.way(corners, **tags)
    for corners, tags in areas:
        drawing.way(corners, closed=True, **tags)
    for (x, y), tags in points:
        drawing.node(x, y, **tags)
    try:
        world = import_osm(drawing.write(tmp_path / "town.osm")).world
    except UserError:
        return
    save(world, tmp_path / "world", overwrite=True)
    again = load(tmp_path / "world").semantics
    shapes = [shapely.Polygon(r.polygon) for r in again.regions]
    assert sum(s.area for s in shapes) - shapely.union_all(shapes, grid_size=1e-4).area < 0.3
    footprints = shapely.union_all([shapely.Polygon(b.footprint) for b in again.buildings])
    assert footprints.intersection(shapely.union_all(shapes)).area < 0.5
    ids = {b.id.split("/")[0] for b in again.buildings}
    assert {p.building for p in again.places if p.frontage} <= ids
    assert np.isfinite(world.geometry.vertices).all()
