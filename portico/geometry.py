"""Poses, angles, polylines and polygons: the only place where frames are converted.

World frame: right-handed, x east, y north, z up, metres. Yaw in radians, counter-clockwise from +x.
Camera frame: x right, y down, z forward. ``T_a_b`` maps coordinates in b to coordinates in a.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Camera axes written in the base frame (x forward, y left, z up) for a camera that looks straight ahead.
_R_BASE_CAMERA = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True)
class Pose:
    """A base pose: position of the body's foot point (on the supporting surface) and heading.

    Attributes:
        x, y, z: metres, world frame unless the name of the variable says otherwise.
        yaw_rad: heading, counter-clockwise from +x.
    """

    x: float
    y: float
    z: float = 0.0
    yaw_rad: float = 0.0

    @property
    def position(self) -> Floats:
        """(3,) float64."""
        return np.array([self.x, self.y, self.z])

    def matrix(self) -> Floats:
        """T_world_base, (4, 4)."""
        return transform(rotation_z(self.yaw_rad), self.position)

    def relative_to(self, origin: Pose) -> Pose:
        """This pose written in the frame of ``origin``."""
        dx, dy = self.x - origin.x, self.y - origin.y
        c, s = cos(origin.yaw_rad), sin(origin.yaw_rad)
        return Pose(c * dx + s * dy, -s * dx + c * dy, self.z - origin.z, wrap_angle(self.yaw_rad - origin.yaw_rad))

    def compose(self, local: Pose) -> Pose:
        """The pose ``local``, given in this pose's frame, written in this pose's parent frame."""
        c, s = cos(self.yaw_rad), sin(self.yaw_rad)
        x, y = self.x + c * local.x - s * local.y, self.y + s * local.x + c * local.y
        return Pose(x, y, self.z + local.z, wrap_angle(self.yaw_rad + local.yaw_rad))


def wrap_angle(angle_rad: float) -> float:
    """The same angle in [-pi, pi)."""
    return (angle_rad + pi) % (2.0 * pi) - pi


def rotation_z(yaw_rad: float) -> Floats:
    """(3, 3) rotation about +z."""
    c, s = cos(yaw_rad), sin(yaw_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_y(pitch_rad: float) -> Floats:
    """(3, 3) rotation about +y; positive pitch turns +x towards -z, so a camera looks down."""
    c, s = cos(pitch_rad), sin(pitch_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_x(roll_rad: float) -> Floats:
    """(3, 3) rotation about +x; positive roll turns +y towards +z, so the left side rises."""
    c, s = cos(roll_rad), sin(roll_rad)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def leaning(pose: Pose, roll_rad: float, pitch_rad: float, pivot_m: float) -> Floats:
    """T_world_base, (4, 4), of a body at a pose that leans about a point ``pivot_m`` above its foot point; positive pitch is nose down."""
    R = rotation_z(pose.yaw_rad) @ rotation_y(pitch_rad) @ rotation_x(roll_rad)
    pivot = np.array([0.0, 0.0, pivot_m])
    return transform(R, pose.position + pivot - R @ pivot)


def transform(rotation: Floats, translation: Floats) -> Floats:
    """(4, 4) homogeneous transform from (3, 3) and (3,)."""
    T = np.eye(4)
    T[:3, :3] = rotation
    T[:3, 3] = translation
    return T


def camera_transform(x: float, y: float, z: float, yaw_rad: float, pitch_rad: float) -> Floats:
    """T_parent_camera, (4, 4), of a camera at (x, y, z) that looks along ``yaw_rad``, tilted down by ``pitch_rad``."""
    return transform(rotation_z(yaw_rad) @ rotation_y(pitch_rad) @ _R_BASE_CAMERA, np.array([x, y, z]))


def polyline_length(points: Floats) -> float:
    """Length of a polyline (N, D); 0 for fewer than two points."""
    if len(points) < 2:
        return 0.0
    return float(np.linalg.norm(np.diff(np.asarray(points, dtype=np.float64), axis=0), axis=1).sum())


def arc_lengths(points: Floats) -> Floats:
    """Cumulative length at every vertex of a polyline (N, D): (N,)."""
    points = np.asarray(points, dtype=np.float64)
    if len(points) == 0:
        return np.zeros(0)
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])


def resample(points: Floats, spacing_m: float) -> Floats:
    """Points every ``spacing_m`` along a polyline (N, D), both ends kept: (M, D)."""
    points = np.asarray(points, dtype=np.float64)
    s = arc_lengths(points)
    if len(points) < 2 or s[-1] <= 0.0:
        return points[:1].copy()
    count = max(2, int(np.ceil(s[-1] / spacing_m)) + 1)
    targets = np.linspace(0.0, s[-1], count)
    return np.stack([np.interp(targets, s, points[:, d]) for d in range(points.shape[1])], axis=1)


def project_on_polyline(point: Floats, points: Floats) -> tuple[float, float]:
    """Arc length of the nearest point of a polyline (N, D), and the distance to it.

    Of equally near points the earliest along the polyline is taken.
    """
    points = np.asarray(points, dtype=np.float64)
    point = np.asarray(point, dtype=np.float64)
    if len(points) == 1:
        return 0.0, float(np.linalg.norm(point - points[0]))
    starts, steps = points[:-1], np.diff(points, axis=0)
    squared = (steps**2).sum(axis=1)
    t = np.clip(((point - starts) * steps).sum(axis=1) / np.where(squared > 0.0, squared, 1.0), 0.0, 1.0)
    distances = np.linalg.norm(starts + t[:, None] * steps - point, axis=1)
    best = int(np.argmin(np.round(distances, 9)))
    return float(arc_lengths(points)[best] + t[best] * np.sqrt(squared[best])), float(distances[best])


def points_in_polygon(points: Floats, polygon: Floats) -> NDArray[np.bool_]:
    """Which of the points (N, 2+) lie in a simple polygon (M, 2); even-odd rule, half-open on the border."""
    px, py = np.asarray(points, dtype=np.float64)[:, 0], np.asarray(points, dtype=np.float64)[:, 1]
    polygon = np.asarray(polygon, dtype=np.float64)
    x1, y1 = polygon[:, 0], polygon[:, 1]
    x2, y2 = np.roll(x1, -1), np.roll(y1, -1)
    inside = np.zeros(len(px), dtype=bool)
    for a, b, c, d in zip(x1, y1, x2, y2, strict=True):
        if b != d:
            inside ^= ((b > py) != (d > py)) & (px < (c - a) * (py - b) / (d - b) + a)
    return inside
