"""Captures: Gaussians made from what is known, and worlds made from Gaussians."""

from portico.build.captures.from_mesh import gaussians_of
from portico.build.captures.importer import ImportedCapture, Placement, captured_world, import_frames, import_splat, place_capture
from portico.build.captures.solid import Solid, solidify
from portico.build.captures.voxels import Voxels, voxelise

__all__ = [
    "ImportedCapture",
    "Placement",
    "Solid",
    "Voxels",
    "captured_world",
    "gaussians_of",
    "import_frames",
    "import_splat",
    "place_capture",
    "solidify",
    "voxelise",
]
