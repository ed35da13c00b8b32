"""3D Gaussians: what a splat capture is made of, in activated values and the world's frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Value of the constant spherical harmonic; colour is 0.5 + SH_C0 * sh[:, 0].
SH_C0 = 0.28209479177387814
#: Coefficients per channel of each degree that captures come in.
SH_COEFFICIENTS = (1, 4, 9, 16)


@dataclass(frozen=True)
class Gaussians:
    """N Gaussians. Files hold logarithms and logits; here everything is what it means.

    Attributes:
        means: (N, 3) float32, centres, metres.
        rotations_wxyz: (N, 4) float32, unit quaternions from the Gaussian's own axes to the world's.
        scales_m: (N, 3) float32, standard deviations along its own axes, above 0.
        opacity: (N,) float32, 0 to 1.
        sh: (N, K, 3) float32, K of ``SH_COEFFICIENTS``: spherical harmonics of red, green and blue, the constant one first,
            in the order and sign of the INRIA reference code.
        instance: (N,) int32, see ``Semantics.instances``; 0 where nothing is known.
    """

    means: NDArray[np.float32]
    rotations_wxyz: NDArray[np.float32]
    scales_m: NDArray[np.float32]
    opacity: NDArray[np.float32]
    sh: NDArray[np.float32]
    instance: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.means)

    @property
    def degree(self) -> int:
        """Degree of the spherical harmonics, 0 to 3."""
        return SH_COEFFICIENTS.index(self.sh.shape[1])

    def chosen(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Gaussians:
        """Some of them, by mask or index."""
        return Gaussians(self.means[which], self.rotations_wxyz[which], self.scales_m[which], self.opacity[which], self.sh[which], self.instance[which])
