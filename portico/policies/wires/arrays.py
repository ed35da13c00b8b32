"""Numpy arrays in msgpack and in JSON: shape, type and bytes in C order. Objects and complex numbers are refused on both sides."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from math import prod
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from portico.policies.wires.structure import Mismatch, shown

#: Kinds of numbers that may travel: truth values, whole numbers with and without sign, floating point.
KINDS = "biuf"
_MOST_DIMENSIONS, _LONGEST = 8, 2**31


def array_map(array: NDArray[Any]) -> dict[str, Any]:
    """The msgpack form of an array."""
    return {"__ndarray__": True, "data": np.ascontiguousarray(array).tobytes(), "dtype": array.dtype.str, "shape": list(array.shape)}


def array_of(data: object, dtype: object, shape: object, where: str = "an array") -> NDArray[Any]:
    """A writable array of its own from bytes.

    Raises:
        Mismatch: a type that may not travel, or a shape that the bytes do not fill.
    """
    try:
        kind = np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError) as error:
        raise Mismatch(f"{where}: dtype", "a numpy type such as '<f4'", shown(dtype)) from error
    if kind.kind not in KINDS:
        raise Mismatch(f"{where}: dtype", "truth values, whole or floating-point numbers", str(kind))
    if not isinstance(shape, list | tuple) or len(shape) > _MOST_DIMENSIONS or not all(type(n) is int and 0 <= n <= _LONGEST for n in shape):
        raise Mismatch(f"{where}: shape", f"a list of at most {_MOST_DIMENSIONS} whole numbers", shown(shape))
    if not isinstance(data, bytes | bytearray) or len(data) != prod(shape) * kind.itemsize:
        size = f"{len(data)} bytes" if isinstance(data, bytes | bytearray) else shown(data)
        raise Mismatch(f"{where}: data", f"{prod(shape) * kind.itemsize} bytes for shape {list(shape)} of {kind}", size)
    return np.frombuffer(data, dtype=kind).reshape(shape).copy()


def to_msgpack(value: object) -> bytes:
    """Plain data with arrays as one msgpack value."""
    packed: bytes = msgpack.packb(value, default=_packed, use_bin_type=True)
    return packed


def from_msgpack(data: bytes) -> Any:
    """Plain data with arrays from one msgpack value.

    Raises:
        Mismatch: it is no msgpack, or holds a broken array.
    """
    try:
        return msgpack.unpackb(data, raw=False, strict_map_key=True, object_hook=_unpacked)
    except Mismatch:
        raise
    except (ValueError, msgpack.UnpackException) as error:
        raise Mismatch("", "one msgpack value", f"{len(data)} bytes that are none ({type(error).__name__}: {error})") from error


def to_json(value: object) -> bytes:
    """Plain data with arrays as JSON; arrays are maps of dtype, shape and base64 data."""
    return json.dumps(value, default=_written, allow_nan=False).encode()


def from_json(data: bytes | str) -> Any:
    """Plain data with arrays from JSON.

    Raises:
        Mismatch: it is no JSON, or holds a broken array.
    """
    try:
        return json.loads(data, object_hook=_read, parse_constant=str)
    except Mismatch:
        raise
    except (ValueError, RecursionError) as error:
        raise Mismatch("", "JSON", f"{shown(data[:40])} ({error})") from error


def _packed(value: object) -> dict[str, Any]:
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        return array_map(value)
    raise TypeError(f"{shown(value)} cannot travel")


def _unpacked(found: dict[str, Any]) -> Any:
    return array_of(found.get("data"), found.get("dtype"), found.get("shape")) if found.get("__ndarray__") is True else found


def _written(value: object) -> dict[str, Any]:
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        return {"dtype": value.dtype.str, "shape": list(value.shape), "base64": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()}
    raise TypeError(f"{shown(value)} cannot travel")


def _read(found: Mapping[str, Any]) -> Any:
    if found.keys() != {"dtype", "shape", "base64"}:
        return found
    try:
        data = base64.b64decode(found["base64"], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise Mismatch("an array: base64", "base64 text", shown(found["base64"])) from error
    return array_of(data, found["dtype"], found["shape"])
