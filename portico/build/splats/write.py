"""Gaussians as files that other programs read: the INRIA PLY with all harmonics, and the 32-byte .splat of web viewers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from portico.build.splats.read_dot_splat import ROW
from portico.build.splats.read_ply import RAW_VALUES
from portico.world.gaussians import SH_C0, Gaussians
from portico.world.whole_file import whole_file

#: Opacities closer to 0 and 1 have no finite logit in float32.
_LEAST, _MOST = float(np.finfo(np.float32).tiny), 1.0 - 2.0**-24


def write_ply(gaussians: Gaussians, path: Path | str) -> None:
    """Write a binary little-endian PLY in the INRIA layout, with every harmonic and zero normals; the whole file or none.

    Logarithms and logits are taken in double precision and rounded once. Instances are not written: the layout has no place for them.

    Raises:
        StorageError: when the file cannot be written.
    """
    rest = (gaussians.sh.shape[1] - 1) * 3
    names = ["x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", *(f"f_rest_{i}" for i in range(rest)), "opacity"]
    names += [*(f"scale_{i}" for i in range(3)), *(f"rot_{i}" for i in range(4))]
    opacity = np.clip(gaussians.opacity.astype(np.float64), _LEAST, _MOST)
    rows = np.zeros((len(gaussians), len(names)), "<f4")
    rows[:, :3] = gaussians.means
    rows[:, 6:9] = gaussians.sh[:, 0]
    rows[:, 9 : 9 + rest] = gaussians.sh[:, 1:].transpose(0, 2, 1).reshape(len(gaussians), rest)
    rows[:, -8] = np.log(opacity) - np.log1p(-opacity)
    rows[:, -7:-4] = np.log(gaussians.scales_m.astype(np.float64))
    rows[:, -4:] = gaussians.rotations_wxyz
    lines = [
        "ply",
        "format binary_little_endian 1.0",
        f"comment {RAW_VALUES}",
        f"element vertex {len(gaussians)}",
        *(f"property float {name}" for name in names),
    ]
    with whole_file(Path(path)) as file:
        file.write(("\n".join([*lines, "end_header"]) + "\n").encode("ascii"))
        file.write(rows.tobytes())


def write_splat(gaussians: Gaussians, path: Path | str) -> None:
    """Write antimatter15's .splat, largest volume times opacity first, bytes rounded to the nearest; the whole file or none.

    The format has no harmonics beyond the constant one: colours become those that the view direction does not change.

    Raises:
        StorageError: when the file cannot be written.
    """
    volume = gaussians.scales_m.astype(np.float64).prod(axis=1)
    order = np.argsort(-volume * gaussians.opacity, kind="stable")
    rows = np.empty(len(gaussians), ROW)
    rows["mean"], rows["scale"] = gaussians.means[order], gaussians.scales_m[order]
    colours = 0.5 + SH_C0 * gaussians.sh[order, 0].astype(np.float64)
    shares = np.concatenate([colours, gaussians.opacity[order, None]], axis=1)
    rows["rgba"] = np.rint(np.clip(shares * 255.0, 0.0, 255.0)).astype(np.uint8)
    rows["rot"] = np.rint(np.clip(gaussians.rotations_wxyz[order].astype(np.float64) * 128.0 + 128.0, 0.0, 255.0)).astype(np.uint8)
    with whole_file(Path(path)) as file:
        file.write(rows.tobytes())
