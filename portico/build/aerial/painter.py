"""Paints the ground from above: shapes in metres become pixels, with the grain of grass, asphalt and roofs, shadows and trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numba import njit
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from portico.build.aerial.raster_file import STRIP_PX

#: Samples per pixel side.
_FINE = 2
_SHADOW = 255


@dataclass(frozen=True)
class Material:
    """sRGB colour, how much it varies (0 to 1), and over how many metres."""

    color: tuple[int, int, int]
    grain: float = 0.06
    scale_m: float = 2.0


@dataclass(frozen=True)
class Shape:
    """Something to paint over what came before: a polygon of a material. ``shade`` darkens instead, as a shadow does."""

    polygon: shapely.Polygon
    material: str
    shade: bool = False


@dataclass(frozen=True)
class Sheet:
    """What is to be painted: shapes in order on ground of one material; x east, y north, metres, (west, south, east, north)."""

    bounds: tuple[float, float, float, float]
    ground: str
    shapes: Sequence[Shape]
    materials: dict[str, Material]
    seed: int


def painted(sheet: Sheet, gsd_m: float) -> tuple[int, int, Iterator[NDArray[np.uint8]]]:
    """Width and height in pixels of ``gsd_m``, and the picture's strips (rows, width, 4) from the north."""
    west, south, east, north = sheet.bounds
    width, height = round((east - west) / gsd_m), round((north - south) / gsd_m)
    return width, height, _strips(sheet, gsd_m, width, height)


def _strips(sheet: Sheet, gsd_m: float, width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    names = sorted(sheet.materials)
    number = {name: k for k, name in enumerate(names)}
    colors = np.array([sheet.materials[n].color for n in names], np.float32)
    grains = np.array([(sheet.materials[n].grain, 1.0 / sheet.materials[n].scale_m) for n in names], np.float32)
    boxes = np.array([s.polygon.bounds for s in sheet.shapes]).reshape(-1, 4)
    west, north = sheet.bounds[0], sheet.bounds[3]
    for row in range(0, height, STRIP_PX):
        rows = min(STRIP_PX, height - row)
        top, low = north - row * gsd_m, north - (row + rows) * gsd_m
        index = Image.new("L", (width * _FINE, rows * _FINE), number[sheet.ground])
        shade = Image.new("L", index.size, 0)
        pens = ImageDraw.Draw(index), ImageDraw.Draw(shade)
        for k in np.flatnonzero((boxes[:, 1] <= top) & (boxes[:, 3] >= low)).tolist():
            shape = sheet.shapes[k]
            points = ((np.array(shape.polygon.exterior.coords) - [west, top]) * [_FINE / gsd_m, -_FINE / gsd_m]).ravel().tolist()
            if shape.shade:
                pens[1].polygon(points, fill=_SHADOW)
            else:
                pens[0].polygon(points, fill=number[shape.material])
                # What is painted later lies on top of shadows that came before.
                if shape.material.startswith(("roof", "tree")):
                    pens[1].polygon(points, fill=0)
        out = np.empty((rows, width, 4), np.uint8)
        _color(np.asarray(index), np.asarray(shade), colors, grains, west, top, gsd_m, sheet.seed % 2**31, out)
        yield out


@njit(cache=True, nogil=True)
def _color(index, shade, colors, grains, west, top, gsd, seed, out):  # type: ignore[no-untyped-def]
    """Average the samples of every pixel; grain is a function of the place alone, so that strips meet without a seam."""
    fine = _FINE
    for i in range(out.shape[0]):
        y = top - (i + 0.5) * gsd
        for j in range(out.shape[1]):
            x = west + (j + 0.5) * gsd
            r = g = b = 0.0
            for a in range(i * fine, (i + 1) * fine):
                for c in range(j * fine, (j + 1) * fine):
                    m = index[a, c]
                    light = 0.55 if shade[a, c] else 1.0
                    r += light * colors[m, 0]
                    g += light * colors[m, 1]
                    b += light * colors[m, 2]
            m = index[i * fine, j * fine]
            grain = 1.0 + grains[m, 0] * (_noise(x * grains[m, 1], y * grains[m, 1], seed) + 0.5 * _noise(x * 2.0, y * 2.0, seed + 7) - 0.75) * 2.0
            k = grain / (fine * fine)
            out[i, j, 0] = np.uint8(min(255.0, max(0.0, r * k)))
            out[i, j, 1] = np.uint8(min(255.0, max(0.0, g * k)))
            out[i, j, 2] = np.uint8(min(255.0, max(0.0, b * k)))
            out[i, j, 3] = 255


@njit(cache=True, nogil=True)
def _noise(x, y, seed):  # type: ignore[no-untyped-def]
    """Smooth values in [0, 1) between random ones on whole numbers."""
    fx, fy = np.floor(x), np.floor(y)
    i, j = int(fx), int(fy)
    u, v = x - fx, y - fy
    u, v = u * u * (3.0 - 2.0 * u), v * v * (3.0 - 2.0 * v)
    low = _random(i, j, seed) * (1.0 - u) + _random(i + 1, j, seed) * u
    high = _random(i, j + 1, seed) * (1.0 - u) + _random(i + 1, j + 1, seed) * u
    return low * (1.0 - v) + high * v


@njit(cache=True, nogil=True)
def _random(i, j, seed):  # type: ignore[no-untyped-def]
    """A number in [0, 1) that belongs to a place."""
    h = (
        (np.uint64(i + 2**20) * np.uint64(0x9E3779B97F4A7C15))
        ^ (np.uint64(j + 2**20) * np.uint64(0xC2B2AE3D27D4EB4F))
        ^ (np.uint64(seed) * np.uint64(0x165667B19E3779F9))
    )
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(32)
    return float(h >> np.uint64(40)) / 16777216.0
