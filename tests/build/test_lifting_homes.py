"""A furnished home, a tenth of its labels wrong: nearly every retained centre lies in a true object of its category."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from portico.build import build_indoor
from portico.build.captures.generated import build_capture
from portico.build.lifting import SURVEY, Noisy, Survey, Truth, lift, survey_poses
from portico.geometry import rotation_z
from portico.robots import embodiment
from portico.space import build_space


@pytest.mark.slow
def test_retained_centres_are_valid_in_a_cafe():
    mesh, capture, body = build_indoor(5, "cafe", 1), build_capture(5, "cafe", 1), embodiment("spot")
    gaussians = capture.appearance.gaussians
    blank = replace(capture, appearance=replace(capture.appearance, gaussians=replace(gaussians, instance=np.zeros_like(gaussians.instance))))
    space = build_space(blank, body)
    labeller = Noisy(Truth(mesh), share=0.1, seed=1)
    views = Survey(blank, labeller, survey_poses(space, spacing_m=2.0, headings=5), SURVEY)
    objects = lift(blank, views, labeller.categories, body, space=space).world.semantics.objects
    assert len(objects) > 50
    valid = [any(o.category == item.category and holds(o, item.center) for o in mesh.semantics.objects) for item in objects]
    assert np.mean(valid) >= 0.95
    assert len({item.room for item in objects}) > 1


def holds(item, point):
    local = rotation_z(-item.yaw_rad) @ np.subtract(point, item.center)
    return (np.abs(local) <= 0.5 * np.array(item.size)).all()
