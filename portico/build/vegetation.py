"""Plants: trees of a few kinds, bushes, hedges, flower beds. Crowns start above head height, so robots pass under."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import shapely

from portico.build.models import RGB, Model, Part
from portico.build.primitives import Mesh, box, cylinder, prism
from portico.build.scene import Scene
from portico.build.shapes import ball, cone, rod
from portico.build.textures import linear, textured
from portico.world import Surface

CROWN_FOOT_M = 2.3
_BARK: RGB = (0.36, 0.28, 0.21)
_LEAF_SPAN_M = 2.2


def _leafy(mesh: Mesh, color: RGB) -> Part:
    """Foliage: the leaf texture wrapped around the mesh by heading and height."""
    vertices, faces = mesh
    corners = vertices[faces].astype(np.float64)
    middle = vertices.mean(axis=0)
    angle = np.arctan2(corners[:, :, 1] - middle[1], corners[:, :, 0] - middle[0])
    angle = angle[:, :1] + (angle - angle[:, :1] + np.pi) % (2 * np.pi) - np.pi
    radius = float(np.ptp(vertices[:, 0])) / 2
    uv = np.stack([angle * radius, corners[:, :, 2]], axis=2) / _LEAF_SPAN_M
    return Part(mesh, color, Surface.PLANT, texture="leaves", uv=uv.astype(np.float32))


def _varied(color: RGB, rng: np.random.Generator, amount: float = 0.06) -> RGB:
    r, g, b = np.round(np.clip(np.asarray(color) * (1.0 + amount * rng.uniform(-1, 1)), 0, 1), 2).tolist()
    return r, g, b


def broadleaf(rng: np.random.Generator, *, color: RGB = (0.50, 0.62, 0.30), scale: float = 1.0) -> Model:
    """A linden or maple: a trunk that forks into a round crown of several clumps."""
    height, spread = float(rng.uniform(3.0, 4.3)) * scale, float(rng.uniform(1.4, 1.9)) * scale
    foot = CROWN_FOOT_M
    parts = [Part(cylinder((0, 0, 0), 0.17 * scale, foot + 0.6, sides=7, top_radius_m=0.11 * scale), _BARK, Surface.PLANT)]
    middle = foot + height / 2
    parts.append(_leafy(ball((0, 0, middle), (spread, spread, height / 2), roughness=0.05, rng=rng), _varied(color, rng)))
    for angle in (rng.uniform(0, 2 * np.pi) + np.arange(3) * 2 * np.pi / 3 + rng.uniform(-0.3, 0.3, 3)).tolist():
        r = spread * 0.62
        size = spread * float(rng.uniform(0.58, 0.72))
        z = max(foot + size * 0.8, middle + float(rng.uniform(-0.25, 0.30)) * height)
        clump = ball((r * np.cos(angle), r * np.sin(angle), z), (size, size, size * 0.8), roughness=0.10, rng=rng)
        parts.append(_leafy(clump, _varied(color, rng, 0.12)))
        parts.append(Part(rod((0, 0, foot - 0.3), (0.7 * r * np.cos(angle), 0.7 * r * np.sin(angle), z), 0.05 * scale, sides=4), _BARK, Surface.PLANT))
    return parts


def conifer(rng: np.random.Generator) -> Model:
    """A spruce in tiers."""
    tiers, top = 4, float(rng.uniform(5.5, 7.5))
    parts = [Part(cylinder((0, 0, 0), 0.15, top * 0.7, sides=7, top_radius_m=0.06), _BARK, Surface.PLANT)]
    for k in range(tiers):
        low = CROWN_FOOT_M + (top - CROWN_FOOT_M) * k / (tiers + 0.6)
        radius = 1.5 * (1.0 - 0.78 * k / tiers)
        parts.append(_leafy(cone((0, 0, low), radius, (top - low) * 0.62, sides=11), _varied((0.28, 0.42, 0.27), rng)))
    return parts


def birch(rng: np.random.Generator) -> Model:
    """A slender tree with a pale trunk."""
    height = float(rng.uniform(3.2, 4.2))
    parts = [Part(cylinder((0, 0, 0), 0.11, CROWN_FOOT_M + height * 0.6, sides=7, top_radius_m=0.05), (0.84, 0.82, 0.78), Surface.PLANT)]
    parts += [Part(cylinder((0, 0, z), 0.115, 0.05, sides=7), (0.18, 0.17, 0.16), Surface.PLANT) for z in (0.5, 0.95, 1.55, 2.0)]
    for z, r in ((0.32, 1.15), (0.55, 1.0), (0.80, 0.70)):
        jitter = rng.uniform(-0.2, 0.2, 2)
        crown = ball((jitter[0], jitter[1], CROWN_FOOT_M + height * z), (r, r, height * 0.30), roughness=0.10, rng=rng)
        parts.append(_leafy(crown, _varied((0.62, 0.68, 0.34), rng)))
    return parts


def blossom(rng: np.random.Generator) -> Model:
    """A small cherry in flower."""
    return broadleaf(rng, color=(0.90, 0.68, 0.74), scale=0.8)


TREES: dict[str, Callable[[np.random.Generator], Model]] = {
    "linden": broadleaf,
    "maple": lambda rng: broadleaf(rng, color=(0.62, 0.60, 0.26)),
    "spruce": conifer,
    "birch": birch,
    "cherry": blossom,
}


def bush(rng: np.random.Generator) -> Model:
    """A round shrub, knee to waist high."""
    r, h = float(rng.uniform(0.45, 0.75)), float(rng.uniform(0.35, 0.55))
    color = ((0.42, 0.56, 0.28), (0.34, 0.48, 0.28), (0.52, 0.60, 0.34))[int(rng.integers(0, 3))]
    parts = [_leafy(ball((0, 0, h * 0.85), (r, r * 0.9, h), roughness=0.10, rng=rng), _varied(color, rng))]
    return [*parts, _leafy(ball((r * 0.55, r * 0.2, h * 0.6), (r * 0.6, r * 0.6, h * 0.65), levels=0, roughness=0.1, rng=rng), _varied(color, rng, 0.12))]


def flower_bed(rng: np.random.Generator, *, length_m: float = 2.4, depth_m: float = 0.9) -> Model:
    """A stone-edged bed full of blossoms."""
    parts = [
        Part(box((0, 0, 0.12), (length_m, depth_m, 0.24)), (0.62, 0.59, 0.54)),
        Part(box((0, 0, 0.20), (length_m - 0.16, depth_m - 0.16, 0.12)), (0.30, 0.24, 0.17)),
    ]
    petals: tuple[RGB, ...] = ((0.86, 0.22, 0.26), (0.95, 0.78, 0.22), (0.88, 0.52, 0.72), (0.95, 0.93, 0.90), (0.58, 0.36, 0.70))
    for i in range(int(length_m / 0.28)):
        for j in range(max(1, int(depth_m / 0.34))):
            x, y = -length_m / 2 + 0.24 + i * 0.28, -depth_m / 2 + 0.22 + j * 0.30
            jitter = rng.uniform(-0.06, 0.06, 2)
            x, y, z = x + float(jitter[0]), y + float(jitter[1]), 0.26 + float(rng.uniform(0.08, 0.2))
            parts.append(Part(ball((x, y, z - 0.04), (0.13, 0.13, 0.10), levels=0), (0.34, 0.50, 0.24), Surface.PLANT))
            parts.append(Part(ball((x, y, z + 0.05), (0.075, 0.075, 0.06), levels=0), petals[int(rng.integers(0, len(petals)))], Surface.PLANT))
    return parts


def planter_tree(rng: np.random.Generator) -> Model:
    """A clipped tree in a square tub; its crown starts above head height like any other."""
    tub, soil = Part(box((0, 0, 0.30), (1.0, 1.0, 0.60)), (0.48, 0.46, 0.44)), Part(box((0, 0, 0.60), (0.84, 0.84, 0.06)), (0.30, 0.24, 0.17))
    trunk = Part(cylinder((0, 0, 0.6), 0.08, 2.2, sides=7), _BARK, Surface.PLANT)
    crown = _leafy(ball((0, 0, CROWN_FOOT_M + 1.05), (1.15, 1.15, 1.05), levels=2, roughness=0.05, rng=rng), _varied((0.40, 0.56, 0.28), rng))
    return [tub, soil, trunk, crown]


def add_hedge(scene: Scene, footprint: shapely.Polygon, height_m: float, *, collides: bool = True) -> None:
    """A clipped hedge over any footprint."""
    vertices, faces = prism(footprint, 0.0, height_m)
    corners = vertices[faces].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = np.abs(normal[:, 2]) > np.abs(normal[:, :2]).max(axis=1)
    uv = np.where(flat[:, None, None], corners[:, :, :2], np.stack([corners[:, :, 0] + corners[:, :, 1], corners[:, :, 2]], axis=2)) / 1.6
    material = textured(scene, "hedge", "leaves", linear((0.42, 0.56, 0.32)))
    scene.add_mesh(vertices, faces, surface=Surface.PLANT, material=material, instance=scene.instance("hedge"), uv=uv, collides=collides)
