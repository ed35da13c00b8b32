"""The contract's dataclasses as plain data and back; what does not fit is named by its place, what was expected and what came.

Plain data are maps with text keys, lists, numbers, text, booleans, None, and numpy arrays, which each wire writes in its own way. A field that the
other side does not know is ignored and one that it does not send takes its default, so that both may grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

_SHOWN_CHARACTERS = 60


class Mismatch(ValueError):
    """Data that are not of the kind they should be.

    Attributes:
        where: path of the value, like ``action.poses.0.x``. expected, received: in words.
    """

    def __init__(self, where: str, expected: str, received: str) -> None:
        self.where, self.expected, self.received = where, expected, received
        super().__init__(f"{where or 'the message'}: expected {expected}, received {received}")


def plain(value: object) -> Any:
    """Plain data of a dataclass of the contract; sets become sorted lists, numbers that are not finite become text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


def tagged(value: object) -> dict[str, Any]:
    """Plain data of one of several dataclasses, with its name under ``kind``."""
    return {"kind": type(value).__name__.lower(), **plain(value)}


def structured(kind: type[T], data: object, where: str = "") -> T:
    """The dataclass that plain data stand for.

    Raises:
        Mismatch: at the first value that is missing or of another kind.
    """
    return _structured(kind, data, where)  # type: ignore[no-any-return]


def one_of(kinds: tuple[type[Any], ...], data: object, where: str) -> Any:
    """The dataclass among ``kinds`` that the map's ``kind`` names.

    Raises:
        Mismatch: no such kind, or the rest does not fit it.
    """
    names = {kind.__name__.lower(): kind for kind in kinds}
    found = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(found, str) or found not in names:
        raise Mismatch(f"{where}.kind", f"one of {', '.join(names)}", shown(found if isinstance(data, Mapping) else data))
    return _structured(names[found], data, where)


def shown(value: object) -> str:
    """A value as a message shows it, short."""
    if isinstance(value, np.ndarray):
        return f"an array {value.shape} of {value.dtype}"
    if value is MISSING:
        return "nothing"
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _structured(kind: Any, data: object, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _optional(kind, data, where)
    if origin is Literal:
        if not isinstance(data, str) or data not in get_args(kind):
            raise Mismatch(where, f"one of {', '.join(map(str, get_args(kind)))}", shown(data))
        return data
    if origin is np.ndarray:
        return _array(kind, data, where)
    if origin in (tuple, frozenset):
        return _sequence(kind, origin, data, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(kind, data, where)
    if is_dataclass(kind):
        return _dataclass(kind, data, where)
    return _scalar(kind, data, where)


def _optional(kind: Any, data: object, where: str) -> Any:
    if data is None and NoneType in get_args(kind):
        return None
    (present,) = (k for k in get_args(kind) if k is not NoneType)
    return _structured(present, data, where)


def _sequence(kind: Any, origin: Any, data: object, where: str) -> Any:
    if not isinstance(data, list | tuple):
        raise Mismatch(where, "a list", shown(data))
    inner = get_args(kind)
    if origin is frozenset:
        return frozenset(_structured(inner[0], item, f"{where}.{i}") for i, item in enumerate(data))
    if len(inner) == 2 and inner[1] is Ellipsis:
        return tuple(_structured(inner[0], item, f"{where}.{i}") for i, item in enumerate(data))
    if len(data) != len(inner):
        raise Mismatch(where, f"{len(inner)} values", f"{len(data)}")
    return tuple(_structured(k, item, f"{where}.{i}") for i, (k, item) in enumerate(zip(inner, data, strict=True)))


def _mapping(kind: Any, data: object, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise Mismatch(where, "a map", shown(data))
    key_kind, item_kind = get_args(kind)
    return {_key(key_kind, key, where): _structured(item_kind, item, f"{where}.{key}") for key, item in data.items()}


def _key(kind: Any, key: object, where: str) -> Any:
    try:
        return int(str(key)) if kind is int else str(key)
    except ValueError as error:
        raise Mismatch(where, "whole numbers as keys", shown(key)) from error


def _dataclass(kind: Any, data: object, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise Mismatch(where, f"a map of {kind.__name__}", shown(data))
    values = {}
    for name, (hint, required) in _hints(kind).items():
        if name in data:
            values[name] = _structured(hint, data[name], f"{where}.{name}" if where else name)
        elif required:
            raise Mismatch(f"{where}.{name}" if where else name, f"a value of {kind.__name__}", "nothing")
    return kind(**values)


@lru_cache(maxsize=64)
def _hints(kind: Any) -> dict[str, tuple[Any, bool]]:
    hints = get_type_hints(kind)
    return {f.name: (hints[f.name], f.default is MISSING and f.default_factory is MISSING) for f in fields(kind)}


def _array(kind: Any, data: object, where: str) -> NDArray[Any]:
    dtype = np.dtype(get_args(get_args(kind)[1])[0])
    if not isinstance(data, np.ndarray) or data.dtype != dtype:
        raise Mismatch(where, f"an array of {dtype}", shown(data))
    return data


def _scalar(kind: Any, data: object, where: str) -> Any:
    if kind is float:
        if isinstance(data, str) and data in ("inf", "-inf", "nan"):
            return float(data)
        if isinstance(data, int | float) and not isinstance(data, bool):
            with suppress(OverflowError):  # JSON knows whole numbers of any length
                return float(data)
        raise Mismatch(where, "a number", shown(data))
    if kind is int and isinstance(data, bool):
        raise Mismatch(where, "a whole number", shown(data))
    if not isinstance(data, kind):
        raise Mismatch(where, {int: "a whole number", str: "text", bool: "true or false"}.get(kind, kind.__name__), shown(data))
    return data
