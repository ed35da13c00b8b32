"""Gaussians in another frame: centres, rotations, scales and harmonics turned together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from portico.build.splats.harmonics import band_rotations
from portico.errors import ImportFailed
from portico.world.gaussians import SH_COEFFICIENTS, Gaussians

#: How far the turned axes may be from unit length and right angles.
_TOLERANCE = 1e-4


def turned(gaussians: Gaussians, T_new_old: NDArray[np.float64]) -> Gaussians:
    """The same Gaussians written in another frame.

    Args:
        gaussians: in the old frame.
        T_new_old: (4, 4), a similarity: uniform scale times rotation, and a translation. Mirroring is refused, because a mirrored
            capture shows mirrored writing: left-handed sources are to be converted where they are exported.

    Returns:
        Gaussians in the new frame; opacities and instances are the old ones.

    Raises:
        ImportFailed: when the transform stretches, shears or mirrors.
    """
    T = np.asarray(T_new_old, np.float64)
    scale, rotation = _scale_and_rotation(T)
    means = gaussians.means.astype(np.float64) @ T[:3, :3].T + T[:3, 3]
    sh = gaussians.sh.copy()
    for degree, matrix in enumerate(band_rotations(rotation, gaussians.degree), start=1):
        band = slice(SH_COEFFICIENTS[degree - 1], SH_COEFFICIENTS[degree])
        sh[:, band] = np.einsum("ij,njc->nic", matrix.astype(np.float32), gaussians.sh[:, band], optimize=True)
    return Gaussians(
        means=means.astype(np.float32),
        rotations_wxyz=_turned_quaternions(rotation, gaussians.rotations_wxyz),
        scales_m=(gaussians.scales_m * scale).astype(np.float32),
        opacity=gaussians.opacity,
        sh=sh,
        instance=gaussians.instance,
    )


def _scale_and_rotation(T: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    linear = T[:3, :3]
    if T.shape != (4, 4) or not np.isfinite(T).all() or not np.allclose(T[3], (0.0, 0.0, 0.0, 1.0)):
        raise ImportFailed(
            "the transform of the capture is no finite (4, 4) matrix with last row 0 0 0 1", next_step="give rotation, uniform scale and translation"
        )
    determinant = float(np.linalg.det(linear))
    if determinant <= 0.0:
        raise ImportFailed(
            "the transform of the capture mirrors it" if determinant < 0.0 else "the transform of the capture flattens it",
            why=f"its determinant is {determinant:.3g}",
            next_step="export the capture in right-handed axes",
        )
    scale = determinant ** (1.0 / 3.0)
    rotation = linear / scale
    if not np.allclose(rotation @ rotation.T, np.eye(3), atol=_TOLERANCE):
        raise ImportFailed(
            "the transform of the capture stretches or shears it",
            why="Gaussians keep their meaning under uniform scale only",
            next_step="apply one scale to all axes",
        )
    return scale, rotation


def _turned_quaternions(rotation: NDArray[np.float64], quaternions: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rotation after each quaternion, wxyz: (N, 4), unit length."""
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    product = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    after = quaternions.astype(np.float64) @ product.T
    after /= np.linalg.norm(after, axis=1, keepdims=True)
    return np.asarray(after, np.float32)
