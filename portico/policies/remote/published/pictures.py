"""Pictures as model servers take them: PNG, JPEG, 16-bit depth; and where red and blue end up."""

from __future__ import annotations

import base64
import io
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.errors import PolicyRefused
from portico.interface import Frame, Observation

Colours = Literal["rgb", "bgr"]


def png(rgb: NDArray[np.uint8], colours: Colours = "rgb") -> bytes:
    """A PNG of a picture (H, W, 3); ``bgr`` exchanges red and blue on the way."""
    return _compressed(rgb, colours, "PNG")


def jpeg(rgb: NDArray[np.uint8], colours: Colours = "rgb", quality: int = 95) -> bytes:
    """A JPEG of a picture (H, W, 3); ``bgr`` exchanges red and blue on the way."""
    return _compressed(rgb, colours, "JPEG", quality)


def text(data: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(data).decode()


def depth_png(depth: NDArray[np.float32], per_metre: float, furthest_m: float) -> bytes:
    """A 16-bit PNG of metric depth (H, W); what is further than ``furthest_m``, hit nothing or cannot be written becomes 0."""
    limit_m = min(furthest_m, 65535.0 / per_metre)
    known = np.isfinite(depth) & (depth <= limit_m)
    values = np.where(known, np.round(np.where(known, depth, 0.0) * per_metre), 0.0).astype(np.uint16)
    file = io.BytesIO()
    Image.fromarray(values).save(file, format="PNG", compress_level=1)
    return file.getvalue()


def rgb_of(observation: Observation, camera: str, policy: str) -> NDArray[np.uint8]:
    """What a camera sees in colour.

    Raises:
        PolicyRefused: there is no such camera or no colour.
    """
    rgb = _frame(observation, camera, policy).rgb
    if rgb is None:
        raise PolicyRefused(f"{policy} needs the rgb channel of camera {camera!r}", next_step="choose a track that grants rgb")
    return rgb


def depth_of(observation: Observation, camera: str, policy: str) -> NDArray[np.float32]:
    """What a camera measures.

    Raises:
        PolicyRefused: there is no such camera or no depth.
    """
    depth = _frame(observation, camera, policy).depth
    if depth is None:
        raise PolicyRefused(f"{policy} needs the depth channel of camera {camera!r}", next_step="choose a track that grants depth: --track rgbd")
    return depth


def _frame(observation: Observation, camera: str, policy: str) -> Frame:
    frames = observation.frames
    if camera in frames:
        return frames[camera]
    # A single camera is the one in front, whatever it is called.
    if camera == "front" and len(frames) == 1:
        return next(iter(frames.values()))
    raise PolicyRefused(
        f"{policy} needs a camera {camera!r}", why=f"there are {', '.join(frames) or 'none'}", next_step="let the simulator mount the policy's own cameras"
    )


def _compressed(rgb: NDArray[np.uint8], colours: Colours, kind: str, quality: int = 95) -> bytes:
    pixels = np.ascontiguousarray(rgb[:, :, ::-1]) if colours == "bgr" else rgb
    file = io.BytesIO()
    if kind == "JPEG":
        Image.fromarray(pixels).save(file, format="JPEG", quality=quality)
    else:
        Image.fromarray(pixels).save(file, format="PNG", compress_level=1)
    return file.getvalue()
