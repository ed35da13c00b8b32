"""A capture with known truth: the surfaces of a mesh world as flat Gaussians, lit, labelled and as dense as asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from portico.build.captures.spread import cover
from portico.build.splats.posed_frames import facing
from portico.errors import WorldError
from portico.geometry import Floats
from portico.render.paint import EVEN, SUN, TONE_LIMIT, TONE_STEPS, paint
from portico.render.textures import to_linear
from portico.world import Gaussians, World
from portico.world.gaussians import SH_C0

#: Standard deviation along the surface in spacings: neighbours overlap so that no ray slips through.
_WIDTH, _THICKNESS_M, _OPACITY = 0.6, 0.002, 0.97
_MOST = 20_000_000


def gaussians_of(world: World, *, spacing_m: float = 0.04) -> Gaussians:
    """Flat Gaussians on every triangle of a world, one per ``spacing_m`` squared, and twice per ``spacing_m`` along slivers.

    Each lies in its triangle's plane and shows the colour that the renderer would give that point, without cast shadows.
    Its ``instance`` is the triangle's.

    Raises:
        WorldError: the spacing is not positive, or would make more than 20 million.
    """
    triangles = world.geometry.triangles.astype(np.float64)
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    double_area = np.linalg.norm(normal, axis=1)
    # A right bound for the even spread, so that nobody waits for what will be refused.
    expected = 0.5 * double_area.sum() / spacing_m**2 if spacing_m > 0.0 else 0.0
    face, weights = cover(triangles, spacing_m) if 0.0 < expected <= _MOST else (np.zeros(0, np.int64), np.zeros((0, 3)))
    if not 0 < len(face) <= _MOST:
        raise WorldError(
            f"a capture cannot be made with a spacing of {spacing_m:g} m",
            where=world.id,
            why=f"that makes {max(len(face), int(expected)):,} Gaussians; at most {_MOST:,}",
            next_step="choose another --spacing, 0.02 to 0.1 m suits rooms",
        )
    means = (weights[:, :, None] * triangles[face]).sum(axis=1)
    width = _WIDTH * np.minimum(spacing_m, np.sqrt(0.5 * double_area / np.maximum(np.bincount(face, minlength=len(triangles)), 1)))[face]
    scales = np.stack([width, width, np.minimum(_THICKNESS_M, 0.5 * width)], axis=1)
    upright = normal[face] / double_area[face, None]
    color = _colors(world, face, weights)
    return Gaussians(
        means.astype(np.float32),
        facing(upright).astype(np.float32),
        scales.astype(np.float32),
        np.full(len(face), _OPACITY, np.float32),
        ((color - 0.5) / SH_C0).astype(np.float32)[:, None, :],
        world.geometry.instance[face],
    )


def _colors(world: World, face: NDArray[np.int64], weights: Floats) -> Floats:
    """(N, 3) sRGB 0 to 1 of points given by face and corner weights, lit from the front."""
    colors, appearance = paint(world), world.appearance
    material = world.geometry.material[face]
    base = colors.material[material, :3].astype(np.float64)
    uv = (weights[:, :, None] * world.geometry.uv[face]).sum(axis=1)
    for k, entry in enumerate(appearance.materials):
        here = np.flatnonzero(material == k)
        if entry.texture is not None and len(here):
            base[here] *= _texels(appearance.textures[entry.texture], uv[here])
    light = colors.light[face, EVEN] + colors.light[face, SUN] + colors.material[material, 3]
    steps = np.clip(base * light[:, None] * (TONE_STEPS / TONE_LIMIT), 0, TONE_STEPS - 1)
    return np.asarray(colors.tone[steps.astype(np.int64)] / 255.0)


def _texels(texture: NDArray[np.uint8], uv: Floats) -> Floats:
    """(N, 3) linear colour of the nearest texels; v points up, textures repeat."""
    height, width = texture.shape[:2]
    column = (np.floor(uv[:, 0] * width).astype(np.int64)) % width
    row = (np.floor((1.0 - uv[:, 1]) * height).astype(np.int64)) % height
    return np.asarray(to_linear(texture[row, column] / 255.0))
