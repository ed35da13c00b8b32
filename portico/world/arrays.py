"""Layers that are arrays: NPZ files with named arrays of a known type, checked when they are read."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import WorldError

REBUILD = "rebuild or re-import the world"
#: Name -> type and number of axes.
Arrays = Mapping[str, tuple[type, int]]


def read_arrays(path: Path, expected: Arrays, what: str) -> dict[str, NDArray[Any]]:
    """The arrays of a layer.

    Args:
        what: name of the layer in messages.

    Raises:
        WorldError: naming the file and the array that is missing, damaged or of another type.
    """
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with np.load(path, allow_pickle=False) as archive:
            for name, (dtype, dimensions) in expected.items():
                if name not in archive:
                    raise WorldError(f"the {what} lacks an array", where=f"{path}: {name}", next_step=REBUILD)
                array = archive[name]
                if array.dtype != dtype or array.ndim != dimensions:
                    raise WorldError(
                        f"a {what} array has the wrong type", where=f"{path}: {name}", why=f"{array.dtype} with {array.ndim} axes", next_step=REBUILD
                    )
                arrays[name] = array
    except FileNotFoundError as error:
        raise WorldError("a layer of the world is missing", where=str(path), next_step=REBUILD) from error
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise WorldError("a layer of the world is truncated or damaged", where=str(path), why=str(error), next_step=REBUILD) from error
    return arrays


def check_lengths(arrays: Mapping[str, NDArray[Any]], count: int, per: str, path: Path, what: str) -> None:
    """Refuse arrays that do not have one entry for each of ``count`` things, named ``per``.

    Raises:
        WorldError: naming the array.
    """
    for name, array in arrays.items():
        if len(array) != count:
            raise WorldError(f"{what} arrays of different lengths", where=f"{path}: {name}", why=f"{len(array)} entries for {count} {per}", next_step=REBUILD)


def check_finite(array: NDArray[Any], label: str, things: str, path: Path) -> None:
    """Refuse NaN and infinity in rows of an array.

    Raises:
        WorldError: naming the first row.
    """
    bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), max(1, array[:1].size))).all(axis=1))
    if len(bad):
        raise WorldError(
            f"{things} that are not finite",
            where=f"{path}: {label}[{bad[0]}]",
            why=f"{len(bad)} of {len(array)} hold NaN or infinity",
            next_step=REBUILD,
        )
