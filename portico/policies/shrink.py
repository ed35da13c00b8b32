"""Smaller images for the map: what a detector reads in large images, the map needs not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.interface import Frame, Observation


def shrunk(observation: Observation, size: tuple[int, int]) -> Observation:
    """The observation with every image taken down to about ``size`` (width, height) by leaving out rows and columns; smaller ones stay."""
    frames = {name: shrunk_frame(frame, size) for name, frame in observation.frames.items()}
    if all(frames[name] is frame for name, frame in observation.frames.items()):
        return observation
    return replace(observation, frames=frames)


def shrunk_frame(frame: Frame, size: tuple[int, int]) -> Frame:
    """One frame with every n-th row and column, the middle ones of their blocks, so that the view stays the same."""
    camera = frame.camera
    n = min(camera.width // size[0], camera.height // size[1])
    if n < 2 or camera.width % n or camera.height % n:
        return frame

    def less(channel: NDArray[Any] | None) -> Any:
        return None if channel is None else np.ascontiguousarray(channel[n // 2 :: n, n // 2 :: n])

    small = camera.resized(camera.width // n, camera.height // n)
    return Frame(small, less(frame.rgb), less(frame.depth), less(frame.instance), less(frame.semantic), less(frame.normal))
