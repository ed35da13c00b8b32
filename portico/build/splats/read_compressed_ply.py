"""SuperSplat's compressed PLY: chunks of 256 Gaussians with bounds, and 32-bit words that say where between the bounds.

Layout (developer.playcanvas.com, "Compressed PLY format"): positions and scale logarithms in 11, 10 and 11 bits; rotations as the index of
the largest of (w, x, y, z) in 2 bits and the other three in 10 bits each, spanning -1/sqrt(2)..1/sqrt(2); colour and opacity in 8 bits
each; optionally an element ``sh`` with one byte per harmonic, spanning -4..4, in the order of ``f_rest``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.build.splats.capture import Columns, exponential, missing
from portico.build.splats.ply_file import PlyHeader, read_element
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0

_CHUNK = 256
_PACKED = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
_BOUNDS = tuple(f"{end}_{name}" for end in ("min", "max") for name in ("x", "y", "z", "scale_x", "scale_y", "scale_z"))
_COLOUR_BOUNDS = tuple(f"{end}_{name}" for end in ("min", "max") for name in "rgb")


def read_compressed(path: Path, header: PlyHeader) -> Columns:
    """Columns of a compressed PLY.

    Raises:
        ImportFailed: when words, bounds or chunks are missing, or the file is truncated.
    """
    vertex, chunk = header.element("vertex"), header.element("chunk")
    absent = [*missing(_PACKED, vertex.names if vertex else ()), *missing(_BOUNDS, chunk.names if chunk else ())]
    if absent:
        raise _unreadable(path, f"it lacks {', '.join(absent[:6])}")
    chunks, words = read_element(path, header, "chunk"), read_element(path, header, "vertex")
    needed = -(-len(words) // _CHUNK)
    if len(chunks) < needed:
        raise _unreadable(path, f"{len(words):,} Gaussians need {needed:,} chunks and it holds {len(chunks):,}")
    of = np.arange(len(words)) // _CHUNK
    position, scale = _eleven_ten_eleven(words["packed_position"]), _eleven_ten_eleven(words["packed_scale"])
    colour = _fields(words["packed_color"], (24, 16, 8, 0), 8)
    rgb = colour[:, :3]
    if not missing(_COLOUR_BOUNDS, chunks.dtype.names or ()):
        rgb = _between(chunks, of, ("r", "g", "b"), rgb)
    return Columns(
        means=_between(chunks, of, ("x", "y", "z"), position).astype(np.float32),
        rotations_wxyz=_largest_of_four(words["packed_rotation"]),
        scales=exponential(_between(chunks, of, ("scale_x", "scale_y", "scale_z"), scale)),
        opacity=colour[:, 3].astype(np.float32),
        sh=np.concatenate([((rgb - 0.5) / SH_C0).astype(np.float32)[:, None], _harmonics(path, header, len(words))], axis=1),
    )


def _unreadable(path: Path, why: str) -> ImportFailed:
    return ImportFailed("the compressed PLY is incomplete", where=str(path), why=why, next_step="export it again, or export an uncompressed PLY")


def _fields(words: NDArray[Any], shifts: tuple[int, ...], bits: int) -> NDArray[np.float64]:
    """(N, len(shifts)), each field of ``bits`` bits as a share 0..1 of its largest value."""
    whole = (1 << bits) - 1
    return np.stack([(words.astype(np.uint32) >> np.uint32(shift) & np.uint32(whole)) / whole for shift in shifts], axis=1)


def _eleven_ten_eleven(words: NDArray[Any]) -> NDArray[np.float64]:
    return np.concatenate([_fields(words, (21,), 11), _fields(words, (11,), 10), _fields(words, (0,), 11)], axis=1)


def _between(chunks: NDArray[Any], of: NDArray[np.int64], names: tuple[str, ...], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values at ``shares`` between each chunk's bounds: (N, 3)."""
    low = np.stack([chunks[f"min_{name}"] for name in names], axis=1).astype(np.float64)
    high = np.stack([chunks[f"max_{name}"] for name in names], axis=1).astype(np.float64)
    return low[of] * (1.0 - shares) + high[of] * shares


def _largest_of_four(words: NDArray[Any]) -> NDArray[np.float32]:
    """Quaternions (N, 4), wxyz."""
    others = (_fields(words, (20, 10, 0), 10) - 0.5) * np.sqrt(2.0)
    largest = (words.astype(np.uint32) >> np.uint32(30)).astype(np.int64)
    places = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])[largest]
    quaternions = np.zeros((len(words), 4))
    np.put_along_axis(quaternions, places, others, axis=1)
    np.put_along_axis(quaternions, largest[:, None], np.sqrt(np.maximum(0.0, 1.0 - (others**2).sum(axis=1)))[:, None], axis=1)
    return quaternions.astype(np.float32)


def _harmonics(path: Path, header: PlyHeader, count: int) -> NDArray[np.float32]:
    """(N, K - 1, 3): the harmonics beyond the constant one."""
    element = header.element("sh")
    if element is None:
        return np.zeros((count, 0, 3), np.float32)
    names = [f"f_rest_{i}" for i in range(len(element.names))]
    if len(names) not in (9, 24, 45) or missing(names, element.names) or element.count != count:
        raise _unreadable(path, f"element sh holds {element.count:,} rows of {len(names)} properties, which are not the f_rest of {count:,} Gaussians")
    rows = read_element(path, header, "sh")
    bytes_ = np.stack([rows[name] for name in names], axis=1).astype(np.float32)
    # The outermost bytes stand for the ends of the range, all others for the middle of their step.
    shares = np.where(bytes_ == 0, 0.0, np.where(bytes_ == 255, 1.0, (bytes_ + 0.5) / 256.0))
    return ((shares - 0.5) * 8.0).astype(np.float32).reshape(count, 3, len(names) // 3).transpose(0, 2, 1)
