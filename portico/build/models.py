"""Models of things that stand outdoors: coloured parts in their own frame, and how one is placed into a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portico.build.primitives import Mesh
from portico.build.scene import Scene
from portico.build.shapes import moved
from portico.build.textures import linear, textured
from portico.geometry import wrap_angle
from portico.world import ObjectInstance, Surface

RGB = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """A mesh of one colour (sRGB, 0..1). Frame of a model: x along its width, its front faces -y, z = 0 where it stands.

    ``uv`` (F, 3, 2) goes with ``texture``, a drawing of ``portico.build.textures``.
    """

    mesh: Mesh
    color: RGB
    surface: Surface = Surface.STREET_OBJECT
    texture: str | None = None
    uv: NDArray[np.float32] | None = None
    emission: float = 0.0
    collides: bool = True


Model = Sequence[Part]


def part_material(scene: Scene, part: Part) -> int:
    """Index of the material of a part; parts of one colour share it."""
    name = (
        "paint-{:.2f}-{:.2f}-{:.2f}".format(*part.color) + (f"-{part.texture}" if part.texture else "") + (f"-lit{part.emission:.1f}" if part.emission else "")
    )
    if part.texture:
        return textured(scene, name, part.texture, linear(part.color), emission=part.emission)
    return scene.material(name, linear(part.color), emission=part.emission)


def box_of(model: Model) -> NDArray[np.float64]:
    """(2, 3): lowest and highest corner of a model in its own frame."""
    points = np.concatenate([p.mesh[0] for p in model])
    return np.stack([points.min(axis=0), points.max(axis=0)]).astype(np.float64)


def place(scene: Scene, category: str, model: Model, x: float, y: float, z: float = 0.0, yaw_rad: float = 0.0, *, name: str = "") -> ObjectInstance:
    """Stand a model at (x, y, z), turned by ``yaw_rad``, as one object with its own instance label."""
    count = sum(o.category == category for o in scene.objects)
    low, high = box_of(model)
    middle, _ = moved((((low + high) / 2)[None].astype(np.float32), np.zeros((0, 3), np.int32)), x, y, z, yaw_rad)
    found = ObjectInstance(
        id=f"{category.replace(' ', '-')}-{count:02d}",
        category=category,
        name=name,
        center=(float(middle[0, 0]), float(middle[0, 1]), float(middle[0, 2])),
        size=(float(high[0] - low[0]), float(high[1] - low[1]), float(high[2] - low[2])),
        yaw_rad=wrap_angle(yaw_rad),
    )
    instance = scene.instance(category, found.id)
    for part in model:
        vertices, faces = moved(part.mesh, x, y, z, yaw_rad)
        scene.add_mesh(vertices, faces, surface=part.surface, material=part_material(scene, part), instance=instance, uv=part.uv, collides=part.collides)
    scene.objects.append(found)
    return found
