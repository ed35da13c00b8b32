"""Niantic's .spz: one block of quantised bytes per attribute, in gzip (versions 2 and 3) or in zstd streams of its own (version 4).

Format: README and headers of github.com/nianticlabs/spz. Positions are 24-bit fixed point, scale logarithms x/16 - 10, colours
(x/255 - 0.5)/0.15 of the constant harmonic, further harmonics (x - 128)/128 with red, green and blue side by side. Rotations keep
(x, y, z) in three bytes up to version 2, and the smallest three components in 10 bits each after the index of the largest since version 3.

Axes. The format is right, up, back (RUB) inside, and its library has converted to that since the conversion was introduced in 2025,
shortly before version 3; files of version 2 hold whatever axes their source had. So versions 3 and 4 are turned here to right, down,
front (RDF), the convention of PLY and .splat, and version 2 is taken as written: then one capture reads the same from all its formats.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np
import zstandard
from numpy.typing import NDArray

from portico.build.splats.capture import Columns, exponential
from portico.errors import ImportFailed

MAGIC, GZIP_MAGIC = b"NGSP", b"\x1f\x8b"
#: What the letters of a frame's name mean, written in right, down, front.
_DIRECTIONS = {"R": (1, 0, 0), "L": (-1, 0, 0), "D": (0, 1, 0), "U": (0, -1, 0), "F": (0, 0, 1), "B": (0, 0, -1)}
_FRAMES = ("", "LDB", "RDB", "LUB", "RUB", "LDF", "RDF", "LUF", "RUF", "LFD", "RFD", "LFU", "RFU", "LBD", "RBD", "LBU", "RBU")
_FRAME_RECORD = 0xADBE0003
_ANTIALIASED, _EXTENDED = 1, 2
_COLOUR_SCALE = 0.15


@dataclass(frozen=True)
class SpzContent:
    """Decoded columns in the axes of the file, and the name of those axes: three letters, or empty when the file says nothing."""

    columns: Columns
    version: int
    axes: str


@dataclass(frozen=True)
class _Header:
    version: int
    count: int
    degree: int
    fraction_bits: int
    flags: int

    def sizes(self) -> tuple[int, ...]:
        """Bytes of positions, opacities, colours, scales, rotations and harmonics."""
        return tuple(self.count * each for each in (9, 1, 3, 3, 4 if self.version >= 3 else 3, 3 * ((self.degree + 1) ** 2 - 1)))


def axes_to_rdf(axes: str) -> NDArray[np.float64]:
    """T_rdf_axes, (4, 4): from a frame named by its axes, such as RUB, to right, down, front."""
    T = np.eye(4)
    T[:3, :3] = np.array([_DIRECTIONS[letter] for letter in axes], dtype=np.float64).T
    return T


def read_spz(data: bytes, where: str) -> SpzContent:
    """Columns of a whole .spz file.

    Raises:
        ImportFailed: when the bytes are no .spz of version 2 to 4, or end early.
    """
    remarks = []
    if data[:2] == GZIP_MAGIC:
        data = _gunzipped(data, where)
    elif data[:4] == MAGIC and len(data) >= 8 and data[4:8] in (b"\2\0\0\0", b"\3\0\0\0"):
        remarks.append("this .spz is not compressed with gzip, as its version should be")
    if data[:4] != MAGIC:
        raise ImportFailed("this is not an .spz file", where=where, why="its content does not start with NGSP", next_step="export the capture again")
    if len(data) < 16:
        raise _truncated(where, "its header is incomplete")
    version, count = struct.unpack_from("<II", data, 4)
    header = _Header(version, count, data[12], data[13], data[14])
    if header.version not in (2, 3, 4) or header.degree > 4 or header.fraction_bits > 23:
        raise ImportFailed(
            f"this .spz cannot be read: version {header.version}, degree {header.degree}, {header.fraction_bits} fraction bits",
            where=where,
            why="versions 2 to 4 with degrees up to 4 are known",
            next_step="export the capture as PLY",
        )
    blocks, extension = _zstd_blocks(data, header, where) if header.version == 4 else _plain_blocks(data, header, where)
    frame, skipped = _frame(extension)
    if skipped:
        remarks.append(f"extension records were skipped: {', '.join(f'0x{kind:08X}' for kind in skipped)}")
    if header.flags & _ANTIALIASED:
        remarks.append("trained with antialiasing: thin Gaussians may look a little heavier here")
    columns = _decoded(header, blocks)
    columns.remarks.extend(remarks)
    return SpzContent(columns, header.version, frame or ("RUB" if header.version >= 3 else ""))


def _truncated(where: str, why: str) -> ImportFailed:
    return ImportFailed("the .spz file is truncated", where=where, why=why, next_step="download or export the file again")


def _gunzipped(data: bytes, where: str) -> bytes:
    stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = stream.decompress(data)
    except zlib.error as error:
        raise ImportFailed("the .spz file is damaged", where=where, why=f"gzip: {error}", next_step="download or export the file again") from error
    if not stream.eof:
        raise _truncated(where, "its gzip stream ends early")
    return content


def _plain_blocks(data: bytes, header: _Header, where: str) -> tuple[list[bytes], bytes]:
    """Blocks of versions 2 and 3, and the extension records, which writers have put before the blocks as well as behind them."""
    sizes, body = header.sizes(), data[16:]
    spare = len(body) - sum(sizes)
    if spare < 0:
        raise _truncated(where, f"{header.count:,} Gaussians need {sum(sizes):,} bytes and it holds {len(body):,}")
    start, extension = 0, b""
    if header.flags & _EXTENDED and spare:
        start = spare if _records(body[:spare]) is not None else 0
        extension = body[:spare] if start else body[-spare:]
    ends = start + np.cumsum(sizes)
    return [body[end - size : end] for end, size in zip(ends, sizes, strict=True)], extension


def _zstd_blocks(data: bytes, header: _Header, where: str) -> tuple[list[bytes], bytes]:
    """Blocks of version 4: a table of (compressed, plain) sizes, then one zstd stream each; no harmonics, no sixth stream."""
    sizes = header.sizes()
    streams, table = data[15], int.from_bytes(data[16:20], "little")
    if not 5 <= streams <= 6 or table < 32 or len(data) < table + 16 * streams or (streams == 5 and sizes[5]):
        raise _truncated(where, f"its table of {streams} streams is incomplete")
    blocks, at = [], table + 16 * streams
    for index in range(streams):
        packed, plain = struct.unpack_from("<QQ", data, table + 16 * index)
        if plain != sizes[index] or at + packed > len(data):
            raise _truncated(where, f"stream {index + 1} of {streams} should hold {sizes[index]:,} bytes")
        try:
            block = zstandard.ZstdDecompressor().decompress(data[at : at + packed], max_output_size=max(1, plain)) if packed else b""
        except zstandard.ZstdError as error:
            raise ImportFailed("the .spz file is damaged", where=where, why=f"stream {index + 1}: {error}", next_step="download or export it again") from error
        if len(block) != plain:
            raise _truncated(where, f"stream {index + 1} holds {len(block):,} of {plain:,} bytes")
        blocks.append(block)
        at += packed
    return [*blocks, *[b""] * (6 - streams)], data[32:table] if header.flags & _EXTENDED else b""


def _records(block: bytes) -> list[tuple[int, bytes]] | None:
    """Extension records (type, payload), or None where the bytes are none."""
    records, at = [], 0
    while at < len(block):
        if at + 8 > len(block):
            return None
        kind, size = struct.unpack_from("<II", block, at)
        if kind >> 16 == 0 or at + 8 + size > len(block):
            return None
        records.append((kind, block[at + 8 : at + 8 + size]))
        at += 8 + size
    return records


def _frame(extension: bytes) -> tuple[str, list[int]]:
    """The frame that a record declares, and the types of the records that are of no use here."""
    frame, skipped = "", []
    for kind, payload in _records(extension) or ():
        index = int.from_bytes(payload[:4], "little")
        if kind == _FRAME_RECORD and index < len(_FRAMES):
            frame = _FRAMES[index]
        else:
            skipped.append(kind)
    return frame, skipped


def _decoded(header: _Header, blocks: list[bytes]) -> Columns:
    count = header.count
    positions, opacity, colours, scales, rotations, harmonics = (np.frombuffer(block, np.uint8) for block in blocks)
    low, middle, high = positions.reshape(count, 3, 3).astype(np.int32).transpose(2, 0, 1)
    # The shift to the top byte and back carries the sign of the 24 bits.
    fixed = ((low | middle << 8 | high << 16) << 8) >> 8
    constant = (colours.reshape(count, 1, 3) / 255.0 - 0.5) / _COLOUR_SCALE
    rest = (harmonics.reshape(count, (header.degree + 1) ** 2 - 1, 3).astype(np.float32) - 128.0) / 128.0
    return Columns(
        means=(fixed / float(1 << header.fraction_bits)).astype(np.float32),
        rotations_wxyz=_smallest_three(rotations) if header.version >= 3 else _first_three(rotations),
        scales=exponential(scales.reshape(count, 3) / 16.0 - 10.0),
        opacity=(opacity / 255.0).astype(np.float32),
        sh=np.concatenate([constant, rest], axis=1).astype(np.float32),
    )


def _first_three(rotations: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(N, 4) wxyz from (x, y, z) in three bytes; w is never negative."""
    xyz = rotations.reshape(-1, 3) / 127.5 - 1.0
    w = np.sqrt(np.maximum(0.0, 1.0 - (xyz**2).sum(axis=1)))
    return np.column_stack([w, xyz]).astype(np.float32)


def _smallest_three(rotations: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(N, 4) wxyz from 2 bits that name the largest of (x, y, z, w) and three fields of sign and 9 bits, the last one lowest."""
    words = rotations.reshape(-1, 4).copy().view("<u4")[:, 0]
    fields = np.stack([words >> np.uint32(shift) & np.uint32(1023) for shift in (20, 10, 0)], axis=1).astype(np.int64)
    others = np.where(fields & 512, -1.0, 1.0) * (fields & 511) / 511.0 * np.sqrt(0.5)
    largest = (words >> np.uint32(30)).astype(np.int64)
    places = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])[largest]
    xyzw = np.zeros((len(words), 4))
    np.put_along_axis(xyzw, places, others, axis=1)
    np.put_along_axis(xyzw, largest[:, None], np.sqrt(np.maximum(0.0, 1.0 - (others**2).sum(axis=1)))[:, None], axis=1)
    return xyzw[:, [3, 0, 1, 2]].astype(np.float32)
