"""3D Gaussian captures: reads the formats they come in, puts them upright and to scale, writes them back."""

from portico.build.splats.align import Alignment, alignment
from portico.build.splats.capture import Capture
from portico.build.splats.harmonics import evaluate_basis
from portico.build.splats.posed_frames import fuse, read_posed_frames
from portico.build.splats.read import read_splats
from portico.build.splats.turn import turned
from portico.build.splats.write import write_ply, write_splat

__all__ = ["Alignment", "Capture", "alignment", "evaluate_basis", "fuse", "read_posed_frames", "read_splats", "turned", "write_ply", "write_splat"]
