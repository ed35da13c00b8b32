"""Label views as files: written and read back the same, odd lenses laid straight, every fault named."""

from __future__ import annotations

import json
from dataclasses import replace
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_rooms import look
from PIL import Image

from portico.build.lifting import LabelView, read_label_views, write_label_views
from portico.errors import ImportFailed, StorageError, UnknownName
from portico.interface import Camera

NAMES = {1: "chair", 2: "table", 300: "lamp"}
CAMERA = Camera("eye", 12, 8, 0.5 * pi)


def views():
    rng = np.random.default_rng(0)
    for n, top in enumerate((2, 300)):
        labels = rng.choice([0, 1, 2, 300] if top == 300 else [0, 1, 2], (8, 12))
        yield LabelView(look(n, 1.0, 1.0, (3.0, 2.0)), CAMERA, labels, rng.integers(0, 70000 if n else 5, (8, 12)) % 65536, f"v{n}")


@pytest.fixture
def folder(tmp_path):
    write_label_views(views(), NAMES, tmp_path / "views")
    return tmp_path / "views"


def edit(path, change):
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


def test_what_is_written_is_read_again(folder):
    read = read_label_views(folder)
    assert len(read) == 2
    assert read.categories == NAMES
    for mine, true in zip(read, views(), strict=True):
        np.testing.assert_array_equal(mine.labels, true.labels)
        np.testing.assert_array_equal(mine.instances, true.instances)
        np.testing.assert_array_equal(mine.T_world_camera, true.T_world_camera)
        assert (mine.camera.width, mine.camera.height) == (12, 8)
        assert mine.camera.focal_px == pytest.approx(true.camera.focal_px, abs=1e-9)
    assert Image.open(folder / "labels" / "0000.png").mode == "L"
    assert Image.open(folder / "labels" / "0001.png").mode == "I;16"


def test_nothing_is_overwritten_unasked_and_failures_leave_nothing(folder, tmp_path):
    with pytest.raises(StorageError, match="already"):
        write_label_views(views(), NAMES, folder)

    def failing():
        yield next(views())
        raise RuntimeError("the model broke")

    with pytest.raises(RuntimeError):
        write_label_views(failing(), NAMES, tmp_path / "other")
    assert not (tmp_path / "other").exists()


@given(fx=st.floats(5.0, 20.0), fy=st.floats(5.0, 20.0), cx=st.floats(2.0, 10.0), cy=st.floats(1.0, 7.0))
def test_odd_lenses_are_laid_straight(tmp_path_factory, fx, fy, cx, cy):
    """A pixel of the laid image looks along the same ray as the pixel of the original that it shows."""
    folder = tmp_path_factory.mktemp("lens")
    labels = np.arange(1, 97).reshape(8, 12)
    write_label_views([LabelView(np.eye(4), CAMERA, labels)], {n: f"c{n}" for n in range(1, 97)}, folder)
    edit(folder / "cameras.json", lambda raw: raw["views"][0].update(fx=fx, fy=fy, cx=cx, cy=cy))
    view = next(iter(read_label_views(folder)))
    row, column = np.nonzero(view.labels)
    x = (column + 0.5 - 0.5 * view.camera.width) / view.camera.focal_px
    y = (row + 0.5 - 0.5 * view.camera.height) / view.camera.focal_px
    shown = view.labels[row, column] - 1
    assert np.abs(x * fx + cx - (shown % 12 + 0.5)).max() <= 0.5 + 1e-6
    assert np.abs(y * fy + cy - (shown // 12 + 0.5)).max() <= 0.5 + 1e-6
    assert set(shown) == set(range(96))


def test_a_label_without_a_name_is_named(folder):
    image = np.array(Image.open(folder / "labels" / "0000.png"))
    image[0, :3] = 77
    Image.fromarray(image).save(folder / "labels" / "0000.png")
    with pytest.raises(ImportFailed) as refusal:
        list(read_label_views(folder))
    assert all(word in str(refusal.value) for word in ("77", "0000.png", "3 of 96 pixels"))


def test_categories_beyond_the_vocabulary_get_the_closest_names(folder):
    assert len(read_label_views(folder, vocabulary={"chair", "table", "lamp", "bed"})) == 2
    with pytest.raises(UnknownName, match="'tables'") as refusal:
        read_label_views(folder, vocabulary={"chair", "tables", "lamp"})
    assert "categories.json" in str(refusal.value)


def scaled(raw):
    raw["views"][1]["T_world_camera"] = (2.0 * np.eye(4)).tolist()


def unknown(raw):
    raw["views"][1]["T_world_camera"][0][3] = float("nan")


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("cameras.json", scaled, ["not a rotation", "'0001'", "cameras.json"]),
        ("cameras.json", unknown, ["not finite", "'0001'", "NaN"]),
        ("cameras.json", lambda raw: raw["views"][0].update(T_world_camera=[[1.0] * 4] * 3), ["4 x 4", "'0000'"]),
        ("cameras.json", lambda raw: raw["views"][0].update(width=20), ["12 x 8", "20 x 8", "0000.png"]),
        ("cameras.json", lambda raw: raw["views"][0].pop("fx"), ["views[0].fx"]),
        ("cameras.json", lambda raw: raw["views"][0].update(fy=0.0), ["views[0].fy"]),
        ("cameras.json", lambda raw: raw["views"][0].update(name="00000"), ["missing", "00000.png", "0000.png"]),
        ("cameras.json", lambda raw: raw["views"][0].update(name="0001"), ["two views", "'0001'"]),
        ("cameras.json", lambda raw: raw["views"].clear(), ["no views"]),
        ("categories.json", lambda raw: raw.update(one="x"), ["categories.json", "one"]),
        ("categories.json", lambda raw: raw.pop("1"), ["does not name the label 1", "0000.png"]),
    ],
)
def test_faults_are_named(folder, file, change, words):
    edit(folder / file, change)
    with pytest.raises(ImportFailed) as refusal:
        list(read_label_views(folder))
    assert all(word in str(refusal.value) for word in words), refusal.value


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "cameras.json").unlink(), ["cameras.json cannot be opened"]),
        (lambda folder: (folder / "categories.json").write_text("{"), ["categories.json is cut short"]),
        (lambda folder: (folder / "labels" / "0001.png").write_bytes(b"no picture"), ["cannot be read", "0001.png"]),
        (lambda folder: Image.new("RGB", (12, 8)).save(folder / "labels" / "0001.png"), ["more than one channel", "RGB"]),
    ],
)
def test_damaged_files_are_named(folder, spoil, words):
    spoil(folder)
    with pytest.raises(ImportFailed) as refusal:
        list(read_label_views(folder))
    assert all(word in str(refusal.value) for word in words), refusal.value


def test_views_without_instances_have_none(tmp_path):
    write_label_views([replace(v, instances=None) for v in views()], NAMES, tmp_path / "v")
    assert all(view.instances is None for view in read_label_views(tmp_path / "v"))
