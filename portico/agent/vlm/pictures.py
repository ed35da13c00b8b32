"""Frames as a model gets them: JPEG, long edge 640, in a fixed order [I2 Table 8]."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.agent.contract import VIEWS, View
from portico.errors import PolicyRefused
from portico.interface import Observation

LONG_EDGE_PX, _QUALITY = 640, 85
#: What each view is, in words that stand before the pictures.
CAPTIONS: Mapping[View, str] = {
    "start": "the view when this step began",
    "forward": "the view ahead now",
    "left": "the view to the left now",
    "right": "the view to the right now",
}


def pictures(views: Mapping[View, Observation]) -> list[tuple[str, str]]:
    """(caption, data URL) of up to four views, in the order start, forward, left, right."""
    return [(CAPTIONS[name], _data_url(_rgb(views[name]))) for name in VIEWS if name in views]


def _rgb(observation: Observation) -> NDArray[np.uint8]:
    frames = observation.frames
    for name in ("front", *frames):
        if name in frames and frames[name].rgb is not None:
            rgb = frames[name].rgb
            assert rgb is not None
            return rgb
    raise PolicyRefused("the vlm reasoner needs pictures", why="no frame has an rgb channel", next_step="run it on a track that grants rgb")


def _data_url(rgb: NDArray[np.uint8]) -> str:
    image = Image.fromarray(rgb)
    longest = max(image.size)
    if longest > LONG_EDGE_PX:
        scale = LONG_EDGE_PX / longest
        image = image.resize((max(round(image.width * scale), 1), max(round(image.height * scale), 1)), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
