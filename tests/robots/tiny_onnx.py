"""The smallest ONNX networks there are, written byte by byte: what goes in comes out. Field numbers are those of onnx.proto."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_FLOAT, _IR, _OPSET = 1, 8, 17


def write_identity(path: Path, shape: Sequence[int]) -> Path:
    """A network that returns its input of a shape."""
    node = _text(1, "seen") + _text(2, "done") + _text(4, "Identity")
    graph = _part(1, node) + _text(2, "identity") + _part(11, _value("seen", shape)) + _part(12, _value("done", shape))
    path.write_bytes(_number(1, _IR) + _part(7, graph) + _part(8, _number(2, _OPSET)))
    return path


def _value(name: str, shape: Sequence[int]) -> bytes:
    sizes = b"".join(_part(1, _number(1, size)) for size in shape)
    return _text(1, name) + _part(2, _part(1, _number(1, _FLOAT) + _part(2, sizes)))


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3]) + _varint(value)


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())


def _part(field: int, content: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))
