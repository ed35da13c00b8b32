"""Letters on pictures for people: one font with Latin, Greek, Cyrillic, Hebrew and Arabic letters, as real maps need."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import matplotlib
from PIL import ImageFont


@lru_cache(maxsize=32)
def font(size_px: int) -> ImageFont.FreeTypeFont:
    """DejaVu Sans, which comes with matplotlib, at a size in pixels."""
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size=size_px)
