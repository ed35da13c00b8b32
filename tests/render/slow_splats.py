"""The slow, readable twin of the splat renderer: every pixel against every Gaussian, in double precision."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from portico.geometry import Pose
from portico.interface import Camera
from portico.world.gaussians import Gaussians

FAINTEST, MOST_ALPHA, PIXEL_VARIANCE, NEAR_M = 1 / 255, 0.99, 0.3, 0.2
SMALL = Camera(width=37, height=29, hfov_rad=float(np.deg2rad(75.0)), z=0.0)
AHEAD = Pose(0.0, 0.0).matrix() @ SMALL.T_base_camera()


@dataclass
class SlowFrame:
    """rgb (H, W, 3) 0 to 1; depth, alpha (H, W); weight (H, W, N); doubtful (H, W): where single precision may decide otherwise."""

    rgb: np.ndarray
    depth: np.ndarray
    alpha: np.ndarray
    weight: np.ndarray
    doubtful: np.ndarray


def slow_splats(gaussians: Gaussians, T_world_camera: np.ndarray, camera: Camera, background=(0.0, 0.0, 0.0), surface=None, behind=None) -> SlowFrame:
    """Front to back over the Gaussians, all pixels at once. ``surface`` (H, W) and ``behind`` (H, W, 3) 0 to 1: opaque things."""
    shape = (camera.height, camera.width)
    surface = np.full(shape, np.inf) if surface is None else surface
    centers = (gaussians.means.astype(float) - T_world_camera[:3, 3]) @ T_world_camera[:3, :3]
    columns, rows = np.meshgrid(np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5)
    through, halfway, color_sum = np.ones(shape), np.full(shape, np.inf), np.zeros((*shape, 3))
    weight, doubtful = np.zeros((*shape, len(gaussians))), np.zeros(shape, bool)
    colors = slow_colors(gaussians, T_world_camera[:3, 3])
    for i in np.lexsort((np.arange(len(gaussians)), centers[:, 2])):
        if centers[i, 2] < NEAR_M:
            continue
        mean, covariance = slow_ellipse(gaussians, i, centers[i], T_world_camera, camera)
        offset = np.stack([columns, rows], axis=-1) - mean
        alpha = gaussians.opacity[i] * np.exp(-0.5 * np.einsum("hwi,ij,hwj->hw", offset, np.linalg.inv(covariance), offset))
        doubtful |= np.abs(alpha - FAINTEST) < 0.02 * FAINTEST
        seen = (alpha >= FAINTEST) & (centers[i, 2] <= surface)
        weight[:, :, i] = np.where(seen, np.minimum(alpha, MOST_ALPHA), 0.0) * through
        rest = through - weight[:, :, i]
        halfway[(through > 0.5) & (rest <= 0.5)] = centers[i, 2]
        doubtful |= np.abs(rest - 0.5) < 1e-3
        through = rest
        color_sum += weight[:, :, i, None] * colors[i]
    backdrop = np.broadcast_to(background, (*shape, 3)) if behind is None else behind
    depth = np.where(np.isfinite(halfway), halfway, surface)
    return SlowFrame(np.clip(color_sum + through[:, :, None] * backdrop, 0.0, 1.0), depth, 1.0 - through, weight, doubtful)


def slow_ellipse(gaussians: Gaussians, i: int, center: np.ndarray, T_world_camera: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """Mean (2,) and covariance (2, 2) on the image, pixels (Zwicker et al. 2001, equations 29 to 31)."""
    rotation = Rotation.from_quat(gaussians.rotations_wxyz[i], scalar_first=True).as_matrix()
    world = rotation @ np.diag(gaussians.scales_m[i].astype(float) ** 2) @ rotation.T
    x, y, z = center
    most_x, most_y = 1.3 * 0.5 * camera.width / camera.focal_px, 1.3 * 0.5 * camera.height / camera.focal_px
    slope_x, slope_y = np.clip(x / z, -most_x, most_x), np.clip(y / z, -most_y, most_y)
    J = camera.focal_px / z * np.array([[1.0, 0.0, -slope_x], [0.0, 1.0, -slope_y]]) @ T_world_camera[:3, :3].T
    mean = np.array([camera.focal_px * x / z + 0.5 * camera.width, camera.focal_px * y / z + 0.5 * camera.height])
    return mean, J @ world @ J.T + PIXEL_VARIANCE * np.eye(2)


def slow_colors(gaussians: Gaussians, eye: np.ndarray) -> np.ndarray:
    """(N, 3) colours seen from a point."""
    rays = gaussians.means.astype(float) - eye
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    basis = harmonics(rays)[:, : gaussians.sh.shape[1]]
    return np.maximum(0.5 + np.einsum("nk,nkc->nc", basis, gaussians.sh.astype(float)), 0.0)


def harmonics(rays: np.ndarray) -> np.ndarray:
    """(N, 16): the real spherical harmonics of unit directions (N, 3), degree by degree, orders from -l to l."""
    x, y, z = rays.T
    one, pi = np.ones_like(x), np.pi
    return np.stack(
        [
            np.sqrt(1 / (4 * pi)) * one,
            -np.sqrt(3 / (4 * pi)) * y,
            np.sqrt(3 / (4 * pi)) * z,
            -np.sqrt(3 / (4 * pi)) * x,
            np.sqrt(15 / (4 * pi)) * x * y,
            -np.sqrt(15 / (4 * pi)) * y * z,
            np.sqrt(5 / (16 * pi)) * (3 * z * z - 1),
            -np.sqrt(15 / (4 * pi)) * x * z,
            np.sqrt(15 / (16 * pi)) * (x * x - y * y),
            -np.sqrt(35 / (32 * pi)) * y * (3 * x * x - y * y),
            np.sqrt(105 / (4 * pi)) * x * y * z,
            -np.sqrt(21 / (32 * pi)) * y * (5 * z * z - 1),
            np.sqrt(7 / (16 * pi)) * z * (5 * z * z - 3),
            -np.sqrt(21 / (32 * pi)) * x * (5 * z * z - 1),
            np.sqrt(105 / (16 * pi)) * z * (x * x - y * y),
            -np.sqrt(35 / (32 * pi)) * x * (x * x - 3 * y * y),
        ],
        axis=1,
    )


def some_gaussians(rng: np.random.Generator, count: int, degree: int, *, low_m=(0.05, 3.0), log_sizes=(-4.0, 0.5), opacity=None) -> Gaussians:
    """Random ones mostly in front of ``AHEAD``: x ahead between ``low_m``, labels 1 to 5."""
    ahead = rng.uniform(*low_m, count)
    means = np.stack([ahead, *(rng.uniform(-1.0, 1.0, (2, count)) * (ahead + 0.2))], axis=1)
    scales = np.exp(rng.uniform(*log_sizes, (count, 3)))
    rotations = rng.normal(size=(count, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    sh = rng.normal(0.0, 0.25, (count, (degree + 1) ** 2, 3))
    sh[:, 0] = rng.uniform(-1.7, 1.7, (count, 3))
    opacity = rng.choice([0.0, 1.0, *rng.uniform(0.0, 1.0, 6)], count) if opacity is None else np.full(count, opacity)
    return gaussians_of(means, rotations, scales, opacity, sh, rng.integers(1, 6, count))


def gaussians_of(means, rotations, scales, opacity, sh, instance) -> Gaussians:
    single = [np.asarray(a, np.float32) for a in (means, rotations, scales, opacity, sh)]
    return Gaussians(*single, np.asarray(instance, np.int32))


def ball(center, radius_m=0.05, *, color=(1.0, 1.0, 1.0), opacity=0.9, instance=1) -> Gaussians:
    """One round Gaussian of one colour."""
    sh = ((np.array(color) - 0.5) / 0.28209479177387814)[None, None]
    return gaussians_of([center], [[1, 0, 0, 0]], [[radius_m] * 3], [opacity], sh, [instance])


def together(*parts: Gaussians) -> Gaussians:
    """All Gaussians of several."""
    fields = ("means", "rotations_wxyz", "scales_m", "opacity", "sh", "instance")
    return Gaussians(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))
