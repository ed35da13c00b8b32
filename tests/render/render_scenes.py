"""Small worlds that the rendering tests look at."""

import numpy as np

from portico.build.primitives import box, quad
from portico.build.scene import Scene
from portico.geometry import Pose
from portico.interface import Camera
from portico.world import Provenance, Surface, World

RED, GREEN, BLUE, GREY = (0.8, 0.05, 0.05), (0.05, 0.7, 0.05), (0.05, 0.05, 0.8), (0.5, 0.5, 0.5)


def finish(scene: Scene, kind: str = "outdoor") -> World:
    return scene.world("test", kind, Provenance(source="test", licence="CC0-1.0"))


def add_box(scene: Scene, center, size, color, category: str, *, yaw_rad: float = 0.0, indoor: bool = False, surface: Surface = Surface.WALL) -> int:
    instance = scene.instance(category)
    scene.add_mesh(*box(center, size, yaw_rad), surface=surface, material=scene.material(str(color), color), instance=instance, indoor=indoor)
    return instance


def add_ground(scene: Scene, half_m: float = 500.0, color=GREY, z: float = 0.0) -> int:
    instance = scene.instance("ground")
    corners = [[-half_m, -half_m, z], [half_m, -half_m, z], [half_m, half_m, z], [-half_m, half_m, z]]
    scene.add_mesh(*quad(*corners), surface=Surface.OPEN_AREA, material=scene.material(f"ground {color}", color), instance=instance)
    return instance


def red_ahead_green_left() -> World:
    """Seen from the origin: a red wall ahead (+x) at 4 m, a green one on the left (+y) at 3 m, ground below."""
    scene = Scene()
    add_ground(scene)
    add_box(scene, [4.5, 0, 1], [1, 4, 4], RED, "red wall")
    add_box(scene, [0, 3.5, 1], [4, 1, 4], GREEN, "green wall")
    return finish(scene)


def clutter(seed: int, boxes: int = 12) -> World:
    """Boxes of all sizes around the origin, on a ground."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    add_ground(scene, 60.0)
    for k in range(boxes):
        bearing, distance = rng.uniform(-np.pi, np.pi), rng.uniform(1.5, 15.0)
        size = rng.uniform(0.2, 2.0, 3)
        center = [distance * np.cos(bearing), distance * np.sin(bearing), rng.uniform(0.0, 2.0)]
        add_box(scene, center, size, tuple(rng.uniform(0.1, 0.9, 3)), f"box {k}", yaw_rad=rng.uniform(0.0, np.pi))
    return finish(scene)


def camera_pose(camera: Camera, x: float = 0.0, y: float = 0.0, yaw_rad: float = 0.0, z: float = 0.0) -> np.ndarray:
    """T_world_camera of a camera mounted on a base at that pose."""
    return Pose(x, y, z, yaw_rad).matrix() @ camera.T_base_camera()
