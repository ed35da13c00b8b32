"""Frames per second of a splat capture at 640 x 480 with rgb and depth: Portico, the same mathematics in plain numpy, and gsplat.

    python benchmarks/splats.py [--rounds 5] [--millions 0.3 1 3]

The scene is a furnished room seen from inside: Gaussians with spherical harmonics of degree 3, flat on walls, floor, ceiling
and boxes, smaller the more there are, of opacities as mixed as training leaves them. Numpy draws the same Gaussians tile by
tile with whole-array operations and stops where a tile is opaque; it gets one view, once, and only up to ``--numpy-millions``.
gsplat runs where it and a CUDA device are there; elsewhere the reason is shown.
"""

from __future__ import annotations

import argparse
import time
import timeit

import numba
import numpy as np

from portico.geometry import Pose
from portico.interface import Camera
from portico.render.splats import GsplatRenderer, SplatRenderer
from portico.render.splats.gpu import why_no_gpu
from portico.render.splats.renderer import SplatChannel
from portico.seeding import generator
from portico.world.gaussians import Gaussians

CAMERA = Camera(width=640, height=480, z=1.3)
SIZE_M = np.array([8.0, 6.0, 3.0])
TILE = 16


def room(count: int) -> Gaussians:
    """A room of 8 x 6 x 3 m with six boxes in it."""
    rng = generator("benchmark", "splats", str(count))
    low, high = rng.uniform([0.3, 0.3, 0.0], [6.5, 4.5, 0.0], (6, 3)), rng.uniform(0.4, 1.2, (6, 3))
    boxes = np.concatenate([[[np.zeros(3), SIZE_M]], np.stack([low, low + high], axis=1)])
    sides = boxes[:, 1] - boxes[:, 0]
    areas = np.stack([np.prod(np.delete(sides, axis, axis=1), axis=1) for axis in (0, 0, 1, 1, 2, 2)], axis=1)
    face = rng.choice(areas.size, count, p=areas.ravel() / areas.sum())
    body, axis, end = face // 6, face % 6 // 2, face % 2
    means = boxes[body, 0] + rng.uniform(0.0, 1.0, (count, 3)) * sides[body]
    means[np.arange(count), axis] = boxes[body, end, axis]
    means += rng.normal(0.0, 0.01, means.shape)
    scales = 1.1 * np.sqrt(areas.sum() / count) * np.exp(rng.normal(0.0, 0.7, (count, 3)))
    scales[np.arange(count), axis] *= 0.15
    rotations = rng.normal([1.0, 0.0, 0.0, 0.0], 0.15, (count, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    sh = rng.normal(0.0, 0.04, (count, 16, 3))
    sh[:, 0] = rng.normal(0.0, 0.3, (count, 3)) + rng.uniform(-1.2, 1.2, (7, 6, 3))[body, face % 6]
    opacity = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 2.0, count)))
    single = (np.asarray(a, np.float32) for a in (means, rotations, scales, opacity, sh))
    return Gaussians(*single, np.asarray(body + 1, np.int32))


def poses() -> list[np.ndarray]:
    """Eight views from two places."""
    places = [(3.0, 2.5), (5.5, 3.5)]
    return [Pose(*places[k % 2], 0.0, 0.3 + k * np.pi / 4.0).matrix() @ CAMERA.T_base_camera() for k in range(8)]


def numpy_frame(gaussians: Gaussians, T_world_camera: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """rgb (H, W, 3) uint8 and depth (H, W), single precision."""
    mean, conic, half, depth, color, opacity = numpy_projection(gaussians, T_world_camera)
    rgb, image = np.zeros((CAMERA.height, CAMERA.width, 3), np.uint8), np.full((CAMERA.height, CAMERA.width), np.inf, np.float32)
    for row in range(0, CAMERA.height, TILE):
        in_band = np.flatnonzero((mean[:, 1] + half[:, 1] > row) & (mean[:, 1] - half[:, 1] < row + TILE))
        for column in range(0, CAMERA.width, TILE):
            members = in_band[(mean[in_band, 0] + half[in_band, 0] > column) & (mean[in_band, 0] - half[in_band, 0] < column + TILE)]
            x, y = (a.ravel() for a in np.meshgrid(np.arange(column, column + TILE) + np.float32(0.5), np.arange(row, row + TILE) + np.float32(0.5)))
            through, sums = np.ones(TILE * TILE, np.float32), np.zeros((TILE * TILE, 3), np.float32)
            halfway = np.full(TILE * TILE, np.inf, np.float32)
            for first in range(0, len(members), 64):
                m = members[first : first + 64]
                dx, dy = x - mean[m, 0, None], y - mean[m, 1, None]
                power = conic[m, 0, None] * dx * dx + 2.0 * conic[m, 1, None] * dx * dy + conic[m, 2, None] * dy * dy
                alpha = opacity[m, None] * np.exp(-0.5 * power)
                alpha = np.where(alpha >= 1 / 255, np.minimum(alpha, np.float32(0.99)), np.float32(0.0))
                left = np.cumprod(1.0 - alpha, axis=0) * through
                weight = np.concatenate([through[None], left[:-1]]) * alpha
                sums += weight.T @ color[m]
                ends = (through > 0.5) & (left[-1] <= 0.5)
                halfway[ends] = depth[m][np.argmax(left[:, ends] <= 0.5, axis=0)]
                through = left[-1]
                if through.max() < 1e-4:
                    break
            part = (slice(row, row + TILE), slice(column, column + TILE))
            rgb[part] = (255.0 * np.minimum(sums, 1.0) + 0.5).astype(np.uint8).reshape(TILE, TILE, 3)
            image[part] = halfway.reshape(TILE, TILE)
    return rgb, image


def numpy_projection(gaussians: Gaussians, T_world_camera: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of the Gaussians in view, nearest first: means, inverse covariances, half sizes in pixels; depths, colours, opacities."""
    T = T_world_camera.astype(np.float32)
    centers = (gaussians.means - T[:3, 3]) @ T[:3, :3]
    limit = 1.3 * 0.5 * np.array([CAMERA.width, CAMERA.height], np.float32) / np.float32(CAMERA.focal_px)
    kept = np.flatnonzero((centers[:, 2] >= 0.2) & (gaussians.opacity >= 1 / 255))
    kept = kept[np.argsort(centers[kept, 2], kind="stable")]
    x, y, z = centers[kept].T
    w, i, j, k = gaussians.rotations_wxyz[kept].T
    rows = [[1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)], [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)]]
    rows.append([2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)])
    axes = np.moveaxis(np.array(rows), 2, 0) * gaussians.scales_m[kept, None, :]
    sx, sy = np.clip(x / z, -limit[0], limit[0]), np.clip(y / z, -limit[1], limit[1])
    scale = (np.float32(CAMERA.focal_px) / z)[:, None]
    J = np.stack([scale * (T[:3, 0] - sx[:, None] * T[:3, 2]), scale * (T[:3, 1] - sy[:, None] * T[:3, 2])], axis=1) @ axes
    covariance = J @ J.transpose(0, 2, 1) + 0.3 * np.eye(2, dtype=np.float32)
    a, b, c = covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1]
    conic = np.stack([c, -b, a], axis=1) / (a * c - b * b)[:, None]
    mean = np.stack([CAMERA.focal_px * x / z + CAMERA.width / 2, CAMERA.focal_px * y / z + CAMERA.height / 2], axis=1).astype(np.float32)
    half = np.sqrt(2.0 * np.log(255.0 * gaussians.opacity[kept])[:, None] * np.stack([a, c], axis=1))
    seen = ((mean + half > 0.0) & (mean - half < [CAMERA.width, CAMERA.height])).all(axis=1)
    kept = kept[seen]
    colors = numpy_colors(gaussians.sh[kept], gaussians.means[kept] - T[:3, 3])
    return mean[seen], conic[seen], half[seen], z[seen], colors, gaussians.opacity[kept]


def numpy_colors(sh: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """(V, 3) from coefficients (V, 16, 3) and directions (V, 3)."""
    x, y, z = (rays / np.linalg.norm(rays, axis=1, keepdims=True)).T
    xx, yy, zz = x * x, y * y, z * z
    first = [0.2820948 * np.ones_like(x), -0.4886025 * y, 0.4886025 * z, -0.4886025 * x]
    second = [1.0925484 * x * y, -1.0925484 * y * z, 0.3153916 * (2 * zz - xx - yy), -1.0925484 * x * z, 0.5462742 * (xx - yy)]
    third = [-0.5900436 * y * (3 * xx - yy), 2.8906114 * x * y * z, -0.4570458 * y * (4 * zz - xx - yy), 0.3731763 * z * (2 * zz - 3 * (xx + yy))]
    third += [-0.4570458 * x * (4 * zz - xx - yy), 1.4453057 * z * (xx - yy), -0.5900436 * x * (xx - 3 * yy)]
    return np.maximum(0.5 + np.einsum("nk,nkc->nc", np.stack([*first, *second, *third], axis=1), sh), 0.0)


def frames_per_second(renderer: SplatRenderer | GsplatRenderer, rounds: int, channels: tuple[SplatChannel, ...] = ("rgb", "depth")) -> tuple[float, float]:
    """And milliseconds of processor time a frame. Over all poses, each one's best round, which leaves out what other programs took."""
    renderer.render(poses()[0], CAMERA, channels)
    clocks = (time.perf_counter, time.process_time)
    seconds, worked = (
        float(np.mean([min(timeit.repeat(lambda T=T: renderer.render(T, CAMERA, channels), timer=clock, number=1, repeat=rounds)) for T in poses()]))
        for clock in clocks
    )
    return 1.0 / seconds, 1e3 * worked


def compare(count: int, rounds: int, with_numpy: bool) -> None:
    gaussians = room(count)
    begin = time.perf_counter()
    renderer = SplatRenderer(gaussians)
    prepared_s = time.perf_counter() - begin
    own, worked_ms = frames_per_second(renderer, rounds)
    print(f"\nroom: {count:,} Gaussians, {len(poses())} poses, 640 x 480, rgb + depth, {numba.get_num_threads()} threads; prepared in {prepared_s:.2f} s")
    print(f"  {'portico':10s} {own:8.2f} frames/s   {worked_ms:.0f} ms of processor time a frame, of all threads together")
    if with_numpy:
        begin = time.perf_counter()
        rgb, depth = numpy_frame(gaussians, poses()[0])
        fps = 1.0 / (time.perf_counter() - begin)
        frame = renderer.render(poses()[0], CAMERA, ("rgb", "depth"))
        close = 100.0 * np.mean(np.abs(frame.rgb.astype(int) - rgb).max(axis=2) <= 1), 100.0 * np.mean(np.isclose(frame.depth, depth, rtol=0.01))
        print(
            f"  {'numpy':10s} {fps:8.2f} frames/s   portico is {own / fps:.0f} x   rgb within 1/255 at {close[0]:.1f} %, depth within 1 % at {close[1]:.1f} % of pixels"
        )
    else:
        print("  numpy       skipped: beyond --numpy-millions")
    obstacle = why_no_gpu()
    if obstacle:
        print(f"  gsplat      skipped: {obstacle}")
        return
    fps, _ = frames_per_second(GsplatRenderer(gaussians), rounds, ("rgb",))
    print(f"  {'gsplat':10s} {fps:8.2f} frames/s without depth   portico is {own / fps:.3f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often every pose is timed; its best counts")
    parser.add_argument("--millions", type=float, nargs="+", default=[0.3, 1.0, 3.0], help="sizes of the capture")
    parser.add_argument("--numpy-millions", type=float, default=1.0, help="largest capture that numpy draws")
    options = parser.parse_args()
    for millions in options.millions:
        compare(round(1e6 * millions), options.rounds, millions <= options.numpy_millions)


if __name__ == "__main__":
    main()
