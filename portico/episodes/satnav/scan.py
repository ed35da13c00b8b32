"""Finds the episodes of a SatNav file without reading them: where each begins and ends, and where its id and scene are written.

A file of 100,000 episodes holds hundreds of megabytes, nearly all of it coordinates that nobody asks for until an episode is flown.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.errors import ImportFailed

_CHUNK = 1 << 22
_MAGIC = b"\x1f\x8b"
#: No episode is written in fewer bytes.
_SHORTEST = 2
# Places of the scanner's memory between chunks.
_DEPTH, _STRING, _ESCAPE, _LIST, _COUNT, _FITS_A, _FITS_B, _FITS_C, _LAST, _WANT, _VALUE, _STRANGE, _BEGIN, _END, _POSITION, _LENGTH = range(16)


class Slice(NamedTuple):
    """One episode as it is written: its position in the list, its bytes, and its id and scene as JSON, empty where there is none."""

    position: int
    text: bytes
    id_text: bytes
    scene_text: bytes


@dataclass
class EpisodeSlices:
    """The episodes of a file, one after the other; a few megabytes are in memory at a time.

    Attributes:
        path: plain or gzipped JSON, whatever its name says.
        metadata: all other keys of the file, known once every episode was taken.

    Raises:
        ImportFailed: while they are taken: no JSON, cut short, no list of episodes; names the file and the field.
    """

    path: Path
    metadata: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Slice]:
        if not self.path.is_file():
            raise ImportFailed("there is no such episode file", where=str(self.path), next_step="check the path")
        state = np.zeros(_LENGTH, np.int64)
        state[[_STRANGE, _BEGIN, _END]] = -1
        spans, current = np.empty((_CHUNK // _SHORTEST, 6), np.int64), np.full(6, -1, np.int64)
        held, held_at, seen = b"", 0, 0
        head, tail = [], []
        with self._opened() as file:
            while chunk := self._read(file):
                at = int(state[_POSITION])
                began = state[_BEGIN] >= 0
                held = held + chunk if held else chunk
                count = int(_scan(np.frombuffer(chunk, np.uint8), state, current, spans))
                if state[_STRANGE] >= 0:
                    raise ImportFailed("an episode is no object", where=f"{self.path}: episodes[{seen + count}]", next_step="give each episode as {...}")
                if not began:
                    head.append(chunk[: state[_BEGIN] + 1 - at] if state[_BEGIN] >= 0 else chunk)
                if state[_END] >= 0:
                    tail.append(chunk[max(0, state[_END] - at) :])
                for n, span in enumerate((spans[:count] - held_at).tolist()):
                    begin, end, id_begin, id_end, scene_begin, scene_end = span
                    id_text = held[id_begin:id_end] if id_begin >= 0 else b""
                    yield Slice(seen + n, held[begin:end], id_text, held[scene_begin:scene_end] if scene_begin >= 0 else b"")
                seen += count
                keep = int(current[0]) if current[0] >= 0 else at + len(chunk)
                held, held_at = held[keep - held_at :], keep
        self._finish(state, b"".join(head), b"".join(tail))

    def _opened(self) -> Any:
        with self.path.open("rb") as file:
            packed = file.read(2) == _MAGIC
        return gzip.open(self.path, "rb") if packed else self.path.open("rb")

    def _read(self, file: BinaryIO) -> bytes:
        try:
            return file.read(_CHUNK)
        except (OSError, EOFError, zlib.error) as error:
            raise ImportFailed("the gzip (.gz) file ends early or is damaged", where=str(self.path), why=str(error), next_step="fetch it again") from error

    def _finish(self, state: NDArray[np.int64], head: bytes, tail: bytes) -> None:
        """Read what stands around the episodes."""
        where = str(self.path)
        if state[_STRING] or state[_DEPTH] > 0:
            why = f"it ends inside {'a text' if state[_STRING] else 'an object or a list'}"
            raise ImportFailed("the episode file is cut short", where=where, why=why, next_step="fetch it again")
        try:
            found = json.loads(head + tail)
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ImportFailed("the episode file is no JSON", where=where, why=str(error), next_step="mend it at the place named") from error
        if not isinstance(found, dict) or state[_BEGIN] < 0:
            raise ImportFailed(
                "this is no SatNav episode file", where=f"{where}: episodes", why="it has no list of that name", next_step='it reads {"episodes": [...]}'
            )
        self.metadata.update({key: value for key, value in found.items() if key != "episodes"})


_QUOTE, _BACKSLASH, _COLON, _COMMA, _OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = (ord(c) for c in '"\\:,{}[]')
_KEYS = np.zeros((3, 10), np.uint8)
for _row, _name in enumerate((b"episodes", b"episode_id", b"scene_id")):
    _KEYS[_row, : len(_name)] = list(_name)


@njit(cache=True, nogil=True)
def _scan(chunk, state, current, spans):  # type: ignore[no-untyped-def]
    """Go on through a chunk; the number of episodes that ended in it. Their spans: begin and end of the episode, of its id and of its scene."""
    depth, string, escape, inside, size = state[_DEPTH], state[_STRING], state[_ESCAPE], state[_LIST], state[_COUNT]
    fits_a, fits_b, fits_c, last, want, value = state[_FITS_A], state[_FITS_B], state[_FITS_C], state[_LAST], state[_WANT], state[_VALUE]
    at, count = state[_POSITION], 0
    for n in range(chunk.size):
        b = chunk[n]
        if string:
            if escape:
                escape = 0
            elif b == _BACKSLASH:
                escape = 1
            elif b == _QUOTE:
                string = 0
                last = 1 if fits_a and size == 8 else 2 if fits_b and size == 10 else 3 if fits_c and size == 8 else 0
                continue
            if fits_a or fits_b or fits_c:
                fits_a = fits_a and size < 8 and b == _KEYS[0, min(size, 9)]
                fits_b = fits_b and size < 10 and b == _KEYS[1, min(size, 9)]
                fits_c = fits_c and size < 8 and b == _KEYS[2, min(size, 9)]
            size += 1
            continue
        if b <= 32:
            continue
        if want > 1 and b != _COLON:
            value, current[2 * (want - 1)], want = want, at + n, 0
        if inside == 1 and depth == 2 and b != _OPEN and b != _COMMA and b != _CLOSE_LIST and state[_STRANGE] < 0:
            state[_STRANGE] = at + n
        if b == _QUOTE:
            string, size = 1, 0
            fits_a = 1 if depth == 1 and inside == 0 else 0
            fits_b = fits_c = 1 if depth == 3 and inside == 1 else 0
        elif b == _COLON:
            want, last = last, 0
        elif b == _COMMA:
            if value and depth == 3:
                current[2 * (value - 1) + 1], value = at + n, 0
        elif b == _OPEN:
            if inside == 1 and depth == 2:
                current[:] = -1
                current[0] = at + n
            depth += 1
        elif b == _CLOSE:
            if value and depth == 3:
                current[2 * (value - 1) + 1], value = at + n, 0
            depth -= 1
            if inside == 1 and depth == 2:
                current[1] = at + n + 1
                spans[count] = current
                current[:] = -1
                count += 1
        elif b == _OPEN_LIST:
            if want == 1 and depth == 1:
                inside, state[_BEGIN] = 1, at + n
            depth += 1
        elif b == _CLOSE_LIST:
            depth -= 1
            if inside == 1 and depth == 1:
                inside, state[_END] = 2, at + n
        if want == 1 and b != _COLON:
            want = 0
    state[_DEPTH], state[_STRING], state[_ESCAPE], state[_LIST], state[_COUNT] = depth, string, escape, inside, size
    state[_FITS_A], state[_FITS_B], state[_FITS_C], state[_LAST], state[_WANT], state[_VALUE] = fits_a, fits_b, fits_c, last, want, value
    state[_POSITION] = at + chunk.size
    return count
