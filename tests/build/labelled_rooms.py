"""Small rooms of boxes with known things, their captures, and label images of them."""

from dataclasses import replace
from math import pi

import numpy as np

from portico.build.captures import captured_world, gaussians_of, solidify, voxelise
from portico.build.lifting import LabelView
from portico.build.primitives import box
from portico.build.scene import Scene
from portico.geometry import camera_transform
from portico.interface import Camera
from portico.render import Renderer
from portico.robots import embodiment
from portico.world import ObjectInstance, Provenance, Surface

ROBOT = embodiment("turtlebot")
CAMERA = Camera("eye", 200, 200, 0.5 * pi)
CC0 = Provenance(source="test", licence="CC0-1.0")


class RoomOfThings:
    """5 x 4 m, floor and walls; things are boxes."""

    def __init__(self, walls=True):
        self.scene = Scene()
        self.put("floor", [((-0.1, -0.1, -0.1), (5.1, 4.1, 0.0))], Surface.FLOOR)
        if walls:
            west, east = ((-0.1, -0.1, 0), (0, 4.1, 2.0)), ((5, -0.1, 0), (5.1, 4.1, 2.0))
            self.put("wall", [west, east, ((0, -0.1, 0), (5, 0, 2.0)), ((0, 4, 0), (5, 4.1, 2.0))], Surface.WALL)

    def put(self, category, boxes, surface=Surface.FURNITURE):
        """One thing made of boxes (low, high)."""
        number = self.scene.instance(category, None if surface != Surface.FURNITURE else f"{category}{len(self.scene.objects)}")
        low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
        for a, b in np.array(boxes, float):
            self.scene.add_mesh(*box(0.5 * (a + b), b - a), surface=surface, instance=number, material=self.scene.material("grey", (0.6, 0.6, 0.6)))
        if surface == Surface.FURNITURE:
            center, size = tuple((0.5 * (low + high)).tolist()), tuple((high - low).tolist())
            self.scene.objects.append(ObjectInstance(id=f"{category}{len(self.scene.objects)}", category=category, center=center, size=size))
        return self

    def world(self):
        return self.scene.world("room", "indoor", CC0)


def chair(x, y):
    """Seat and back of a chair, 0.45 m wide, on legs as thick as a leg of a chair."""
    seat, back = ((x, y, 0.42), (x + 0.45, y + 0.45, 0.47)), ((x, y + 0.41, 0.47), (x + 0.45, y + 0.45, 0.9))
    legs = [((x + dx, y + dy, 0.0), (x + dx + 0.05, y + dy + 0.05, 0.42)) for dx in (0.0, 0.4) for dy in (0.0, 0.4)]
    return [seat, back, *legs]


def capture_of(mesh, spacing_m=0.04):
    """The capture of a mesh, without labels."""
    gaussians = gaussians_of(mesh, spacing_m=spacing_m)
    blank = replace(gaussians, instance=np.zeros_like(gaussians.instance))
    return captured_world("room", blank, solidify(voxelise(gaussians)), source="test", recipe={})


def look(x, y, z, toward, pitch=0.2):
    """T_world_camera of an eye at (x, y, z) that looks towards a point (x, y)."""
    return camera_transform(x, y, z, float(np.arctan2(toward[1] - y, toward[0] - x)), pitch)


AROUND = [look(x, y, 1.4, (2.5, 2.0), 0.35) for x, y in [(0.4, 0.4), (2.5, 0.3), (4.6, 0.4), (4.7, 2.0), (4.6, 3.6), (2.5, 3.7), (0.4, 3.6), (0.3, 2.0)]]


def label_views(mesh, poses, *, instances=False, wrong=0.0, camera=CAMERA):
    """True label images of a mesh, a share of pixels wrong."""
    renderer, names, rng = Renderer(mesh), mesh.semantics.categories(), np.random.default_rng(3)
    views = []
    for n, T in enumerate(poses):
        frame = renderer.render(T, camera, ["semantic", "instance"])
        labels = np.where(rng.random(frame.semantic.shape) < wrong, rng.integers(1, len(names) + 1, frame.semantic.shape), frame.semantic)
        views.append(LabelView(T, camera, labels, frame.instance if instances else None, f"view {n}"))
    return views


def true_object(mesh, category, center):
    """The object of a category whose box holds a centre, if any."""
    return next((o for o in mesh.semantics.objects if o.category == category and (np.abs(np.subtract(center, o.center)) <= np.array(o.size) / 2).all()), None)
