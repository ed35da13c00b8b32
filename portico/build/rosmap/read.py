"""Reads a map_server YAML file and its image: PGM (text or binary), PNG or whatever else Pillow opens.

Meaning of greys: http://wiki.ros.org/map_server, section Value Interpretation. A value that equals a threshold belongs to the class
beyond it, as in Nav2; so a mask with the thresholds 1 and 0 can still be full and empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from portico.build.rosmap.occupancy_map import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMap
from portico.errors import ImportFailed

Shades = NDArray[np.float64]
_Share = Annotated[FiniteFloat, Field(ge=0, le=1)]
#: Finer or coarser cells, in metres, come from a wrong unit, not from a robot.
_FINEST_M, _COARSEST_M = 0.005, 1.0
_FACTORS = (0.01, 0.001, 100.0, 1000.0, 0.1, 10.0)
_REQUIRED = ("image", "resolution", "origin")
#: The grey that map_saver gives to cells nobody saw.
_UNSEEN = 205


class MapFile(BaseModel):
    """The YAML file. Keys that map_server does not know are ignored, as it does."""

    image: Annotated[str, Field(min_length=1)]
    mode: Literal["trinary", "scale", "raw"] = "trinary"
    resolution: Annotated[FiniteFloat, Field(gt=0)]
    origin: tuple[FiniteFloat, FiniteFloat, FiniteFloat]
    negate: Literal[0, 1, False, True] = 0
    occupied_thresh: _Share = 0.65
    free_thresh: _Share = 0.196


@dataclass(frozen=True)
class ReadMap:
    """A map as its files say it is. ``remarks`` tell what was assumed."""

    file: MapFile
    occupancy: OccupancyMap
    remarks: tuple[str, ...]


def read_rosmap(path: Path | str) -> ReadMap:
    """Read a map by its YAML file; the image lies where the file says, relative to it.

    Transparent pixels are unknown. Colours count by the mean of their channels.

    Raises:
        ImportFailed: naming the file and the key that is missing, damaged or impossible.
    """
    path = Path(path)
    file, remarks = _read_yaml(path)
    shades, opaque = read_shades(path.parent / file.image)
    height, width = shades.shape
    _check_scale(file, width, height, path)
    x, y, yaw = file.origin
    grid = MapGrid(float(file.resolution), x, y, yaw, width, height)
    cells = _meaning(shades, opaque, file)
    unseen = int((np.rint(shades * 255.0) == _UNSEEN)[cells == FREE].sum()) if file.mode == "trinary" else 0
    if unseen:
        remarks.append(
            f"{unseen:,} cells have the grey {_UNSEEN} of unseen ones and are free under free_thresh {file.free_thresh:g}; 0.196 would leave them unknown"
        )
    costs = int(((cells > FREE) & (cells < OCCUPIED)).sum())
    if costs:
        remarks.append(f"{costs:,} cells carry a cost of 1 to 99 and are free to walk on, as for Nav2's static layer")
    return ReadMap(file, OccupancyMap(grid, cells), tuple(remarks))


def _read_yaml(path: Path) -> tuple[MapFile, list[str]]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ImportFailed("the map cannot be opened", where=str(path), why=error.strerror or str(error), next_step="give the map's YAML file") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ImportFailed("this is not a map's YAML file", where=str(path), why=str(error), next_step="give the YAML file, not the image") from error
    if not isinstance(raw, dict):
        raise ImportFailed("this is not a map's YAML file", where=str(path), why="it holds no keys", next_step="give the YAML file that names the image")
    missing = [key for key in _REQUIRED if key not in raw]
    if missing:
        raise ImportFailed(f"the map has no {' and no '.join(missing)}", where=str(path), next_step=f"add the key {missing[0]} to the file")
    try:
        file = MapFile.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        raise ImportFailed(
            f"the map's {key} means nothing", where=f"{path}: {key}", why=f"found {raw.get(key)!r}: {first['msg']}", next_step=f"mend {key}"
        ) from error
    if file.free_thresh >= file.occupied_thresh:
        raise ImportFailed(
            "the map's thresholds leave no room between free and occupied",
            where=f"{path}: free_thresh",
            why=f"free_thresh is {file.free_thresh:g}, occupied_thresh {file.occupied_thresh:g}",
            next_step="map_saver writes free_thresh 0.196 and occupied_thresh 0.65",
        )
    assumed = [f"{key} {getattr(file, key):g}" for key in ("occupied_thresh", "free_thresh", "negate") if key not in raw]
    return file, [f"the file does not say, so assumed: {', '.join(assumed)}"] if assumed else []


def read_shades(path: Path) -> tuple[Shades, NDArray[np.bool_]]:
    """(H, W) greys, 0 black to 1 white, and which pixels are opaque.

    Raises:
        ImportFailed: there is no such file, it is no image, or it is cut short.
    """
    try:
        with Image.open(path) as image:
            image.load()
            picture = image.convert("RGBA") if image.mode in ("P", "PA", "LA", "RGBA", "RGBa") else image
            pixels = np.asarray(picture)
    except FileNotFoundError as error:
        raise ImportFailed("the map's image does not exist", where=str(path), next_step="put it there, or mend the key image of the YAML file") from error
    except UnidentifiedImageError as error:
        raise ImportFailed("the map's image is not an image", where=str(path), next_step="give a PGM or PNG file") from error
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ImportFailed("the map's image is cut short or damaged", where=str(path), why=str(error), next_step="save the map again") from error
    top = 1.0 if pixels.dtype == np.bool_ else 255.0 if pixels.dtype == np.uint8 else 65535.0
    opaque = pixels[..., 3] == 255 if pixels.ndim == 3 and pixels.shape[2] == 4 else np.ones(pixels.shape[:2], np.bool_)
    shades = pixels[..., :3].mean(axis=2) if pixels.ndim == 3 else pixels.astype(np.float64)
    return shades / top, opaque


def _meaning(shades: Shades, opaque: NDArray[np.bool_], file: MapFile) -> NDArray[np.int8]:
    if file.mode == "raw":
        value = np.rint(shades * 255.0)
        return np.where(opaque & (value <= OCCUPIED), value, UNKNOWN).astype(np.int8)
    filled = shades if file.negate else 1.0 - shades
    between = np.full(shades.shape, UNKNOWN, np.float64)
    if file.mode == "scale":
        between = np.clip(np.rint(100.0 * (filled - file.free_thresh) / (file.occupied_thresh - file.free_thresh)), FREE, OCCUPIED - 1)
    cells = np.where(filled >= file.occupied_thresh, OCCUPIED, np.where(filled <= file.free_thresh, FREE, between))
    return np.where(opaque, cells, UNKNOWN).astype(np.int8)


def _check_scale(file: MapFile, width: int, height: int, path: Path) -> None:
    """Refuse cells that only a wrong unit explains, and name the one that would make sense."""
    resolution = file.resolution
    if _FINEST_M <= resolution <= _COARSEST_M:
        return
    sensible = [resolution * factor for factor in _FACTORS if 0.02 <= resolution * factor <= 0.5]
    advice = f"a resolution of {sensible[0]:g} would make it {sensible[0] * width:.4g} x {sensible[0] * height:.4g} m" if sensible else "give metres per pixel"
    raise ImportFailed(
        f"a resolution of {resolution:g} m per pixel is no robot's map",
        where=f"{path}: resolution",
        why=f"{width} x {height} pixels would cover {resolution * width:.4g} x {resolution * height:.4g} m",
        next_step=advice,
    )
