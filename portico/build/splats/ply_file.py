"""PLY as a container: header, elements and their columns, binary or ASCII. What the columns mean is told elsewhere.

Format: Greg Turk, "The PLY Polygon File Format" (1994).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import ImportFailed

_SHORT_NAMES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8"}
_LONG_NAMES = {"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"}
_TYPES = _SHORT_NAMES | _LONG_NAMES
_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}
_LONGEST_LINE, _MOST_LINES = 4096, 4096


@dataclass(frozen=True)
class Element:
    """One table of a PLY: ``columns`` are (name, numpy type) pairs, empty types mark lists."""

    name: str
    count: int
    columns: tuple[tuple[str, str], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


@dataclass(frozen=True)
class PlyHeader:
    """``offset``: first byte of the data. ``order``: byte order, empty for ASCII."""

    elements: tuple[Element, ...]
    comments: tuple[str, ...]
    order: str
    offset: int

    def element(self, name: str) -> Element | None:
        return next((element for element in self.elements if element.name == name), None)


def read_header(path: Path) -> PlyHeader:
    """Header of a PLY file.

    Raises:
        ImportFailed: when it is no PLY, or its header is damaged.
    """
    elements: list[tuple[str, int, list[tuple[str, str]]]] = []
    comments: list[str] = []
    order = None
    with path.open("rb") as file:
        if file.readline(_LONGEST_LINE).strip() != b"ply":
            raise not_a_ply(path)
        for _ in range(_MOST_LINES):
            raw = file.readline(_LONGEST_LINE)
            words = raw.decode("latin-1").split()
            if not raw:
                break
            match words:
                case ["end_header"]:
                    if order is None:
                        raise _damaged(path, "no line says its format")
                    return PlyHeader(tuple(Element(n, c, tuple(p)) for n, c, p in elements), tuple(comments), order, file.tell())
                case ["format", name, *_] if name in _ORDERS:
                    order = _ORDERS[name]
                case ["element", name, count] if count.isdigit():
                    elements.append((name, int(count), []))
                case ["property", "list", *_, name] if elements:
                    elements[-1][2].append((name, ""))
                case ["property", kind, name] if elements and kind in _TYPES:
                    elements[-1][2].append((name, _TYPES[kind]))
                case [("comment" | "obj_info"), *rest]:
                    comments.append(" ".join(rest))
                case []:
                    pass
                case _:
                    raise _damaged(path, f"the line {raw[:60]!r} means nothing")
    raise _damaged(path, "truncated: end_header never comes")


def not_a_ply(path: Path) -> ImportFailed:
    """What to say about a file that does not start as a PLY does."""
    return ImportFailed(
        "this is not a PLY file",
        where=str(path),
        why='a PLY starts with the line "ply"',
        next_step="give a capture in PLY, compressed PLY, .splat, .spz or .glb",
    )


def _damaged(path: Path, why: str) -> ImportFailed:
    return ImportFailed("the header of the PLY file is damaged", where=str(path), why=why, next_step="export or download the file again")


def read_element(path: Path, header: PlyHeader, name: str) -> NDArray[Any]:
    """Rows of one element as a structured array; binary files are mapped, not loaded.

    Raises:
        ImportFailed: when the element is absent, holds lists, or the file ends before its last row.
    """
    element = header.element(name)
    if element is None:
        raise ImportFailed(f"the PLY has no element {name}", where=str(path), why=f"it holds {_listed(header)}", next_step="export the capture as Gaussians")
    before = header.elements[: header.elements.index(element)]
    for each in (*before, element):
        if any(not kind for _, kind in each.columns):
            raise ImportFailed(f"element {each.name} of the PLY holds lists", where=str(path), why="the vertices must come first", next_step="export it again")
    if len(set(element.names)) < len(element.names):
        raise _damaged(path, f"element {name} declares a property twice")
    dtype = np.dtype([(column, header.order + kind) for column, kind in element.columns])
    if not header.order:
        return _read_ascii(path, header, element, sum(each.count for each in before), dtype)
    offset = header.offset + sum(each.count * _row_bytes(each) for each in before)
    have = max(0, path.stat().st_size - offset) // max(1, dtype.itemsize)
    if have < element.count:
        raise _truncated(path, element, have)
    if element.count == 0:
        return np.zeros(0, dtype)
    return np.memmap(path, dtype, "r", offset, (element.count,))


def _read_ascii(path: Path, header: PlyHeader, element: Element, skip: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    with path.open("rb") as file:
        file.seek(header.offset)
        lines = [line for line in file if line.strip()][skip : skip + element.count]
    if len(lines) < element.count:
        raise _truncated(path, element, len(lines))
    if element.count == 0:
        return np.zeros(0, dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.loadtxt(lines, np.float64, ndmin=2)
    except (ValueError, Warning) as error:
        raise ImportFailed(f"element {element.name} of the PLY cannot be read", where=str(path), why=str(error), next_step="export it again") from error
    if values.shape[1] != len(element.columns):
        raise _damaged(path, f"element {element.name} declares {len(element.columns)} properties and its rows hold {values.shape[1]}")
    rows = np.zeros(element.count, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for index, column in enumerate(element.names):
            rows[column] = values[:, index]
    return rows


def _row_bytes(element: Element) -> int:
    return sum(np.dtype(kind).itemsize for _, kind in element.columns)


def _truncated(path: Path, element: Element, have: int) -> ImportFailed:
    return ImportFailed(
        "the PLY file is truncated",
        where=f"{path}, element {element.name}",
        why=f"its header declares {element.count:,} rows and the data hold {have:,}",
        next_step="download or export the file again",
    )


def _listed(header: PlyHeader) -> str:
    return ", ".join(f"{element.count:,} {element.name}" for element in header.elements) or "nothing"
