"""Closed buildings: a footprint pulled up into a ground floor of fronts, storeys of windows, a cornice and a roof.

Any polygon will do for a footprint. Its edges are numbered in counter-clockwise order; seen from outside an edge runs
from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.facade_textures import BAY_M, BAYS, FRONT_M, STOREY_M, STOREYS, STYLES, Style, blank_front, facade, house_front, rear_front, wall
from portico.build.primitives import QUAD_UV, Mesh, flat_polygon, prism, quad
from portico.build.scene import Scene
from portico.build.textures import RGB, Image, linear, textured
from portico.seeding import generator
from portico.world import Surface

GROUND_M = 4.0
_LONGEST_WALL_M = BAYS * BAY_M
_TRIM_M = 0.12


_DRAWINGS: dict[str, Callable[[Style, np.random.Generator], Image]] = {
    "facade": facade,
    "house": house_front,
    "rear": rear_front,
    "blank": lambda style, _: blank_front(style),
    "wall": lambda style, _: wall(style, 256, 256),
}


@dataclass(frozen=True)
class Unit:
    """A stretch of a ground floor: from ``start_m`` to ``end_m`` along its edge, with the texture of what is there."""

    start_m: float
    end_m: float
    texture: str


@dataclass(frozen=True)
class Shell:
    """A closed building.

    Attributes:
        footprint: simple polygon without holes. storeys: including the ground floor. style: key of ``STYLES``.
        fronts: units by edge; between units, and on edges with none, the wall is plain.
        blind: edges without windows, because a neighbour stands against them.
    """

    footprint: shapely.Polygon
    storeys: int
    style: str
    fronts: Mapping[int, Sequence[Unit]]
    blind: frozenset[int] = frozenset()
    z_m: float = 0.0

    @property
    def top_m(self) -> float:
        """Height of the eaves."""
        return self.z_m + GROUND_M + (self.storeys - 1) * STOREY_M


def edges(footprint: shapely.Polygon) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Start and end of every edge, counter-clockwise."""
    return list(pairwise(np.asarray(shapely.geometry.polygon.orient(footprint, 1.0).exterior.coords)[:, :2]))


def add_shell(scene: Scene, shell: Shell, *, instance: int, rng: np.random.Generator, collides: bool = True) -> None:
    """Add the walls, trims and roof of a closed building."""
    style = STYLES[shell.style]
    for index, (p, q) in enumerate(edges(shell.footprint)):
        for corners, texture, uv in _wall_faces(shell, index, p, q):
            material = front_material(scene, texture)
            scene.add_mesh(*_upright(*corners), surface=Surface.WALL, material=material, instance=instance, uv=QUAD_UV * uv[2:] + uv[:2], collides=collides)
    trim = scene.material(f"trim-{shell.style}", linear(style.trim))
    for low, high, out in _bands(shell, style):
        ring = shapely.difference(shell.footprint.buffer(out, join_style="mitre"), shell.footprint.buffer(-0.25, join_style="mitre"))
        for part in shapely.get_parts(ring).tolist():
            scene.add_mesh(*prism(part, low, high, bottom=True), surface=Surface.WALL, material=trim, instance=instance, collides=collides)
    _add_roof(scene, shell, style, instance, rng, collides)


def front_material(scene: Scene, name: str) -> int:
    """Index of the material of a wall or front texture: ``facade:STYLE``, ``house:STYLE``, ``rear:STYLE``, ``blank:STYLE``, ``wall:STYLE`` or one in the scene."""
    kind, _, style = name.partition(":")
    key = name.replace(":", "-")
    if key not in scene.textures:
        scene.textures[key] = _DRAWINGS[kind](STYLES[style], generator("texture", kind, style))
    return scene.material(f"front-{key}", (1.0, 1.0, 1.0), texture=key)


def _wall_faces(
    shell: Shell, index: int, p: NDArray[np.float64], q: NDArray[np.float64]
) -> Iterator[tuple[tuple[NDArray[np.float64], NDArray[np.float64], float, float], str, NDArray[np.float64]]]:
    """Left and right end, foot and head of every quad of one edge, its texture, and the texture's (u, v, width, height)."""
    length = float(np.linalg.norm(q - p))
    middle = shell.z_m + GROUND_M
    for start, end, texture in _ground_units(shell, index, length):
        whole = texture.startswith(("blank", "wall"))
        span = (end - start) / FRONT_M[0] if whole else 1.0
        yield (p + (q - p) * start / length, p + (q - p) * end / length, shell.z_m, middle), texture, np.array([0.0, 0.0, span, 1.0])
    if shell.storeys < 2:
        return
    bays = round(length / BAY_M)
    plain = index in shell.blind or bays == 0
    pieces = max(1, -(-bays // BAYS))
    for k in range(pieces):
        a, b = p + (q - p) * k / pieces, p + (q - p) * (k + 1) / pieces
        if plain:
            yield (a, b, middle, shell.top_m), f"wall:{shell.style}", np.array([0.0, 0.0, length / pieces / 6.0, (shell.top_m - middle) / 6.0])
        else:
            first = k * bays / pieces + (index * 7 + shell.storeys) % BAYS
            yield (a, b, middle, shell.top_m), f"facade:{shell.style}", np.array([first / BAYS, 0.0, bays / pieces / BAYS, (shell.storeys - 1) / STOREYS])


def _ground_units(shell: Shell, index: int, length: float) -> Iterator[tuple[float, float, str]]:
    at = 0.0
    for unit in (*shell.fronts.get(index, ()), Unit(length, length, "")):
        while unit.start_m - at > 1e-6:
            step = min(unit.start_m - at, _LONGEST_WALL_M)
            yield at, at + step, f"blank:{shell.style}"
            at += step
        if unit.texture:
            yield unit.start_m, unit.end_m, unit.texture
            at = unit.end_m


def _upright(a: NDArray[np.float64], b: NDArray[np.float64], low: float, high: float) -> Mesh:
    return quad([*a, low], [*b, low], [*b, high], [*a, high])


def _bands(shell: Shell, style: Style) -> Iterator[tuple[float, float, float]]:
    """Foot, head and projection of the string course and the cornice."""
    if shell.storeys > 1:
        yield shell.z_m + GROUND_M - 0.08, shell.z_m + GROUND_M + _TRIM_M, 0.08
    if style.roof == "roofing":
        yield shell.top_m - 0.28, shell.top_m, 0.22
        yield shell.top_m, shell.top_m + 0.45, 0.04
    else:
        yield shell.top_m - 0.22, shell.top_m, 0.15


def _add_roof(scene: Scene, shell: Shell, style: Style, instance: int, rng: np.random.Generator, collides: bool) -> None:
    frame = shapely.minimum_rotated_rectangle(shell.footprint)
    if style.roof == "roof-tiles" and shell.footprint.area > 0.97 * frame.area:
        vertices, faces, uv = hip_roof(frame.buffer(0.35, join_style="mitre"), shell.top_m, 0.55)
        scene.add_mesh(vertices, faces, surface=Surface.ROOF, material=textured(scene, "roof-tiles", "roof-tiles"), instance=instance, uv=uv, collides=collides)
        return
    vertices, faces = flat_polygon(shell.footprint, shell.top_m)
    material = textured(scene, "roofing", "roofing")
    scene.add_mesh(vertices, faces, surface=Surface.ROOF, material=material, instance=instance, uv=vertices[faces][:, :, :2] / 4.0, collides=collides)
    inner = shell.footprint.buffer(-2.0, join_style="mitre")
    if inner.is_empty:
        return
    x0, y0, x1, y1 = inner.bounds
    for _ in range(int(rng.integers(1, 4))):
        w, d, h = (float(v) for v in rng.uniform((1.0, 1.0, 0.8), (2.6, 2.2, 1.9)))
        x, y = float(rng.uniform(x0, x1)), float(rng.uniform(y0, y1))
        box = shapely.box(x - w / 2, y - d / 2, x + w / 2, y + d / 2)
        if shell.footprint.contains(box):
            gray = scene.material("roof-plant", linear((0.62, 0.63, 0.64)))
            scene.add_mesh(*prism(box, shell.top_m, shell.top_m + h), surface=Surface.ROOF, material=gray, instance=instance, collides=collides)


def hip_roof(rectangle: shapely.Polygon, z_m: float, pitch: float) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Four tiled slopes over a rectangle: vertices, faces, uv. ``pitch`` is rise over run."""
    corners = [p for p, _ in edges(rectangle)]
    if np.linalg.norm(corners[1] - corners[0]) < np.linalg.norm(corners[2] - corners[1]):
        corners = corners[1:] + corners[:1]
    a, b, c, d = corners
    along, across = b - a, d - a
    inset = along / np.linalg.norm(along) * np.linalg.norm(across) / 2
    rise = pitch * float(np.linalg.norm(across)) / 2
    left, right = (a + d) / 2 + inset, (b + c) / 2 - inset
    low = [np.array([*p, z_m]) for p in (a, b, c, d)]
    e, f = np.array([*left, z_m + rise]), np.array([*right, z_m + rise])
    vertices = np.array([*low, e, f], np.float32)
    faces = np.array([[0, 1, 5], [0, 5, 4], [1, 2, 5], [2, 3, 4], [2, 4, 5], [3, 0, 4]], np.int32)
    uv = np.zeros((6, 3, 2), np.float32)
    for i, face in enumerate(faces):
        eave = low[(1, 1, 2, 3, 3, 0)[i]] - low[(0, 0, 1, 2, 2, 3)[i]]
        eave /= np.linalg.norm(eave)
        points = vertices[face]
        uv[i, :, 0] = points @ eave / 4.0
        uv[i, :, 1] = (points[:, 2] - z_m) * np.hypot(1.0, 1.0 / pitch) / 4.0
    return vertices, faces, uv


def shop_texture(scene: Scene, key: str, picture: NDArray[np.uint8]) -> str:
    """Keep the drawing of a shop front in the scene under ``key`` and return the name to give a ``Unit``."""
    scene.textures.setdefault(key, picture)
    return key


def awning(
    a: NDArray[np.float64], b: NDArray[np.float64], z_m: float, *, depth_m: float = 1.1, drop_m: float = 0.4, stripe_m: float = 0.5
) -> Iterator[tuple[Mesh, int]]:
    """Striped canvas over a shop window between ``a`` and ``b`` on a facade edge: quads with 0 or 1 for their colour."""
    along = b - a
    length = float(np.linalg.norm(along))
    out = np.array([along[1], -along[0]]) / length * depth_m
    count = max(2, round(length / stripe_m))
    for k in range(count):
        p, q = a + along * k / count, a + along * (k + 1) / count
        top = quad([*(p + out), z_m - drop_m], [*(q + out), z_m - drop_m], [*q, z_m], [*p, z_m])
        yield top, k % 2
        yield (top[0], top[1][:, ::-1].copy()), k % 2
        hem = quad([*(p + out), z_m - drop_m - 0.22], [*(q + out), z_m - drop_m - 0.22], [*(q + out), z_m - drop_m], [*(p + out), z_m - drop_m])
        yield hem, k % 2
        yield (hem[0], hem[1][:, ::-1].copy()), k % 2


def add_awning(scene: Scene, a: NDArray[np.float64], b: NDArray[np.float64], z_m: float, colors: tuple[RGB, RGB], instance: int) -> None:
    """Hang a striped awning between two points of a facade edge."""
    for mesh, which in awning(a, b, z_m):
        name = "canvas-{:.2f}-{:.2f}-{:.2f}".format(*colors[which])
        scene.add_mesh(*mesh, surface=Surface.SIGN, material=scene.material(name, linear(colors[which])), instance=instance)
