"""Gaussians from PLY: the INRIA layout of any degree and property order, and coloured point clouds when asked for.

INRIA layout (github.com/graphdeco-inria/gaussian-splatting): ``f_dc`` is the constant harmonic, ``f_rest`` the others, all of red
first, then green, then blue; ``scale`` are natural logarithms, ``opacity`` logits, ``rot`` quaternions (w, x, y, z) of any length.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from portico.build.splats.capture import Columns, exponential, missing, sigmoid
from portico.build.splats.ply_file import Element, PlyHeader, read_element
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0

#: Says in the header that scales and opacities are logarithms and logits, so that no guess is needed.
RAW_VALUES = "scales are logarithms, opacities are logits"
_CENTRE, _DC = ("x", "y", "z"), ("f_dc_0", "f_dc_1", "f_dc_2")
_SCALE, _ROT = ("scale_0", "scale_1", "scale_2"), ("rot_0", "rot_1", "rot_2", "rot_3")
_REST_COUNTS = (0, 9, 24, 45, 72)
_POINT_OPACITY = 0.9


def read_inria(path: Path, header: PlyHeader, vertex: Element) -> Columns:
    """Columns of a PLY in the INRIA layout.

    Raises:
        ImportFailed: when a property is missing, the harmonics fit no degree, or the file is truncated.
    """
    absent = missing((*_CENTRE, *_DC, "opacity", *_SCALE, *_ROT), vertex.names)
    if absent:
        raise ImportFailed(
            f"the PLY lacks {', '.join(absent)}",
            where=f"{path}, element vertex",
            why="every Gaussian needs a centre, f_dc, opacity, three scales and a rotation",
            next_step="export the capture again with all of its Gaussian properties",
        )
    rest = sum(name.startswith("f_rest_") for name in vertex.names)
    if rest not in _REST_COUNTS or missing([f"f_rest_{i}" for i in range(rest)], vertex.names):
        raise ImportFailed(
            f"{rest} f_rest properties fit no degree of spherical harmonics",
            where=f"{path}, element vertex",
            why="degrees 0 to 3 have f_rest_0 up to 0, 9, 24 or 45 properties",
            next_step="export the capture again, with all harmonics or without any",
        )
    rows = read_element(path, header, "vertex")
    logs, logits = _columns(rows, _SCALE), np.asarray(rows["opacity"], np.float32)
    higher = _columns(rows, [f"f_rest_{i}" for i in range(rest)]).reshape(len(rows), 3, rest // 3)
    sh = np.concatenate([_columns(rows, _DC)[:, None], higher.transpose(0, 2, 1)], axis=1)
    columns = Columns(_columns(rows, _CENTRE), _columns(rows, _ROT), logs, logits, sh)
    if RAW_VALUES not in header.comments and _look_activated(logs, logits):
        columns.remarks.append(
            "scale and opacity look already activated (all scales above 0, all opacities in 0..1): taken as metres and shares, not as logarithms and logits"
        )
    else:
        columns.scales, columns.opacity = exponential(_finite_logs(logs)), sigmoid(logits)
    return columns


def _finite_logs(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Minus infinity is kept from turning into a scale of zero, which would be repaired instead of dropped."""
    return np.where(np.isneginf(logs), np.float32(np.nan), logs)


def _columns(rows: NDArray[Any], names: tuple[str, ...] | list[str]) -> NDArray[np.float32]:
    """(N, len(names)) float32."""
    table = np.empty((len(rows), len(names)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for index, name in enumerate(names):
            table[:, index] = rows[name]
    return table


def _look_activated(scales: NDArray[np.float32], opacities: NDArray[np.float32]) -> bool:
    """Logarithms of a capture in metres are nearly all negative and logits reach beyond 0..1, so both at once cannot be raw."""
    scales, opacities = scales[np.isfinite(scales)], opacities[np.isfinite(opacities)]
    return bool(scales.size and opacities.size and scales.min() > 0.0 and opacities.min() >= 0.0 and opacities.max() <= 1.0)


def refuse_points(path: Path, vertex: Element) -> ImportFailed:
    """What to say about a PLY without harmonics."""
    return ImportFailed(
        "this PLY is a point cloud, not Gaussians: it lacks f_dc_0",
        where=f"{path}, element vertex with {', '.join(vertex.names) or 'no properties'}",
        why="Gaussians have f_dc_0, opacity, scale_0 and rot_0 besides x, y and z",
        next_step="give a trained capture, or take every point as a small round Gaussian with --as-points",
    )


def read_points(path: Path, header: PlyHeader, vertex: Element) -> Columns:
    """Every point of a cloud as a round Gaussian as wide as its neighbours are far.

    Raises:
        ImportFailed: when it has no x, y and z, or is truncated.
    """
    absent = missing(_CENTRE, vertex.names)
    if absent:
        raise ImportFailed(f"the PLY lacks {', '.join(absent)}", where=f"{path}, element vertex", next_step="export the points with their coordinates")
    rows = read_element(path, header, "vertex")
    colour, remark = _colours(rows, vertex)
    return points_as_gaussians(_columns(rows, _CENTRE), colour, remark)


def points_as_gaussians(means: NDArray[np.float32], colour: NDArray[np.float64], remark: str) -> Columns:
    """Points (N, 3) of colours (N, 3) in 0..1 as round Gaussians."""
    good = np.isfinite(means).all(axis=1)
    widths = np.full(len(means), np.nan, np.float32)
    widths[good] = _spacing(means[good])
    columns = Columns(
        means=means,
        rotations_wxyz=np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(means), 1)),
        scales=np.repeat(widths[:, None], 3, axis=1),
        opacity=np.full(len(means), _POINT_OPACITY, np.float32),
        sh=((colour - 0.5) / SH_C0).astype(np.float32)[:, None, :],
    )
    columns.remarks.append(f"{len(means):,} points were taken as round Gaussians of opacity {_POINT_OPACITY:g}, {remark}")
    return columns


def _colours(rows: NDArray[Any], vertex: Element) -> tuple[NDArray[np.float64], str]:
    """(N, 3) in 0..1 and where they come from."""
    for names in (("red", "green", "blue"), ("diffuse_red", "diffuse_green", "diffuse_blue"), ("r", "g", "b")):
        if not missing(names, vertex.names):
            colour = np.stack([rows[name] for name in names], axis=1)
            whole = float(np.iinfo(colour.dtype).max) if colour.dtype.kind in "iu" else 255.0 if np.nanmax(colour, initial=0.0) > 1.0 else 1.0
            return colour.astype(np.float64) / whole, "coloured by " + ", ".join(names)
    return np.full((len(rows), 3), 0.5), "grey for want of colours"


def _spacing(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Root mean square distance to the three nearest points, stray points held to three times the median: (N,)."""
    neighbours = min(4, len(points))
    if neighbours < 2:
        return np.full(len(points), 0.01, np.float32)
    distances, _ = cKDTree(points).query(points, k=neighbours)
    widths = np.sqrt((distances[:, 1:] ** 2).mean(axis=1))
    return np.asarray(np.minimum(widths, 3.0 * np.median(widths)), np.float32)
