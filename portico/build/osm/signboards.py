"""Signs of imported shops: drawn lettering packed into a few shared textures."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from portico.build.osm.frontages import Edge
from portico.build.primitives import box, quad
from portico.build.scene import Scene
from portico.build.signs import TRADES
from portico.build.textures import RGB, linear
from portico.seeding import generator
from portico.world import Surface

SIGN_HEIGHT_M = 0.7
_SHEET_PX = 1024
_ROW_PX = 48
_GAP_PX = 4
_LETTER_PX = 27
_MARGIN_PX = 14
_DEPTH_M = 0.1
_LONGEST_NAME = 34

#: Trades whose colours fit a kind of place that has no trade of its own.
_ALIKE = {
    "fast_food": "restaurant", "food_court": "restaurant", "ice_cream": "cafe", "coffee": "cafe", "confectionery": "bakery", "pastry": "bakery", "chemist": "pharmacy",
    "convenience": "supermarket", "greengrocer": "supermarket", "deli": "supermarket", "hostel": "hotel", "guest_house": "hotel", "doctors": "clinic", "dentist": "clinic",
    "hospital": "clinic", "boutique": "clothing store", "shoes": "clothing store", "jewelry": "clothing store", "mobile_phone": "electronics", "computer": "electronics",
    "hairdresser": "barber", "beauty": "barber", "pub": "bar", "nightclub": "bar", "biergarten": "bar", "sports_centre": "gym", "bureau_de_change": "bank",
}  # fmt: skip
_BOARDS: tuple[RGB, ...] = ((0.12, 0.20, 0.32), (0.30, 0.12, 0.16), (0.14, 0.28, 0.22), (0.92, 0.90, 0.84), (0.16, 0.16, 0.18), (0.70, 0.42, 0.14))


def colors_of(category: str, identity: str) -> tuple[RGB, RGB, RGB]:
    """Board, letters and goods of a place (sRGB): by its trade, or from a small palette, the same at every import."""
    trade = TRADES.get(_ALIKE.get(category, category))
    if trade is not None:
        return trade.board, trade.letters, trade.goods
    board = _BOARDS[int(generator("osm", "board", identity).integers(len(_BOARDS)))]
    dark = sum(board) < 1.5
    return board, (0.97, 0.95, 0.88) if dark else (0.12, 0.12, 0.14), (0.62, 0.55, 0.48)


@lru_cache(maxsize=1)
def _font() -> ImageFont.FreeTypeFont:
    """A font with Latin, Greek, Cyrillic, Hebrew and Arabic letters: real names need more than Pillow's own has."""
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf", size=_LETTER_PX)


@lru_cache(maxsize=4096)
def _drawable(character: str) -> bool:
    return character.isspace() or bytes(_font().getmask(character)) != bytes(_font().getmask("\U000f1234"))


def legible(name: str) -> str:
    """The name as the font at hand can write it, shortened to a sign's length; empty when too little of it is left."""
    text = "".join(c for c in " ".join(name.split()) if c.isprintable() and _drawable(c)).strip()
    if len(text.replace(" ", "")) < 0.7 * len(name.replace(" ", "")):
        return ""
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1].rstrip() + "…"


def lettering(text: str, board: RGB, letters: RGB, longest_m: float) -> NDArray[np.uint8]:
    """A drawn sign (_ROW_PX, W, 3); letters are narrowed when they would not fit ``longest_m``."""
    left, top, right, bottom = _font().getbbox(text)
    ink = Picture.new("L", (int(right - left) + 2, _ROW_PX), 0)
    ImageDraw.Draw(ink).text((1 - left, (_ROW_PX - bottom - top) / 2.0), text, fill=255, font=_font())
    room = max(8, round(longest_m / SIGN_HEIGHT_M * _ROW_PX) - 2 * _MARGIN_PX)
    ink = ink.resize((min(ink.width, room), _ROW_PX), Picture.Resampling.LANCZOS)
    cover = np.zeros((_ROW_PX, ink.width + 2 * _MARGIN_PX, 1))
    cover[:, _MARGIN_PX:-_MARGIN_PX, 0] = np.asarray(ink) / 255.0
    cover[[2, -3], 2:-2] = cover[2:-2, [2, -3]] = 1.0
    drawn: NDArray[np.uint8] = np.clip(255.0 * (cover * np.asarray(letters) + (1.0 - cover) * np.asarray(board)) + 0.5, 0, 255).astype(np.uint8)
    return drawn


@dataclass
class Signboards:
    """Packs signs into sheets, left to right and top to bottom. ``finish`` hands the sheets to the scene."""

    scene: Scene
    _sheets: list[NDArray[np.uint8]] = field(default_factory=list)
    _x: int = _SHEET_PX
    _y: int = -_ROW_PX - _GAP_PX

    def hang(self, edge: Edge, middle_m: float, z_m: float, text: str, colors: tuple[RGB, RGB], longest_m: float) -> float:
        """A board on a facade, its middle ``middle_m`` along the edge and ``z_m`` high; returns its width."""
        picture = lettering(text, colors[0], colors[1], longest_m)
        width_m = float(picture.shape[1] / _ROW_PX * SIGN_HEIGHT_M)
        sheet, uv = self._pack(picture)
        m, n = np.append(edge.point(middle_m), z_m), np.append(edge.outward, 0.0)
        right, up = np.append(edge.along, 0.0) * width_m / 2.0, np.array([0.0, 0.0, SIGN_HEIGHT_M / 2.0])
        instance = self.scene.instance("sign")
        board = self.scene.material("sign-{:.2f}-{:.2f}-{:.2f}".format(*colors[0]), linear(colors[0]))
        yaw = float(np.arctan2(edge.along[1], edge.along[0]))
        self.scene.add_mesh(*box(m + n * _DEPTH_M / 2.0, (width_m, _DEPTH_M, SIGN_HEIGHT_M), yaw), surface=Surface.SIGN, material=board, instance=instance)
        face = m + n * (_DEPTH_M + 0.01)
        material = self.scene.material(f"signs-{sheet}", (1.0, 1.0, 1.0), texture=f"signs-{sheet}", emission=0.2)
        mesh = quad(face - right - up, face + right - up, face + right + up, face - right + up)
        self.scene.add_mesh(*mesh, surface=Surface.SIGN, material=material, instance=instance, uv=uv, collides=False)
        return width_m

    def finish(self) -> None:
        """Give the drawn sheets to the scene."""
        for number, sheet in enumerate(self._sheets):
            self.scene.textures[f"signs-{number}"] = sheet

    def _pack(self, picture: NDArray[np.uint8]) -> tuple[int, NDArray[np.float32]]:
        width = picture.shape[1]
        if self._x + width > _SHEET_PX:
            self._x, self._y = 0, self._y + _ROW_PX + _GAP_PX
        if not self._sheets or self._y + _ROW_PX > _SHEET_PX:
            self._sheets.append(np.full((_SHEET_PX, _SHEET_PX, 3), 128, np.uint8))
            self._x = self._y = 0
        x, y = self._x, self._y
        self._sheets[-1][y : y + _ROW_PX, x : x + width] = picture
        self._x += width + _GAP_PX
        u0, u1, v0, v1 = x / _SHEET_PX, (x + width) / _SHEET_PX, 1.0 - (y + _ROW_PX) / _SHEET_PX, 1.0 - y / _SHEET_PX
        return len(self._sheets) - 1, np.array([[[u0, v0], [u1, v0], [u1, v1]], [[u0, v0], [u1, v1], [u0, v1]]], np.float32)
