"""A capture from posed depth images: what every pixel saw, fused into flat Gaussians that face the way the surface does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from portico.build.splats.capture import Capture, Columns, sound_gaussians
from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.world.gaussians import SH_C0

_COLORS, _DEPTH, _POSE, _INTRINSICS = (".color.png", ".color.jpg"), ".depth.png", ".pose.txt", "camera-intrinsics.txt"
#: Depth images hold millimetres; 0 and the largest value mean that nothing was measured.
_UNIT_M, _NOTHING = 0.001, 65535
#: Neighbours whose depths differ by more than this share lie on different surfaces.
_JUMP = 0.03
#: Standard deviations along the surface, in spacings, and across it.
_WIDTH, _THICKNESS, _OPACITY = 0.6, 0.15, 0.95
#: A surface far away or seen slantwise is sampled thinly; its Gaussians grow up to so many spacings.
_MOST_SPACINGS = 2.0
_FINEST_M, _COARSEST_M = 0.002, 0.5


@dataclass(frozen=True)
class PosedFrame:
    """One image pair.

    Attributes:
        name: for messages. rgb: (H, W, 3) uint8. depth_m: (H, W) float64, z-depth, 0 where nothing was measured.
        K: (3, 3). T_world_camera: (4, 4), camera x right, y down, z forward.
    """

    name: str
    rgb: NDArray[np.uint8]
    depth_m: Floats
    K: Floats
    T_world_camera: Floats


def read_posed_frames(folder: Path | str) -> list[PosedFrame]:
    """Frames of a folder laid out as 3DMatch does: ``camera-intrinsics.txt`` and, for every frame, ``NAME.color.png`` (or .jpg),
    ``NAME.depth.png`` in millimetres and ``NAME.pose.txt``, the camera's pose in the world as four rows of four.

    Raises:
        ImportFailed: naming the file that is missing, unreadable, of another size, or no rigid pose.
    """
    folder = Path(folder)
    names = sorted(file.name.removesuffix(_POSE) for file in folder.glob(f"*{_POSE}")) if folder.is_dir() else []
    if not names:
        raise ImportFailed(
            "there are no posed frames",
            where=str(folder),
            why=f"no file ends in {_POSE}",
            next_step=f"give a folder of NAME.color.png, NAME{_DEPTH}, NAME{_POSE}",
        )
    K = _matrix(folder / _INTRINSICS, 3)
    if not (K[0, 0] > 0.0 and K[1, 1] > 0.0):
        raise ImportFailed("the focal length is not above 0", where=str(folder / _INTRINSICS), next_step="write fx 0 cx, 0 fy cy, 0 0 1 in three rows")
    return [_frame(folder, name, K) for name in names]


def _frame(folder: Path, name: str, K: Floats) -> PosedFrame:
    pose, depth_file = folder / f"{name}{_POSE}", folder / f"{name}{_DEPTH}"
    T = _matrix(pose, 4)
    if not np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-2) or np.linalg.det(T[:3, :3]) < 0.0:
        raise ImportFailed("the pose is no rotation and shift", where=str(pose), next_step="write the camera's pose in the world, four rows of four")
    color_file = next((file for file in (folder / f"{name}{suffix}" for suffix in _COLORS) if file.exists()), folder / f"{name}{_COLORS[0]}")
    rgb, raw = np.array(_image(color_file).convert("RGB")), np.array(_image(depth_file))
    if raw.ndim != 2 or raw.dtype.kind not in "iu":
        raise ImportFailed("the depth image is not one channel of whole millimetres", where=str(depth_file), next_step="save 16-bit greyscale PNG")
    if raw.shape != rgb.shape[:2]:
        why = f"colour is {rgb.shape[1]} x {rgb.shape[0]}, depth {raw.shape[1]} x {raw.shape[0]} pixels"
        raise ImportFailed("colour and depth differ in size", where=str(depth_file), why=why, next_step="register one to the other")
    return PosedFrame(name, rgb, np.where(raw == _NOTHING, 0, raw) * _UNIT_M, K, T)


def _matrix(path: Path, size: int) -> Floats:
    try:
        matrix = np.loadtxt(path, dtype=np.float64)
    except (OSError, ValueError) as error:
        raise ImportFailed("a matrix cannot be read", where=str(path), why=str(error), next_step=f"write {size} rows of {size} numbers") from error
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise ImportFailed(
            "a matrix has the wrong shape or is not finite", where=str(path), why=f"{matrix.shape}", next_step=f"write {size} rows of {size} numbers"
        )
    return matrix


def _image(path: Path) -> Image.Image:
    try:
        image = Image.open(path)
        image.load()
    except (OSError, UnidentifiedImageError) as error:
        raise ImportFailed("an image cannot be read", where=str(path), why=str(error), next_step="check that the file is there and whole") from error
    return image


def fuse(frames: list[PosedFrame], *, spacing_m: float = 0.02) -> Capture:
    """One flat Gaussian for every cube of ``spacing_m`` in which some pixel saw a surface; near views count more.

    Raises:
        ImportFailed: no pixel holds a usable depth, or the spacing makes no sense.
    """
    if not _FINEST_M <= spacing_m <= _COARSEST_M:
        raise ImportFailed(
            f"Gaussians {spacing_m:g} m apart are unfit",
            where="--spacing",
            why=f"{_FINEST_M:g} to {_COARSEST_M:g} m make sense",
            next_step="leave it out for 0.02 m",
        )
    seen = [_surface(frame) for frame in frames]
    points, normals, colors, weights, gaps = (np.concatenate(parts) for parts in zip(*seen, strict=True))
    total = sum(frame.depth_m.size for frame in frames)
    if not len(points):
        raise ImportFailed(
            "no pixel holds a usable depth", why=f"{len(frames)} frames of {total:,} pixels in all", next_step="check the unit and the depth images"
        )
    _, home = np.unique(np.floor(points / spacing_m).astype(np.int64), axis=0, return_inverse=True)
    home = home.ravel()
    weight = np.bincount(home, weights)
    mean = {name: _mean(values, weights, home, weight) for name, values in (("point", points), ("normal", normals), ("color", colors))}
    count = len(weight)
    # Where views disagree about the normal the surface is no plane at this scale: the Gaussian becomes round.
    agreed = np.linalg.norm(mean["normal"], axis=1)
    thick = np.clip(1.0 - agreed, _THICKNESS, _WIDTH) * spacing_m
    gap = np.full(count, np.inf)
    np.minimum.at(gap, home, gaps)
    width = _WIDTH * np.clip(gap, spacing_m, _MOST_SPACINGS * spacing_m)
    scales = np.column_stack([width, width, thick])
    columns = Columns(
        mean["point"].astype(np.float32),
        facing(mean["normal"] / np.maximum(agreed, 1e-9)[:, None]).astype(np.float32),
        scales.astype(np.float32),
        np.full(count, _OPACITY, np.float32),
        ((mean["color"] / 255.0 - 0.5) / SH_C0).astype(np.float32)[:, None, :],
    )
    gaussians, remarks = sound_gaussians(columns, "posed frames")
    told = f"{len(frames)} frames: {len(points):,} of {total:,} pixels saw a surface, fused into {count:,} Gaussians {spacing_m:g} m apart"
    return Capture(gaussians, "posed RGB-D frames", (told, *remarks))


def _surface(frame: PosedFrame) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """World points, unit normals towards the camera, colours, weights and distances to the next pixel's point, of the pixels whose four neighbours
    lie on the same surface."""
    z = frame.depth_m
    rows, columns = np.indices(z.shape)
    # Pixel centres of depth cameras' intrinsics are whole numbers.
    x, y = (columns - frame.K[0, 2]) / frame.K[0, 0] * z, (rows - frame.K[1, 2]) / frame.K[1, 1] * z
    points = np.stack([x, y, z], axis=2)
    inner, right, left, down, up = z[1:-1, 1:-1], z[1:-1, 2:], z[1:-1, :-2], z[2:, 1:-1], z[:-2, 1:-1]
    smooth = inner > 0.0
    for other in (right, left, down, up):
        smooth &= (other > 0.0) & (np.abs(other - inner) <= _JUMP * inner)
    normal = np.cross(points[2:, 1:-1] - points[:-2, 1:-1], points[1:-1, 2:] - points[1:-1, :-2])[smooth]
    length = np.linalg.norm(normal, axis=1)
    at = points[1:-1, 1:-1][smooth]
    flat = length > 0.0
    normal, at = normal[flat] / length[flat, None], at[flat]
    # What is seen edge-on is seen badly.
    square_on = np.abs(np.einsum("ij,ij->i", normal, at)) / np.linalg.norm(at, axis=1)
    R, t = frame.T_world_camera[:3, :3], frame.T_world_camera[:3, 3]
    color = frame.rgb[1:-1, 1:-1][smooth][flat].astype(np.float64)
    gap = at[:, 2] / frame.K[0, 0] / np.maximum(square_on, 0.05)
    return at @ R.T + t, normal @ R.T, color, square_on / at[:, 2] ** 2 + 1e-9, gap


def _mean(values: Floats, weights: Floats, home: NDArray[np.int64], weight: NDArray[Any]) -> Floats:
    """(M, 3) weighted means of values (N, 3) by their homes (N,)."""
    return np.stack([np.bincount(home, weights * values[:, d]) / weight for d in range(3)], axis=1)


def facing(normal: Floats) -> Floats:
    """(N, 4) quaternions, w first, that turn the z axis into unit normals (N, 3)."""
    x, y, z = normal.T
    flipped = z < -0.999999
    w = np.sqrt(np.maximum(0.5 * (1.0 + z), 1e-12))
    turned = np.stack([w, -0.5 * y / w, 0.5 * x / w, np.zeros_like(w)], axis=1)
    turned[flipped] = [0.0, 1.0, 0.0, 0.0]
    return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True))
