"""Printed matter: rows of books, goods on shelves, paintings, screens, boards. Each finish is one texture of several motifs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from portico.build.indoor.finishes import Finish, drawn

Rng = np.random.Generator
Drawing = NDArray[np.float64]

BOOKS = Finish("books", "#ffffff", "indoor-books")
FILES = Finish("files", "#ffffff", "indoor-files")
GOODS = Finish("goods", "#ffffff", "indoor-goods")
DRINKS = Finish("drinks", "#ffffff", "indoor-drinks", emission=0.15)
SCREENS = Finish("screens", "#ffffff", "indoor-screens", emission=0.25)
PAINTINGS = Finish("paintings", "#ffffff", "indoor-paintings")
BOARDS = Finish("boards", "#ffffff", "indoor-boards")
NOTICES = Finish("notices", "#ffffff", "indoor-notices")
POSTERS = Finish("posters", "#ffffff", "indoor-posters")
CLOCKS = Finish("clocks", "#ffffff", "indoor-clocks")
_BINDINGS = ("#7a3b34", "#2f4858", "#46613f", "#8a6b3d", "#513a52", "#a39274", "#33383f", "#b3563c", "#5f7d8c", "#d0c4a8", "#6b2f3a", "#3d5a50")
_PACKAGES = (
    "#c8372d",
    "#e2a52f",
    "#2f6fa8",
    "#3f8a4f",
    "#e8e2d0",
    "#d9702f",
    "#6b8fb5",
    "#f0cf6a",
    "#8c2f3f",
    "#4fa39a",
    "#b8b2a6",
    "#5a4a78",
    "#e3b7b0",
    "#2d4f3a",
)
_RUG_COLORS = ("#9c4b41", "#52708a", "#b99a63", "#6f7a5c")


def rug_finish(kind: int) -> Finish:
    """One of four rugs."""
    return Finish(f"rug {kind}", _RUG_COLORS[kind], "indoor-rug")


def _canvas(width: int, height: int, color: tuple[int, int, int]) -> tuple[Picture.Image, ImageDraw.ImageDraw]:
    image = Picture.new("RGB", (width, height), color)
    return image, ImageDraw.Draw(image)


def _done(image: Picture.Image) -> Drawing:
    return np.asarray(image, np.float64) / 255.0


def _muted(rng: Rng) -> tuple[int, int, int]:
    """The colour of cloth or leather."""
    return _near(rng, _BINDINGS)


def _vivid(rng: Rng) -> tuple[int, int, int]:
    """The colour of a package."""
    return _near(rng, _PACKAGES)


def _near(rng: Rng, palette: tuple[str, ...]) -> tuple[int, int, int]:
    base = palette[int(rng.integers(len(palette)))]
    r, g, b = (int(np.clip(int(base[k : k + 2], 16) + rng.integers(-14, 15), 0, 255)) for k in (1, 3, 5))
    return r, g, b


@drawn("indoor-books")
def _books(rng: Rng) -> Drawing:
    image, draw = _canvas(512, 256, (46, 38, 32))
    for row in range(4):
        x, base = 0, (row + 1) * 64
        while x < 512:
            w, h = int(rng.integers(7, 17)), int(rng.integers(44, 62))
            color = _muted(rng)
            draw.rectangle((x, base - h, x + w - 2, base - 1), fill=color)
            band = tuple(min(255, c + 60) for c in color)
            draw.rectangle((x + 1, base - h + 8, x + w - 3, base - h + 12), fill=band)
            x += w
    return _done(image)


@drawn("indoor-files")
def _files(rng: Rng) -> Drawing:
    image, draw = _canvas(256, 128, (60, 62, 66))
    for row in range(2):
        for k in range(16):
            x, y = k * 16, row * 64
            draw.rectangle((x, y + 4, x + 14, y + 63), fill=_muted(rng))
            draw.rectangle((x + 3, y + 14, x + 11, y + 38), fill=(238, 236, 228))
            draw.ellipse((x + 5, y + 46, x + 10, y + 51), fill=(40, 40, 42))
    return _done(image)


@drawn("indoor-goods")
def _goods(rng: Rng) -> Drawing:
    image, draw = _canvas(512, 512, (92, 92, 90))
    for row in range(8):
        x, base = 0, (row + 1) * 64
        while x < 512:
            w, h, color, kind = int(rng.integers(14, 30)), int(rng.integers(36, 60)), _vivid(rng), int(rng.integers(3))
            facings = int(rng.integers(1, 4))
            for _ in range(facings):
                if kind == 0:
                    draw.rectangle((x + 1, base - h, x + w - 2, base - 1), fill=color)
                elif kind == 1:
                    draw.rounded_rectangle((x + 1, base - h, x + w - 2, base - 1), radius=5, fill=color)
                else:
                    draw.rectangle((x + 2, base - h + 14, x + w - 3, base - 1), fill=color)
                    draw.rectangle((x + w // 2 - 3, base - h, x + w // 2 + 3, base - h + 14), fill=color)
                draw.rectangle((x + 3, base - h // 2 - 6, x + w - 4, base - h // 2 + 8), fill=(245, 240, 225))
                draw.rectangle((x + 5, base - h // 2 - 2, x + w - 6, base - h // 2 + 1), fill=color)
                x += w
        draw.rectangle((0, base - 3, 511, base - 1), fill=(236, 236, 232))
    return _done(image)


@drawn("indoor-drinks")
def _drinks(rng: Rng) -> Drawing:
    image, draw = _canvas(256, 256, (225, 233, 238))
    for row in range(4):
        base = (row + 1) * 64
        for k in range(10):
            x, color = 4 + k * 25, _vivid(rng)
            draw.rounded_rectangle((x + 3, base - 50, x + 20, base - 7), radius=5, fill=color)
            draw.rectangle((x + 8, base - 57, x + 15, base - 48), fill=(240, 240, 240))
            draw.rectangle((x + 3, base - 36, x + 20, base - 22), fill=(250, 250, 246))
        draw.rectangle((0, base - 6, 255, base - 1), fill=(120, 124, 128))
    return _done(image)


@drawn("indoor-screens")
def _screens(rng: Rng) -> Drawing:
    image, draw = _canvas(256, 160, (24, 28, 36))
    for k in range(9):
        y, x = 8 + k * 7, 10 + 8 * int(rng.integers(4))
        draw.rectangle((x, y, x + int(rng.integers(20, 70)), y + 2), fill=_vivid(rng))
    draw.rectangle((128, 0, 255, 79), fill=(240, 243, 246))
    draw.rectangle((128, 0, 255, 9), fill=(62, 110, 160))
    for k in range(5):
        draw.rectangle((140 + 22 * k, 70 - int(rng.integers(10, 50)), 154 + 22 * k, 70), fill=(86, 140, 190))
    draw.rectangle((0, 80, 127, 159), fill=(250, 250, 248))
    for row in range(8):
        draw.line((4, 88 + 9 * row, 123, 88 + 9 * row), fill=(190, 195, 200))
        draw.line((4 + 15 * row, 84, 4 + 15 * row, 156), fill=(190, 195, 200))
    for y in range(80, 160):
        t = (y - 80) / 80
        draw.line((128, y, 255, y), fill=(int(40 + 180 * t), int(90 + 60 * t), int(150 - 60 * t)))
    draw.polygon([(128, 159), (165, 118), (200, 150), (228, 125), (255, 159)], fill=(30, 40, 60))
    return _done(image)


@drawn("indoor-paintings")
def _paintings(rng: Rng) -> Drawing:
    image, _ = _canvas(512, 192, (240, 236, 226))
    for k in range(8):
        tile, draw = _canvas(128, 96, (238, 233, 221))
        if k % 2 == 0:
            _landscape(draw, rng)
        else:
            _abstract(draw, rng)
        image.paste(tile, ((k % 4) * 128, (k // 4) * 96))
    return _done(image)


def _landscape(draw: ImageDraw.ImageDraw, rng: Rng) -> None:
    sky, haze = np.array([rng.uniform(90, 200), rng.uniform(130, 200), rng.uniform(180, 230)]), np.array([245, 225, 190])
    for y in range(60):
        draw.line((0, y, 127, y), fill=tuple(int(c) for c in sky + (haze - sky) * y / 60))
    x, y = int(rng.integers(20, 108)), int(rng.integers(12, 40))
    draw.ellipse((x - 8, y - 8, x + 8, y + 8), fill=(252, 236, 190))
    for layer in range(3):
        base = 48 + 15 * layer
        tone = (int(70 + 20 * layer + rng.uniform(0, 30)), int(105 + 12 * layer), int(120 - 30 * layer))
        line = [(x, base - int(rng.uniform(2, 16))) for x in range(-8, 144, 16)]
        draw.polygon([(-8, 96), *line, (144, 96)], fill=tone)


def _abstract(draw: ImageDraw.ImageDraw, rng: Rng) -> None:
    for _ in range(6):
        x, y, w, h = (int(v) for v in rng.integers((0, 0, 16, 12), (100, 70, 70, 50)))
        color = _muted(rng) if rng.random() < 0.5 else _vivid(rng)
        if rng.random() < 0.5:
            draw.ellipse((x, y, x + w, y + h), fill=color)
        else:
            draw.rectangle((x, y, x + w, y + h), fill=color)
    draw.line((0, int(rng.integers(96)), 127, int(rng.integers(96))), fill=(40, 38, 36), width=2)


@drawn("indoor-boards")
def _boards(rng: Rng) -> Drawing:
    image, draw = _canvas(256, 256, (250, 251, 250))
    font = ImageFont.load_default(size=16)
    draw.text((14, 10), "Week plan", fill=(40, 70, 140), font=font)
    for k in range(5):
        draw.rectangle((16, 40 + 15 * k, 22, 46 + 15 * k), outline=(60, 60, 60))
        draw.line((30, 44 + 15 * k, 30 + int(rng.integers(40, 90)), 44 + 15 * k), fill=(70, 70, 80), width=2)
    draw.line((150, 110, 150, 30), fill=(180, 50, 40), width=2)
    draw.line((150, 110, 240, 110), fill=(180, 50, 40), width=2)
    draw.line((150, 105, 175, 90, 200, 70, 236, 35), fill=(40, 120, 60), width=2)
    draw.text((14, 138), "area = w x h", fill=(30, 30, 30), font=font)
    draw.polygon([(150, 230), (150, 160), (235, 230)], outline=(40, 70, 140), width=2)
    for k in range(4):
        draw.line((16, 172 + 16 * k, 16 + int(rng.integers(60, 110)), 172 + 16 * k), fill=(50, 90, 60), width=2)
    return _done(image)


@drawn("indoor-notices")
def _notices(rng: Rng) -> Drawing:
    image, draw = _canvas(192, 128, (196, 152, 102))
    for k in range(8):
        x, y = 6 + (k % 4) * 46 + int(rng.integers(6)), 6 + (k // 4) * 60 + int(rng.integers(8))
        paper = (248, 246, 236) if rng.random() < 0.6 else _vivid(rng)
        draw.rectangle((x, y, x + 34, y + 46), fill=paper)
        for line in range(5):
            draw.line((x + 4, y + 10 + 7 * line, x + int(rng.integers(18, 31)), y + 10 + 7 * line), fill=(80, 80, 84))
        draw.ellipse((x + 15, y - 1, x + 19, y + 3), fill=(200, 50, 40))
    return _done(image)


@drawn("indoor-posters")
def _posters(rng: Rng) -> Drawing:
    """Bottom row: eye chart, anatomy. Top row: map, chalk menu."""
    image, draw = _canvas(256, 256, (248, 247, 242))
    for k, text in enumerate(("E", "F P", "T O Z", "L P E D", "P E C F D")):
        draw.text((64, 144 + 24 * k), text, fill=(20, 20, 20), font=ImageFont.load_default(size=26 - 4 * k), anchor="mm")
    draw.rectangle((128, 128, 255, 255), fill=(232, 238, 242))
    draw.ellipse((180, 138, 204, 164), fill=(222, 160, 140))
    draw.rounded_rectangle((172, 166, 212, 214), radius=10, fill=(214, 140, 122))
    draw.rectangle((176, 212, 188, 250), fill=(214, 140, 122))
    draw.rectangle((196, 212, 208, 250), fill=(214, 140, 122))
    for y in (176, 186, 196):
        draw.line((178, y, 206, y), fill=(246, 236, 226), width=3)
    for y in (150, 180, 210):
        draw.line((140, y, 166, y), fill=(90, 100, 120), width=2)
    draw.rectangle((0, 0, 127, 127), fill=(146, 190, 214))
    for _ in range(9):
        x, y = (int(v) for v in rng.integers((4, 10), (92, 100)))
        draw.ellipse((x, y, x + int(rng.integers(14, 38)), y + int(rng.integers(10, 26))), fill=(186, 196, 130) if rng.random() < 0.6 else (214, 190, 132))
    draw.rectangle((128, 0, 255, 127), fill=(44, 48, 46))
    font = ImageFont.load_default(size=18)
    draw.text((192, 18), "MENU", fill=(244, 226, 170), font=font, anchor="mm")
    small = ImageFont.load_default(size=12)
    for k, text in enumerate(("Espresso   2.0", "Cappuccino 3.2", "Tea        2.4", "Croissant  2.8", "Soup       5.5")):
        draw.text((138, 36 + 17 * k), text, fill=(236, 236, 230), font=small)
    return _done(image)


@drawn("indoor-clocks")
def _clock(rng: Rng) -> Drawing:
    image, draw = _canvas(96, 96, (250, 249, 244))
    for k in range(12):
        angle = k * np.pi / 6
        x, y = 48 + 40 * np.sin(angle), 48 - 40 * np.cos(angle)
        draw.line((48 + 34 * np.sin(angle), 48 - 34 * np.cos(angle), x, y), fill=(30, 30, 30), width=3)
    draw.line((48, 48, 34, 36), fill=(20, 20, 20), width=5)
    draw.line((48, 48, 76, 36), fill=(20, 20, 20), width=3)
    return _done(image)


@drawn("indoor-rug")
def _rug(rng: Rng) -> Drawing:
    y, x = np.mgrid[0:96, 0:128]
    border = np.minimum(np.minimum(x, 127 - x), np.minimum(y, 95 - y))
    image = np.full((96, 128), 0.92)
    image[(border > 5) & (border < 9)] = 0.55
    image[(border > 12) & (border < 14)] = 0.7
    diamonds = (np.abs((x - 64) % 32 - 16) + np.abs((y - 48) % 32 - 16)) % 16
    image[(border > 16) & (diamonds < 5)] = 0.72
    return image + rng.uniform(-0.05, 0.05, image.shape)
