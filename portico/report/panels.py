"""Top-down panels of what happened: paths, marks and the crop of a shared background, in the background's pixels.

A world's level is drawn once; every panel shows a window of it. Without a world the same panels are drawn on paper.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely
from PIL import Image

from portico.geometry import Floats
from portico.render import MapFrame, overview
from portico.report.goals import Goal, stage_goals
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode, StageSpec
from portico.tasks.trajectory import Trajectory
from portico.world import World

Bounds = tuple[float, float, float, float]

#: All backgrounds of a page share this many pixels, so that it stays small enough to mail.
PIXEL_BUDGET = 9_000_000
_FINEST_PX_PER_M = 14.0
_MARGIN_M, _MARGIN_SHARE = 3.0, 0.06
_LEAST_SPAN_M = 14.0
_ASPECT = 4.0 / 3.0
#: Of a card with one panel; the style sheet has the same figure.
_WIDE_ASPECT = 2.4
_JPEG_QUALITY = 80
#: Corners that move a line by less than this are left out.
_TOLERANCE_M = 0.03


@dataclass(frozen=True)
class Visit:
    """What one episode's panels are drawn from.

    Attributes:
        trajectory, annotations: None when they cannot be found.
    """

    episode: Episode
    trajectory: Trajectory | None
    annotations: Annotations | None
    success: bool

    def levels(self, points: Floats) -> list[int]:
        """Level of each point (N, 3): its floor's, 0 outdoors and where nothing is known."""
        if self.annotations is None or not len(points):
            return [0] * len(points)
        return [self.annotations.floors[f].level if f >= 0 else 0 for f in self.annotations.floor(points)]


@dataclass(frozen=True)
class Line:
    """A polyline as SVG path data, and the class that styles it."""

    style: str
    data: str


@dataclass(frozen=True)
class Mark:
    """A sign on the map: x, y in pixels, what it stands for, and how far it is turned clockwise."""

    kind: str
    x: float
    y: float
    title: str = ""
    turn_deg: float = 0.0


@dataclass(frozen=True)
class Panel:
    """One level of one episode.

    Attributes:
        background: id of the picture behind it, "" for paper.
        x, y, width, height: the window, in pixels of the background. metre: pixels of one metre.
    """

    level: int
    background: str
    x: float
    y: float
    width: float
    height: float
    metre: float
    lines: list[Line] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """A hundredth of the window's width, which marks are scaled by."""
        return self.width / 100.0

    @property
    def bar_m(self) -> float:
        """Length of the scale bar: the longest round one under a quarter of the window."""
        quarter = self.width / self.metre / 4.0
        return max((m for m in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0) if m <= quarter), default=1.0)


@dataclass(frozen=True)
class Background:
    """One level of one world, drawn once. ``href`` is a data URI, empty where there is no world to draw."""

    id: str
    frame: MapFrame
    href: str


def window(visit: Visit, level: int) -> Bounds | None:
    """What a panel of that level shows, metres, in the shape of a card; None when nothing of the episode is there."""
    points = [p[:, :2] for p in _shown_points(visit, level)]
    if not points:
        return None
    xy = np.concatenate(points)
    margin = max(_MARGIN_M, _MARGIN_SHARE * float(np.ptp(xy, axis=0).max()))
    (west, south), (east, north) = xy.min(axis=0) - margin, xy.max(axis=0) + margin
    width, height = max(east - west, _LEAST_SPAN_M), max(north - south, _LEAST_SPAN_M / _ASPECT)
    width, height = max(width, height * _ASPECT), max(height, width / _ASPECT)
    x, y = 0.5 * (west + east), 0.5 * (south + north)
    return float(x - width / 2), float(y - height / 2), float(x + width / 2), float(y + height / 2)


def widened(bounds: Bounds) -> Bounds:
    """Bounds with what a card that holds a single panel shows on either side of them."""
    west, south, east, north = bounds
    more = 0.5 * max(0.0, _WIDE_ASPECT * (north - south) - (east - west))
    return west - more, south, east + more, north


def visited_levels(visit: Visit) -> list[int]:
    """Levels worth a panel, in the order the robot came to them; the start's when nothing was recorded."""
    path = visit.trajectory.position if visit.trajectory is not None else np.array([visit.episode.start.position])
    return list(dict.fromkeys(visit.levels(path)))


def draw_background(world: World | None, level: int, bounds: Bounds, pixels: float, name: str) -> Background:
    """Draw a level within bounds, on at most that many pixels."""
    west, south, east, north = bounds
    width, height = east - west, north - south
    px_per_m = min(_FINEST_PX_PER_M, float(np.sqrt(pixels / (width * height))))
    size_px = max(64, int(px_per_m * max(width, height)))
    if world is None:
        scale = size_px / max(width, height)
        return Background(name, MapFrame(west, north, scale, round(width * scale), round(height * scale), level), "")
    image, frame = overview(world, size_px=size_px, level=level, bounds=bounds)
    return Background(name, frame, jpeg_uri(Image.fromarray(image), _JPEG_QUALITY))


def jpeg_uri(image: Image.Image, quality: int) -> str:
    """A picture as a data URI."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def draw_panel(visit: Visit, level: int, background: Background) -> Panel | None:
    """The panel of one level."""
    shown = window(visit, level)
    if shown is None:
        return None
    west, south, east, north = shown
    frame = background.frame
    (left, top), (right, bottom) = frame.to_pixels([[west, north], [east, south]])
    return Panel(
        level=level,
        background=background.id if background.href else "",
        x=round(float(left), 1),
        y=round(float(top), 1),
        width=round(float(right - left), 1),
        height=round(float(bottom - top), 1),
        metre=frame.px_per_m,
        lines=[*_goal_lines(visit, level, frame), *_reference_lines(visit, level, frame), *_executed_lines(visit, level, frame)],
        marks=list(_marks(visit, level, frame)),
    )


def _shown_points(visit: Visit, level: int) -> Iterator[Floats]:
    """The ways and goal points of the episode that lie on a level."""
    for points in (_reference(visit), visit.trajectory.position if visit.trajectory is not None else np.zeros((0, 3))):
        here = points[np.array(visit.levels(points), dtype=int) == level]
        if len(here):
            yield here
    for point in (visit.episode.start.position, *(spec.goal for spec in visit.episode.stages if spec.goal is not None)):
        alone = np.array([point])
        if visit.levels(alone)[0] == level:
            yield alone


def _reference(visit: Visit) -> Floats:
    path = visit.episode.reference.path if visit.episode.reference is not None else []
    return np.array(path, dtype=np.float64).reshape(-1, 3)


def _reference_lines(visit: Visit, level: int, frame: MapFrame) -> Iterator[Line]:
    points = _reference(visit)
    for run in _runs(np.array(visit.levels(points)) == level):
        yield Line("under", _path(points[run], frame))
        yield Line("reference", _path(points[run], frame))


def _executed_lines(visit: Visit, level: int, frame: MapFrame) -> Iterator[Line]:
    """The way that was gone, a line per stage and stay on the level, each on a pale line that sets it off the picture."""
    if visit.trajectory is None:
        return
    points, stage = visit.trajectory.position, visit.trajectory.stage
    on_level = np.array(visit.levels(points)) == level
    pieces = []
    for k in range(len(visit.episode.stages)):
        # A state is drawn with the motion that led to it, so the line of a stage begins where the last one ended.
        led = np.append((stage == k)[1:], False)
        for run in _runs(on_level & ((stage == k) | led)):
            pieces.append((visit.episode.stages[k].kind, _path(points[run], frame)))
    for _, data in pieces:
        yield Line("casing", data)
    for kind, data in pieces:
        yield Line(f"way {kind}", data)


def _goal_lines(visit: Visit, level: int, frame: MapFrame) -> Iterator[Line]:
    for _, goal in _goals(visit, level):
        if goal.outline is not None:
            yield Line(f"outline {goal.kind}", _path(np.concatenate([goal.outline, goal.outline[:1]]), frame, closed=True))


def _goals(visit: Visit, level: int) -> Iterator[tuple[StageSpec, Goal]]:
    start = np.array(visit.episode.start.position)
    for spec in visit.episode.stages:
        for goal in stage_goals(spec, start, visit.annotations):
            if goal.level == level:
                yield spec, goal


def _marks(visit: Visit, level: int, frame: MapFrame) -> Iterator[Mark]:
    for spec, goal in _goals(visit, level):
        if goal.point is not None:
            x, y = frame.to_pixels(goal.point[None])[0]
            yield Mark(f"goal {spec.kind}", round(float(x), 1), round(float(y), 1), goal.title)
    trajectory = visit.trajectory
    start = np.array([visit.episode.start.position])
    states = start if trajectory is None else trajectory.position
    levels = np.array(visit.levels(states)) == level
    pixels = np.round(frame.to_pixels(states), 1)
    if trajectory is not None:
        for i in np.flatnonzero(_thinned(trajectory.collided & levels, states)):
            yield Mark("contact", float(pixels[i, 0]), float(pixels[i, 1]), f"contact at action {trajectory.action[i]}")
        for stop in trajectory.stop_steps[trajectory.stop_steps < len(states) - 1]:
            if levels[stop]:
                yield Mark("declared", float(pixels[stop, 0]), float(pixels[stop, 1]), f"declared at action {trajectory.action[stop]}")
    if levels[0]:
        yield Mark("start", float(pixels[0, 0]), float(pixels[0, 1]), "start", round(-float(np.rad2deg(visit.episode.start.yaw_rad)), 1))
    if trajectory is not None and levels[-1]:
        yield Mark("end-good" if visit.success else "end-bad", float(pixels[-1, 0]), float(pixels[-1, 1]), f"ended after {trajectory.action[-1]} actions")


def _thinned(collided: np.ndarray, states: Floats) -> np.ndarray:
    """Contacts less than 0.4 m from one that is already marked are left out: a robot that pushes a wall pushes it often."""
    kept = np.zeros(len(states), dtype=bool)
    for i in np.flatnonzero(collided):
        if not kept.any() or np.linalg.norm(states[kept][:, :2] - states[i, :2], axis=1).min() > 0.4:
            kept[i] = True
    return kept


def _runs(mask: np.ndarray) -> Iterator[slice]:
    """Stretches of two and more true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        if end - first > 1:
            yield slice(int(first), int(end))


def _path(points: Floats, frame: MapFrame, *, closed: bool = False) -> str:
    line = shapely.LineString(points[:, :2]).simplify(_TOLERANCE_M, preserve_topology=False)
    pixels = frame.to_pixels(np.array(line.coords))
    data = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in pixels)
    return data + "Z" if closed else data


def joined(bounds: Sequence[Bounds]) -> Bounds:
    """The smallest bounds around several."""
    west, south, east, north = zip(*bounds, strict=True)
    return min(west), min(south), max(east), max(north)
