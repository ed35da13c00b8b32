"""Aerial worlds and SatNav's questions, as typed."""

import json

import pytest

pytest.importorskip("rasterio")

import rasterio
from hut import build
from sky import coordinates, crossroads
from test_cli import portico

from portico.world import load, save

__all__ = ["portico"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    save(crossroads(), folder / "crossroads")
    return folder


@pytest.fixture
def tif(tmp_path):
    with rasterio.open(
        tmp_path / "map.tif",
        "w",
        driver="GTiff",
        width=640,
        height=600,
        count=3,
        dtype="uint8",
        crs="EPSG:32632",
        transform=rasterio.Affine(0.3, 0, 5e5, 0, -0.3, 52e5),
    ) as file:
        file.write(coordinates(640, 600).transpose(2, 0, 1))
    return tmp_path / "map.tif"


def test_imagery_goes_in_is_described_and_drawn(portico, tif, tmp_path):
    code, out, err = portico("world", "import", "aerial", tif, "--out", tmp_path / "w", "--name", "here", "--licence", "CC-BY-4.0", "--attribution", "Somebody")
    assert code == 0, err
    assert "a flyer at 50 m can go over" in out
    manifest = load(tmp_path / "w").manifest
    assert (manifest.id, manifest.provenance.licence, manifest.provenance.attribution) == ("here", "CC-BY-4.0", "Somebody")
    assert portico("world", "import", "aerial", tif, "--out", tmp_path / "w")[0] == 1
    code, out, err = portico("world", "render", tmp_path / "w", "--out", tmp_path / "pictures")
    assert code == 0, err
    assert {p.name for p in (tmp_path / "pictures").iterdir()} == {"map.png", "contact-sheet.png"}


def test_a_pixel_in_degrees_is_not_square(portico, tmp_path):
    """A degree of longitude at 60 north is half as long as one of latitude."""
    with rasterio.open(
        tmp_path / "map.tif",
        "w",
        driver="GTiff",
        width=800,
        height=600,
        count=3,
        dtype="uint8",
        crs="EPSG:4326",
        transform=rasterio.Affine(9e-6, 0, 8.0, 0, -9e-6, 60.0),
    ) as file:
        file.write(coordinates(800, 600).transpose(2, 0, 1))
    code, out, err = portico("world", "import", "aerial", tmp_path / "map.tif", "--out", tmp_path / "w")
    assert code == 0, err
    assert "of 400 x 600 m" in out
    assert "400 x 600 m, 0.71 m a pixel" in out


def test_broken_imagery_makes_no_world(portico, tif, tmp_path):
    tif.write_bytes(tif.read_bytes()[:5000])
    code, _, err = portico("world", "import", "aerial", tif, "--out", tmp_path / "w")
    assert code == 1
    assert "map.tif" in err
    assert not (tmp_path / "w").exists()


def test_a_hut_has_its_satellite_view_and_a_map_has_none(portico, town, tmp_path):
    build(tmp_path / "hut")
    code, _, err = portico("world", "aerial", tmp_path / "hut", "--out", tmp_path / "view", "--gsd", 0.5)
    assert code == 0, err
    view, hut = load(tmp_path / "view"), load(tmp_path / "hut")
    assert [b.id for b in view.semantics.buildings] == [b.id for b in hut.semantics.buildings]
    assert any("lies nowhere on earth" in note for note in view.manifest.notes)
    code, _, err = portico("world", "export", town / "crossroads", "--out", tmp_path / "again")
    assert code == 1
    assert "imagery.tif" in err
    code, _, err = portico("world", "aerial", town / "crossroads", "--out", tmp_path / "again")
    assert code == 1
    assert "outdoors" in err


@pytest.mark.slow
def test_questions_are_made_checked_flown_converted_and_exported(portico, town, tmp_path):
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "name: little\nseed: 3\nembodiment: flyer\ntrack: aerial\nrules: satnav\nactions: {step_m: 10, turn_deg: 15}\nbudget: {max_actions: 500}\n"
        f"satnav: {{styles: [formal]}}\nworlds: [{{path: {town / 'crossroads'}}}]\ntasks: {{boundary: 2, landmark: 1, route: 2}}\n"
        "policies: [random, outline-follower, privileged/reference-follower]\n"
    )
    code, out, err = portico("run", suite, "--out", tmp_path / "run", "--cache", tmp_path / "cache", "--allow-privileged")
    assert code == 0, err
    summary = json.loads((tmp_path / "run" / "privileged-reference-follower" / "summary.json").read_text())
    assert summary["measures"]["success"]["mean"] == 1.0
    assert summary["measures"]["outline_followed"]["n"] == 2
    assert json.loads((tmp_path / "run" / "random" / "summary.json").read_text())["measures"]["success"]["mean"] == 0.0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "way boundary" in page
    assert "data:image/jpeg" in page
    code, out, err = portico("tables", tmp_path / "run", "--table", "flights")
    assert code == 0, err
    assert "outline followed" in out
    code, out, err = portico("score", tmp_path / "run" / "random")
    assert code == 0, err
    (episodes,) = (tmp_path / "cache" / "episodes").glob("*.json")
    code, out, err = portico("episodes", "validate", episodes, town / "crossroads", "--oracle", "--suite", suite)
    assert code == 0, out + err
    code, out, err = portico("episodes", "convert", episodes, "--to", "satnav", "--out", tmp_path / "e.json.gz")
    assert code == 0, err
    code, out, err = portico("episodes", "convert", tmp_path / "e.json.gz", "--from", "satnav", "--world", town / "crossroads", "--out", tmp_path / "back.json")
    assert code == 0, err
    assert "2 boundary, 1 landmark, 2 route" in out
    code, out, err = portico("episodes", "experts", town / "crossroads", "--episodes", episodes, "--out", tmp_path / "data")
    assert code == 0, err
    assert "5 of 5 episodes flown (100.0%)" in out


def test_episodes_of_another_place_are_refused_with_their_field(portico, town, tmp_path):
    raw = {"episode_id": 1, "scene_id": "A", "start_position": [9.0, 47.0, 50], "goals": [{"position": [9.0, 47.001, 50]}], "instruction": "Go north."}
    (tmp_path / "e.json").write_text(json.dumps({"episodes": [raw]}))
    code, _, err = portico("episodes", "convert", tmp_path / "e.json", "--from", "satnav", "--world", town / "crossroads", "--out", tmp_path / "o.json")
    assert code == 1
    assert "start_position" in err
    assert not (tmp_path / "o.json").exists()
