"""Maps under a scene: which part of which level is drawn, at what scale, and what lies on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, sqrt

import numpy as np
from PIL import Image

from portico.errors import UserError
from portico.render import MapFrame, overview
from portico.render.map_frame import fit
from portico.report.panels import Background, Bounds, Line, Mark, Panel, draw_panel, joined, widened, window
from portico.web.scene import Scene, Track
from portico.web.worlds import Site
from portico.world import World

#: A whole level is drawn once for all episodes where it fits into so many pixels at no less than this scale, else the window of an episode.
_LEVEL_PIXELS, _LEAST_PX_PER_M, _FINEST_PX_PER_M = 3.2e6, 9.0, 40.0
_LONGEST_PX, _WINDOW_PX = 2600, 1500
_WIDEST_M = 50_000.0
#: A window of fewer pixels than this looks soft on a screen.
_COARSE_PX = 480.0
_MARGIN_M = 1.0


@dataclass(frozen=True)
class Sheet:
    """A picture of a level: what it shows (west, south, east, north, metres) on how many pixels."""

    world: str
    level: int
    bounds: Bounds
    size_px: int

    @property
    def frame(self) -> MapFrame:
        """Where its points lie."""
        return fit(self.bounds, self.size_px, self.level)

    def address(self) -> str:
        """What an address says of it, after its level."""
        return f"box={','.join(f'{v:.2f}' for v in self.bounds)}&px={self.size_px}"

    @staticmethod
    def asked(world: str, level: int, box: str, px: int) -> Sheet:
        """The sheet of an address.

        Raises:
            UserError: it is none, or a larger one than is drawn.
        """
        try:
            west, south, east, north = (float(v) for v in box.split(","))
        except ValueError:
            west = south = east = north = 0.0
        fits = all(isfinite(v) for v in (west, south, east, north)) and 0.0 < east - west <= _WIDEST_M and 0.0 < north - south <= _WIDEST_M
        if not fits or not 16 <= px <= _LONGEST_PX or abs(level) > 500:
            raise UserError("there is no such map", where=f"box={box}, px={px}", next_step="open the episode's page: it names its maps")
        return Sheet(world, level, (west, south, east, north), px)


@dataclass(frozen=True)
class MapView:
    """One level of a scene: the sheet behind it, None on paper, and the panel with lines and marks in the sheet's pixels.

    Attributes:
        close: a finer sheet of the window alone, worth drawing once the other is there; None where that is fine enough.
    """

    level: int
    sheet: Sheet | None
    frame: MapFrame
    panel: Panel
    close: Sheet | None = None

    @property
    def close_at(self) -> tuple[float, float, float, float]:
        """Where the finer sheet lies in the sheet's pixels: x, y, width, height."""
        assert self.close is not None
        west, south, east, north = self.close.frame.bounds
        (left, top), (right, bottom) = self.frame.to_pixels([[west, north], [east, south]]).tolist()
        return round(left, 2), round(top, 2), round(right - left, 2), round(bottom - top, 2)


def map_views(scene: Scene) -> list[MapView]:
    """The maps of a scene, level by level; none when there is nothing to show."""
    views = []
    for level in scene.levels:
        shown = [(track, bounds) for track in scene.tracks if track.visit is not None and (bounds := window(track.visit, level)) is not None]
        if shown:
            views.append(_view(scene, level, [track for track, _ in shown], joined([bounds for _, bounds in shown])))
    return views


def draw(site: Site, sheet: Sheet) -> Image.Image:
    """The picture of a sheet.

    Raises:
        UserError: the world is not there, or cannot be drawn on this machine.
    """
    if site.world is None:
        raise UserError("the map cannot be drawn", where=sheet.world, why=site.note, next_step="point --worlds at the folder that holds the worlds")
    return Image.fromarray(overview(site.world, size_px=sheet.size_px, level=sheet.level, bounds=sheet.bounds)[0])


def _view(scene: Scene, level: int, tracks: Sequence[Track], bounds: Bounds) -> MapView:
    site, world = scene.first.site, scene.first.item.row.key.world
    sheet = _sheet(site.world, world, level, bounds)
    background = Background("ground", sheet.frame, "there" if site.world is not None else "")
    panels = []
    for track in tracks:
        assert track.visit is not None
        panel = draw_panel(track.visit, level, background)
        assert panel is not None
        panels.append((track, panel))
    (left, top), (right, bottom) = sheet.frame.to_pixels([[bounds[0], bounds[3]], [bounds[2], bounds[1]]])
    merged = replace(
        panels[0][1],
        x=round(float(left), 1),
        y=round(float(top), 1),
        width=round(float(right - left), 1),
        height=round(float(bottom - top), 1),
        lines=_lines(panels, several=len(scene.tracks) > 1),
        marks=_marks(panels),
    )
    if site.world is None:
        return MapView(level, None, sheet.frame, merged)
    return MapView(level, sheet, sheet.frame, merged, _window_sheet(world, level, bounds) if merged.width < _COARSE_PX else None)


def _lines(panels: Sequence[tuple[Track, Panel]], *, several: bool) -> list[Line]:
    """Goals and reference once; ways in the colours of their stages, or of their policies where there are several."""
    question = [line for line in panels[0][1].lines if not _of_way(line)]
    if not several:
        return [*question, *(line for line in panels[0][1].lines if _of_way(line))]
    ways = [(track, line) for track, panel in panels for line in panel.lines if line.style.startswith("way ")]
    casings = [line for _, panel in panels for line in panel.lines if line.style == "casing"]
    return [*question, *casings, *(Line(f"way run p{track.item.run.number % 8}", line.data) for track, line in ways)]


def _of_way(line: Line) -> bool:
    return line.style == "casing" or line.style.startswith("way ")


def _marks(panels: Sequence[tuple[Track, Panel]]) -> list[Mark]:
    """What belongs to the question once, what happened for every track."""
    of_question = [mark for mark in panels[0][1].marks if mark.kind.split(" ")[0] in ("goal", "start")]
    happened = [mark for _, panel in panels for mark in panel.marks if mark.kind.split(" ")[0] not in ("goal", "start")]
    return [*of_question, *happened]


def _sheet(world: World | None, name: str, level: int, bounds: Bounds) -> Sheet:
    whole = _whole(world)
    if whole is not None and _inside(bounds, whole):
        (west, south, east, north) = whole
        px_per_m = min(_FINEST_PX_PER_M, sqrt(_LEVEL_PIXELS / ((east - west) * (north - south))), _LONGEST_PX / max(east - west, north - south))
        if px_per_m >= _LEAST_PX_PER_M:
            return Sheet(name, level, whole, int(px_per_m * max(east - west, north - south)))
    return _window_sheet(name, level, bounds)


def _window_sheet(name: str, level: int, bounds: Bounds) -> Sheet:
    wide: Bounds = tuple(round(v, 2) for v in widened(bounds))  # type: ignore[assignment]
    span = max(wide[2] - wide[0], wide[3] - wide[1])
    return Sheet(name, level, wide, max(64, min(_WINDOW_PX, int(span * _FINEST_PX_PER_M))))


def _whole(world: World | None) -> Bounds | None:
    """What a world's triangles cover, with a margin; None for a world that is only seen from the air."""
    if world is None or world.appearance.raster is not None or not len(world.geometry.vertices):
        return None
    low, high = world.geometry.vertices[:, :2].min(axis=0) - _MARGIN_M, world.geometry.vertices[:, :2].max(axis=0) + _MARGIN_M
    west, south, east, north = np.round([*low.tolist(), *high.tolist()], 2).tolist()
    return west, south, east, north


def _inside(inner: Bounds, outer: Bounds) -> bool:
    """Whether the middle of a window lies within a level and the window is not much larger than it."""
    x, y = 0.5 * (inner[0] + inner[2]), 0.5 * (inner[1] + inner[3])
    within = outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
    return within and hypot(inner[2] - inner[0], inner[3] - inner[1]) <= 2.0 * hypot(outer[2] - outer[0], outer[3] - outer[1])
