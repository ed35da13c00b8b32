"""``import_aerial``: a GeoTIFF becomes an aerial world, in its own reference system and pixels, with vectors to follow and to name."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import degrees, hypot
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.build.aerial.bands import Bands, read_bands
from portico.build.aerial.raster_file import IMPORT_CACHE_MIB, STRIP_PX, write_raster
from portico.build.aerial.vectors import read_vectors
from portico.errors import ImportFailed
from portico.world import Appearance, GeographicOrigin, LocalFrame, Manifest, Provenance, Raster, World, no_geometry
from portico.world.raster import GeoGrid, aerial_package, gdal

#: The height that SatNav flies at, and what its camera then sees from corner to corner.
_HEIGHT_M, _ACROSS_M = 50.0, 2.0 * 50.0 * 2.0**0.5
#: Nearer to a pole east and north change within a picture.
_POLAR_DEG = 89.0
#: Pixels coarser than this show no road.
_COARSE_M = 2.0


@dataclass(frozen=True)
class ImportedAerial:
    """A world, and what was assumed, dropped or noticed on the way."""

    world: World
    lines: tuple[str, ...]


def import_aerial(
    path: Path | str, *, vectors: Sequence[Path] = (), world_id: str | None = None, licence: str = "unknown", attribution: str = ""
) -> ImportedAerial:
    """Build an aerial world from a GeoTIFF of any reference system and type of number, read strip by strip.

    Args:
        vectors: GeoJSON or OpenStreetMap files of roads, waters and buildings, or a GeoTIFF mask of roads.
        world_id: defaults to the file's name. licence, attribution: of the imagery.

    Raises:
        ImportFailed: a file that is damaged, not georeferenced, or no picture; names the file and the field.
        UserError: a package of the extra is missing.
    """
    path = Path(path)
    rasterio = aerial_package("rasterio")
    if not path.is_file():
        what = "this is a folder, no GeoTIFF" if path.is_dir() else "no such file"
        raise ImportFailed(what, where=str(path), next_step="check the path")
    try:
        # The messages of GDAL's own log and rasterio's warnings say nothing that the errors do not.
        with warnings.catch_warnings(), gdal(IMPORT_CACHE_MIB, CPL_LOG_ERRORS="OFF"):
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            file = rasterio.open(path)
        with gdal(IMPORT_CACHE_MIB, CPL_LOG_ERRORS="OFF"), file:
            crs, transform = _georeference(file, path)
            grid = _grid(file, crs, transform, path)
            origin = _origin(grid, file, path)
            bands = read_bands(file, path)
            raster = write_raster(_strips(file, bands, path), file.width, file.height, crs, transform)
    except rasterio.errors.RasterioError as error:
        raise _unreadable(path, error) from error
    if raster.info.empty >= 1.0:
        raise ImportFailed(
            "the GeoTIFF holds no data",
            where=f"{path}: bands",
            why="every pixel is nodata or transparent",
            next_step="check its nodata value, mask or alpha band",
        )
    local = LocalFrame(origin.latitude_deg, origin.longitude_deg)
    found = read_vectors(vectors, raster.grid, local)
    lines = (*bands.lines, *_noticed(raster, transform), *found.lines)
    manifest = Manifest(
        id=world_id or path.stem,
        kind="aerial",
        provenance=Provenance(source=f"GeoTIFF {path.name}", licence=licence, attribution=attribution),
        recipe={"importer": "aerial", "file": path.name, "vectors": [v.name for v in vectors]},
        origin=origin,
        cell_m=1.0,
        notes=list(lines),
    )
    return ImportedAerial(World(manifest, no_geometry(), Appearance((), raster=raster), found.semantics), lines)


def _georeference(file: Any, path: Path) -> tuple[str, tuple[float, ...]]:
    """Reference system and transform.

    Raises:
        ImportFailed: there is none.
    """
    crs, rasterio = file.crs, aerial_package("rasterio")
    if crs is None:
        raise ImportFailed(
            "the GeoTIFF has no coordinate reference system (CRS)",
            where=f"{path}: crs",
            why="it has ground control points only: it was not rectified" if file.gcps[0] else "nothing in the file says where on earth it lies",
            next_step="give it one, e.g. `rio edit-info --crs EPSG:3857 FILE`, or `gdal_translate -a_srs EPSG:3857 IN OUT`",
        )
    a, b, c, d, e, f = (float(v) for v in tuple(file.transform)[:6])
    if not np.isfinite([a, b, c, d, e, f]).all() or abs(a * e - b * d) < 1e-18 or file.transform == rasterio.Affine.identity():
        raise ImportFailed(
            "the GeoTIFF has no geotransform",
            where=f"{path}: transform",
            why=f"it is {(a, b, c, d, e, f)}",
            next_step="export it with its position and pixel size",
        )
    authority = crs.to_authority()
    return (f"{authority[0]}:{authority[1]}" if authority else crs.to_wkt()), (a, b, c, d, e, f)


def _grid(file: Any, crs: str, transform: tuple[float, ...], path: Path) -> GeoGrid:
    """How its pixels lie on earth.

    Raises:
        ImportFailed: the reference system is not one of places on a map.
    """
    errors = aerial_package("pyproj").exceptions
    problem = ""
    if not (file.crs.is_geographic or file.crs.is_projected):
        problem = "it is neither geographic nor projected"
    else:
        try:
            return GeoGrid(crs, transform, file.width, file.height)
        except errors.ProjError as error:
            problem = str(error).split("\n")[0]
    raise ImportFailed(
        "the GeoTIFF's reference system (CRS) does not lead to longitude and latitude",
        where=f"{path}: crs",
        why=f"{problem}: {str(file.crs)[:80]}",
        next_step="warp it into another one, e.g. `rio warp IN OUT --dst-crs EPSG:3857`",
    )


def _origin(grid: GeoGrid, file: Any, path: Path) -> GeographicOrigin:
    """The middle on earth.

    Raises:
        ImportFailed: the corners lie nowhere on earth.
    """
    if file.crs.is_geographic:
        a, b, c, d, e, f = tuple(file.transform)[:6]
        corners = [(i, j) for i in (0, file.width) for j in (0, file.height)]
        x, y = np.array([(a * i + b * j + c, d * i + e * j + f) for i, j in corners]).T
        if (np.abs(y) > 90.0).any():
            swapped = ": longitude and latitude seem to be swapped" if (np.abs(x) <= 90.0).all() and (np.abs(y) <= 360.0).all() else ""
            raise ImportFailed(
                f"the GeoTIFF lies nowhere on earth{swapped}",
                where=f"{path}: transform",
                why=f"latitudes from {y.min():.4f} to {y.max():.4f}",
                next_step="export it with longitude along x and latitude along y",
            )
    with np.errstate(invalid="ignore"):
        middle = grid.to_degrees(np.array([[0, 0], [file.width, file.height], [0.5 * file.width, 0.5 * file.height]]))
    if not np.isfinite(middle).all():
        raise ImportFailed(
            "the GeoTIFF lies nowhere on earth",
            where=f"{path}: transform",
            why=f"its corner ({file.transform.c:g}, {file.transform.f:g}) has no longitude and latitude in {str(file.crs)[:80]}",
            next_step="check its CRS and transform",
        )
    if (np.abs(middle[:, 1]) > _POLAR_DEG).any():
        raise ImportFailed(
            "the GeoTIFF lies too near a pole",
            where=f"{path}: transform",
            why=f"its middle is at latitude {middle[2, 1]:.4f}; maps are flown over up to {_POLAR_DEG:g} degrees",
            next_step="check its CRS and transform",
        )
    return GeographicOrigin(latitude_deg=round(float(middle[2, 1]), 9), longitude_deg=round(float(middle[2, 0]), 9))


def _strips(file: Any, bands: Bands, path: Path) -> Iterator[NDArray[np.uint8]]:
    errors = aerial_package("rasterio").errors
    for row in range(0, file.height, STRIP_PX):
        try:
            strip = bands.picture(file, ((row, min(row + STRIP_PX, file.height)), (0, file.width)))
        except errors.RasterioError as error:
            raise _unreadable(path, error, f": row {row} of {file.height}") from error
        yield strip


def _unreadable(path: Path, error: Exception, place: str = "") -> ImportFailed:
    why = str(error.__cause__ or error).split("\n")[0]
    return ImportFailed(
        "the GeoTIFF (.tif) cannot be read: it is cut short, damaged or something else", where=f"{path}{place}", why=why, next_step="fetch the file again"
    )


def _noticed(raster: Raster, transform: tuple[float, ...]) -> Iterator[str]:
    """What a user should know before flying."""
    info = raster.info
    a, b, _, d, e, _ = transform
    turned = degrees(np.arctan2(d, a))
    if abs(b) + abs(d) > 1e-9 * hypot(a, e):
        yield f"the picture is rotated by {turned:.1f}° in its reference system: honoured"
    if info.empty > 0.0:
        yield f"{info.empty:.2%} of the pixels have no data: they are black, and nobody can fly there"
    if info.gsd_m > _COARSE_M:
        yield f"a pixel is {info.gsd_m:.1f} m wide: at {_HEIGHT_M:g} m the camera sees {100.0 / info.gsd_m:.0f} of them across"
    width, height = raster.grid.size_m()
    if min(width, height) <= _ACROSS_M:
        most = 0.9 * min(width, height) / 2.0**1.5
        way_out = f"fly at {most:.0f} m" if most >= 5.0 else "give a larger picture"
        yield f"{width:.0f} x {height:.0f} m are too small for a flyer at {_HEIGHT_M:g} m, whose camera sees {_ACROSS_M:.0f} m from corner to corner: {way_out}"
    else:
        yield f"a flyer at {_HEIGHT_M:g} m can go over {width - _ACROSS_M:,.0f} x {height - _ACROSS_M:,.0f} m of {width:,.0f} x {height:,.0f} m"
