"""Looking at a capture's file: a sheet of views, drawn even when up cannot be told."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from portico.errors import ImportFailed
from portico.report.capture_pictures import draw_capture


def coloured(picture) -> float:
    """Share of pixels that are neither paper nor grey."""
    rgb = np.asarray(Image.open(picture)).astype(int)
    return float(((rgb.max(axis=2) - rgb.min(axis=2)) > 30).mean())


def test_a_plant_is_seen_from_all_sides(shared, tmp_path):
    picture, lines = draw_capture(shared / "data" / "splat" / "plant.splat", tmp_path, up="-y")
    assert picture.name == "plant-look.png"
    assert coloured(picture) > 0.05
    assert lines[0].startswith("113,648 Gaussians")


def test_a_look_needs_no_up(shared, tmp_path):
    picture, lines = draw_capture(shared / "data" / "splat" / "tower.spz", tmp_path)
    assert picture.exists()
    assert any("up cannot be told" in line and "--up" in line for line in lines)


def test_what_cannot_be_read_draws_nothing(shared, tmp_path):
    with pytest.raises(ImportFailed):
        draw_capture(shared / "bad" / "splat" / "truncated.ply", tmp_path)
    assert not list(tmp_path.iterdir())
