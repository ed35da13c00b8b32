"""The .splat format of antimatter15: 32 bytes a Gaussian and nothing else.

Layout, little-endian (github.com/antimatter15/splat): centre 3 x float32, standard deviations 3 x float32, red, green, blue and opacity
4 x uint8, quaternion (w, x, y, z) 4 x uint8 as 128 + 128 q.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from portico.build.splats.capture import Columns
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0

ROW = np.dtype([("mean", "<f4", 3), ("scale", "<f4", 3), ("rgba", "u1", 4), ("rot", "u1", 4)])


def read_dot_splat(path: Path) -> Columns:
    """Columns of a .splat file.

    Raises:
        ImportFailed: when its size is no multiple of 32 bytes.
    """
    size = path.stat().st_size
    if size % ROW.itemsize:
        raise ImportFailed(
            "the .splat file is truncated",
            where=str(path),
            why=f"every Gaussian takes {ROW.itemsize} bytes, and {size:,} bytes are {size % ROW.itemsize} too many for {size // ROW.itemsize:,}",
            next_step="download or export the file again",
        )
    rows = np.fromfile(path, ROW)
    rgba = rows["rgba"].astype(np.float32) / np.float32(255.0)
    return Columns(
        means=rows["mean"],
        rotations_wxyz=(rows["rot"].astype(np.float32) - 128.0) / np.float32(128.0),
        scales=rows["scale"],
        opacity=rgba[:, 3],
        sh=((rgba[:, None, :3] - 0.5) / SH_C0).astype(np.float32),
    )
