"""Surfaces with a look: paints, woods, tiles, carpets, bricks. Textures are near white and tinted by the material.

A texture depends on its name alone, so that every building of a world shares it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portico.build.scene import Scene
from portico.build.textures import linear
from portico.seeding import generator

_PIXELS = 128
Image = NDArray[np.float64]
Drawing = Callable[[np.random.Generator], Image]

_TEXTURES: dict[str, Drawing] = {}


@dataclass(frozen=True)
class Finish:
    """A material in the making: a hex colour, and a texture that repeats every ``tile_m`` metres."""

    name: str
    color: str
    texture: str | None = None
    tile_m: float = 1.0
    emission: float = 0.0


def rgb(color: str) -> tuple[float, float, float]:
    """Linear light of "#rrggbb", which is sRGB."""
    value = color.lstrip("#")
    return linear((int(value[0:2], 16) / 255.0, int(value[2:4], 16) / 255.0, int(value[4:6], 16) / 255.0))


def paint(color: str, *, emission: float = 0.0) -> Finish:
    """A plain colour."""
    return Finish(f"paint {color}" if emission == 0.0 else f"glow {color}", color, emission=emission)


def material(scene: Scene, finish: Finish) -> int:
    """Its index in the scene; draws the texture the first time."""
    if finish.texture is not None and finish.texture not in scene.textures:
        scene.textures[finish.texture] = _draw(finish.texture)
    return scene.material(finish.name, rgb(finish.color), texture=finish.texture, emission=finish.emission)


def drawn(texture: str) -> Callable[[Drawing], Drawing]:
    """Enter a drawing, a function of a generator to values 0..1, (H, W) or (H, W, 3), under a texture's name."""

    def enter(drawing: Drawing) -> Drawing:
        _TEXTURES[texture] = drawing
        return drawing

    return enter


def _draw(texture: str) -> NDArray[np.uint8]:
    image = _TEXTURES[texture](generator("indoor texture", texture))
    if image.ndim == 2:
        image = np.repeat(image[:, :, None], 3, axis=2)
    return np.round(np.clip(image, 0.0, 1.0) * 255.0).astype(np.uint8)


def _noise(rng: np.random.Generator, octaves: tuple[int, ...] = (4, 8, 16, 32, 64)) -> Image:
    """Tileable value noise in about -1..1, (128, 128)."""
    total = np.zeros((_PIXELS, _PIXELS))
    for k, cells in enumerate(octaves):
        grid = rng.uniform(-1.0, 1.0, (cells, cells))
        at = np.arange(_PIXELS) * cells / _PIXELS
        low, frac = at.astype(int), at % 1.0
        high = (low + 1) % cells
        rows = grid[low] * (1 - frac)[:, None] + grid[high] * frac[:, None]
        total += (rows[:, low] * (1 - frac) + rows[:, high] * frac) * 0.6**k
    return np.asarray(total / 2.0, np.float64)


@drawn("indoor-planks")
def _planks(rng: np.random.Generator) -> Image:
    rows = 8
    height = _PIXELS // rows
    image = np.zeros((_PIXELS, _PIXELS))
    grain = _noise(rng, (4, 8, 16))
    fine = rng.uniform(-0.03, 0.03, (_PIXELS, 1)) + rng.uniform(-0.012, 0.012, (_PIXELS, _PIXELS))
    for r in range(rows):
        joint = int(rng.integers(_PIXELS))
        shade = rng.uniform(0.84, 0.98, 2)
        strip = np.where(np.arange(_PIXELS) < _PIXELS // 2, shade[0], shade[1])
        strip = np.roll(strip, joint)
        block = np.tile(strip, (height, 1))
        block[0, :] *= 0.8
        block[:, joint] *= 0.82
        block[:, (joint + _PIXELS // 2) % _PIXELS] *= 0.82
        image[r * height : (r + 1) * height] = block
    return image + 0.05 * grain + fine


def _tiles(cells: int, grout: float, variation: float) -> Callable[[np.random.Generator], Image]:
    def draw(rng: np.random.Generator) -> Image:
        size = _PIXELS // cells
        shades = np.kron(rng.uniform(0.96 - variation, 0.96 + variation / 2, (cells, cells)), np.ones((size, size)))
        image = shades + 0.02 * _noise(rng)
        image[::size, :] = grout
        image[:, ::size] = grout
        return image

    return draw


drawn("indoor-tiles")(_tiles(4, 0.78, 0.04))
drawn("indoor-slabs")(_tiles(2, 0.80, 0.05))
drawn("indoor-mosaic")(_tiles(8, 0.82, 0.03))


@drawn("indoor-checker")
def _checker(rng: np.random.Generator) -> Image:
    image = np.kron(np.array([[0.97, 0.82], [0.82, 0.97]]), np.ones((_PIXELS // 2, _PIXELS // 2))) + 0.02 * _noise(rng)
    image[:: _PIXELS // 2, :] = 0.72
    image[:, :: _PIXELS // 2] = 0.72
    return image


@drawn("indoor-carpet")
def _carpet(rng: np.random.Generator) -> Image:
    return 0.90 + 0.05 * _noise(rng) + rng.uniform(-0.06, 0.06, (_PIXELS, _PIXELS))


@drawn("indoor-stripes")
def _stripes(rng: np.random.Generator) -> Image:
    weave = np.where((np.arange(_PIXELS) // 16) % 2 == 0, 0.95, 0.86)
    return np.tile(weave, (_PIXELS, 1)) + rng.uniform(-0.05, 0.05, (_PIXELS, _PIXELS))


@drawn("indoor-terrazzo")
def _terrazzo(rng: np.random.Generator) -> Image:
    image = np.repeat((0.93 + 0.02 * _noise(rng))[:, :, None], 3, axis=2)
    yy, xx = np.mgrid[0:_PIXELS, 0:_PIXELS]
    for _ in range(220):
        cx, cy, radius = rng.integers(_PIXELS), rng.integers(_PIXELS), rng.uniform(0.8, 2.4)
        dx, dy = (xx - cx + 64) % _PIXELS - 64, (yy - cy + 64) % _PIXELS - 64
        image[dx * dx + dy * dy < radius * radius] = rng.choice(np.array([[0.75, 0.7, 0.66], [0.86, 0.82, 0.76], [0.7, 0.74, 0.76], [0.98, 0.97, 0.95]]))
    return image


@drawn("indoor-lino")
def _lino(rng: np.random.Generator) -> Image:
    return 0.94 + 0.045 * _noise(rng, (8, 16, 32, 64))


@drawn("indoor-plaster")
def _plaster(rng: np.random.Generator) -> Image:
    return 0.965 + 0.022 * _noise(rng) + rng.uniform(-0.008, 0.008, (_PIXELS, _PIXELS))


@drawn("indoor-render")
def _render_coat(rng: np.random.Generator) -> Image:
    return 0.93 + 0.06 * _noise(rng, (3, 6, 12, 32, 64)) + rng.uniform(-0.02, 0.02, (_PIXELS, _PIXELS))


@drawn("indoor-brick")
def _brick(rng: np.random.Generator) -> Image:
    courses, per_course = 16, 4
    height, width = _PIXELS // courses, _PIXELS // per_course
    image = np.zeros((_PIXELS, _PIXELS, 3))
    for r in range(courses):
        tones = rng.uniform(0.86, 1.0, per_course)
        line = np.roll(np.repeat(tones, width), (r % 2) * width // 2)
        joints = np.roll(np.arange(_PIXELS) % width == 0, (r % 2) * width // 2)
        block = np.repeat(np.tile(line, (height, 1))[:, :, None], 3, axis=2)
        block[:, joints] = (0.86, 0.9, 0.92)
        block[0] = (0.86, 0.9, 0.92)
        image[r * height : (r + 1) * height] = block
    return image + 0.03 * _noise(rng)[:, :, None]


@drawn("indoor-panels")
def _panels(rng: np.random.Generator) -> Image:
    image = 0.92 + 0.05 * _noise(rng)
    image[:2, :] = 0.62
    image[:, :2] = 0.62
    return image


@drawn("indoor-stone")
def _stone(rng: np.random.Generator) -> Image:
    courses, size = 4, _PIXELS // 4
    image = np.zeros((_PIXELS, _PIXELS))
    for r in range(courses):
        tones = np.repeat(rng.uniform(0.9, 0.98, 2), _PIXELS // 2)
        joints = np.arange(_PIXELS) % (_PIXELS // 2) < 2
        shift = int(rng.integers(_PIXELS))
        block = np.tile(np.roll(tones, shift), (size, 1))
        block[:, np.roll(joints, shift)] = 0.66
        block[:2] = 0.66
        image[r * size : (r + 1) * size] = block
    return image + 0.05 * _noise(rng)


def textured(texture: str, color: str, tile_m: float) -> Finish:
    """A tinted texture, e.g. ``textured("planks", "#b98a56", 1.6)``."""
    return Finish(f"{texture} {color}", color, f"indoor-{texture}", tile_m)


WOODEN_FLOORS = tuple(textured("planks", c, 1.6) for c in ("#c49a6c", "#a97c50", "#d8b98c", "#8a6444", "#bfa07a"))
CARPETS = tuple(textured("carpet", c, 1.2) for c in ("#7d8a97", "#6f7b6a", "#8c7f78", "#59697d", "#7a6a73"))
HOTEL_CARPETS = tuple(textured("stripes", c, 2.0) for c in ("#8d4f4a", "#4a5f7a", "#6d5a7b", "#5d6f56"))
LINOS = tuple(textured("lino", c, 2.0) for c in ("#b7c4bd", "#c9bfae", "#a9b8c4", "#cfc9ba"))
TILES = tuple(textured("tiles", c, 1.6) for c in ("#dcd8d0", "#c8ccd0", "#d8cbb8", "#b9c2c4"))
STONES = (textured("slabs", "#cfc8bb", 1.6), textured("terrazzo", "#e3ded3", 0.9), textured("slabs", "#b8b4ac", 1.6), textured("checker", "#d9d4ca", 1.2))
CONCRETE = textured("lino", "#a6a49f", 3.0)
WALL_PAINTS = tuple(textured("plaster", c, 2.5) for c in ("#ece7dc", "#e4e6e2", "#e9e0d0", "#dde4e6", "#e8e3e0", "#dfe5d8", "#efe6d5", "#d9dfe6"))
WARM_PAINTS = tuple(textured("plaster", c, 2.5) for c in ("#ead9c0", "#d9c3a5", "#c9d3c0", "#d8c6c0", "#c7d0d6", "#e5d5b5"))
BATH_WALLS = tuple(textured("mosaic", c, 1.2) for c in ("#dfe7e8", "#e6e2d8", "#cfdcdc", "#d3dbe4"))
CEILING = paint("#f3f2ee")
FACADES = (
    textured("brick", "#b0654c", 1.2),
    textured("brick", "#c69a76", 1.2),
    textured("brick", "#95594a", 1.2),
    textured("render", "#e6dcc6", 3.0),
    textured("render", "#d9b98c", 3.0),
    textured("render", "#c9d1d3", 3.0),
    textured("render", "#e2c9b5", 3.0),
    textured("panels", "#c4c6c4", 2.4),
    textured("stone", "#cbbfa8", 1.6),
)
PLINTHS = (textured("stone", "#9d968a", 2.0), textured("stone", "#7f7b76", 2.0), textured("panels", "#8d8f90", 2.0))
ROOFING = textured("lino", "#7f7d79", 3.0)
