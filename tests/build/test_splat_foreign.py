"""Captures in the viewers' own formats, SOG and .ksplat, and points in NPZ: decoded as written, damage named."""

from __future__ import annotations

import json
import struct
import zipfile
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from splat_samples import covariances, random_gaussians

from portico.build.splats import read_splats
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0

COUNT = 300


@pytest.fixture(scope="module")
def gaussians():
    return random_gaussians(7, COUNT, 2)


def codes(values):
    """256 code words and the nearest of them for every value."""
    book = np.quantile(values, np.linspace(0, 1, 256))
    return book, np.abs(values[..., None] - book).argmin(axis=-1).astype(np.uint8)


def webp(channels, side=20):
    """Lossless image whose first pixels are rows (N, 3 or 4)."""
    pixels = np.zeros((side * side, 4), np.uint8)
    pixels[:, 3] = 255
    pixels[: len(channels), : channels.shape[1]] = channels
    file = BytesIO()
    Image.fromarray(pixels.reshape(side, side, 4)).save(file, "WEBP", lossless=True, exact=True)
    return file.getvalue()


def sog_files(g):
    """A SOG set as its specification says, every Gaussian with a palette entry of its own."""
    logs = np.sign(g.means) * np.log1p(np.abs(g.means))
    low, high = logs.min(axis=0), logs.max(axis=0)
    whole = np.round((logs - low) / (high - low) * 65535).astype(np.int64)
    scale_book, scales = codes(np.log(g.scales_m))
    color_book, colors = codes(g.sh[:, 0])
    q = g.rotations_wxyz * np.where(np.take_along_axis(g.rotations_wxyz, np.abs(g.rotations_wxyz).argmax(axis=1)[:, None], 1) < 0, -1, 1)
    largest = np.abs(q).argmax(axis=1)
    three = np.stack([np.delete(row, k) for row, k in zip(q, largest, strict=True)])
    quats = np.column_stack([np.round((three / np.sqrt(2) + 0.5) * 255), 252 + largest]).astype(np.uint8)
    book, higher = codes(g.sh[:, 1:])
    palette = np.zeros((-(-len(g) // 64), 64 * 8, 4), np.uint8)
    for n in range(len(g)):
        palette[n // 64, 8 * (n % 64) : 8 * (n % 64) + 8, :3] = higher[n]
    palette[..., 3] = 255
    centroids = BytesIO()
    Image.fromarray(palette).save(centroids, "WEBP", lossless=True, exact=True)
    labels = np.column_stack([np.arange(len(g)) % 256, np.arange(len(g)) // 256, np.zeros(len(g))]).astype(np.uint8)
    meta = {
        "version": 2,
        "count": len(g),
        "means": {"mins": low.tolist(), "maxs": high.tolist(), "files": ["means_l.webp", "means_u.webp"]},
        "scales": {"codebook": scale_book.tolist(), "files": ["scales.webp"]},
        "quats": {"files": ["quats.webp"]},
        "sh0": {"codebook": color_book.tolist(), "files": ["sh0.webp"]},
        "shN": {"count": len(g), "bands": 2, "codebook": book.tolist(), "files": ["shN_centroids.webp", "shN_labels.webp"]},
    }
    return {
        "meta.json": json.dumps(meta).encode(),
        "means_l.webp": webp((whole % 256).astype(np.uint8)),
        "means_u.webp": webp((whole // 256).astype(np.uint8)),
        "scales.webp": webp(scales),
        "quats.webp": webp(quats),
        "sh0.webp": webp(np.column_stack([colors, np.round(g.opacity * 255)]).astype(np.uint8)),
        "shN_centroids.webp": centroids.getvalue(),
        "shN_labels.webp": webp(labels),
    }


def write_set(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder / "meta.json"


@pytest.mark.parametrize("zipped", [False, True])
def test_sog_comes_back_as_it_was_written(gaussians, tmp_path, zipped):
    path = write_set(tmp_path, sog_files(gaussians))
    if zipped:
        path = tmp_path / "capture.sog"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in sog_files(gaussians).items():
                archive.writestr(name, data)
    found = read_splats(path).gaussians
    np.testing.assert_allclose(found.means, gaussians.means, atol=2e-3 * np.abs(gaussians.means).max())
    np.testing.assert_allclose(found.opacity, gaussians.opacity, atol=1 / 255)
    np.testing.assert_allclose(found.sh, gaussians.sh, atol=0.1)
    aligned = np.abs((found.rotations_wxyz * gaussians.rotations_wxyz).sum(axis=1))
    assert aligned.min() > 0.999


def test_the_finest_complete_level_of_a_streamed_capture_is_read(gaussians, tmp_path):
    halves = [gaussians.chosen(np.arange(150)), gaussians.chosen(np.arange(150, 300))]
    for n, half in enumerate(halves):
        write_set(tmp_path / f"1_{n}", sog_files(half))
    lods = [{"lods": {"0": {"file": 2, "offset": 0, "count": 9}, "1": {"file": n, "offset": 0, "count": 150}}} for n in (0, 1)]
    index = {"lodLevels": 2, "filenames": ["1_0/meta.json", "1_1/meta.json", "0_0/meta.json"], "tree": {"children": lods}}
    (tmp_path / "lod-meta.json").write_text(json.dumps(index))
    capture = read_splats(tmp_path / "lod-meta.json")
    assert len(capture.gaussians) == COUNT
    assert any("level of detail 1 of 0 to 1" in remark for remark in capture.remarks)


def test_the_real_playbot_is_read(shared):
    capture = read_splats(shared / "data" / "splat" / "playbot_sog" / "lod-meta.json")
    assert (len(capture.gaussians), capture.gaussians.degree) == (31_000, 2)
    # The bounds that the file's own tree states.
    assert capture.gaussians.means.min(axis=0) == pytest.approx([-1.033, -1.083, -1.039], abs=0.05)


@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("meta.json", b"{", "meta.json is missing or damaged"),
        ("meta.json", b'{"version": 1}', "version 1"),
        ("meta.json", b'{"version": 2, "count": 4}', "damaged"),
        ("quats.webp", None, "quats.webp"),
        ("sh0.webp", b"RIFF nothing", "sh0.webp"),
        ("scales.webp", webp(np.zeros((4, 4), np.uint8), side=2), "4 pixels"),
    ],
)
def test_damaged_sog_sets_say_what_is_damaged(gaussians, tmp_path, name, data, word):
    files = sog_files(gaussians)
    path = write_set(tmp_path, files)
    if data is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ImportFailed, match=word):
        read_splats(path)


def ksplat_bytes(g, level):
    """A .ksplat of one section with one full bucket of 256 and one partly filled."""
    head = bytearray(4096)
    head[1] = 1
    struct.pack_into("<IIII", head, 4, 1, 1, len(g), len(g))
    struct.pack_into("<H", head, 20, level)
    part = bytearray(1024)
    struct.pack_into("<IIIIf", part, 0, len(g), len(g), 256, 2, 40.0)
    struct.pack_into("<I", part, 24, 32767)
    struct.pack_into("<II", part, 32, 1, 1)
    middles = np.float32([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0]])
    kinds = ("<f4", "<f4") if level == 0 else ("<u2", "<f2")
    rows = np.zeros(len(g), np.dtype([("mean", kinds[0], 3), ("scale", kinds[1], 3), ("rot", kinds[1], 4), ("rgba", "u1", 4)]))
    bucket = (np.arange(len(g)) >= 256).astype(int)
    rows["mean"] = g.means if level == 0 else np.round((g.means - middles[bucket]) * (32767 / 20.0) + 32767)
    rows["scale"], rows["rot"] = g.scales_m, g.rotations_wxyz
    rows["rgba"] = np.round(255 * np.clip(np.column_stack([g.sh[:, 0] * SH_C0 + 0.5, g.opacity]), 0, 1))
    return bytes(head) + bytes(part) + struct.pack("<I", len(g) - 256) + middles.tobytes() + rows.tobytes()


@pytest.mark.parametrize("level", [0, 1, 2])
def test_ksplat_comes_back_as_it_was_written(gaussians, tmp_path, level):
    (tmp_path / "capture.ksplat").write_bytes(ksplat_bytes(gaussians, level))
    found = read_splats(tmp_path / "capture.ksplat").gaussians
    np.testing.assert_allclose(found.means, gaussians.means, atol=1e-6 if level == 0 else 1e-3)
    expected = covariances(gaussians)
    size = np.linalg.norm(expected, axis=(1, 2))
    # Three roundings of 2^-11 each, squared; float32 of level 0 is exact to that.
    assert (np.abs(covariances(found) - expected).max(axis=(1, 2)) <= (1e-5 if level == 0 else 4e-3) * size).all()
    np.testing.assert_allclose(found.opacity, gaussians.opacity, atol=1 / 255)


def test_the_real_ksplat_agrees_with_the_splat_file(shared):
    folder = shared / "data" / "splat" / "minimal"
    mine, theirs = read_splats(folder / "minimal.ksplat").gaussians, read_splats(folder / "minimal.splat").gaussians
    np.testing.assert_array_equal(mine.means, theirs.means)
    np.testing.assert_allclose(mine.sh, theirs.sh)


def test_a_truncated_or_newer_ksplat_is_refused(gaussians, tmp_path):
    path, data = tmp_path / "capture.ksplat", bytearray(ksplat_bytes(gaussians, 1))
    path.write_bytes(data[:-100])
    with pytest.raises(ImportFailed, match="truncated"):
        read_splats(path)
    data[1] = 9
    path.write_bytes(data)
    with pytest.raises(ImportFailed, match=r"version 0\.9"):
        read_splats(path)


def test_points_in_an_npz_become_round_gaussians_when_asked(shared, tmp_path):
    garden = shared / "data" / "splat" / "test_garden.npz"
    capture = read_splats(garden, points_as_splats=True)
    assert len(capture.gaussians) == 138_766
    assert any("coloured by colors" in remark for remark in capture.remarks)
    with pytest.raises(ImportFailed, match="not a readable capture"):
        read_splats(garden)
    np.savez(tmp_path / "other.npz", depth=np.zeros((4, 4)))
    with pytest.raises(ImportFailed, match="no points"):
        read_splats(tmp_path / "other.npz", points_as_splats=True)
