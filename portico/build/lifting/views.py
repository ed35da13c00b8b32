"""What lifting starts from: posed pictures in which every pixel says what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.interface import Camera

#: What people call the parts of a building and its ground. They are labelled like anything else, and never become objects.
# fmt: off
STRUCTURE = frozenset({
    "wall", "floor", "ceiling", "door", "doorway", "window", "roof", "stairs", "staircase", "stair", "step", "ramp", "column", "pillar", "beam",
    "railing", "banister", "handrail", "facade", "canopy", "ground", "sidewalk", "road", "street", "grass", "terrain", "sky", "background", "building",
    "capture", "sign", "crosswalk", "baseboard", "water", "room sign", "exit sign", "door frame", "window frame", "open area", "shared road",
    "vehicle lane", "other structure",
})
# fmt: on
_RIGID = 1e-3


@dataclass(frozen=True)
class LabelView:
    """One posed label image.

    Attributes:
        T_world_camera: (4, 4), camera axes x right, y down, z forward.
        camera: its intrinsics; where it is mounted does not matter.
        labels: (H, W) whole numbers, category ids; 0 where nobody knows.
        instances: (H, W) whole numbers that tell things of one category apart; 0 where nobody knows. They need to agree within this view only.
        name: for messages.
    """

    T_world_camera: Floats
    camera: Camera
    labels: NDArray[np.integer[Any]]
    instances: NDArray[np.integer[Any]] | None = None
    name: str = "view"


def is_structure(category: str, structure: frozenset[str] = STRUCTURE) -> bool:
    """Whether a category names a part of the building, whatever its case and spacing."""
    return " ".join(category.lower().replace("_", " ").split()) in structure


def check_view(view: LabelView) -> None:
    """Refuse a view that cannot be lifted.

    Raises:
        ImportFailed: an image of another size than the camera's, or a pose that is not finite or not rigid; names the view.
    """
    height, width = view.camera.height, view.camera.width
    for kind, image in (("labels", view.labels), ("instances", view.instances)):
        if image is not None and image.shape != (height, width):
            size = " x ".join(str(n) for n in reversed(image.shape))
            raise ImportFailed(
                f"the {kind} of a view do not fit its camera",
                where=view.name,
                why=f"the image has {size} pixels, the camera {width} x {height}",
                next_step="label the images at their full size, or state the size of the label images with their intrinsics",
            )
    T = np.asarray(view.T_world_camera, np.float64)
    if T.shape != (4, 4) or not np.isfinite(T).all():
        why = f"its shape is {T.shape}" if T.shape != (4, 4) else "it holds NaN or infinity"
        raise ImportFailed("the pose of a view is not finite", where=view.name, why=why, next_step="leave out views whose pose was not found")
    R = T[:3, :3]
    off = float(np.abs(R @ R.T - np.eye(3)).max())
    if off > _RIGID or np.linalg.det(R) < 0.0 or np.abs(T[3] - [0.0, 0.0, 0.0, 1.0]).max() > _RIGID:
        why = "it mirrors" if np.linalg.det(R) < 0.0 else f"its axes are off by {off:.2g} from unit length and right angles" if off > _RIGID else "its last row"
        raise ImportFailed(
            "the pose of a view is not a rotation and a shift", where=view.name, why=why, next_step="write T_world_camera without scale or shear"
        )
