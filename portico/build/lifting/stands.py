"""Where to look from: poses spread over all free ground, at camera height, that look around."""

from __future__ import annotations

from math import ceil, pi

import numpy as np

from portico.errors import UserError
from portico.geometry import Floats, camera_transform
from portico.interface import Camera
from portico.seeding import generator
from portico.space import Space

#: A survey camera: as high as people hold one, tilted down a little, so that ceilings and floors are both seen.
SURVEY = Camera("survey", 288, 288, 0.5 * pi, z=1.2, pitch_rad=0.1)
HEADINGS, SPACING_M = 6, 1.5


def survey_poses(space: Space, camera: Camera = SURVEY, *, spacing_m: float = SPACING_M, headings: int = HEADINGS) -> list[Floats]:
    """T_world_camera, (4, 4) each: about one place per ``spacing_m`` squared of what the body reaches, ``headings`` evenly around at each.

    Places on all floors are spread farthest from one another; every other one starts half a turn between headings.

    Raises:
        UserError: the spacing is not positive, or there are no headings.
    """
    if not spacing_m > 0.0 or headings < 1:
        raise UserError(
            "nothing can be surveyed that way", where=f"spacing {spacing_m:g} m, {headings} headings", next_step="give 1 to 2 m and 4 to 8 headings"
        )
    reached = space.node_component == 0
    count = ceil(reached.sum() * space.cell_m**2 / spacing_m**2)
    places = space.sample(reached, count, generator("survey", space.world_id, str(spacing_m)))
    step = 2.0 * pi / headings
    return [
        camera_transform(x, y, z + camera.z, (h + 0.5 * (n % 2)) * step, camera.pitch_rad)
        for n, (x, y, z) in enumerate(np.asarray(places))
        for h in range(headings)
    ]
