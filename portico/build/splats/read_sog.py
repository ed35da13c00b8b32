"""SOG, PlayCanvas' images of Gaussians: one set of WebP files with a ``meta.json``, zipped as ``.sog``, or many sets under a ``lod-meta.json``.

Layout (developer.playcanvas.com, "The SOG Format", version 2): the same pixel of every image belongs to the same Gaussian, row by row. Positions are 16 bits
between the logarithms of a box, scales, colours and harmonics go through code books, quaternions lack their largest part.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.build.splats.capture import Columns, exponential, joined
from portico.errors import ImportFailed

ZIP_MAGIC = b"PK\x03\x04"
META, LOD_META = "meta.json", "lod-meta.json"
#: Coefficients of the harmonics beyond the constant one, by bands; palette entries of one row of the centroids' image.
_COEFFICIENTS, _PALETTE_COLUMNS = (0, 3, 8, 15), 64
_FIRST_MODE = 252

_Files = Callable[[str], bytes]


def read_sog(path: Path) -> Columns:
    """Columns of a ``.sog`` archive, of the folder of a ``meta.json``, or of the finest levels that lie beside a ``lod-meta.json``.

    Raises:
        ImportFailed: a file is missing or damaged, or the version is another.
    """
    if path.suffix != ".json":
        try:
            with zipfile.ZipFile(path) as archive:
                return _read_set(archive.read, META, str(path))
        except zipfile.BadZipFile as error:
            raise ImportFailed("the .sog archive is damaged", where=str(path), why=str(error), next_step="download or export it again") from error
    if path.name == LOD_META:
        return _read_levels(path)
    return _read_set(lambda name: (path.parent / name).read_bytes(), path.name, str(path))


def _read_levels(path: Path) -> Columns:
    """The finest level of detail whose sets are all there."""
    index = _json(lambda name: (path.parent / name).read_bytes(), path.name, str(path))
    wanted = _sets_by_level(index.get("tree", {}))
    names = index.get("filenames", [])
    whole = [level for level in sorted(wanted) if all((path.parent / names[n]).is_file() for n in wanted[level])]
    if not whole:
        raise ImportFailed("no level of detail is complete", where=str(path), why=f"{len(names)} sets are listed", next_step="download the folders it names")
    sets = [path.parent / names[n] for n in sorted(wanted[whole[0]])]
    parts = [_read_set(lambda name, folder=file.parent: (folder / name).read_bytes(), file.name, str(file)) for file in sets]  # type: ignore[misc]
    whole_level = joined(parts)
    whole_level.remarks.append(f"level of detail {whole[0]} of 0 to {index.get('lodLevels', max(wanted) + 1) - 1} was read, the finest that is complete")
    return whole_level


def _sets_by_level(node: Any) -> dict[int, set[int]]:
    """Which sets each level needs, from the tree."""
    found: dict[int, set[int]] = {}
    for level, entry in node.get("lods", {}).items():
        found.setdefault(int(level), set()).add(int(entry["file"]))
    for child in node.get("children", []):
        for level, sets in _sets_by_level(child).items():
            found.setdefault(level, set()).update(sets)
    return found


def _read_set(files: _Files, meta_name: str, where: str) -> Columns:
    meta = _json(files, meta_name, where)
    if meta.get("version") != 2:
        found = meta.get("version", 1)
        raise ImportFailed(f"SOG version {found} is not readable", where=where, why="only version 2 is", next_step="export it again, or convert it to PLY")
    try:
        return _decode(files, meta, int(meta["count"]), where)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ImportFailed("the SOG set is damaged", where=where, why=f"{type(error).__name__}: {error}", next_step="download or export it again") from error


def _decode(files: _Files, meta: Any, count: int, where: str) -> Columns:
    low, high = (_pixels(files, name, count, where)[:, :3].astype(np.float64) for name in meta["means"]["files"])
    least, most = np.array(meta["means"]["mins"]), np.array(meta["means"]["maxs"])
    logs = least + (most - least) * (low + 256.0 * high) / 65535.0
    color = _pixels(files, meta["sh0"]["files"][0], count, where)
    sh = np.array(meta["sh0"]["codebook"])[color[:, :3]][:, None, :]
    if meta.get("shN"):
        sh = np.concatenate([sh, _higher(files, meta["shN"], count, where)], axis=1)
    scales = np.array(meta["scales"]["codebook"])[_pixels(files, meta["scales"]["files"][0], count, where)[:, :3]]
    return Columns(
        (np.sign(logs) * np.expm1(np.abs(logs))).astype(np.float32),
        _quaternions(_pixels(files, meta["quats"]["files"][0], count, where)),
        exponential(scales),
        (color[:, 3] / 255.0).astype(np.float32),
        sh.astype(np.float32),
    )


def _quaternions(rgba: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(N, 4), w first; alpha says which part, the largest, is left out."""
    mode = rgba[:, 3].astype(np.int64) - _FIRST_MODE
    if (mode < 0).any():
        raise ValueError("a quaternion has no mode")
    three = (rgba[:, :3] / 255.0 - 0.5) * np.sqrt(2.0)
    largest = np.sqrt(np.maximum(0.0, 1.0 - (three**2).sum(axis=1)))
    result = np.zeros((len(rgba), 4))
    for k in range(4):
        here = mode == k
        result[np.ix_(here, [i for i in range(4) if i != k])] = three[here]
        result[here, k] = largest[here]
    return result.astype(np.float32)


def _higher(files: _Files, entry: Any, count: int, where: str) -> NDArray[np.float64]:
    """(N, K, 3) harmonics beyond the constant one, from the palette."""
    width = _COEFFICIENTS[int(entry["bands"])]
    labels = _pixels(files, entry["files"][1], count, where).astype(np.int64)
    label = labels[:, 0] + 256 * labels[:, 1]
    image = _image(files, entry["files"][0], where)[:, :, :3]
    column = (label % _PALETTE_COLUMNS)[:, None] * width + np.arange(width)
    return np.asarray(np.array(entry["codebook"])[image[(label // _PALETTE_COLUMNS)[:, None], column]])


def _pixels(files: _Files, name: str, count: int, where: str) -> NDArray[np.uint8]:
    pixels = _image(files, name, where).reshape(-1, 4)
    if len(pixels) < count:
        raise ValueError(f"{name} holds {len(pixels):,} pixels for {count:,} Gaussians")
    return pixels[:count]


def _image(files: _Files, name: str, where: str) -> NDArray[np.uint8]:
    try:
        return np.array(Image.open(BytesIO(files(name))).convert("RGBA"))
    except (OSError, KeyError) as error:
        raise ImportFailed(
            "an image of the SOG set is missing or damaged", where=f"{where}: {name}", why=str(error), next_step="download or export it again"
        ) from error


def _json(files: _Files, name: str, where: str) -> Any:
    try:
        return json.loads(files(name))
    except (OSError, KeyError, ValueError) as error:
        raise ImportFailed(f"{name} is missing or damaged", where=where, why=str(error), next_step="download or export the capture again") from error
