"""Reads a capture whatever its format: the content decides, the suffix only where the content has no mark of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from portico.build.splats.capture import Capture, Columns, sound_gaussians, within_limit
from portico.build.splats.ply_file import not_a_ply, read_header
from portico.build.splats.read_compressed_ply import read_compressed
from portico.build.splats.read_dot_splat import read_dot_splat
from portico.build.splats.read_gltf import GLB_MAGIC, read_gltf
from portico.build.splats.read_ksplat import read_ksplat
from portico.build.splats.read_npz import read_npz_points
from portico.build.splats.read_ply import read_inria, read_points, refuse_points
from portico.build.splats.read_sog import read_sog
from portico.build.splats.read_spz import GZIP_MAGIC, MAGIC, axes_to_rdf, read_spz
from portico.build.splats.turn import turned
from portico.errors import ImportFailed

_READABLE = "PLY, compressed PLY, .splat, .spz, .glb or .gltf with .spz inside, .sog or its meta.json, and .ksplat"
#: Formats that are known, not read, and what turns them into one that is.
_CONVERTIBLE = (".lcc", ".usdz")


def read_splats(path: Path | str, *, limit: int | None = None, points_as_splats: bool = False) -> Capture:
    """Read a 3D Gaussian capture: INRIA PLY of degree 0 to 3, compressed PLY, .splat, .spz 2 to 4, .spz inside GLB or glTF, SOG 2 or .ksplat.

    Gaussians with NaN, infinity or an all-zero rotation are dropped and counted. Opacity may be plus or minus infinity in a PLY: that is
    how converters write 1 and 0. Nothing is turned upright or scaled here, see ``alignment``.

    Args:
        path: the file.
        limit: keep at most so many Gaussians, those with the largest opacity times cross-section.
        points_as_splats: take an ordinary coloured point cloud in PLY or NPZ as round Gaussians instead of refusing it.

    Raises:
        ImportFailed: when there is no such file, its format is not readable, or its content is damaged or empty.
    """
    path = Path(path)
    if limit is not None and limit < 1:
        raise ImportFailed(f"a limit of {limit} Gaussians keeps none", where=str(path), next_step="give a limit of at least 1, or none")
    try:
        with path.open("rb") as file:
            start = file.read(4)
        capture = _read(path, start, points_as_splats)
    except OSError as error:
        raise ImportFailed(
            "the capture cannot be opened", where=str(path), why=error.strerror or str(error), next_step="give the path of a capture file"
        ) from error
    return within_limit(capture, limit)


def _read(path: Path, start: bytes, points_as_splats: bool) -> Capture:
    suffix = path.suffix.lower()
    if start.rstrip(b"\r\n") == b"ply":
        return _read_ply(path, points_as_splats)
    if start == GLB_MAGIC or suffix in (".glb", ".gltf"):
        return read_gltf(path)
    if start == MAGIC or start[:2] == GZIP_MAGIC or suffix == ".spz":
        return _read_spz(path)
    if suffix in (".sog", ".json"):
        return _capture(read_sog(path), "sog", path)
    if suffix == ".ksplat":
        return _capture(read_ksplat(path), "ksplat", path)
    if suffix == ".npz" and points_as_splats:
        return _capture(read_npz_points(path), "point cloud", path)
    if suffix == ".splat":
        return _capture(read_dot_splat(path), "splat", path)
    if suffix == ".ply":
        raise not_a_ply(path)
    raise ImportFailed(
        f"{suffix or 'this file'} is not a readable capture",
        where=str(path),
        why=f"readable are {_READABLE}",
        next_step="convert it to PLY, for example with SuperSplat or splat-transform" if suffix in _CONVERTIBLE else "give a capture in one of these formats",
    )


def _read_ply(path: Path, points_as_splats: bool) -> Capture:
    header = read_header(path)
    vertex = header.element("vertex")
    if vertex is None:
        raise ImportFailed(
            "the PLY has no element vertex",
            where=str(path),
            why=f"it holds {', '.join(element.name for element in header.elements) or 'nothing'}",
            next_step="export the capture as Gaussians",
        )
    if any(name.startswith("packed_") for name in vertex.names):
        capture = _capture(read_compressed(path, header), "compressed ply", path)
    elif "f_dc_0" in vertex.names:
        capture = _capture(read_inria(path, header, vertex), "ply", path)
    elif points_as_splats:
        capture = _capture(read_points(path, header, vertex), "point cloud", path)
    else:
        raise refuse_points(path, vertex)
    # Nerfstudio writes which axis it levelled its scene to.
    axes = [found[1].lower() for comment in header.comments if (found := re.fullmatch(r"vertical axis:\s*(-?[xyz])", comment, re.IGNORECASE))]
    return replace(capture, up=axes[0]) if axes else capture


def _read_spz(path: Path) -> Capture:
    content = read_spz(path.read_bytes(), str(path))
    capture = _capture(content.columns, f"spz {content.version}", path)
    if not content.axes:
        return capture
    try:
        gaussians = turned(capture.gaussians, axes_to_rdf(content.axes))
    except ImportFailed as error:
        why = f"its axes are {content.axes}: {error.why}"
        raise ImportFailed("the .spz is stored in left-handed axes", where=str(path), why=why, next_step=error.next_step) from error
    return replace(capture, gaussians=gaussians, up="-y")


def _capture(columns: Columns, kind: str, path: Path) -> Capture:
    gaussians, remarks = sound_gaussians(columns, str(path))
    return Capture(gaussians, kind, remarks)
