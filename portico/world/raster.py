"""A georeferenced picture of the ground: what an aerial world looks like. Kept as ``imagery.tif`` and read tile by tile, never whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from portico.errors import UserError
from portico.geometry import Floats
from portico.world.geodesy import SPHERE

#: Side of a tile in pixels.
TILE_PX = 256
_STEP_M = 25.0
_MERCATOR_ROUND_M = 2.0 * np.pi * 6_378_137.0


class RasterInfo(BaseModel):
    """What ``appearance.json`` says of ``imagery.tif``: red, green, blue and alpha, 8 bits each, tiled, with overviews.

    Attributes:
        crs: coordinate reference system, as an EPSG code or WKT. transform: six numbers, column and row to its coordinates, as GDAL's
            affine has them (a, b, c, d, e, f). gsd_m: metres of a pixel's side in the middle.
        levels: 1 and the overviews, each half the size of the one before. empty: share of pixels without data.
        digest: SHA-256 of all pixels. size_bytes: of the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Annotated[int, Field(gt=0)]
    height: Annotated[int, Field(gt=0)]
    crs: str
    transform: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]
    gsd_m: Annotated[FiniteFloat, Field(gt=0)]
    levels: Annotated[int, Field(gt=0)]
    empty: FiniteFloat = 0.0
    digest: str
    size_bytes: int


@dataclass(frozen=True)
class Raster:
    """A raster and where its file lies."""

    info: RasterInfo
    path: Path

    @cached_property
    def grid(self) -> GeoGrid:
        """How its pixels lie on earth."""
        return GeoGrid(self.info.crs, self.info.transform, self.info.width, self.info.height)


class GeoGrid:
    """How pixels lie on earth: column and row (pixel centres at half integers) of a longitude and latitude, and back.

    Args:
        crs: anything pyproj reads. transform: see ``RasterInfo``.

    Raises:
        UserError: the pyproj package is missing.
    """

    def __init__(self, crs: str, transform: tuple[float, ...], width: int, height: int) -> None:
        pyproj = aerial_package("pyproj")
        self.width, self.height = width, height
        self._to_crs = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
        self._to_degrees = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
        a, b, c, d, e, f = transform
        self._forward = np.array([[a, b], [d, e]])
        self._inverse, self._origin = np.linalg.inv(self._forward), np.array([c, f])
        known = pyproj.CRS.from_user_input(crs)
        #: A raster across the antimeridian runs on beyond it, in degrees or in the metres of web Mercator.
        self._around = 360.0 if known.is_geographic else _MERCATOR_ROUND_M if known.to_epsg() == 3857 else None
        self._middle_x = float((self._forward @ [0.5 * width, 0.5 * height])[0]) + c

    def to_pixels(self, lonlat: ArrayLike) -> Floats:
        """(N, 2) column and row of positions (N, 2+) in degrees; inf where the reference system knows no such place."""
        points = np.asarray(lonlat, np.float64).reshape(-1, np.shape(lonlat)[-1])
        x, y = self._to_crs.transform(points[:, 0], points[:, 1])
        if self._around is not None:
            x = np.asarray(x) + self._around * np.round((self._middle_x - np.asarray(x)) / self._around)
        pixels: Floats = (np.stack([x, y], axis=1) - self._origin) @ self._inverse.T
        return pixels

    def to_degrees(self, pixels: ArrayLike) -> Floats:
        """(N, 2) longitude and latitude of columns and rows (N, 2)."""
        at = np.asarray(pixels, np.float64).reshape(-1, 2) @ self._forward.T + self._origin
        lon, lat = self._to_degrees.transform(at[:, 0], at[:, 1])
        return np.stack([(np.asarray(lon) + 180.0) % 360.0 - 180.0, lat], axis=1)

    def around(self, lon_deg: float, lat_deg: float) -> tuple[Floats, Floats]:
        """(2,) column and row of a position, and (2, 2) pixels per metre east and north there."""
        arms = SPHERE.at_offset([lon_deg, lat_deg], _ARMS)
        pixels = self.to_pixels(np.concatenate([[[lon_deg, lat_deg]], arms]))
        slopes = np.stack([pixels[1] - pixels[2], pixels[3] - pixels[4]], axis=1) / (2.0 * _STEP_M)
        return pixels[0], slopes

    def size_m(self) -> tuple[float, float]:
        """Metres across and down, measured in the middle."""
        middle = self.to_degrees([[0.5 * self.width, 0.5 * self.height]])[0].tolist()
        slopes = self.around(*middle)[1]
        return self.width / float(np.hypot(*slopes[0])), self.height / float(np.hypot(*slopes[1]))

    def holds_disc(self, lon_deg: float, lat_deg: float, radius_m: float) -> bool:
        """Whether a disc on the ground lies on the raster."""
        at, slopes = self.around(lon_deg, lat_deg)
        reach = radius_m * np.hypot(slopes[:, 0], slopes[:, 1])
        return bool(np.isfinite(at).all() and (at >= reach).all() and (at <= [self.width - reach[0], self.height - reach[1]]).all())


_ARMS = _STEP_M * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def gdal(cache_mib: int = 32, **options: str) -> Any:
    """The surroundings in which GDAL reads and writes: its own cache of blocks would otherwise grow to a twentieth of the machine's memory.

    Raises:
        UserError: the rasterio package is missing.
    """
    return aerial_package("rasterio").Env(GDAL_CACHEMAX=cache_mib, **options)


def aerial_package(name: str) -> Any:
    """A package of the extra ``aerial``.

    Raises:
        UserError: it is not installed.
    """
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(f"aerial worlds need the package {name}", why=str(error), next_step="pip install 'portico-nav[aerial]'") from error
