"""NavArena-Server's messages: one msgpack map per WebSocket frame, ``{type, payload, seq, timestamp}``, arrays and pictures as tagged maps.

Written after the protocol's description; decoders take what it allows and refuse what it refuses, with ``ValueError`` for a frame that is no message.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import msgpack
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.policies.wires.arrays import array_map, array_of

ImageFormat = Literal["png", "jpeg", "raw"]
MessageType = Literal[
    "episode_start",
    "observation",
    "action",
    "episode_end",
    "batch_episode_start",
    "batch_observation",
    "batch_action",
    "batch_episode_end",
    "error",
]
#: Pictures are arrays of bytes with so many channels.
_PICTURE_CHANNELS = (1, 3, 4)
_KEYS = ("type", "payload", "seq", "timestamp")


@dataclass(frozen=True)
class Message:
    """One decoded frame. ``timestamp`` is in Unix seconds and is not checked."""

    type: MessageType
    payload: dict[str, Any]
    seq: int
    timestamp: float


def pack(kind: MessageType, payload: Mapping[str, Any], seq: int, timestamp: float, image_format: ImageFormat = "png") -> bytes:
    """One frame.

    Raises:
        ValueError: a picture that the format cannot hold.
        TypeError: a value that cannot travel.
    """
    message = {"type": kind, "payload": encoded(payload, image_format), "seq": seq, "timestamp": timestamp}
    packed: bytes = msgpack.packb(message, use_bin_type=True)
    return packed


def unpack(data: bytes) -> Message:
    """The message of a frame.

    Raises:
        ValueError: no msgpack, no map, a key missing, an unknown type, or a broken array or picture.
    """
    try:
        found = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except (msgpack.UnpackException, ValueError) as error:
        raise ValueError(f"no msgpack: {type(error).__name__}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"expected a map, received {type(found).__name__}")
    if missing := [key for key in _KEYS if key not in found]:
        raise ValueError(f"expected the keys {', '.join(_KEYS)}; missing: {', '.join(missing)}")
    if found["type"] not in get_args(MessageType):
        raise ValueError(f"expected one of {', '.join(get_args(MessageType))}; received type {found['type']!r}")
    if not isinstance(found["payload"], dict):
        raise ValueError(f"expected a map as payload, received {type(found['payload']).__name__}")
    if not isinstance(found["seq"], int):
        raise ValueError(f"expected a whole number as seq, received {found['seq']!r}")
    return Message(found["type"], decoded(found["payload"]), found["seq"], found["timestamp"])


def encoded(value: Any, image_format: ImageFormat = "png") -> Any:
    """Plain msgpack values: arrays and pictures become tagged maps, numpy numbers become Python's.

    Raises:
        ValueError: a picture that the format cannot hold.
        TypeError: a value that cannot travel.
    """
    if isinstance(value, Mapping):
        return {key: encoded(item, image_format) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encoded(item, image_format) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Image.Image):
        return encoded(np.asarray(value, np.uint8), image_format)
    if hasattr(value, "detach"):  # a tensor of a library that is not imported here
        return encoded(value.detach().cpu().numpy(), image_format)
    if not isinstance(value, np.ndarray):
        return value
    picture = value.dtype == np.uint8 and value.ndim == 3 and value.shape[2] in _PICTURE_CHANNELS
    return picture_map(value, image_format) if picture and image_format != "raw" else array_map(value)


def picture_map(picture: NDArray[np.uint8], image_format: ImageFormat) -> dict[str, Any]:
    """The tagged map of a picture (H, W, C).

    Raises:
        ValueError: jpeg holds three channels only.
    """
    tagged: dict[str, Any] = {"__image__": True}
    if image_format == "raw":
        return tagged | {"data": np.ascontiguousarray(picture).tobytes(), "format": "raw", "shape": list(picture.shape), "dtype": picture.dtype.str}
    if image_format == "jpeg" and picture.shape[2] != 3:
        raise ValueError(f"a jpeg holds three channels, not {picture.shape[2]}")
    file = io.BytesIO()
    pixels = picture[:, :, 0] if picture.shape[2] == 1 else picture
    if image_format == "jpeg":
        Image.fromarray(pixels).save(file, format="JPEG", quality=95)
    else:  # with the least effort: on a local wire time counts and size does not
        Image.fromarray(pixels).save(file, format="PNG", compress_level=1)
    return tagged | {"data": file.getvalue(), "format": image_format, "shape": list(picture.shape)}


def decoded(value: Any) -> Any:
    """What ``encoded`` stood for; pictures are told before arrays, at every depth.

    Raises:
        ValueError: a tagged map that holds no array or picture.
    """
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("__image__") is True:
        return _picture(value)
    if value.get("__ndarray__") is True:
        return array_of(value.get("data"), value.get("dtype"), value.get("shape"))
    return {key: decoded(item) for key, item in value.items()}


def _picture(tagged: Mapping[str, Any]) -> NDArray[np.uint8]:
    """(H, W, C) uint8. The shape is not compared with that of a compressed picture, as in the original."""
    missing = [key for key in ("format", "shape", "data") if key not in tagged]
    if missing:
        raise ValueError(f"a picture without {', '.join(missing)}")
    kind, shape, data = tagged["format"], tagged["shape"], tagged["data"]
    if not isinstance(shape, list) or not all(isinstance(n, int) for n in shape):
        raise ValueError(f"a picture's shape is a list of whole numbers, not {shape!r}")
    if kind == "raw":
        return array_of(data, tagged.get("dtype", "|u1"), shape, "a picture")
    if kind not in ("png", "jpeg"):
        raise ValueError(f"a picture's format is png, jpeg or raw, not {kind!r}")
    try:
        pixels = np.array(Image.open(io.BytesIO(data), formats=["PNG", "JPEG"]), np.uint8)
    except Exception as error:  # decoders raise what they like, SyntaxError among it
        raise ValueError(f"a broken {kind} picture: {error}") from error
    return pixels[:, :, None] if pixels.ndim == 2 else pixels
