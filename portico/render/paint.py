"""What a triangle looks like: colour, light on either side, texture coordinates, and the sun's shadow map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.render.mesh import Mesh, face_planes
from portico.render.textures import Atlas, pack, to_srgb
from portico.render.views import View, orthographic_view
from portico.render.visibility import buffers, draw
from portico.world.world import Light, World

# Light without direction still differs by bearing and tilt, so that the corners of rooms and the dark sides of houses show.
_LAMPS, _LAMPS_BY_NORMAL = 1.1, np.array([0.19, 0.10, 0.20])
_SKY, _SKY_BY_NORMAL = 0.65, np.array([0.08, -0.05, 0.35])
# Linear light above this is pressed softly below white instead of being cut off.
_SHOULDER = 0.62
#: Encoded values are looked up at this many steps between 0 and ``TONE_LIMIT`` of linear light.
TONE_STEPS = 8192
TONE_LIMIT = 2.0
_SHADOW_PX = 3072
_FINEST_SHADOW_M = 0.02


#: Columns of ``Paint.light``: unit normal, light without direction on the front and the back, sunlight there.
NX, NY, NZ, EVEN, SUN = 0, 1, 2, 3, 5
#: Columns of ``Paint.look``: material, its texture or -1, row of ``Paint.uv`` or -1.
MATERIAL, TEXTURE, UV_ROW = range(3)


class Paint(NamedTuple):
    """Per triangle of the world (F), material (M) and textured triangle (T).

    Attributes:
        light: (F, 7) float32. look: (F, 3) int32. material: (M, 4) float32, linear colour and emission.
        uv: (T, 11) float32: gradients of u and v in the world, their values at the first corner, that corner.
        tone: (8192,) uint8, sRGB value of linear light. sky: (2, 3) float32, linear, at the horizon and the zenith.
    """

    light: NDArray[np.float32]
    look: NDArray[np.int32]
    material: NDArray[np.float32]
    uv: NDArray[np.float32]
    tone: NDArray[np.uint8]
    sky: NDArray[np.float32]


def paint(world: World) -> Paint:
    """Everything that shading looks up, but for the texels."""
    geometry, appearance = world.geometry, world.appearance
    triangles = geometry.triangles
    normal = face_planes(triangles)[:, :3]
    look = np.stack([geometry.material, _texture_numbers(world)[geometry.material], np.full(len(normal), -1)], axis=1).astype(np.int32)
    rows = np.flatnonzero((look[:, TEXTURE] >= 0) & (np.abs(normal) > 0.0).any(axis=1))
    look[rows, UV_ROW] = np.arange(len(rows))
    light = np.concatenate([normal, *_light(normal, geometry.indoor, appearance.light)], axis=1).astype(np.float32)
    material = np.array([(*m.color, m.emission) for m in appearance.materials], np.float32).reshape(-1, 4)
    sky = np.array([appearance.light.horizon_color, appearance.light.zenith_color], np.float32)
    return Paint(light, look, material, _texture_gradients(triangles[rows], geometry.uv[rows], normal[rows]), _tone(), sky)


def texture_atlas(world: World) -> Atlas:
    """The world's textures, in the order of their names."""
    names = sorted(world.appearance.textures)
    on_face = _texture_numbers(world)[world.geometry.material]
    faces = np.flatnonzero(on_face >= 0)
    lowest, highest = np.zeros(len(names)), np.ones(len(names))
    np.minimum.at(lowest, on_face[faces], world.geometry.uv[faces].min(axis=(1, 2)))
    np.maximum.at(highest, on_face[faces], world.geometry.uv[faces].max(axis=(1, 2)))
    tiled = (lowest < -1e-3) | (highest > 1.0 + 1e-3)
    return pack([world.appearance.textures[name] for name in names], tiled.tolist())


def _texture_numbers(world: World) -> NDArray[np.int32]:
    """(M,) position of each material's texture among the sorted names, -1 without."""
    position = {name: k for k, name in enumerate(sorted(world.appearance.textures))}
    return np.array([-1 if m.texture is None else position.get(m.texture, -1) for m in world.appearance.materials], np.int32)


def sun_direction(light: Light) -> Floats:
    """Unit vector towards the sun; straight up when none is given."""
    direction = np.array(light.sun_direction, np.float64)
    length = np.linalg.norm(direction)
    return direction / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def shadow_map(mesh: Mesh, light: Light) -> tuple[View, NDArray[np.float32]]:
    """A parallel view along the sun's rays and the nearness to the sun it sees; 1 x 1 of zeros when no sun shines."""
    toward = sun_direction(light)
    if light.sun <= 0.0 or toward[2] <= 0.05 or len(mesh.low) == 0:
        return orthographic_view(np.eye(3), np.zeros(3), 1.0, 1, 1, 1.0), np.zeros((1, 1), np.float32)
    right = np.cross(toward, [0.0, 1.0, 0.0] if abs(toward[1]) < 0.9 else [1.0, 0.0, 0.0])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(-toward, right), -toward])
    low, high = mesh.low.min(axis=0), mesh.high.max(axis=0)
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]) @ axes.T
    first, last = corners.min(axis=0), corners.max(axis=0)
    center = axes.T @ np.array([*(0.5 * (first + last))[:2], first[2] - 1.0])
    side_m = max(last[0] - first[0], last[1] - first[1], _SHADOW_PX * _FINEST_SHADOW_M) * 1.01
    width, height = (max(1, int(np.ceil(_SHADOW_PX * extent / side_m))) for extent in (last[0] - first[0], last[1] - first[1]))
    view = orthographic_view(axes, center, _SHADOW_PX / side_m, width, height, float(last[2] - first[2]) + 2.0)
    seen = buffers(width, height)
    draw(mesh, view, seen, get_num_threads())
    return view, seen.nearness


def _light(normal: Floats, indoor: NDArray[np.bool_], light: Light) -> tuple[Floats, Floats]:
    """Light without direction and sunlight, (F, 2) each, on the front and the back of every triangle."""
    sides = np.stack([normal, -normal], axis=1)
    inside = light.indoor * (_LAMPS + sides @ _LAMPS_BY_NORMAL)
    outside = light.sky * (_SKY + sides @ _SKY_BY_NORMAL)
    sun = light.sun * np.maximum(sides @ sun_direction(light), 0.0)
    return np.where(indoor[:, None], inside, outside), np.where(indoor[:, None], 0.0, sun)


def _texture_gradients(triangles: NDArray[np.float32], uv: NDArray[np.float32], normal: Floats) -> NDArray[np.float32]:
    """u(p) = u0 + gradient . (p - first corner): the gradient that lies in the triangle's plane."""
    corners, uv = triangles.astype(np.float64), uv.astype(np.float64)
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area2 = (np.cross(e1, e2) * normal).sum(axis=1)[:, None]
    # Duals of the two edges: d1 . e1 = 1, d1 . e2 = 0 and the other way round.
    d1, d2 = np.cross(e2, normal) / area2, np.cross(normal, e1) / area2
    steps1, steps2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    gradient_u = steps1[:, :1] * d1 + steps2[:, :1] * d2
    gradient_v = steps1[:, 1:] * d1 + steps2[:, 1:] * d2
    return np.concatenate([gradient_u, gradient_v, uv[:, 0], corners[:, 0]], axis=1).astype(np.float32)


def _tone() -> NDArray[np.uint8]:
    linear = np.arange(TONE_STEPS) * (TONE_LIMIT / TONE_STEPS)
    above = np.maximum(linear - _SHOULDER, 0.0)
    room = 1.0 - _SHOULDER
    pressed = np.where(linear > _SHOULDER, _SHOULDER + room * (1.0 - np.exp(-above / room)), linear)
    return np.round(to_srgb(pressed) * 255.0).astype(np.uint8)
