"""``import_splat``: a Gaussian capture of a place becomes a world that bodies can walk in and cameras can look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from portico.build.captures.collision import read_collision_mesh
from portico.build.captures.solid import Solid, solidify
from portico.build.captures.voxels import Voxels, Watch, voxelise
from portico.build.splats import Capture, alignment, fuse, read_posed_frames, read_splats, turned
from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.world import (
    Appearance,
    Building,
    Floor,
    Gaussians,
    Geometry,
    InstanceLabel,
    Light,
    Manifest,
    Material,
    Provenance,
    Semantics,
    Surface,
    World,
)

BUILDING = "capture"
#: Shares of an import's time, in hundredths, that are over after each step.
_READ, _PLACED, _FILLED, _WHOLE = 4, 25, 60, 100
#: Floors are at least this far apart, and this large or this share of all ground.
_STOREY_M, _LEAST_STOREY_M2, _LEAST_STOREY_SHARE = 2.0, 2.0, 0.05
_LAST_STOREY_M = 3.0


@dataclass(frozen=True)
class ImportedCapture:
    """A world and what was done to the capture, line by line."""

    world: World
    lines: tuple[str, ...]


def import_splat(
    path: Path | str,
    *,
    up: str = "auto",
    scale: float = 1.0,
    floor: Any = "auto",
    voxel_m: float = 0.05,
    points_as_splats: bool = False,
    mesh: Path | str | None = None,
    world_id: str | None = None,
    watch: Watch = lambda *_: None,
) -> ImportedCapture:
    """Read, put upright, and survey a capture.

    Args:
        up: axis of the file that points up, or ``auto``. scale: metres per unit. floor: ``auto``, ``keep`` or its height.
        voxel_m: edge of the voxels that what is solid is made of.
        points_as_splats: take a coloured point cloud for a capture.
        mesh: a collision mesh in the frame and unit of the file; bodies meet it instead of the Gaussians.
        watch: told (done, wanted) as it goes.

    Raises:
        ImportFailed: unreadable or damaged input, no floor, nothing solid; says what and how to go on.
    """
    path = Path(path)
    capture = read_splats(path, points_as_splats=points_as_splats)
    recipe = {"importer": "splat", "file": path.name}
    place = Placement(up, scale, floor, voxel_m, mesh)
    return place_capture(capture, world_id or path.name.split(".")[0], place, source=f"splat capture {path.name}", where=str(path), recipe=recipe, watch=watch)


@dataclass(frozen=True)
class Placement:
    """How a capture is put into the world; see ``import_splat`` for the fields."""

    up: str = "auto"
    scale: float = 1.0
    floor: Any = "auto"
    voxel_m: float = 0.05
    mesh: Path | str | None = None


def import_frames(folder: Path | str, place: Placement | None = None, *, spacing_m: float = 0.02, world_id: str | None = None) -> ImportedCapture:
    """A world from posed colour and depth images, see ``read_posed_frames``.

    Raises:
        ImportFailed: as ``read_posed_frames``, ``fuse`` and ``import_splat``.
    """
    folder = Path(folder)
    capture = fuse(read_posed_frames(folder), spacing_m=spacing_m)
    recipe = {"importer": "rgbd", "folder": folder.name, "spacing_m": spacing_m}
    return place_capture(capture, world_id or folder.name, place or Placement(), source=f"RGB-D frames {folder.name}", where=str(folder), recipe=recipe)


def place_capture(
    capture: Capture, name: str, place: Placement, *, source: str, where: str, recipe: dict[str, Any], watch: Watch = lambda *_: None
) -> ImportedCapture:
    """Put a capture upright, find what bodies meet, and say what was done."""
    watch(_READ, _WHOLE)
    placed = alignment(capture.gaussians, up=place.up, scale=place.scale, floor=place.floor, stated=capture.up)
    if not placed.has_floor:
        raise ImportFailed("the capture has no floor", where=where, why="; ".join(placed.reasons), next_step="give --up, or --floor with its height")
    gaussians = turned(capture.gaussians, placed.T_world_capture)
    recipe = recipe | {"format": capture.format, "up": placed.up, "scale": place.scale, "voxel_m": place.voxel_m}
    lines = [*capture.remarks, *placed.reasons]
    if place.mesh is None:
        watch(_PLACED, _WHOLE)
        voxels, solid = _filled(gaussians, place, placed.reasons[0], watch)
        lines += _account(voxels, solid)
        world = captured_world(name, gaussians, solid, source=source, recipe=recipe, notes=tuple(lines))
    else:
        bounds = np.percentile(gaussians.means.astype(np.float64), [1.0, 99.0], axis=0)
        collision = read_collision_mesh(place.mesh, placed.T_world_capture, bounds, cell_m=place.voxel_m)
        lines += collision.lines
        recipe["mesh"] = Path(place.mesh).name
        world = captured_world(name, gaussians, collision.ground, collision.geometry, source=source, recipe=recipe, notes=tuple(lines))
    watch(_WHOLE, _WHOLE)
    return ImportedCapture(world, tuple(lines))


def _filled(gaussians: Gaussians, place: Placement, extent: str, watch: Watch) -> tuple[Voxels, Solid]:
    """Voxels and what they stand for; a failure also says how large the capture came out, since that is what is wrong most often."""
    try:
        voxels = voxelise(gaussians, size_m=place.voxel_m, watch=lambda done, wanted: watch(_PLACED + (_FILLED - _PLACED) * done // wanted, _WHOLE))
        return voxels, solidify(voxels)
    except ImportFailed as error:
        raise ImportFailed(error.what, where=error.where, why="; ".join(filter(None, [error.why, extent])), next_step=error.next_step) from error


def captured_world(
    name: str,
    gaussians: Gaussians,
    solid: Solid,
    geometry: Geometry | None = None,
    *,
    source: str,
    recipe: dict[str, Any],
    notes: tuple[str, ...] = (),
) -> World:
    """The world of Gaussians in its frame and what stands for them when bodies move: ``geometry``, or the floors and boxes of ``solid``."""
    manifest = Manifest(id=name, kind="indoor", provenance=Provenance(source=source, licence="unknown"), recipe=recipe, cell_m=solid.cell_m, notes=list(notes))
    return World(
        manifest,
        _geometry(solid) if geometry is None else geometry,
        Appearance((Material(name="capture"),), {}, Light(), gaussians),
        Semantics(buildings=[_building(solid)], instances=[InstanceLabel(id=1, category="capture")]),
    )


def _geometry(solid: Solid) -> Geometry:
    vertices, faces = solid.floor_mesh()
    count = len(faces)
    return Geometry(
        vertices,
        faces,
        np.full(count, int(Surface.FLOOR), np.uint8),
        np.ones(count, np.int32),
        np.zeros(count, np.int32),
        np.ones(count, np.bool_),
        np.zeros((count, 3, 2), np.float32),
        np.ones(count, np.bool_),
        np.stack([solid.low, solid.high], axis=1),
    )


def _building(solid: Solid) -> Building:
    """One building as wide as the ground, with the floors that its heights tell."""
    centers = (solid.column + 0.5) * solid.cell_m
    outline = shapely.convex_hull(shapely.multipoints(centers)).buffer(0.5, join_style="mitre")
    levels = _levels(solid.z_m, solid.cell_m)
    tops = [*levels[1:], levels[-1] + _LAST_STOREY_M]
    floors = [Floor(id=f"{BUILDING}:{n}", level=n, z_m=z, height_m=top - z) for n, (z, top) in enumerate(zip(levels, tops, strict=True))]
    footprint = [(float(x), float(y)) for x, y in list(outline.exterior.coords)[:-1]]
    return Building(id=BUILDING, name=BUILDING, footprint=footprint, floors=floors, enterable=True)


def _levels(z_m: Floats, cell_m: float) -> list[float]:
    """Heights of the floors, lowest first: where most ground lies, at least two metres from one another."""
    values, counts = np.unique(np.round(z_m, 1), return_counts=True)
    least = max(_LEAST_STOREY_M2, _LEAST_STOREY_SHARE * counts.sum() * cell_m**2)
    found: list[float] = []
    for k in np.argsort(-counts, kind="stable"):
        if (counts[k] * cell_m**2 >= least or not found) and all(abs(values[k] - z) >= _STOREY_M for z in found):
            found.append(float(values[k]))
    return sorted(found)


def _account(voxels: Voxels, solid: Solid) -> tuple[str, ...]:
    dropped = ", ".join(f"{n:,} {name}" for name, n in voxels.dropped.items() if n)
    low, high = solid.column.min(axis=0) * solid.cell_m, (solid.column.max(axis=0) + 1) * solid.cell_m
    return (
        *((f"left out of what is solid: {dropped}",) if dropped else ()),
        f"{len(voxels):,} voxels of {voxels.size_m:g} m are solid; {solid.ground_m2:.1f} m² of ground over "
        f"{high[0] - low[0]:.1f} x {high[1] - low[1]:.1f} m, {len(solid.low):,} boxes of obstacles",
    )
