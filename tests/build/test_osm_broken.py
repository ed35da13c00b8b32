"""Broken and borderline extracts: an error that names the place, or a world and a remark; never a half-written folder."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from osm_text import Drawing

from portico.build.osm import import_osm
from portico.errors import ImportFailed, UserError

STREET = '<way id="50"><nd ref="1"/><nd ref="2"/><tag k="highway" v="footway"/></way>'
NODES = '<node id="1" lat="47.0" lon="8.0"/><node id="2" lat="47.0" lon="8.001"/>'


def osm(path: Path, body: str) -> Path:
    path.write_text(f'<osm version="0.6">{body}</osm>', encoding="utf-8")
    return path


def test_files_of_the_manifest(shared: Path) -> None:
    entries = [e for e in json.loads((shared / "bad" / "manifest.json").read_text()) if e["file"].startswith("osm/")]
    assert entries
    for entry in entries:
        path = shared / "bad" / entry["file"]
        if entry["expect"] == "error":
            with pytest.raises(ImportFailed) as caught:
                import_osm(path)
            message = str(caught.value)
            assert path.name in message
        else:
            result = import_osm(path)
            message = "\n".join(result.report.lines())
            assert len(result.world.semantics.buildings) >= 1
        for word in entry["message_should_name"]:
            assert word in message, (entry["file"], word, message)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.osm", b"", ["empty"]),
        ("empty.osm.pbf", b"", ["empty"]),
        ("prose.osm", b"hello", ["xml", "prose.osm"]),
        ("page.osm", b"<html><body/></html>", ["page.osm", "html"]),
        ("old.osm", b'<osm version="0.5"></osm>', ["0.5"]),
        ("noise.osm.pbf", b"\x00\x01hello" * 50, ["noise.osm.pbf"]),
        ("noise.osm.bz2", b"BZh9notreally", ["noise.osm.bz2"]),
        ("map.txt", b"<osm/>", [".osm.pbf"]),
        ("broken.geojson", b'{"type": "FeatureCollection", "features": [', ["GeoJSON"]),
        ("point.geojson", b'{"type": "Point", "coordinates": [0, 0]}', ["FeatureCollection"]),
        ("nothing.geojson", b'{"type": "FeatureCollection", "features": []}', ["highway"]),
    ],
)
def test_what_is_no_extract(tmp_path: Path, name: str, content: bytes, words: list[str]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ImportFailed) as caught:
        import_osm(path)
    assert caught.value.next_step
    for word in words:
        assert word in str(caught.value)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="folder"):
        import_osm(tmp_path)
    with pytest.raises(ImportFailed, match="no such file"):
        import_osm(tmp_path / "absent.osm")


def test_a_coordinate_that_is_not_a_number_is_named(tmp_path: Path) -> None:
    path = osm(tmp_path / "nan.osm", NODES + '<node id="77" lat="nan" lon="8.0"/>' + STREET)
    with pytest.raises(ImportFailed) as caught:
        import_osm(path)
    assert "node 77" in str(caught.value)
    assert "'nan'" in str(caught.value)


def test_projected_geojson_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "metres.geojson"
    feature = {
        "type": "Feature",
        "id": "way/1",
        "properties": {"highway": "footway"},
        "geometry": {"type": "LineString", "coordinates": [[385000.0, 6672000.0], [385100.0, 6672000.0]]},
    }
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    with pytest.raises(ImportFailed, match="WGS84"):
        import_osm(path)


@pytest.mark.parametrize("position", ["", 'lat="95" lon="8.0"', 'lat="47.0" lon="200"'])
def test_nodes_without_coordinates_on_earth_are_dropped(tmp_path: Path, position: str) -> None:
    path = osm(
        tmp_path / "lost.osm", f'{NODES}<node id="9" {position}/>{STREET}<way id="51"><nd ref="1"/><nd ref="9"/><nd ref="2"/><tag k="building" v="yes"/></way>'
    )
    lines = "\n".join(import_osm(path).report.lines())
    assert "node without coordinates on earth (n9)" in lines
    assert "n9" in lines


def test_borderline_elements_are_repaired_or_dropped_by_id(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.way([(-60.0, -10.0), (60.0, -10.0)], highway="footway")
    bowtie = drawing.way([(0.0, 0.0), (20.0, 20.0), (20.0, 0.0), (0.0, 20.0)], closed=True, building="yes")
    flat = drawing.way([(30.0, 0.0), (40.0, 0.0), (50.0, 0.0)], closed=True, building="yes")
    open_outline = drawing.way([(30.0, 10.0), (40.0, 10.0), (40.0, 20.0)], building="yes")
    stuttering = drawing.node(-40.0, 0.0)
    double = drawing.way([], refs=[stuttering, stuttering, drawing.node(-30.0, 0.0), drawing.node(-30.0, 10.0), stuttering], building="yes")
    lone = drawing.way([], refs=[stuttering], highway="footway")
    cut = drawing.way(
        [], refs=[drawing.node(-20.0, -20.0), drawing.node(0.0, -20.0), 987654, drawing.node(30.0, -20.0), drawing.node(50.0, -20.0)], highway="footway"
    )
    drawing.raw_node('lat="47.0001" lon="8.0001"', stuttering)
    ring = drawing.way([(60.0, 0.0), (70.0, 0.0), (70.0, 10.0)])
    torn = drawing.relation([(ring, "outer")], type="multipolygon", building="yes")
    drawing.relation([(424242, "outer")], type="multipolygon", building="yes")
    result = import_osm(drawing.write(tmp_path / "odd.osm"))
    lines = result.report.lines()

    def named(words: str, element: str) -> bool:
        return any(words in line and element in line for line in lines)

    assert named("crosses or touches itself", f"w{bowtie}")
    assert named("outline without an area", f"w{flat}")
    assert named("not closed", f"w{open_outline}")
    assert named("given more than once", f"n{stuttering}")
    assert named("fewer than two different points", f"w{lone}")
    assert named("stretches that are there kept", f"w{cut} by n987654")
    assert named("without a closed outer ring", f"r{torn}")
    kept = {b.id.split("/")[0] for b in result.world.semantics.buildings}
    assert kept == {f"w{bowtie}", f"w{double}"}


def test_an_extract_across_the_antimeridian(tmp_path: Path) -> None:
    drawing = Drawing(-16.8, 179.9999)
    drawing.way([(-80.0, 0.0), (80.0, 0.0)], highway="footway")
    drawing.square(-10.0, 10.0, 30.0, building="yes")
    world = import_osm(drawing.write(tmp_path / "fiji.osm")).world
    low, high = world.geometry.bounds()
    assert (high - low)[0] == pytest.approx(190.0, abs=1.0)
    (building,) = world.semantics.buildings
    xs = [p[0] for p in building.footprint]
    assert max(xs) - min(xs) == pytest.approx(30.0, abs=0.05)


def test_an_extract_that_is_too_large_asks_for_a_bbox(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.way([(-300.0, 0.0), (300.0, 200.0)], highway="footway")
    path = drawing.write(tmp_path / "county.osm")
    with pytest.raises(ImportFailed, match="bbox"):
        import_osm(path, max_area_km2=0.1)
    assert import_osm(path).world.semantics.regions


@pytest.mark.parametrize("bbox", [(8.0, 47.0, 7.9, 47.1), (8.0, 47.0, 8.1, 46.9), (float("nan"), 47.0, 8.1, 47.1), (8.0, 47.0, 8.1, 97.0)])
def test_a_bbox_must_be_a_box(tmp_path: Path, bbox: tuple[float, float, float, float]) -> None:
    with pytest.raises(UserError, match="bbox"):
        import_osm(osm(tmp_path / "a.osm", NODES + STREET), bbox=bbox)


def test_a_bbox_beside_the_extract_finds_nothing(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="highway"):
        import_osm(osm(tmp_path / "a.osm", NODES + STREET), bbox=(9.0, 47.0, 9.1, 47.1))


def test_where_all_streets_are_underground_open_ground_is_walkable(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.square(0.0, 0.0, 20.0, building="yes")
    drawing.way([(-60.0, 0.0), (60.0, 0.0)], highway="footway", tunnel="yes", layer="-1")
    result = import_osm(drawing.write(tmp_path / "metro.osm"))
    lines = "\n".join(result.report.lines())
    assert "underground" in lines
    assert "assumed 1: open ground is walkable" in lines
    assert {r.type for r in result.world.semantics.regions if r.access == "allowed"} == {"open_area"}


def test_without_osmium_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "osmium":
            raise ImportError("No module named 'osmium'")
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UserError) as caught:
        import_osm(osm(tmp_path / "a.osm", NODES + STREET))
    assert "pip install 'portico-nav[osm]'" in str(caught.value)
