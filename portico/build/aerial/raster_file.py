"""Writes ``imagery.tif``: red, green, blue and alpha in tiles of 256 pixels with overviews, strip by strip, never whole."""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from portico.errors import StorageError
from portico.world.raster import TILE_PX, GeoGrid, Raster, RasterInfo, aerial_package, gdal

#: Rows of a strip: of two rows of tiles.
STRIP_PX = 2 * TILE_PX
#: GDAL's cache of blocks while a file is read and another written: two rows of blocks of a wide one.
IMPORT_CACHE_MIB = 256
Strips = Iterable[NDArray[np.uint8]]


def write_raster(strips: Strips, width: int, height: int, crs: str, transform: tuple[float, ...]) -> Raster:
    """A raster in a temporary file that goes when nobody holds it any more; saving a world copies it.

    Args:
        strips: (rows, width, 4) uint8 from the top, ``STRIP_PX`` rows each, the last one fewer.
        crs, transform: see ``RasterInfo``.

    Raises:
        UserError: a package of the extra is missing. StorageError: the disk refuses.
    """
    rasterio = aerial_package("rasterio")
    handle, name = tempfile.mkstemp(prefix="portico-imagery-", suffix=".tif")
    os.close(handle)
    path = Path(name)
    profile = {"driver": "GTiff", "width": width, "height": height, "count": 4, "dtype": "uint8", "crs": crs, "transform": rasterio.Affine(*transform)}
    layout = {"tiled": True, "blockxsize": TILE_PX, "blockysize": TILE_PX, "compress": "deflate", "predictor": 2, "photometric": "RGB", "alpha": "YES"}
    factors = _factors(width, height)
    try:
        with gdal(IMPORT_CACHE_MIB), rasterio.open(path, "w", **profile, **layout, BIGTIFF="IF_SAFER") as file:
            digest, empty = _fill(file, strips, width)
        overviews = gdal(IMPORT_CACHE_MIB, GDAL_TIFF_OVR_BLOCKSIZE=str(TILE_PX), COMPRESS_OVERVIEW="DEFLATE", PREDICTOR_OVERVIEW="2")
        with overviews, rasterio.open(path, "r+") as file:
            if factors:
                file.build_overviews(factors, rasterio.enums.Resampling.average)
    except (rasterio.errors.RasterioError, OSError) as error:
        path.unlink(missing_ok=True)
        raise StorageError("the imagery could not be written", where=str(path), why=str(error), next_step="free some space in the temporary folder") from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    grid = GeoGrid(crs, transform, width, height)
    slopes = grid.around(*grid.to_degrees([[0.5 * width, 0.5 * height]])[0].tolist())[1]
    info = RasterInfo(
        width=width,
        height=height,
        crs=crs,
        transform=transform,
        gsd_m=round(float(1.0 / np.sqrt(abs(np.linalg.det(slopes)))), 6),
        levels=1 + len(factors),
        empty=round(empty / (width * height), 9),
        digest=digest,
        size_bytes=path.stat().st_size,
    )
    raster = Raster(info, path)
    weakref.finalize(raster, _forget, path, os.getpid())
    return raster


def _fill(file, strips: Strips, width: int) -> tuple[str, int]:  # type: ignore[no-untyped-def]
    """Write the strips; the digest of all pixels, and how many have no data."""
    digest, empty, row = hashlib.sha256(), 0, 0
    for strip in strips:
        strip[strip[:, :, 3] == 0] = 0
        empty += int((strip[:, :, 3] == 0).sum())
        digest.update(np.ascontiguousarray(strip).tobytes())
        file.write(strip.transpose(2, 0, 1), window=((row, row + len(strip)), (0, width)))
        row += len(strip)
    return digest.hexdigest(), empty


def _factors(width: int, height: int) -> list[int]:
    factors: list[int] = []
    side = max(width, height)
    while side > TILE_PX:
        side = -(-side // 2)
        factors.append(2 ** (len(factors) + 1))
    return factors


def _forget(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        path.unlink(missing_ok=True)
