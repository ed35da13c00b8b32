"""Bands of a picture as red, green, blue and alpha in 8 bits: which band is what, and one stretch for the whole picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import ImportFailed

#: Of a picture in more than 8 bits so many of a thousand values are cut off at either end.
_CUT = 5.0
#: Pixels across that the stretch is taken from; a picture of any size is looked at in as many.
_SAMPLE_PX = 1024


@dataclass(frozen=True)
class Bands:
    """How a file's bands become a picture.

    Attributes:
        indexes: of the bands that are red, green and blue, from 1; one and the same for a panchromatic picture.
        palette: (256, 4) colours of a picture of indices, else None. low, high: values that become 0 and 255.
        alpha: index of the band of opacity, 0 for none.
        lines: what was assumed, for the user.
    """

    indexes: tuple[int, int, int]
    palette: NDArray[np.uint8] | None
    low: float
    high: float
    alpha: int
    lines: tuple[str, ...]

    def picture(self, file: Any, window: Any) -> NDArray[np.uint8]:
        """(rows, columns, 4) of a window."""
        wanted = sorted(set(self.indexes))
        data = file.read(wanted, window=window)
        valid = file.dataset_mask(window=window) > 0
        if np.issubdtype(data.dtype, np.floating):
            valid &= np.isfinite(data).all(axis=0)
        out = np.zeros((*data.shape[1:], 4), np.uint8)
        if self.palette is not None:
            out[:] = self.palette[data[0]]
        else:
            for k, index in enumerate(self.indexes):
                out[:, :, k] = self._stretched(data[wanted.index(index)])
            out[:, :, 3] = 255
        out[~valid] = 0
        return out

    def _stretched(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        if values.dtype == np.uint8 and (self.low, self.high) == (0.0, 255.0):
            return values
        # What is not finite is no data, and black in the end; values beyond the range are clipped before they are scaled, so that none overflows.
        wide = np.float64 if values.dtype.itemsize > 4 else np.float32
        inside = np.clip(np.nan_to_num(values.astype(wide), posinf=0.0, neginf=0.0), wide(self.low), wide(self.high))
        return np.asarray(np.rint((inside - wide(self.low)) * wide(255.0 / (self.high - self.low))).astype(np.uint8))


def read_bands(file: Any, path: Path) -> Bands:
    """Look at a file's bands and at a thinned-out copy of its values.

    Raises:
        ImportFailed: values that are no brightness, or a picture without any contrast or data.
    """
    dtype = np.dtype(file.dtypes[0])
    if dtype.kind == "c":
        raise ImportFailed(
            "the GeoTIFF holds complex numbers, no picture", where=f"{path}: bands", next_step="give a picture: a band of brightness, or three of colour"
        )
    names = [c.name for c in file.colorinterp]
    lines = []
    alpha = names.index("alpha") + 1 if "alpha" in names else 0
    palette = _palette(file) if names[0] == "palette" else None
    colors = [k + 1 for k, name in enumerate(names) if name != "alpha"]
    if palette is not None or len(colors) < 3:
        indexes = (1, 1, 1)
        lines += ["one band: shown as grey"] if palette is None else []
    elif {"red", "green", "blue"} <= set(names):
        indexes = (names.index("red") + 1, names.index("green") + 1, names.index("blue") + 1)
        lines += [f"{len(colors)} bands: red, green and blue are bands {', '.join(map(str, indexes))}"] if len(colors) > 3 else []
    else:
        indexes = (colors[0], colors[1], colors[2])
        lines.append(f"the file does not say which of its {file.count} bands are colours: the first three are taken for red, green and blue")
    low, high = 0.0, 255.0
    if palette is None and dtype != np.uint8:
        low, high = _range(file, sorted(set(indexes)), path)
        lines.append(f"{dtype.name} values: {low:,.6g} to {high:,.6g} become 0 to 255 everywhere")
    return Bands(indexes, palette, low, high, alpha, tuple(lines))


def _range(file: Any, indexes: list[int], path: Path) -> tuple[float, float]:
    shape = (min(file.height, _SAMPLE_PX), min(file.width, _SAMPLE_PX))
    data = file.read(indexes, out_shape=(len(indexes), *shape)).astype(np.float64)
    valid = (file.dataset_mask(out_shape=shape) > 0) & np.isfinite(data).all(axis=0)
    if not valid.any():
        raise ImportFailed("the GeoTIFF holds no data", where=f"{path}: bands", why="every value is nodata", next_step="check its nodata value")
    low, high = np.percentile(data[:, valid], [_CUT / 10.0, 100.0 - _CUT / 10.0])
    if high <= low:
        raise ImportFailed(
            "the GeoTIFF has no contrast", where=f"{path}: bands", why=f"nearly every value is {low:g}", next_step="check that this is a picture"
        )
    return float(low), float(high)


def _palette(file: Any) -> NDArray[np.uint8]:
    table = np.zeros((256, 4), np.uint8)
    for value, color in file.colormap(1).items():
        if 0 <= value < 256:
            table[value] = color
    table[:, 3] = 255
    return table
