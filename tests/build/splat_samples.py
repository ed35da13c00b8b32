"""Small captures for the tests of splats, and slow packers that spell the formats out once more."""

import gzip
import struct
from pathlib import Path

import numpy as np
import zstandard
from hypothesis import strategies as st

from portico.world.gaussians import SH_C0, SH_COEFFICIENTS, Gaussians

INRIA = ["x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"]


def random_gaussians(seed: int, count: int, degree: int = 0, size_m: float = 10.0) -> Gaussians:
    rng = np.random.default_rng(seed)
    rotations = rng.normal(size=(count, 4))
    return Gaussians(
        means=rng.uniform(-size_m, size_m, (count, 3)).astype(np.float32),
        rotations_wxyz=(rotations / np.linalg.norm(rotations, axis=1, keepdims=True)).astype(np.float32),
        scales_m=np.exp(rng.uniform(-6.0, 0.0, (count, 3))).astype(np.float32),
        opacity=rng.uniform(0.01, 0.99, count).astype(np.float32),
        sh=rng.uniform(-0.9, 0.9, (count, SH_COEFFICIENTS[degree], 3)).astype(np.float32),
        instance=np.zeros(count, np.int32),
    )


@st.composite
def captures(draw, most=12):
    """Gaussians of any degree whose values files can hold, some of them extreme."""
    count, degree = draw(st.integers(1, most)), draw(st.integers(0, 3))
    gaussians = random_gaussians(draw(st.integers(0, 2**32 - 1)), count, degree, draw(st.sampled_from([1e-3, 1.0, 1e4])))
    scales, opacity = gaussians.scales_m.copy(), gaussians.opacity.copy()
    scales[0] = np.exp(draw(st.lists(st.floats(-15.0, 8.0), min_size=3, max_size=3)))
    opacity[0] = draw(st.floats(0.0, 1.0, width=32))
    return Gaussians(gaussians.means, gaussians.rotations_wxyz, scales, opacity, gaussians.sh, gaussians.instance)


def covariances(gaussians: Gaussians) -> np.ndarray:
    """(N, 3, 3), one Gaussian at a time."""
    results = []
    for (w, x, y, z), scales in zip(gaussians.rotations_wxyz.astype(float), gaussians.scales_m.astype(float), strict=True):
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        results.append(rotation @ np.diag(scales**2) @ rotation.T)
    return np.array(results)


def write_rows(path: Path, names: list[str], rows: np.ndarray, *, kind: str = "float", form: str = "binary_little_endian", element: str = "vertex") -> Path:
    """A PLY of one element whose properties all have one type."""
    lines = [
        "ply",
        f"format {form} 1.0",
        "comment made by hand",
        f"element {element} {len(rows)}",
        *(f"property {kind} {name}" for name in names),
        "end_header",
    ]
    order = ">" if form == "binary_big_endian" else "<"
    dtype = order + {"float": "f4", "double": "f8", "uchar": "u1"}[kind]
    body = "\n".join(" ".join(f"{value:.9g}" for value in row) for row in rows).encode() if form == "ascii" else rows.astype(dtype).tobytes()
    path.write_bytes(("\n".join(lines) + "\n").encode() + body)
    return path


def inria_rows(count: int, seed: int = 0) -> np.ndarray:
    """Raw values in the order of INRIA."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(count, 6)), rng.normal(0, 3, (count, 1)), rng.uniform(-6, -1, (count, 3)), rng.normal(size=(count, 4))], axis=1)


def spz_bytes(gaussians: Gaussians, version: int, *, fraction_bits: int = 12, flags: int = 0, extension: bytes = b"") -> bytes:
    """An .spz as its description says, values in the axes they are given in."""
    blocks = _spz_blocks(gaussians, version, fraction_bits)
    header = b"NGSP" + struct.pack("<IIBBB", version, len(gaussians), gaussians.degree, fraction_bits, flags)
    if version < 4:
        return gzip.compress(header + b"\0" + b"".join(blocks) + extension)
    blocks = [block for block in blocks if block]
    packed = [zstandard.ZstdCompressor().compress(block) for block in blocks]
    table = b"".join(struct.pack("<QQ", len(small), len(block)) for small, block in zip(packed, blocks, strict=True))
    return header + bytes([len(blocks)]) + struct.pack("<I", 32 + len(extension)) + bytes(12) + extension + table + b"".join(packed)


def _spz_blocks(gaussians: Gaussians, version: int, fraction_bits: int) -> list[bytes]:
    def byte(value: float) -> int:
        return int(min(255, max(0, round(float(value)))))

    positions = b"".join((round(float(v) * 2**fraction_bits) & 0xFFFFFF).to_bytes(3, "little") for v in gaussians.means.ravel())
    opacity = bytes(byte(v * 255) for v in gaussians.opacity)
    colours = bytes(byte((v * 0.15 + 0.5) * 255) for v in gaussians.sh[:, 0].ravel())
    scales = bytes(byte((np.log(v) + 10) * 16) for v in gaussians.scales_m.ravel())
    pack = _three_bytes if version < 3 else _four_bytes
    rotations = b"".join(pack(*(float(v) for v in q)) for q in gaussians.rotations_wxyz)
    harmonics = bytes(byte(v * 128 + 128) for v in gaussians.sh[:, 1:].ravel())
    return [positions, opacity, colours, scales, rotations, harmonics]


def _three_bytes(w: float, x: float, y: float, z: float) -> bytes:
    sign = -1.0 if w < 0 else 1.0
    return bytes(round(127.5 + 127.5 * sign * v) for v in (x, y, z))


def _four_bytes(w: float, x: float, y: float, z: float) -> bytes:
    xyzw = [x, y, z, w]
    largest = max(range(4), key=lambda i: abs(xyzw[i]))
    sign = -1.0 if xyzw[largest] < 0 else 1.0
    word = largest
    for index in range(4):
        if index != largest:
            value = sign * xyzw[index]
            word = word << 10 | (512 if value < 0 else 0) | round(abs(value) / 0.5**0.5 * 511)
    return word.to_bytes(4, "little")


def room(seed: int = 0, *, size_m: tuple[float, float, float] = (6.0, 5.0, 2.6), ceiling: bool = False, flat: bool = True, count: int = 4000) -> Gaussians:
    """A room with z up and its floor at z = 0: floor, four walls, a table, and a ceiling when asked for."""
    rng = np.random.default_rng(seed)
    lx, ly, lz = size_m
    # Origin, two edges and the axis across.
    sheets = [((0, 0, 0), (lx, 0, 0), (0, ly, 0), 2), ((0, 0, 0), (lx, 0, 0), (0, 0, lz), 1), ((0, ly, 0), (lx, 0, 0), (0, 0, lz), 1)]
    sheets += [((0, 0, 0), (0, ly, 0), (0, 0, lz), 0), ((lx, 0, 0), (0, ly, 0), (0, 0, lz), 0), ((1, 1, 0.75), (1.5, 0, 0), (0, 0.8, 0), 2)]
    sheets += [((0, 0, lz), (lx, 0, 0), (0, ly, 0), 2)] if ceiling else []
    areas = np.array([np.linalg.norm(np.cross(a, b)) for _, a, b, _ in sheets])
    means, scales = [], []
    for (origin, a, b, across), share in zip(sheets, areas / areas.sum(), strict=True):
        n = int(count * share)
        u = rng.uniform(size=(n, 2))
        means.append(np.array(origin) + u[:, :1] * np.array(a) + u[:, 1:] * np.array(b) + rng.normal(0, 0.005, (n, 3)))
        spread = np.full((n, 3), 0.05)
        spread[:, across] = 0.005 if flat else 0.05
        scales.append(spread)
    total = sum(len(each) for each in means)
    return Gaussians(
        np.concatenate(means).astype(np.float32),
        np.tile(np.array([1, 0, 0, 0], np.float32), (total, 1)),
        np.concatenate(scales).astype(np.float32),
        np.full(total, 0.95, np.float32),
        np.full((total, 1, 3), -0.2 / SH_C0, np.float32),
        np.zeros(total, np.int32),
    )
