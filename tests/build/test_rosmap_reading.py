"""Maps of ROS' map_server are read as its documentation says, and broken ones answer with the file and key."""

import json

import numpy as np
import pytest
from map_samples import ROOM, greys, write_map
from PIL import Image

from portico.build.rosmap import FREE, OCCUPIED, UNKNOWN, MapGrid, import_rosmap, read_rosmap
from portico.errors import ImportFailed

RAMP = np.arange(256, dtype=np.uint8).reshape(16, 16)


def cells_of(path):
    return read_rosmap(path).occupancy.cells.ravel()


def test_trinary_greys_split_where_navarena_says(tmp_path):
    cells = cells_of(write_map(tmp_path, RAMP, free_thresh=0.25))
    assert (cells[:90] == OCCUPIED).all()
    assert (cells[90:192] == UNKNOWN).all()
    assert (cells[192:] == FREE).all()


def test_negated_maps_read_the_other_way_round(tmp_path):
    plain, negated = cells_of(write_map(tmp_path, RAMP)), cells_of(write_map(tmp_path, 255 - RAMP, name="negated", negate=1))
    np.testing.assert_array_equal(plain, negated)


def test_scale_keeps_costs_between_the_thresholds(tmp_path):
    cells = cells_of(write_map(tmp_path, RAMP, mode="scale", occupied_thresh=1.0, free_thresh=0.0))
    assert (cells[0], cells[255]) == (OCCUPIED, FREE)
    assert (np.diff(cells) <= 0).all()
    assert cells[51] == 80


def test_raw_takes_values_as_they_are(tmp_path):
    cells = cells_of(write_map(tmp_path, RAMP, mode="raw"))
    np.testing.assert_array_equal(cells[:101], np.arange(101))
    assert (cells[101:] == UNKNOWN).all()


@pytest.mark.parametrize("kind", ["P2", "P5", "png", "png rgb", "png 16 bit", "png palette", "png alpha"])
def test_every_kind_of_image_gives_the_same_map(tmp_path, kind):
    pixels = greys(ROOM)
    path = write_map(tmp_path, pixels, image="map.pgm" if kind == "P5" else "other.pgm" if kind == "P2" else "map.png")
    if kind == "P2":
        (tmp_path / "other.pgm").write_text(f"P2\n{pixels.shape[1]} {pixels.shape[0]}\n255\n" + "\n".join(" ".join(map(str, row)) for row in pixels))
    elif kind == "P5":
        (tmp_path / "map.pgm").write_bytes(b"P5 %d %d 255\n" % pixels.shape[::-1] + pixels.tobytes())
    elif kind == "png 16 bit":
        Image.fromarray(pixels.astype(np.uint16) * 257).save(tmp_path / "map.png")
    elif kind == "png alpha":
        Image.fromarray(np.stack([np.where(pixels == 205, 254, pixels), np.where(pixels == 205, 0, 255)], axis=2).astype(np.uint8)).save(tmp_path / "map.png")
    else:
        Image.fromarray(pixels).convert({"png": "L", "png rgb": "RGB", "png palette": "P"}[kind]).save(tmp_path / "map.png")
    read = read_rosmap(path).occupancy
    assert read.grid == MapGrid(0.25, -1.0, -2.0, 0.0, 20, 10)
    np.testing.assert_array_equal(read.occupied, pixels == 0)
    np.testing.assert_array_equal(read.free, pixels == 254)


def test_golden_cells_of_navarena():
    grid = MapGrid(0.05, -7.61, -2.89, 0.0, 288, 351)
    points = [(0.0, 0.0), (1.23, 4.56), (-7.60, -2.88), (6.78, 14.65)]
    assert grid.cells(points)[:, ::-1].tolist() == [[152, 293], [176, 202], [0, 350], [287, 0]]
    np.testing.assert_allclose(grid.centres([[293, 152]]), [[0.015, -0.015]], atol=1e-9)


def test_a_turned_origin_turns_the_cells_about_the_corner():
    grid = MapGrid(0.5, 3.0, 1.0, np.pi / 2, 4, 2)
    np.testing.assert_allclose(grid.centres([[1, 0], [1, 3], [0, 0]]), [[2.75, 1.25], [2.75, 2.75], [2.25, 1.25]], atol=1e-12)
    assert grid.cells(grid.centres([[0, 3], [1, 2]])).tolist() == [[0, 3], [1, 2]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"resolution": 0.0}, "resolution"),
        ({"resolution": 5.0}, "0.05 would make it 1 x 0.5 m"),
        ({"resolution": 0.0005}, "0.05 would make it"),
        ({"resolution": "fine"}, "resolution"),
        ({"origin": "[.nan, 0, 0]"}, "origin"),
        ({"origin": "[0, 0]"}, "origin"),
        ({"origin": None}, "no origin"),
        ({"image": "elsewhere.pgm"}, "elsewhere.pgm"),
        ({"mode": "trinari"}, "mode"),
        ({"negate": 2}, "negate"),
        ({"free_thresh": 0.7}, "free_thresh"),
        ({"occupied_thresh": 65}, "occupied_thresh"),
    ],
)
def test_impossible_values_name_file_and_key(tmp_path, changes, words):
    path = write_map(tmp_path, greys(ROOM), **changes)
    with pytest.raises(ImportFailed) as caught:
        read_rosmap(path)
    assert words in str(caught.value)
    assert "map.yaml" in str(caught.value) or "elsewhere" in str(caught.value)
    assert caught.value.next_step


def test_what_is_no_image_and_what_is_no_yaml(tmp_path):
    path = write_map(tmp_path, greys(ROOM), image="map.pgm")
    (tmp_path / "map.pgm").write_text("a letter")
    with pytest.raises(ImportFailed, match="not an image"):
        read_rosmap(path)
    (tmp_path / "map.pgm").write_bytes(b"P5\n20 10\n255\n\0\0")
    with pytest.raises(ImportFailed, match="cut short"):
        read_rosmap(path)
    with pytest.raises(ImportFailed, match="YAML"):
        read_rosmap(tmp_path / "map.pgm")
    with pytest.raises(ImportFailed, match="cannot be opened"):
        read_rosmap(tmp_path / "nothing.yaml")


@pytest.mark.parametrize("grey", [0, 205])
def test_a_map_without_a_free_cell_says_what_it_holds(tmp_path, grey):
    path = write_map(tmp_path, np.full((10, 20), grey))
    with pytest.raises(ImportFailed, match=r"no free cell") as caught:
        import_rosmap(path)
    assert "200 occupied" in str(caught.value) or "200 unknown" in str(caught.value)


def test_unseen_grey_that_reads_as_free_is_remarked(tmp_path):
    assert any("205" in line for line in read_rosmap(write_map(tmp_path, greys(ROOM), free_thresh=0.25)).remarks)
    assert not read_rosmap(write_map(tmp_path, greys(ROOM))).remarks


def test_broken_files_answer_as_their_list_says(shared):
    entries = [e for e in json.loads((shared / "bad" / "manifest.json").read_text()) if e["file"].startswith("rosmap/")]
    assert entries
    for entry in entries:
        if entry["expect"] == "ok":
            assert import_rosmap(shared / "bad" / entry["file"]).occupancy.free.any()
            continue
        with pytest.raises(ImportFailed) as caught:
            import_rosmap(shared / "bad" / entry["file"])
        assert all(word in str(caught.value) for word in entry["message_should_name"])
