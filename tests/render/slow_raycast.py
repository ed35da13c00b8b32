"""The slow, readable twin of the rasteriser: every pixel's ray against every triangle."""

import numpy as np

from portico.interface import Camera
from portico.world import World


def pixel_rays(T_world_camera: np.ndarray, camera: Camera) -> np.ndarray:
    """(H, W, 3) directions through the pixel centres, world frame, one metre of depth long."""
    columns, rows = np.meshgrid(np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5)
    rays = np.stack([columns, rows, np.ones_like(columns)], axis=-1) @ np.linalg.inv(camera.intrinsics()).T
    return rays @ T_world_camera[:3, :3].T


def raycast(world: World, T_world_camera: np.ndarray, camera: Camera, near_m: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Depth (H, W), inf where nothing is hit, and index of the triangle hit (H, W), -1 there (Möller and Trumbore 1997)."""
    rays = pixel_rays(T_world_camera, camera)
    depth = np.full(rays.shape[:2], np.inf)
    face = np.full(rays.shape[:2], -1)
    for index, (a, b, c) in enumerate(world.geometry.triangles.astype(np.float64)):
        e1, e2, s = b - a, c - a, T_world_camera[:3, 3] - a
        p, q = np.cross(rays, e2), np.cross(s, e1)
        determinant = p @ e1
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v, t = (p @ s) / determinant, (rays @ q) / determinant, (e2 @ q) / determinant
            hit = (np.abs(determinant) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= near_m) & (t <= depth)
        depth[hit], face[hit] = t[hit], index
    return depth, face


def away_from_edges(labels: np.ndarray) -> np.ndarray:
    """(H, W): pixels whose eight neighbours all carry the same label as they do."""
    padded = np.pad(labels, 1, mode="edge")
    height, width = labels.shape
    shifted = [padded[dy : dy + height, dx : dx + width] for dy in range(3) for dx in range(3)]
    return np.all([s == labels for s in shifted], axis=0)
