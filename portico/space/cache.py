"""Keeps a built Space beside its world: a block takes many seconds to survey and a fraction of one to read back."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from portico.grids import distance, paths
from portico.grids.paths import Lattice
from portico.space.body import BodySize
from portico.space.build import build_space
from portico.space.queries import Ground
from portico.space.space import Space
from portico.world import World

_OWN = ("nodes_xyz", "node_surface", "node_clearance_m", "node_component", "roomy")


def cached_space(world: World, embodiment: BodySize, folder: Path, *, cell_m: float | None = None) -> Space:
    """The Space of a world that lies in ``folder``: read from its cache, else built and put there when the folder can be written.

    Raises:
        UserError: as ``build_space``.
    """
    cell = cell_m or world.manifest.cell_m
    path = folder / "cache" / f"space-{embodiment.name}-{_fingerprint(world, embodiment, cell)}.npz"
    found = _read(path, world, embodiment, cell)
    if found is not None:
        return found
    space = build_space(world, embodiment, cell_m=cell)
    _write(space, path)
    return space


def _fingerprint(world: World, embodiment: BodySize, cell: float) -> str:
    """Changes with the world, the body, the cell and the code that builds spaces."""
    digest = hashlib.sha256()
    sizes = (embodiment.radius_m, embodiment.height_m, embodiment.climb_m, embodiment.slope_rad)
    digest.update(f"{world.manifest.content_hash} {sizes} {cell} {np.__version__}".encode())
    for file in sorted([*Path(__file__).parent.glob("*.py"), Path(distance.__file__), Path(paths.__file__)]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _write(space: Space, path: Path) -> None:
    arrays: dict[str, Any] = {name: getattr(space, name) for name in _OWN}
    arrays |= _flat("ground", space.ground) | _flat("lattice", space.lattice)
    staging = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        path.parent.mkdir(exist_ok=True)
        np.savez(staging, **arrays)
        staging.replace(path)
    except OSError:
        # A read-only or full disk costs time next time, nothing else.
        staging.unlink(missing_ok=True)


def _read(path: Path, world: World, embodiment: BodySize, cell: float) -> Space | None:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
    ground = Ground(*(_plain(arrays[f"ground.{name}"]) for name in Ground._fields))
    lattice = Lattice(*(arrays[f"lattice.{name}"] for name in Lattice._fields))
    return Space(world.id, cell, embodiment, **{name: arrays[name] for name in _OWN}, lattice=lattice, ground=ground)


def _flat(prefix: str, value: Any) -> dict[str, Any]:
    """The arrays of a named tuple, by dotted name."""
    return {f"{prefix}.{name}": array for name, array in value._asdict().items()}


def _plain(array: Any) -> Any:
    """Scalars were written as arrays without axes."""
    return array.item() if array.ndim == 0 else array
