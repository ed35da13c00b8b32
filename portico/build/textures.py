"""Procedural textures of ground and walls, and the covers that ground patches name.

Everything is drawn from fixed seeds: a texture's bytes depend on its name alone. Textures repeat without a seam.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from portico.build.scene import Scene
from portico.seeding import generator

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]
RGB = tuple[float, float, float]


@dataclass(frozen=True)
class Cover:
    """What ground is covered with: its texture, how many metres one repeat spans, a tint, and the label of its instance."""

    texture: str
    tile_m: float
    label: str
    tint: RGB = (1.0, 1.0, 1.0)


COVERS: dict[str, Cover] = {
    "asphalt": Cover("asphalt", 6.0, "road"),
    "asphalt-light": Cover("asphalt", 6.0, "parking", (1.25, 1.22, 1.18)),
    "paving": Cover("paving", 4.8, "sidewalk"),
    "paving-warm": Cover("paving", 4.8, "sidewalk", (1.06, 0.97, 0.88)),
    "plaza": Cover("plaza", 4.0, "plaza"),
    "cobble": Cover("cobble", 2.4, "shared road"),
    "gravel": Cover("gravel", 2.4, "path"),
    "grass": Cover("grass", 5.0, "grass"),
    "lawn": Cover("grass", 5.0, "grass", (1.10, 1.12, 0.90)),
    "soil": Cover("soil", 2.0, "planting bed"),
    "water": Cover("water", 4.0, "water"),
    "curb": Cover("curb", 2.0, "curb"),
    "tactile": Cover("tactile", 0.8, "ramp"),
    "deck": Cover("deck", 2.0, "deck"),
}

#: Colours of brick walls; a course is drawn by ``facade_textures``, since its size depends on the facade's scale.
BRICKS: dict[str, RGB] = {"brick-red": (0.56, 0.29, 0.23), "brick-brown": (0.44, 0.31, 0.24), "brick-buff": (0.72, 0.60, 0.44)}


def cover_material(scene: Scene, cover: str) -> int:
    """Index of the material of a ground cover."""
    entry = COVERS[cover]
    return textured(scene, f"ground-{cover}", entry.texture, entry.tint)


def textured(scene: Scene, name: str, texture: str, tint: RGB = (1.0, 1.0, 1.0), *, emission: float = 0.0) -> int:
    """Index of a material with one of the textures of this module, which is added to the scene when it is new there."""
    if texture not in scene.textures:
        scene.textures[texture] = draw(texture)
    return scene.material(name, tint, texture=texture, emission=emission)


@lru_cache(maxsize=64)
def draw(name: str) -> Image:
    """The texture of that name, (H, W, 3), as it is seen on a screen (sRGB)."""
    return DRAWINGS[name](generator("texture", name))


def noise(rng: np.random.Generator, size: int, *grain: tuple[float, float]) -> Floats:
    """Seamless grey noise around 0, (size, size): a sum of (feature size in pixels, amplitude)."""
    total = np.zeros((size, size))
    for sigma, amplitude in grain:
        total += amplitude * grain_of(rng, size, sigma, sigma)
    return total


def grain_of(rng: np.random.Generator, size: int, sigma_y: float, sigma_x: float) -> Floats:
    """White noise blurred by a Gaussian that wraps around, (size, size), scaled to a standard deviation of 1."""
    f = np.fft.fftfreq(size)
    damping = np.exp(-2.0 * np.pi**2 * ((sigma_y * f[:, None]) ** 2 + (sigma_x * f[None, :]) ** 2))
    blurred: Floats = np.fft.ifft2(np.fft.fft2(rng.standard_normal((size, size))) * damping).real
    blurred /= blurred.std()
    return blurred


def tinted(color: RGB, shade: Floats) -> Image:
    """A picture of one colour (0..1), lightened and darkened by ``shade`` (H, W) around 0."""
    return np.clip(255.0 * np.asarray(color) * (1.0 + shade[..., None]) + 0.5, 0, 255).astype(np.uint8)


def linear(color: RGB) -> RGB:
    """Linear light of a colour as it is seen on a screen (sRGB, 0..1), which is how colours are named throughout ``build``."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return r, g, b


def slabs(rng: np.random.Generator, size: int, rows: int, columns: int, *, offset: bool, joint_px: int, variety: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Shade of rectangular stones laid in rows, (size, size), and where the joints are."""
    y, x = np.mgrid[0:size, 0:size]
    row = y * rows // size
    shift = (row % 2) * (size // columns // 2) if offset else 0
    column = ((x + shift) % size) * columns // size
    shade = variety * rng.standard_normal((rows, columns))[row, column]
    in_row, in_column = y % (size // rows), (x + shift) % (size // columns)
    return shade, (in_row < joint_px) | (in_column < joint_px)


def _asphalt(rng: np.random.Generator) -> Image:
    return tinted((0.27, 0.275, 0.285), noise(rng, 512, (0.5, 0.10), (2.0, 0.05), (40.0, 0.04)))


def _stones(
    color: RGB, joint: float, rows: int, columns: int, offset: bool, joint_px: int, variety: float, grain: float = 0.025
) -> Callable[[np.random.Generator], Image]:
    def drawing(rng: np.random.Generator) -> Image:
        shade, joints = slabs(rng, 256, rows, columns, offset=offset, joint_px=joint_px, variety=variety)
        shade = shade + noise(rng, 256, (0.8, grain), (10.0, grain))
        shade[joints] = joint
        return tinted(color, shade)

    return drawing


def _plaza(rng: np.random.Generator) -> Image:
    shade, joints = slabs(rng, 256, 8, 8, offset=False, joint_px=2, variety=0.035)
    shade = shade + noise(rng, 256, (0.8, 0.02), (12.0, 0.025))
    picture = tinted((0.74, 0.68, 0.60), shade).astype(np.float64)
    y, x = np.mgrid[0:256, 0:256] * 8 // 256
    band = (y == 0) | (x == 0)
    picture[band] *= np.array([0.72, 0.66, 0.64])
    picture[joints] *= 0.72
    return picture.astype(np.uint8)


def _grass(rng: np.random.Generator) -> Image:
    picture = tinted((0.36, 0.45, 0.22), 0.13 * grain_of(rng, 512, 2.2, 0.7) + noise(rng, 512, (5.0, 0.05), (40.0, 0.04))).astype(np.float64)
    picture[..., 0] *= 1.0 + 0.06 * noise(rng, 512, (30.0, 1.0))
    return np.clip(picture, 0, 255).astype(np.uint8)


def _leaves(rng: np.random.Generator) -> Image:
    shade = noise(rng, 128, (1.0, 0.14), (3.0, 0.16), (9.0, 0.08))
    return tinted((0.62, 0.66, 0.60), shade)


def _water(rng: np.random.Generator) -> Image:
    return tinted((0.23, 0.40, 0.47), 0.10 * grain_of(rng, 256, 1.6, 6.0) + noise(rng, 256, (30.0, 0.06)))


def _tactile(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:128, 0:128] % 16 - 7.5
    knob = np.hypot(x, y) < 4.5
    return tinted((0.80, 0.69, 0.33), np.where(knob, 0.14, -0.04) + noise(rng, 128, (1.0, 0.03)))


def _deck(rng: np.random.Generator) -> Image:
    y = np.mgrid[0:256, 0:256][0]
    plank = y * 12 // 256
    shade = 0.07 * rng.standard_normal(12)[plank] + 0.06 * grain_of(rng, 256, 0.8, 14.0)
    shade[(y * 12) % 256 < 18] = -0.45
    return tinted((0.50, 0.37, 0.25), shade)


def _plain(color: RGB, fine: float, coarse: float) -> Callable[[np.random.Generator], Image]:
    return lambda rng: tinted(color, noise(rng, 128, (0.8, fine), (14.0, coarse)))


def _roof_tiles(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:256, 0:256]
    shade, _ = slabs(rng, 256, 16, 16, offset=True, joint_px=1, variety=0.08)
    return tinted((0.55, 0.28, 0.20), shade + 0.22 * ((y % 16) / 16.0 - 0.5) - 0.10 * (x % 16 < 2) + noise(rng, 256, (1.0, 0.03)))


DRAWINGS: dict[str, Callable[[np.random.Generator], Image]] = {
    "asphalt": _asphalt,
    "paving": _stones((0.62, 0.61, 0.59), -0.22, 8, 8, True, 2, 0.04),
    "cobble": _stones((0.47, 0.45, 0.43), -0.35, 16, 16, True, 3, 0.11, 0.05),
    "curb": _stones((0.74, 0.73, 0.71), -0.15, 1, 2, False, 2, 0.03),
    "gravel": _plain((0.66, 0.59, 0.47), 0.09, 0.04),
    "soil": _plain((0.33, 0.25, 0.19), 0.12, 0.08),
    "plaza": _plaza,
    "grass": _grass,
    "leaves": _leaves,
    "water": _water,
    "tactile": _tactile,
    "deck": _deck,
    "plaster": _plain((0.86, 0.86, 0.85), 0.018, 0.035),
    "stone": _stones((0.72, 0.68, 0.60), -0.16, 8, 4, True, 2, 0.04),
    "concrete": _plain((0.60, 0.60, 0.59), 0.03, 0.05),
    "roofing": _plain((0.36, 0.36, 0.38), 0.06, 0.06),
    "roof-tiles": _roof_tiles,
}
