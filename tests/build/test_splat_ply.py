"""PLY of every kind: property orders, degrees, infinite values, damaged headers, and the packed variant."""

import numpy as np
import pytest
from splat_samples import INRIA, inria_rows, random_gaussians, write_rows

from portico.build.splats import read_splats
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0

# Kinds of PLY


def expected_of(rows):
    """What the raw rows of INRIA mean, one by one."""
    return rows[:, :3], 1 / (1 + np.exp(-rows[:, 6])), np.exp(rows[:, 7:10]), rows[:, 10:] / np.linalg.norm(rows[:, 10:], axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("kind", "form"), [("float", "binary_little_endian"), ("double", "binary_little_endian"), ("float", "binary_big_endian"), ("float", "ascii")]
)
def test_properties_come_in_any_order_type_and_company(tmp_path, kind, form):
    rows = inria_rows(20)
    names, values = [*INRIA, "nx", "label"], np.column_stack([rows, np.full(20, np.nan), np.arange(20)])
    order = np.random.default_rng(1).permutation(len(names))
    path = write_rows(tmp_path / "shuffled.ply", [names[i] for i in order], values[:, order], kind=kind, form=form)
    capture = read_splats(path)
    means, opacity, scales, rotations = expected_of(rows)
    assert capture.remarks == ()
    for found, expected in zip(("means", "opacity", "scales_m", "rotations_wxyz"), (means, opacity, scales, rotations), strict=True):
        assert np.allclose(getattr(capture.gaussians, found), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("degree", "rest"), [(0, 0), (1, 9), (2, 24), (3, 45)])
def test_harmonics_are_stored_channel_by_channel(tmp_path, degree, rest):
    rows = np.concatenate([inria_rows(3), np.tile(np.arange(rest, dtype=float), (3, 1))], axis=1)
    gaussians = read_splats(write_rows(tmp_path / "sh.ply", [*INRIA, *(f"f_rest_{i}" for i in range(rest))], rows)).gaussians
    assert gaussians.degree == degree
    for channel in range(3):
        assert gaussians.sh[0, 1:, channel].tolist() == [channel * rest / 3 + i for i in range(rest // 3)]


def test_a_fourth_degree_is_dropped_aloud(tmp_path):
    rows = np.concatenate([inria_rows(2), np.tile(np.arange(72.0), (2, 1))], axis=1)
    capture = read_splats(write_rows(tmp_path / "sh4.ply", [*INRIA, *(f"f_rest_{i}" for i in range(72))], rows))
    assert capture.gaussians.sh[0, 1:, 1].tolist() == [24.0 + i for i in range(15)]
    assert "degree 4" in capture.remarks[0]


def test_infinite_rows_go_the_way_of_nan(tmp_path):
    rows = inria_rows(10)
    rows[0, 0], rows[1, 8], rows[2, 12], rows[3, 4], rows[4, 9] = np.inf, -np.inf, np.inf, np.nan, 200.0
    capture = read_splats(write_rows(tmp_path / "infinite.ply", INRIA, rows))
    assert np.allclose(capture.gaussians.means, rows[5:, :3], atol=1e-6)
    assert len(capture.remarks) == 4
    assert "2 of 10" in next(remark for remark in capture.remarks if "scale" in remark)


def test_infinite_logits_are_certainties(tmp_path):
    rows = inria_rows(3)
    rows[0, 6], rows[1, 6] = np.inf, -np.inf
    capture = read_splats(write_rows(tmp_path / "certain.ply", INRIA, rows))
    assert capture.gaussians.opacity[:2].tolist() == [1.0, 0.0]
    assert capture.remarks == ()


def test_nothing_usable_is_an_error(tmp_path):
    rows = inria_rows(4)
    rows[:, 0] = np.nan
    with pytest.raises(ImportFailed, match="none of the 4"):
        read_splats(write_rows(tmp_path / "nan.ply", INRIA, rows))


@pytest.mark.parametrize(
    "content",
    [
        b"ply",
        b"ply\n",
        b"ply\nformat binary_little_endian 1.0\nelement vertex 3\n",
        b"ply\nformat odd 1.0\nend_header\n",
        b"ply\nelement vertex 1\nend_header\n",
        b"ply\n\xff\xfe\n",
    ],
)
def test_damaged_headers_are_refused(tmp_path, content):
    path = tmp_path / "damaged.ply"
    path.write_bytes(content)
    with pytest.raises(ImportFailed) as caught:
        read_splats(path)
    assert str(path) in caught.value.where


def test_meshes_lists_and_missing_elements_are_refused(tmp_path):
    for name, lines in {
        "faces-first": ["element face 1", "property list uchar int vertex_indices", "element vertex 1", *(f"property float {name}" for name in INRIA)],
        "no-vertex": ["element face 0", "property list uchar int vertex_indices"],
    }.items():
        path = tmp_path / f"{name}.ply"
        path.write_text("\n".join(["ply", "format binary_little_endian 1.0", *lines, "end_header", ""]))
        with pytest.raises(ImportFailed, match=r"lists|no element vertex"):
            read_splats(path)


def test_ascii_garbage_is_refused(tmp_path):
    path = write_rows(tmp_path / "ascii.ply", INRIA, inria_rows(3), form="ascii")
    path.write_text(path.read_text().replace("end_header\n", "end_header\nnonsense "))
    with pytest.raises(ImportFailed):
        read_splats(path)


def test_points_far_from_others_stay_small(tmp_path):
    points = np.concatenate([np.random.default_rng(0).uniform(0, 1, (200, 3)), [[1000.0, 0, 0]]])
    path = write_rows(tmp_path / "cloud.ply", ["x", "y", "z"], points)
    capture = read_splats(path, points_as_splats=True)
    assert capture.gaussians.scales_m.max() < 1.0
    assert "grey" in capture.remarks[0]


def test_the_vertical_axis_that_nerfstudio_notes_is_passed_on(tmp_path):
    path = write_rows(tmp_path / "noted.ply", INRIA, inria_rows(3))
    assert read_splats(path).up == ""
    path.write_bytes(path.read_bytes().replace(b"comment made by hand", b"comment Vertical Axis: z", 1))
    assert read_splats(path).up == "z"


# Compressed PLY


def compressed_ply(path, gaussians, harmonics=None):
    """One chunk, packed bit by bit."""
    logs, rgb = np.log(gaussians.scales_m), 0.5 + SH_C0 * gaussians.sh[:, 0]
    names = [f"{end}_{name}" for values in ("xyz", ["scale_x", "scale_y", "scale_z"], "rgb") for end in ("min", "max") for name in values]
    bounds = np.concatenate([f(v, axis=0) for v in (gaussians.means, logs, rgb) for f in (np.min, np.max)]).astype("<f4")
    words = []
    for i in range(len(gaussians)):
        mean, log, colour = ((v[i] - v.min(axis=0)) / np.ptp(v, axis=0) for v in (gaussians.means, logs, rgb))
        q = gaussians.rotations_wxyz[i] * np.sign(gaussians.rotations_wxyz[i][np.abs(gaussians.rotations_wxyz[i]).argmax()])
        largest = int(np.abs(q).argmax())
        others = [round((float(v) / 2**0.5 + 0.5) * 1023) for j, v in enumerate(q) if j != largest]
        pack = lambda v: round(float(v[0]) * 2047) << 21 | round(float(v[1]) * 1023) << 11 | round(float(v[2]) * 2047)  # noqa: E731
        rgba = [round(float(v) * 255) for v in (*colour, gaussians.opacity[i])]
        words.append(
            [pack(mean), largest << 30 | others[0] << 20 | others[1] << 10 | others[2], pack(log), rgba[0] << 24 | rgba[1] << 16 | rgba[2] << 8 | rgba[3]]
        )
    lines = ["ply", "format binary_little_endian 1.0", "element chunk 1", *(f"property float {name}" for name in names)]
    lines += [f"element vertex {len(words)}", *(f"property uint packed_{name}" for name in ("position", "rotation", "scale", "color"))]
    body = bounds.tobytes() + np.array(words, "<u4").tobytes()
    if harmonics is not None:
        lines += [f"element sh {len(words)}", *(f"property uchar f_rest_{i}" for i in range(harmonics.shape[1]))]
        body += harmonics.astype(np.uint8).tobytes()
    path.write_bytes(("\n".join([*lines, "end_header"]) + "\n").encode() + body)
    return path


def test_compressed_ply_is_within_its_quanta(tmp_path):
    gaussians = random_gaussians(3, 100)
    harmonics = np.random.default_rng(0).integers(0, 256, (100, 24))
    found = read_splats(compressed_ply(tmp_path / "packed.ply", gaussians, harmonics)).gaussians
    assert np.abs(found.means - gaussians.means).max() < 20 / 1023
    assert np.abs(np.log(found.scales_m / gaussians.scales_m)).max() < 6 / 1023
    assert np.abs(found.opacity - gaussians.opacity).max() <= 0.5 / 255 + 1e-6
    assert np.abs((found.rotations_wxyz * gaussians.rotations_wxyz).sum(axis=1)).min() > 0.9999
    assert np.abs(found.sh[:, 0] - gaussians.sh[:, 0]).max() < 0.01
    assert found.sh.shape == (100, 9, 3)
    middle = (harmonics > 0) & (harmonics < 255)
    expected = ((harmonics + 0.5) / 256 - 0.5) * 8
    assert np.allclose(found.sh[:, 1:].transpose(0, 2, 1).reshape(100, 24)[middle], expected[middle], atol=1e-6)


def test_a_compressed_ply_cut_short_is_refused(tmp_path):
    path = compressed_ply(tmp_path / "packed.ply", random_gaussians(3, 10))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ImportFailed, match="truncated"):
        read_splats(path)
