"""Shop signs: names by category, lettering drawn into a texture, boards hung on facades, and the places they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from portico.build.primitives import QUAD_UV, box, quad
from portico.build.scene import Scene
from portico.build.textures import RGB, Image, linear
from portico.world import Place, Surface

BOARD_HEIGHT_M = 0.95
_BOARD_DEPTH_M = 0.12
_PX_PER_M = 100.0
_LETTER_SHARE = 0.62


@dataclass(frozen=True)
class Trade:
    """A category of place [NV 7.5]: what its signs may say, and the colours of board, letters and goods (sRGB)."""

    names: tuple[str, ...]
    board: RGB
    letters: RGB
    goods: RGB


_WHITE: RGB = (0.98, 0.97, 0.93)

TRADES: dict[str, Trade] = {
    "cafe": Trade(("CAFE LUMEN", "CORNER CAFE", "CAFE ARIA"), (0.24, 0.15, 0.10), (0.98, 0.89, 0.70), (0.72, 0.50, 0.30)),
    "bakery": Trade(("ROSE BAKERY", "OVEN BAKERY", "MILL BAKERY"), (0.80, 0.52, 0.16), _WHITE, (0.85, 0.62, 0.30)),
    "pharmacy": Trade(("PHARMACY", "PARK PHARMACY"), (0.05, 0.42, 0.24), _WHITE, (0.60, 0.88, 0.72)),
    "bookstore": Trade(("BOOKSTORE", "OWL BOOKS", "PAGE BOOKS"), (0.10, 0.17, 0.34), (0.96, 0.85, 0.45), (0.52, 0.30, 0.28)),
    "supermarket": Trade(("SUPERMARKET", "FRESH MARKET"), (0.78, 0.10, 0.12), _WHITE, (0.45, 0.70, 0.30)),
    "restaurant": Trade(("RESTAURANT", "TRATTORIA", "NOODLE HOUSE"), (0.48, 0.07, 0.10), (0.98, 0.90, 0.72), (0.80, 0.45, 0.28)),
    "bank": Trade(("CITY BANK", "UNION BANK"), (0.06, 0.20, 0.42), _WHITE, (0.55, 0.62, 0.70)),
    "hotel": Trade(("HOTEL ADLER", "PARK HOTEL"), (0.13, 0.13, 0.15), (0.95, 0.80, 0.42), (0.70, 0.58, 0.40)),
    "clinic": Trade(("CITY CLINIC", "CLINIC"), _WHITE, (0.03, 0.36, 0.62), (0.72, 0.84, 0.90)),
    "florist": Trade(("FLORIST", "IRIS FLORIST"), (0.16, 0.36, 0.18), (1.00, 0.82, 0.88), (0.90, 0.45, 0.60)),
    "clothing store": Trade(("CLOTHING", "MODE CLOTHES"), (0.15, 0.14, 0.17), _WHITE, (0.62, 0.42, 0.66)),
    "electronics": Trade(("ELECTRONICS", "VOLT"), (0.98, 0.78, 0.08), (0.08, 0.08, 0.10), (0.30, 0.46, 0.72)),
    "barber": Trade(("BARBER SHOP", "BARBER"), (0.75, 0.12, 0.16), _WHITE, (0.40, 0.52, 0.72)),
    "bar": Trade(("THE FOX BAR", "BAR 21"), (0.07, 0.22, 0.18), (0.98, 0.82, 0.40), (0.74, 0.46, 0.16)),
    "post office": Trade(("POST OFFICE",), (0.99, 0.80, 0.10), (0.10, 0.10, 0.30), (0.92, 0.82, 0.50)),
    "gym": Trade(("IRON GYM", "CITY GYM"), (0.10, 0.11, 0.13), (0.55, 0.95, 0.30), (0.35, 0.38, 0.42)),
    "laundry": Trade(("LAUNDRY", "BLUE LAUNDRY"), (0.14, 0.48, 0.70), _WHITE, (0.78, 0.88, 0.94)),
}


def lettering(text: str, letters: RGB, board: RGB, *, longest_m: float, height_m: float = BOARD_HEIGHT_M) -> tuple[Image, float]:
    """A drawn sign and the width in metres it wants; letters are narrowed when they would not fit ``longest_m``."""
    height = round(height_m * _PX_PER_M)
    font = ImageFont.load_default(size=_LETTER_SHARE * height * 1.36)
    stroke = max(1, height // 48)
    left, top, right, bottom = font.getbbox(text, stroke_width=stroke)
    ink = Picture.new("L", (int(right - left) + 2, int(bottom - top) + 2), 0)
    ImageDraw.Draw(ink).text((1 - left, 1 - top), text, fill=255, font=font, stroke_width=stroke)
    margin = height // 3
    width = min(ink.width, max(8, int(longest_m * _PX_PER_M) - 2 * margin))
    ink = ink.resize((width, round(_LETTER_SHARE * height)), Picture.Resampling.LANCZOS)
    cover = np.zeros((height, width + 2 * margin, 1))
    y = (height - ink.height) // 2
    cover[y : y + ink.height, margin : margin + width, 0] = np.asarray(ink) / 255.0
    picture = 255.0 * (cover * np.asarray(letters) + (1.0 - cover) * np.asarray(board))
    rim = max(2, height // 24)
    picture[[*range(rim, 2 * rim), *range(height - 2 * rim, height - rim)], rim:-rim] = 255.0 * np.asarray(letters)
    picture[rim:-rim, [*range(rim, 2 * rim), *range(-2 * rim, -rim)]] = 255.0 * np.asarray(letters)
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8), picture.shape[1] / _PX_PER_M


def add_sign(
    scene: Scene,
    text: str,
    colors: tuple[RGB, RGB],
    middle: ArrayLike,
    outward: ArrayLike,
    *,
    longest_m: float,
    height_m: float = BOARD_HEIGHT_M,
    object_id: str | None = None,
) -> float:
    """Hang a board with text flat on a facade; returns its width.

    Args:
        colors: of the board and of the letters, sRGB.
        middle: (3,) point of the facade behind the middle of the board. outward: (2,) unit normal of the facade.
    """
    picture, width = lettering(text, colors[1], colors[0], longest_m=longest_m, height_m=height_m)
    key = f"sign-{text}-{width:.2f}".replace(" ", "_").lower()
    scene.textures.setdefault(key, picture)
    m, n = np.asarray(middle, np.float64), np.append(np.asarray(outward, np.float64), 0.0)
    right = np.array([-n[1], n[0], 0.0])
    instance = scene.instance("sign", object_id)
    yaw = float(np.arctan2(right[1], right[0]))
    board = scene.material("sign-{:.2f}-{:.2f}-{:.2f}".format(*colors[0]), linear(colors[0]))
    scene.add_mesh(*box(m + n * _BOARD_DEPTH_M / 2, (width, _BOARD_DEPTH_M, height_m), yaw), surface=Surface.SIGN, material=board, instance=instance)
    face = m + n * (_BOARD_DEPTH_M + 0.01)
    up = np.array([0.0, 0.0, height_m / 2])
    half = right * width / 2
    corners = quad(face - half - up, face + half - up, face + half + up, face - half + up)
    material = scene.material(key, (1.0, 1.0, 1.0), texture=key, emission=0.25)
    scene.add_mesh(*corners, surface=Surface.SIGN, material=material, instance=instance, uv=QUAD_UV, collides=False)
    return width


def place_at(
    category: str, name: str, building: str, a: NDArray[np.float64], b: NDArray[np.float64], *, number: int, height_m: float = 4.0, entrance: str | None = None
) -> Place:
    """The place behind the stretch ``a`` to ``b`` of a facade edge; its size is that of an upright box around it."""
    middle = (a + b) / 2
    dx, dy = np.abs(b - a)
    return Place(
        id=f"place-{number:02d}",
        category=category,
        name=name.title(),
        building=building,
        frontage=((float(a[0]), float(a[1])), (float(b[0]), float(b[1]))),
        center=(float(middle[0]), float(middle[1]), height_m / 2),
        size=(float(max(dx, 0.3)), float(max(dy, 0.3)), height_m),
        entrance=entrance,
    )
