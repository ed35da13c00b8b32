"""What a reader hands over, and the checks that every format shares: unusable Gaussians are dropped, and counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from portico.errors import ImportFailed
from portico.world.gaussians import SH_COEFFICIENTS, Gaussians

#: Thinnest standard deviation kept, in the capture's unit: a Gaussian of no thickness has no inverse covariance.
THINNEST = 1e-7
#: Quaternions shorter than this say nothing about a direction.
_SHORTEST_QUATERNION = 1e-6


@dataclass(frozen=True)
class Capture:
    """A capture as its file describes it: its own axes and unit, nothing turned or scaled yet.

    Attributes:
        gaussians: activated values; every instance is 0.
        format: what the file turned out to be, e.g. ``"ply"``, ``"compressed ply"``, ``"splat"``, ``"spz 3"``, ``"glb, spz 2"``.
        remarks: one sentence each for whatever was dropped, repaired or assumed, with counts.
        up: the axis that the format itself declares as up, empty where it declares none.
    """

    gaussians: Gaussians
    format: str
    remarks: tuple[str, ...] = ()
    up: str = ""


@dataclass
class Columns:
    """Values of N Gaussians as decoded, before they are checked. Scales and opacities are activated, quaternions of any length."""

    means: NDArray[np.float32]  # (N, 3)
    rotations_wxyz: NDArray[np.float32]  # (N, 4)
    scales: NDArray[np.float32]  # (N, 3)
    opacity: NDArray[np.float32]  # (N,)
    sh: NDArray[np.float32]  # (N, K, 3)
    remarks: list[str] = field(default_factory=list)


def joined(parts: Sequence[Columns]) -> Columns:
    """Several lots as one; harmonics that a lot lacks are 0."""
    bands = max(part.sh.shape[1] for part in parts)
    return Columns(
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.rotations_wxyz for part in parts]),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.opacity for part in parts]),
        np.concatenate([np.pad(part.sh, ((0, 0), (0, bands - part.sh.shape[1]), (0, 0))) for part in parts]),
        [remark for part in parts for remark in part.remarks],
    )


def sound_gaussians(columns: Columns, where: str) -> tuple[Gaussians, tuple[str, ...]]:
    """The usable Gaussians, with unit quaternions, and the remarks about the others.

    Raises:
        ImportFailed: when there are none, or none is left.
    """
    total = len(columns.means)
    if total == 0:
        raise ImportFailed("the file holds 0 Gaussians", where=where, why="its header declares an empty list", next_step="export the capture again")
    remarks = list(columns.remarks)
    keep = _finite(columns, remarks)
    lengths = np.linalg.norm(columns.rotations_wxyz.astype(np.float64), axis=1)
    zero = keep & ~(lengths > _SHORTEST_QUATERNION)
    if zero.any():
        remarks.append(_dropped(int(zero.sum()), total, "rot_0 to rot_3 are all zero"))
        keep &= ~zero
    if not keep.any():
        raise ImportFailed(f"none of the {total:,} Gaussians is usable", where=where, why="; ".join(remarks), next_step="export the capture again")
    flat = keep & (columns.scales < THINNEST).any(axis=1)
    if flat.any():
        remarks.append(f"{flat.sum():,} of {total:,} Gaussians are thinner than {THINNEST:g} (scale): raised to it")
    rotations = (columns.rotations_wxyz[keep] / lengths[keep, None]).astype(np.float32)
    sh = np.ascontiguousarray(columns.sh[keep, : SH_COEFFICIENTS[-1]], dtype=np.float32)
    gaussians = Gaussians(
        means=np.ascontiguousarray(columns.means[keep], dtype=np.float32),
        rotations_wxyz=rotations,
        scales_m=np.maximum(columns.scales[keep], np.float32(THINNEST)).astype(np.float32),
        opacity=np.clip(columns.opacity[keep], 0.0, 1.0).astype(np.float32),
        sh=sh,
        instance=np.zeros(len(rotations), np.int32),
    )
    if columns.sh.shape[1] > SH_COEFFICIENTS[-1]:
        remarks.append(f"spherical harmonics of degree 4 were dropped: {columns.sh.shape[1]} coefficients became {SH_COEFFICIENTS[-1]}")
    return gaussians, tuple(remarks)


def _finite(columns: Columns, remarks: list[str]) -> NDArray[np.bool_]:
    """Mask of rows without NaN and infinity; says which properties were bad, each row under its first reason."""
    total = len(columns.means)
    keep = np.ones(total, bool)
    for values, names in (
        (columns.means, "x, y or z"),
        (columns.scales, "scale_0 to scale_2"),
        (columns.rotations_wxyz, "rot_0 to rot_3"),
        (columns.opacity[:, None], "opacity"),
        (columns.sh.reshape(total, -1), "f_dc or f_rest"),
    ):
        bad = keep & ~np.isfinite(values).all(axis=1)
        if bad.any():
            remarks.append(_dropped(int(bad.sum()), total, f"NaN or infinity in {names}"))
            keep &= ~bad
    return keep


def _dropped(count: int, total: int, why: str) -> str:
    return f"dropped {count:,} of {total:,} Gaussians ({100.0 * count / total:.3g} %): {why}"


def within_limit(capture: Capture, limit: int | None) -> Capture:
    """The capture, or the ``limit`` of its Gaussians with the largest opacity times cross-section, in the order of the file."""
    gaussians = capture.gaussians
    if limit is None or len(gaussians) <= limit:
        return capture
    cross_section = np.sort(gaussians.scales_m, axis=1)[:, 1:].astype(np.float64).prod(axis=1)
    chosen = np.sort(np.argsort(-cross_section * gaussians.opacity, kind="stable")[:limit]).astype(np.int64)
    remark = f"kept the {limit:,} of {len(gaussians):,} Gaussians that cover most, as the limit asks"
    return replace(capture, gaussians=gaussians.chosen(chosen), remarks=(*capture.remarks, remark))


def sigmoid(logits: NDArray[np.floating]) -> NDArray[np.float32]:
    """1 / (1 + exp(-x)) in double precision; infinite logits are 0 and 1, NaN stays."""
    with np.errstate(over="ignore"):
        return (1.0 / (1.0 + np.exp(-logits.astype(np.float64)))).astype(np.float32)


def exponential(logarithms: NDArray[np.floating]) -> NDArray[np.float32]:
    """exp(x) in double precision, rounded once; what exceeds float32 becomes infinite and is dropped with the infinite ones."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(logarithms.astype(np.float64)).astype(np.float32)


def missing(names: Iterable[str], present: Iterable[str]) -> list[str]:
    """Which of the names are absent, in their order."""
    have = set(present)
    return [name for name in names if name not in have]
