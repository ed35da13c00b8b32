"""Drawings of facades: rows of windows for upper storeys, shop fronts and house doors for the ground floor.

A facade drawing spans ``BAYS`` windows side by side and ``STOREYS`` of them above each other and repeats without a seam.
A front drawing spans one unit of the ground floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from portico.build.textures import BRICKS, RGB, Floats, Image, draw, noise, slabs, tinted
from portico.seeding import generator

BAYS, STOREYS = 4, 2
BAY_M, STOREY_M = 3.0, 3.2
FRONT_M = (6.0, 4.0)

_PX_PER_M = 128.0 / BAY_M
_FRONT_PX_PER_M = 64.0
_WARM, _DARK = (0.95, 0.80, 0.52), (0.13, 0.17, 0.21)


class Canvas:
    """A picture painted in metres, origin at the lower left."""

    def __init__(self, picture: Image, x_px_per_m: float, y_px_per_m: float) -> None:
        self.picture = picture
        self._x, self._y = x_px_per_m, y_px_per_m

    def rect(self, x0: float, y0: float, x1: float, y1: float, color: RGB, *, fade: float = 0.0) -> None:
        """Fill a rectangle; ``fade`` lightens it towards its top, as glass does that mirrors the sky."""
        height = self.picture.shape[0]
        top, bottom = (round(height - y * self._y) for y in (y1, y0))
        left, right = (round(x * self._x) for x in (x0, x1))
        top, bottom, left = max(top, 0), min(bottom, height), max(left, 0)
        if top >= bottom or left >= right:
            return
        rise = np.linspace(1.0, 0.0, bottom - top)[:, None, None]
        self.picture[top:bottom, left:right] = np.clip(255.0 * (np.asarray(color) * (1.0 - fade * rise) + fade * rise * np.array([0.72, 0.82, 0.92])), 0, 255)

    def frame(self, x0: float, y0: float, x1: float, y1: float, width_m: float, color: RGB) -> None:
        """The border of a rectangle, inside it."""
        self.rect(x0, y0, x1, y0 + width_m, color)
        self.rect(x0, y1 - width_m, x1, y1, color)
        self.rect(x0, y0, x0 + width_m, y1, color)
        self.rect(x1 - width_m, y0, x1, y1, color)


@dataclass(frozen=True)
class Style:
    """How a building looks: the wall's texture and tint, its windows, and the colours of frames and trims (sRGB)."""

    wall: str
    tint: RGB
    window: str
    frame: RGB = (0.93, 0.92, 0.89)
    trim: RGB = (0.80, 0.77, 0.72)
    roof: str = "roofing"


STYLES: dict[str, Style] = {
    "brick-terrace": Style("brick-red", (1.0, 1.0, 1.0), "sash"),
    "brick-loft": Style("brick-brown", (1.0, 1.0, 1.0), "loft", (0.16, 0.17, 0.18), (0.45, 0.42, 0.38)),
    "buff-terrace": Style("brick-buff", (1.0, 1.0, 1.0), "sash", (0.25, 0.32, 0.30)),
    "cream-plaster": Style("plaster", (1.0, 0.95, 0.83), "shutters", (0.30, 0.42, 0.36), roof="roof-tiles"),
    "ochre-plaster": Style("plaster", (0.96, 0.78, 0.53), "shutters", (0.44, 0.27, 0.20), roof="roof-tiles"),
    "rose-plaster": Style("plaster", (0.93, 0.74, 0.69), "sash", roof="roof-tiles"),
    "sage-plaster": Style("plaster", (0.74, 0.82, 0.72), "sash"),
    "blue-plaster": Style("plaster", (0.66, 0.76, 0.86), "sash"),
    "sandstone": Style("stone", (1.0, 1.0, 1.0), "tall", (0.30, 0.26, 0.22), (0.70, 0.65, 0.56)),
    "white-modern": Style("plaster", (1.0, 1.0, 1.0), "wide", (0.22, 0.23, 0.25), (0.62, 0.62, 0.62)),
    "concrete-office": Style("concrete", (1.0, 1.0, 1.0), "ribbon", (0.32, 0.34, 0.36), (0.52, 0.52, 0.52)),
    "glass-office": Style("concrete", (0.42, 0.48, 0.54), "curtain", (0.24, 0.27, 0.30), (0.36, 0.38, 0.42)),
}


def wall(style: Style, height: int, width: int) -> Image:
    """Plain wall of a style, (height, width, 3) up to 512 a side; courses of brick and stone run through."""
    bare = _bare_wall(style.wall)[:height, :width]
    tinted_wall: Image = np.clip(bare * np.asarray(style.tint), 0, 255).astype(np.uint8)
    return tinted_wall


@lru_cache(maxsize=16)
def _bare_wall(name: str) -> Image:
    if name in BRICKS:
        rng = generator("texture", name)
        shade, joints = slabs(rng, 512, 128, 32, offset=True, joint_px=1, variety=0.08)
        shade = shade + noise(rng, 512, (1.0, 0.03), (30.0, 0.04))
        shade[joints] += 0.18
        return tinted(BRICKS[name], shade)
    source = draw(name)
    times = -(-512 // source.shape[0])
    return np.tile(source, (times, times, 1))


@lru_cache(maxsize=1)
def _paint_grain() -> Floats:
    return noise(generator("texture", "paint"), 384, (1.0, 0.02))


def facade(style: Style, rng: np.random.Generator) -> Image:
    """Upper storeys: ``BAYS`` × ``STOREYS`` windows, (256, 512, 3)."""
    canvas = Canvas(wall(style, 128 * STOREYS, 128 * BAYS), _PX_PER_M, 128.0 / STOREY_M)
    for row in range(STOREYS):
        for column in range(BAYS):
            WINDOWS[style.window](canvas, column * BAY_M, row * STOREY_M, style, rng)
    return canvas.picture


def _pane(canvas: Canvas, x0: float, y0: float, x1: float, y1: float, style: Style, rng: np.random.Generator) -> None:
    """Glass with something behind it: curtains, a blind, a lit room or the sky in the glass."""
    glass = tuple(float(c) for c in np.array([0.22, 0.29, 0.35]) * rng.uniform(0.75, 1.15))
    canvas.rect(x0, y0, x1, y1, (glass[0], glass[1], glass[2]), fade=0.42)
    kind = rng.integers(0, 6)
    cloth = float(rng.uniform(0.78, 0.92))
    if kind in (0, 1):
        side = 0.22 * (x1 - x0)
        for a, b in ((x0, x0 + side), (x1 - side, x1)):
            canvas.rect(a, y0, b, y1, (cloth, cloth * 0.97, cloth * 0.90))
    elif kind == 2:
        canvas.rect(x0, y0 + (y1 - y0) * float(rng.uniform(0.35, 0.8)), x1, y1, (cloth, cloth * 0.96, cloth * 0.86))
    elif kind == 3:
        canvas.rect(x0, y0, x1, y1, (0.62, 0.55, 0.42), fade=0.25)
    canvas.frame(x0, y0, x1, y1, 0.07, style.frame)


def _sash(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    a, b, low, high = x + 0.90, x + 2.10, y + 0.85, y + 2.60
    canvas.rect(a - 0.12, high, b + 0.12, high + 0.24, style.trim)
    _pane(canvas, a, low, b, high, style, rng)
    canvas.rect(a, (low + high) / 2 - 0.04, b, (low + high) / 2 + 0.04, style.frame)
    canvas.rect((a + b) / 2 - 0.03, low, (a + b) / 2 + 0.03, high, style.frame)
    canvas.rect(a - 0.14, low - 0.12, b + 0.14, low, style.trim)
    canvas.rect(a - 0.10, low - 0.17, b + 0.10, low - 0.12, (0.25, 0.22, 0.20))


def _shutters(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    a, b, low, high = x + 0.95, x + 2.05, y + 0.70, y + 2.60
    _pane(canvas, a, low, b, high, style, rng)
    canvas.rect((a + b) / 2 - 0.03, low, (a + b) / 2 + 0.03, high, (0.92, 0.91, 0.88))
    for left in (a - 0.56, b + 0.04):
        canvas.rect(left, low, left + 0.52, high, style.frame)
        for k in range(6):
            canvas.rect(left + 0.07, low + 0.14 + k * 0.29, left + 0.45, low + 0.19 + k * 0.29, tuple(0.7 * c for c in style.frame))  # type: ignore[arg-type]
    canvas.rect(a - 0.10, low - 0.12, b + 0.10, low, style.trim)


def _tall(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    a, b, low, high = x + 0.85, x + 2.15, y + 0.45, y + 2.75
    canvas.rect(a - 0.18, low - 0.10, b + 0.18, high + 0.20, style.trim)
    _pane(canvas, a, low, b, high, style, rng)
    canvas.rect((a + b) / 2 - 0.04, low, (a + b) / 2 + 0.04, high, style.frame)
    canvas.rect(a, high - 0.65, b, high - 0.58, style.frame)
    for k in range(9):
        canvas.rect(a - 0.05 + k * 0.165, low, a - 0.02 + k * 0.165, low + 0.80, (0.12, 0.12, 0.13))
    canvas.rect(a - 0.08, low + 0.78, b + 0.08, low + 0.84, (0.12, 0.12, 0.13))


def _wide(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    a, b, low, high = x + 0.35, x + 2.65, y + 0.90, y + 2.55
    _pane(canvas, a, low, b, high, style, rng)
    canvas.rect(x + 1.80, low, x + 1.87, high, style.frame)
    canvas.rect(a - 0.05, low - 0.08, b + 0.05, low, style.trim)


def _loft(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    a, b, low, high = x + 0.45, x + 2.55, y + 0.60, y + 2.70
    canvas.rect(a - 0.08, high, b + 0.08, high + 0.22, style.trim)
    _pane(canvas, a, low, b, high, style, rng)
    for k in range(1, 4):
        canvas.rect(a + k * 0.525 - 0.025, low, a + k * 0.525 + 0.025, high, style.frame)
        canvas.rect(a, low + k * 0.525 - 0.025, b, low + k * 0.525 + 0.025, style.frame)
    canvas.rect(a - 0.08, low - 0.12, b + 0.08, low, style.trim)


def _ribbon(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    for half in (0.0, 1.5):
        _pane(canvas, x + half, y + 1.0, x + half + 1.5, y + 2.6, style, rng)
    canvas.rect(x, y + 0.88, x + BAY_M, y + 1.0, style.trim)
    canvas.rect(x, y + 2.6, x + BAY_M, y + 2.68, style.frame)


def _curtain(canvas: Canvas, x: float, y: float, style: Style, rng: np.random.Generator) -> None:
    for half in (0.0, 1.5):
        _pane(canvas, x + half, y + 0.75, x + half + 1.5, y + STOREY_M, style, rng)
        canvas.rect(x + half + 0.06, y + 0.06, x + half + 1.44, y + 0.69, (0.30, 0.40, 0.48), fade=0.15)


WINDOWS: dict[str, Callable[[Canvas, float, float, Style, np.random.Generator], None]] = {
    "sash": _sash,
    "shutters": _shutters,
    "tall": _tall,
    "wide": _wide,
    "loft": _loft,
    "ribbon": _ribbon,
    "curtain": _curtain,
}


def shop_front(color: RGB, goods: RGB, rng: np.random.Generator) -> Image:
    """A shop's ground floor, (256, 384, 3): panelled frame, display windows with goods, a glazed door in the middle, a fascia."""
    width, height = FRONT_M
    canvas = Canvas(tinted(color, _paint_grain()[:256]), _FRONT_PX_PER_M, _FRONT_PX_PER_M)
    dark: RGB = (color[0] * 0.6, color[1] * 0.6, color[2] * 0.6)
    canvas.rect(0.0, 0.0, width, 0.12, (0.25, 0.25, 0.25))
    for a, b in ((0.35, 2.30), (3.70, 5.65)):
        canvas.frame(a - 0.06, 0.18, b + 0.06, 0.62, 0.05, dark)
        canvas.rect(a, 0.70, b, 2.75, (0.20, 0.22, 0.24), fade=0.30)
        _goods(canvas, a, b, goods, rng)
        canvas.frame(a, 0.70, b, 2.75, 0.07, dark)
        canvas.rect(a, 2.28, b, 2.34, dark)
    canvas.rect(2.42, 0.12, 3.58, 2.75, dark)
    canvas.rect(2.55, 0.18, 3.45, 2.20, (0.20, 0.22, 0.24), fade=0.30)
    canvas.frame(2.55, 0.18, 3.45, 2.20, 0.10, color)
    canvas.rect(2.55, 2.28, 3.45, 2.70, (0.24, 0.28, 0.31), fade=0.35)
    canvas.rect(3.28, 0.95, 3.33, 1.25, (0.85, 0.76, 0.45))
    canvas.rect(0.0, height - 0.10, width, height, dark)
    for x in (0.0, width - 0.22):
        canvas.frame(x, 0.12, x + 0.22, height - 0.1, 0.04, dark)
    return canvas.picture


def _goods(canvas: Canvas, a: float, b: float, goods: RGB, rng: np.random.Generator) -> None:
    """A lit shelf or two with things of the shop's colours."""
    canvas.rect(a, 0.70, b, 1.05, (0.42, 0.36, 0.28))
    for shelf in (1.05, 1.62):
        x = a + 0.10
        while x < b - 0.25:
            w, h = float(rng.uniform(0.10, 0.28)), float(rng.uniform(0.14, 0.42))
            tone = rng.uniform(0.65, 1.25)
            mix = np.clip(np.asarray(goods) * tone + rng.uniform(-0.12, 0.12, 3), 0.05, 1.0)
            canvas.rect(x, shelf, x + w, shelf + h, (float(mix[0]), float(mix[1]), float(mix[2])))
            x += w + float(rng.uniform(0.03, 0.12))
        canvas.rect(a, shelf - 0.05, b, shelf, (0.75, 0.70, 0.60))


def house_front(style: Style, rng: np.random.Generator) -> Image:
    """A dwelling's ground floor, (256, 384, 3): a panelled door with a fanlight between two windows."""
    picture = wall(style, 256, 384)
    canvas = Canvas(picture, _FRONT_PX_PER_M, _FRONT_PX_PER_M)
    width = FRONT_M[0]
    canvas.rect(0.0, 0.0, width, 0.55, style.trim)
    door: RGB = [(0.18, 0.30, 0.27), (0.42, 0.14, 0.13), (0.16, 0.20, 0.32), (0.30, 0.20, 0.13)][int(rng.integers(0, 4))]
    canvas.rect(2.30, 0.0, 3.70, 2.95, style.trim)
    canvas.rect(2.45, 0.05, 3.55, 2.80, door)
    canvas.rect(2.55, 2.28, 3.45, 2.70, (0.24, 0.30, 0.35), fade=0.4)
    for low, high in ((0.25, 0.95), (1.10, 2.10)):
        for a in (2.60, 3.05):
            canvas.frame(a, low, a + 0.35, high, 0.04, (door[0] * 0.6, door[1] * 0.6, door[2] * 0.6))
    canvas.rect(2.52, 1.02, 2.60, 1.12, (0.85, 0.76, 0.45))
    for x in (-0.55, 3.55):
        _sash(canvas, x, 0.35, style, rng)
    canvas.rect(0.0, 3.80, width, 4.0, style.trim)
    return canvas.picture


def rear_front(style: Style, rng: np.random.Generator) -> Image:
    """A ground floor with windows and no door, (256, 384, 3)."""
    canvas = Canvas(wall(style, 256, 384), _FRONT_PX_PER_M, _FRONT_PX_PER_M)
    canvas.rect(0.0, 0.0, FRONT_M[0], 0.55, style.trim)
    for x in (0.0, 3.0):
        _sash(canvas, x, 0.40, style, rng)
    canvas.rect(0.0, 3.80, FRONT_M[0], 4.0, style.trim)
    return canvas.picture


def blank_front(style: Style) -> Image:
    """A ground floor without openings, (256, 384, 3): plain wall on a plinth."""
    canvas = Canvas(wall(style, 256, 384), _FRONT_PX_PER_M, _FRONT_PX_PER_M)
    canvas.rect(0.0, 0.0, FRONT_M[0], 0.45, style.trim)
    canvas.rect(0.0, 3.85, FRONT_M[0], 4.0, style.trim)
    return canvas.picture
