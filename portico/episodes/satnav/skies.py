"""Where a flyer can go over a map, in metres of the world's local frame, and the lines and places that lie there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely

from portico.errors import EpisodeError
from portico.geometry import Floats, arc_lengths
from portico.interface import Camera
from portico.robots.flyer import footprint_radius_m
from portico.world import LocalFrame, World

#: Kept from the border of where it can fly, so that neither a corner cut nor the bend of the earth leads out.
_SPARE_M = 12.0


@dataclass(frozen=True)
class Skies:
    """An aerial world as questions are made in it.

    Attributes:
        height_m: at which it is flown. camera: that must not see beyond the raster.
    """

    world: World
    camera: Camera
    height_m: float

    @cached_property
    def local(self) -> LocalFrame:
        """Between metres and degrees."""
        return self.world.local_frame

    @cached_property
    def airspace(self) -> shapely.Polygon:
        """Where references may lead.

        Raises:
            EpisodeError: the raster is smaller than what the camera sees.
        """
        grid = self.world.raster.grid
        reach = footprint_radius_m(self.camera, self.height_m) + _SPARE_M
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * [grid.width, grid.height]
        slopes = [grid.around(*lonlat.tolist())[1] for lonlat in grid.to_degrees(corners)]
        inset = reach * max(float(np.hypot(s[0, 0], s[0, 1])) for s in slopes), reach * max(float(np.hypot(s[1, 0], s[1, 1])) for s in slopes)
        if 2.0 * inset[0] >= grid.width or 2.0 * inset[1] >= grid.height:
            raise EpisodeError(
                "the map is too small to fly over",
                where=self.world.id,
                why=f"at {self.height_m:g} m the camera sees {2 * reach:.0f} m from corner to corner",
                next_step="fly lower (satnav: height_m in the suite), or import a larger raster",
            )
        inner = np.array([inset, (grid.width - inset[0], inset[1]), (grid.width - inset[0], grid.height - inset[1]), (inset[0], grid.height - inset[1])])
        lonlat = grid.to_degrees(inner)
        return shapely.Polygon(self.local.to_local(lonlat[:, 0], lonlat[:, 1]))

    def holds(self, line: Floats) -> bool:
        """Whether a polyline (N, 2) lies where one can fly."""
        return bool(self.airspace.contains(shapely.LineString(line) if len(line) > 1 else shapely.Point(line[0])))

    def degrees(self, points: Floats) -> list[tuple[float, float, float]]:
        """Longitude, latitude and height of points (N, 2); degrees to nine digits, a tenth of a millimetre."""
        return [(round(lon, 9), round(lat, 9), self.height_m) for lon, lat in self.local.to_geographic(points).tolist()]


def spaced(line: Floats, spacing_m: float) -> Floats:
    """A polyline (N, 2) with all its corners and, on each side, points ``spacing_m`` apart [SN]."""
    pieces = [line[:1]]
    for a, b in pairwise(line):
        length = float(np.hypot(*(b - a)))
        inner = np.arange(spacing_m, length - 1e-6, spacing_m)
        pieces += [a + inner[:, None] * (b - a) / max(length, 1e-9), b[None]]
    return np.concatenate(pieces)


def turned_rad(line: Floats) -> Floats:
    """(N - 2,) change of heading at every inner corner of a polyline (N, 2), counter-clockwise, in [-pi, pi)."""
    steps = np.diff(line, axis=0)
    yaw = np.arctan2(steps[:, 1], steps[:, 0])
    change: Floats = (np.diff(yaw) + np.pi) % (2.0 * np.pi) - np.pi
    return change


def heading_rad(line: Floats, look_m: float = 12.0) -> float:
    """Which way a polyline (N, 2) leads at its beginning."""
    s = arc_lengths(line)
    at = min(look_m, float(s[-1]))
    x, y = np.interp(at, s, line[:, 0]), np.interp(at, s, line[:, 1])
    return float(np.arctan2(y - line[0, 1], x - line[0, 0]))
