"""The .ksplat format of GaussianSplats3D, version 0.1: a header, sections with their own headers, and Gaussians in buckets.

Layout, little-endian (github.com/mkkellogg/GaussianSplats3D, SplatBuffer): level 0 keeps float32; levels 1 and 2 keep centres as 16 bits around
the middle of their bucket, scales and rotations as float16. Rotations are w, x, y, z; colours are bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from portico.build.splats.capture import Columns, joined
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0

_HEADER, _SECTION = 4096, 1024
_MAIN = np.dtype({"names": ["version", "sections", "count", "level"], "formats": ["2u1", "<u4", "<u4", "<u2"], "offsets": [0, 4, 16, 20], "itemsize": _HEADER})
_PART = np.dtype(
    {
        "names": ["count", "bucket", "buckets", "block", "range", "full", "partial", "degree"],
        "formats": ["<u4", "<u4", "<u4", "<f4", "<u4", "<u4", "<u4", "<u2"],
        "offsets": [0, 8, 12, 16, 24, 32, 36, 40],
        "itemsize": _SECTION,
    }
)
_HARMONICS = {0: 0, 1: 9, 2: 24}


def read_ksplat(path: Path) -> Columns:
    """Columns of a .ksplat file; harmonics beyond the constant colour are left out, and said so.

    Raises:
        ImportFailed: another version, or truncated.
    """
    data = path.read_bytes()
    try:
        return _read(data, path)
    except (ValueError, IndexError, KeyError) as error:
        why = f"{len(data):,} bytes end before the Gaussians that its header counts"
        raise ImportFailed("the .ksplat file is truncated", where=str(path), why=why, next_step="download or export it again") from error


def _read(data: bytes, path: Path) -> Columns:
    main = np.frombuffer(data, _MAIN, 1)[0]
    if tuple(main["version"]) != (0, 1) or main["level"] > 2:
        found = f"version {main['version'][0]}.{main['version'][1]}, compression level {main['level']}"
        raise ImportFailed("this .ksplat is not readable", where=str(path), why=f"{found}; 0.1 with levels 0 to 2 is", next_step="convert it to PLY")
    at, parts, degrees = _HEADER + _SECTION * int(main["sections"]), [], set()
    for number in range(int(main["sections"])):
        part = np.frombuffer(data, _PART, 1, _HEADER + _SECTION * number)[0]
        columns, at = _section(data, at, part, int(main["level"]))
        parts.append(columns)
        degrees.add(int(part["degree"]))
    whole = joined(parts)
    if degrees - {0}:
        whole.remarks.append(f"spherical harmonics of degree {max(degrees)} were left out: colours do not change with the view")
    return whole


def _section(data: bytes, at: int, part: np.void, level: int) -> tuple[Columns, int]:
    count, buckets, partial = int(part["count"]), int(part["buckets"]), int(part["partial"])
    lengths = np.frombuffer(data, "<u4", partial, at)
    middles = np.frombuffer(data, "<f4", 3 * buckets, at + 4 * partial).reshape(-1, 3)
    at += 4 * partial + 12 * buckets
    center, other, harmonic = ("<f4", "<f4", "<f4") if level == 0 else ("<u2", "<f2", "<f2" if level == 1 else "u1")
    row = np.dtype([("mean", center, 3), ("scale", other, 3), ("rot", other, 4), ("rgba", "u1", 4), ("sh", harmonic, _HARMONICS[int(part["degree"])])])
    rows = np.frombuffer(data, row, count, at)
    means = rows["mean"].astype(np.float32) if level == 0 else _placed(rows["mean"], middles, lengths, part)
    rgba = rows["rgba"].astype(np.float32) / np.float32(255.0)
    sh = ((rgba[:, None, :3] - 0.5) / SH_C0).astype(np.float32)
    return Columns(means, rows["rot"].astype(np.float32), rows["scale"].astype(np.float32), rgba[:, 3], sh), at + row.itemsize * count


def _placed(raw: NDArray[np.uint16], middles: NDArray[np.float32], lengths: NDArray[np.uint32], part: np.void) -> NDArray[np.float32]:
    """(N, 3) centres: each is an offset from the middle of its bucket; full buckets come first."""
    sizes = np.concatenate([np.full(int(part["full"]), int(part["bucket"])), lengths]).astype(np.int64)
    bucket = np.repeat(np.arange(len(sizes)), sizes)[: len(raw)]
    if len(bucket) < len(raw):
        raise ValueError("buckets hold fewer Gaussians than there are")
    reach = float(part["range"])
    return ((raw.astype(np.float64) - reach) * (0.5 * float(part["block"]) / reach) + middles[bucket]).astype(np.float32)
