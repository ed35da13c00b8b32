"""A look at a capture's file before it becomes a world: from all around, and from its middle, so that up and scale can be judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.build.splats import alignment, read_splats, turned
from portico.errors import ImportFailed, StorageError
from portico.geometry import Floats, camera_transform
from portico.interface import Camera
from portico.render import contact_sheet
from portico.render.renderer import average_samples
from portico.render.splats import SplatRenderer
from portico.world import Gaussians

_CAMERA = Camera("look", 400, 300, float(np.deg2rad(60.0)))
_AROUND, _ABOVE_RAD, _PAPER = 8, 0.35, (0.957, 0.949, 0.929)
_LEAST_COVERED = 0.5
_COMPASS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")


class _Photographer:
    """Gaussians as ``contact_sheet`` wants them."""

    def __init__(self, gaussians: Gaussians) -> None:
        self._splats = SplatRenderer(gaussians, background=_PAPER)

    def covered(self, T_world_camera: Floats) -> float:
        """Share of a thumbnail in which something is seen."""
        depth = self._splats.render(T_world_camera, _CAMERA.resized(80, 60), ["depth"]).depth
        assert depth is not None
        return float(np.isfinite(depth).mean())

    def photograph(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        rgb = self._splats.render(T_world_camera, camera.resized(2 * camera.width, 2 * camera.height), ["rgb"]).rgb
        assert rgb is not None
        return average_samples(rgb, 2)


def draw_capture(file: Path, folder: Path, *, up: str = "auto", scale: float = 1.0, points_as_splats: bool = False) -> tuple[Path, tuple[str, ...]]:
    """Write ``NAME-look.png``: eight views from around a capture and, where they show something, four from its middle, z up; and say what was read, given and found.

    Raises:
        ImportFailed: the file cannot be read, or up cannot be told.
        StorageError: the picture cannot be written.
    """
    capture = read_splats(file, points_as_splats=points_as_splats)
    try:
        placed = alignment(capture.gaussians, up=up, scale=scale, stated=capture.up)
    except ImportFailed as error:
        if up != "auto":
            raise
        # A look must not need what it is there to find out.
        placed = alignment(capture.gaussians, up="z", scale=scale)
        placed = replace(placed, reasons=(f"{error.what}; shown with z up; {error.next_step}", *placed.reasons))
    gaussians = turned(capture.gaussians, placed.T_world_capture)
    path = folder / f"{file.name.split('.')[0] if file.suffix != '.json' else file.parent.name}-look.png"
    photographer = _Photographer(gaussians)
    looks = [look for n, look in enumerate(_looks(gaussians)) if n < _AROUND or photographer.covered(look[0]) > _LEAST_COVERED]
    picture = contact_sheet(photographer, looks, _CAMERA)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path)
    except OSError as error:
        raise StorageError("the picture could not be written", where=str(path), why=str(error), next_step="choose another --out") from error
    found = f"{len(gaussians):,} Gaussians of degree {gaussians.degree} ({capture.format})"
    return path, (found, *capture.remarks, *placed.reasons)


def _looks(gaussians: Gaussians) -> list[tuple[Floats, str]]:
    """Poses and captions. What is looked at is the box that holds the middle nine tenths of what is opaque."""
    opaque = gaussians.means[gaussians.opacity > 0.5] if (gaussians.opacity > 0.5).any() else gaussians.means
    low, high = np.percentile(opaque.astype(np.float64), [5.0, 95.0], axis=0)
    middle, reach = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))
    away = 1.25 * reach / np.tan(0.5 * _CAMERA.hfov_rad)
    looks = []
    for n in range(_AROUND):
        angle = 2.0 * np.pi * n / _AROUND
        offset = away * np.array([np.cos(angle) * np.cos(_ABOVE_RAD), np.sin(angle) * np.cos(_ABOVE_RAD), np.sin(_ABOVE_RAD)])
        x, y, z = (middle + offset).tolist()
        looks.append((camera_transform(x, y, z, angle + np.pi, _ABOVE_RAD), f"from the {_COMPASS[n]}, {away:.1f} m away"))
    for n in range(0, _AROUND, 2):
        x, y, z = middle.tolist()
        looks.append((camera_transform(x, y, z, 2.0 * np.pi * n / _AROUND, 0.0), f"from the middle, looking {_COMPASS[n]}"))
    return looks
