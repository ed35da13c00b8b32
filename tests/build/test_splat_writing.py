"""What is written reads back: the PLY to rounding, the .splat to its bytes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from splat_samples import captures, random_gaussians

from portico.build.splats import read_splats, write_ply, write_splat
from portico.build.splats.ply_file import read_element, read_header
from portico.errors import StorageError
from portico.world.gaussians import SH_C0, Gaussians


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("splats")


@settings(max_examples=60)
@given(gaussians=captures())
def test_ply_round_trip_is_exact_to_rounding(folder, gaussians):
    write_ply(gaussians, folder / "capture.ply")
    capture = read_splats(folder / "capture.ply")
    found = capture.gaussians
    assert capture.remarks == ()
    assert np.array_equal(found.means, gaussians.means)
    assert np.array_equal(found.sh, gaussians.sh)
    assert np.allclose(found.rotations_wxyz, gaussians.rotations_wxyz, atol=3e-7)
    logs = np.log(gaussians.scales_m.astype(np.float64))
    assert (np.abs(np.log(found.scales_m.astype(np.float64)) - logs) <= np.spacing(np.abs(logs).astype(np.float32)) + 2.0**-23).all()
    opacity = np.clip(gaussians.opacity.astype(np.float64), np.finfo(np.float32).tiny, 1 - 2.0**-24)  # 0 and 1 have no logit.
    logits = np.abs(np.log(opacity / (1 - opacity))).astype(np.float32)
    assert (np.abs(found.opacity - opacity) <= np.spacing(opacity.astype(np.float32)) + opacity * (1 - opacity) * np.spacing(logits)).all()


@settings(max_examples=30)
@given(gaussians=captures())
def test_ply_holds_logarithms_and_logits_rounded_once(folder, gaussians):
    write_ply(gaussians, folder / "raw.ply")
    rows = read_element(folder / "raw.ply", read_header(folder / "raw.ply"), "vertex")
    for i in range(3):
        assert np.array_equal(rows[f"scale_{i}"], np.log(gaussians.scales_m[:, i].astype(np.float64)).astype(np.float32))
    opacity = np.clip(gaussians.opacity.astype(np.float64), np.finfo(np.float32).tiny, 1 - 2.0**-24)
    assert np.allclose(rows["opacity"], np.log(opacity / (1 - opacity)), rtol=1e-6, atol=1e-6)
    assert not any(rows[name].any() for name in ("nx", "ny", "nz"))


@settings(max_examples=60)
@given(gaussians=captures())
def test_splat_round_trip_is_within_its_bytes(folder, gaussians):
    write_splat(gaussians, folder / "capture.splat")
    assert (folder / "capture.splat").stat().st_size == 32 * len(gaussians)
    found = read_splats(folder / "capture.splat").gaussians
    volume = gaussians.scales_m.astype(np.float64).prod(axis=1) * gaussians.opacity
    expected = gaussians.chosen(np.argsort(-volume, kind="stable"))
    assert np.array_equal(found.means, expected.means)
    assert np.allclose(found.scales_m, expected.scales_m, atol=1e-7)
    assert np.abs(found.opacity - expected.opacity).max() <= 0.5 / 255 + 1e-6
    colours = np.clip(0.5 + SH_C0 * expected.sh[:, 0], 0, 1)
    assert np.abs(0.5 + SH_C0 * found.sh[:, 0] - colours).max() <= 0.5 / 255 + 1e-5
    assert np.abs((found.rotations_wxyz * expected.rotations_wxyz).sum(axis=1)).min() > 0.9998
    assert found.degree == 0


def one(**changes):
    values = {
        "means": np.zeros((1, 3), np.float32),
        "rotations_wxyz": np.array([[1, 0, 0, 0]], np.float32),
        "scales_m": np.full((1, 3), np.exp(-3), np.float32),
        "opacity": np.full(1, 0.5, np.float32),
        "sh": np.zeros((1, 1, 3), np.float32),
        "instance": np.zeros(1, np.int32),
    }
    return Gaussians(**{**values, **changes})


@pytest.mark.parametrize(("f_dc", "byte"), [(0.0, 127.5), (1.0, 199.434), (-1.0, 55.566), (2.0, 255.0), (-1.77246, 0.0)])
def test_splat_colours_are_the_published_bytes(tmp_path, f_dc, byte):
    write_splat(one(sh=np.full((1, 1, 3), f_dc, np.float32)), tmp_path / "one.splat")
    assert abs((tmp_path / "one.splat").read_bytes()[24] - byte) <= 0.5


@pytest.mark.parametrize(
    ("rotation", "expected"), [((1, 0, 0, 0), [255, 128, 128, 128]), ((-1, 0, 0, 0), [0, 128, 128, 128]), ((0.5, 0.5, 0.5, 0.5), [192] * 4)]
)
def test_splat_rotations_are_the_published_bytes(tmp_path, rotation, expected):
    write_splat(one(rotations_wxyz=np.array([rotation], np.float32)), tmp_path / "one.splat")
    assert list((tmp_path / "one.splat").read_bytes()[28:]) == expected


def test_the_heaviest_come_first_in_a_splat(tmp_path):
    logs, logits = np.array([-4.0, -3.0, -2.0]), np.array([8.0, 0.0, -3.0])
    three = Gaussians(
        np.arange(9, dtype=np.float32).reshape(3, 3),
        np.tile(np.array([1, 0, 0, 0], np.float32), (3, 1)),
        np.repeat(np.exp(logs)[:, None], 3, axis=1).astype(np.float32),
        (1 / (1 + np.exp(-logits))).astype(np.float32),
        np.zeros((3, 1, 3), np.float32),
        np.zeros(3, np.int32),
    )
    write_splat(three, tmp_path / "three.splat")
    assert read_splats(tmp_path / "three.splat").gaussians.means[:, 0].tolist() == [6.0, 3.0, 0.0]


def test_real_captures_survive_a_ply(shared, tmp_path):
    for name in ("guitar.compressed.ply", "plant.splat", "tower.spz"):
        gaussians = read_splats(shared / "data" / "splat" / name).gaussians
        write_ply(gaussians, tmp_path / "again.ply")
        again = read_splats(tmp_path / "again.ply")
        assert again.remarks == ()
        assert np.array_equal(again.gaussians.means, gaussians.means)
        assert np.array_equal(again.gaussians.sh, gaussians.sh)
        assert np.allclose(again.gaussians.scales_m, gaussians.scales_m, rtol=3e-6)
        assert np.allclose(again.gaussians.opacity, gaussians.opacity, atol=3e-7)


@given(st.sampled_from([0.05, 0.3, 0.62, 0.7]), st.floats(1.1, 5.0))
def test_large_gaussians_of_middling_opacity_are_not_taken_for_activated(folder, opacity, scale_m):
    write_ply(one(opacity=np.full(1, opacity, np.float32), scales_m=np.full((1, 3), scale_m, np.float32)), folder / "large.ply")
    assert np.allclose(read_splats(folder / "large.ply").gaussians.scales_m, scale_m, rtol=1e-5)


@pytest.mark.parametrize("write", [write_ply, write_splat])
def test_a_failed_write_leaves_what_was_there(tmp_path, write, monkeypatch):
    path = tmp_path / "capture"
    path.write_bytes(b"before")
    monkeypatch.setattr("portico.world.whole_file.os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(StorageError, match="disk full"):
        write(random_gaussians(0, 4), path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(StorageError):
        write(random_gaussians(0, 4), path / "below a file")
