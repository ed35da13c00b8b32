"""Maps in and out, as typed."""

import json

import numpy as np
import pytest
from hut import build
from PIL import Image
from test_cli import portico

from portico.world import load

__all__ = ["portico"]


@pytest.fixture
def room(tmp_path):
    pixels = np.full((60, 80), 254, np.uint8)
    pixels[[0, -1]] = pixels[:, [0, -1]] = 0
    pixels[20:40, 40] = 0
    Image.fromarray(pixels).save(tmp_path / "room.pgm")
    (tmp_path / "room.yaml").write_text("image: room.pgm\nresolution: 0.1\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n")
    return tmp_path


def test_a_map_goes_in_is_asked_about_and_comes_out(portico, room):
    code, out, err = portico("world", "import", "rosmap", room / "room.yaml", "--out", room / "world", "--wall-height", 1.5)
    assert code == 0, err
    assert "spot can stand on" in out
    assert load(room / "world").geometry.bounds()[1, 2] == 1.5
    code, _, err = portico("episodes", "generate", room / "world", "--task", "point", "--count", 3, "--out", room / "point.json")
    assert code == 0, err
    code, out, err = portico("world", "export", room / "world", "--format", "rosmap", "--out", room / "map")
    assert code == 0, err
    np.testing.assert_array_equal(np.asarray(Image.open(room / "map" / "map.pgm")), np.asarray(Image.open(room / "room.pgm")))


def test_glb_is_still_what_export_writes_by_default(portico, tmp_path):
    build(tmp_path / "hut")
    code, _, err = portico("world", "export", tmp_path / "hut", "--out", tmp_path / "out")
    assert code == 0, err
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["hut.glb", "hut.json"]
    code, _, err = portico("world", "export", tmp_path / "hut", "--out", tmp_path / "out")
    assert code == 1
    assert "--overwrite" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "rosmop"), "did you mean 'rosmap'"),
        (("--format", "rosmap", "--floor", 7), "there is no floor 7"),
        (("--format", "rosmap", "--robot", "spott"), "did you mean 'spot'"),
    ],
)
def test_wrong_wishes_leave_nothing_behind(portico, tmp_path, arguments, words):
    build(tmp_path / "hut")
    code, _, err = portico("world", "export", tmp_path / "hut", "--out", tmp_path / "out", *arguments)
    assert code == 1
    assert words in err
    assert not (tmp_path / "out").exists()


def test_a_world_goes_to_navarena_and_comes_back(portico, tmp_path):
    build(tmp_path / "hut")
    code, out, err = portico("world", "export", tmp_path / "hut", "--format", "navarena", "--dataset", "InteriorGS", "--out", tmp_path / "scene")
    assert code == 0, err
    scene = out.split()[1]
    code, out, err = portico("world", "import", "navarena", tmp_path / "scene", "--out", tmp_path / "world", "--collision", "map")
    assert code == 0, err
    assert "bodies meet the map" in out
    assert load(tmp_path / "world").id == scene
    (tmp_path / "scene" / "nav_mask.png").write_bytes(b"")
    code, _, err = portico("world", "import", "navarena", tmp_path / "scene", "--out", tmp_path / "other")
    assert code == 1
    assert "nav_mask.png" in err
    assert not (tmp_path / "other").exists()


def test_a_map_without_room_for_the_robot_makes_no_world(portico, room):
    text = (room / "room.yaml").read_text().replace("resolution: 0.1", "resolution: 0.005")
    (room / "room.yaml").write_text(text)
    code, _, err = portico("world", "import", "rosmap", room / "room.yaml", "--out", room / "world")
    assert code == 1
    assert "fits nowhere" in err or "stand" in err
    assert not (room / "world").exists()


def test_episodes_go_to_navarena_and_come_back(portico, room):
    assert portico("world", "import", "rosmap", room / "room.yaml", "--out", room / "world")[0] == 0
    assert portico("episodes", "generate", room / "world", "--task", "point", "--count", 3, "--out", room / "point.json")[0] == 0
    code, out, err = portico("episodes", "convert", room / "point.json", "--to", "navarena", "--out", room / "data", "--split", "test")
    assert code == 0, err
    assert "test_000000 to test_000002" in out
    code, _, err = portico("episodes", "convert", room / "data", "--from", "navarena", "--world", room / "world", "--out", room / "back.json")
    assert code == 0, err
    before, after = (json.loads((room / name).read_text())["episodes"] for name in ("point.json", "back.json"))
    assert [e["start"]["position"] for e in after] == [e["start"]["position"] for e in before]
    assert [e["reference"]["length_m"] for e in after] == pytest.approx([e["reference"]["length_m"] for e in before])
    assert portico("episodes", "validate", room / "back.json", room / "world", "--oracle")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "x"), "which way"),
        (("--out", "x", "--to", "navarena", "--from", "navarena"), "which way"),
        (("--out", "x", "--to", "habitatt"), "unknown format"),
    ],
)
def test_conversions_say_what_they_need(portico, tmp_path, arguments, words):
    code, _, err = portico("episodes", "convert", tmp_path / "e.json", *arguments)
    assert code == 1
    assert words in err
