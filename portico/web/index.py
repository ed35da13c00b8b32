"""What a run has recorded, in memory: a row per episode for the table, and where each record lies on disk for its page.

Record files are read once and then only where they have grown, so that ten thousand records open quickly and a run can be watched while it
is written. Which records count is as in ``portico.evaluate.scores.read_scored``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from portico.evaluate.records import Key, Record, planned_keys
from portico.evaluate.scores import SCORES, about_scores

#: Measures that the table shows and sorts by.
FIGURES = ("spl", "path_length_m", "steps", "duration_s", "navigation_error_m")
#: What ``Row.reached`` says when every stage was confirmed.
DONE = "done"


class Place(NamedTuple):
    """Where a record lies: file within the run folder, first byte and length of its line."""

    file: str
    start: int
    length: int


class Row(NamedTuple):
    """One episode of one run, as the table shows it.

    Attributes:
        reached: kind of the stage in which it ended, ``DONE``, or "" when not known.
        figures: as many as ``FIGURES``; None where a measure was not scored.
    """

    key: Key
    task: str
    status: str
    reason: str
    scene: str
    difficulty: str
    stages: int
    completed: int
    reached: str
    labels: tuple[str, ...]
    figures: tuple[float | None, ...]
    place: Place

    @property
    def slug(self) -> str:
        """File name of its trajectory, which also addresses it."""
        return self.key.slug()


@dataclass
class _File:
    """How far a record file has been read; another inode or a shorter file means that it was written anew.

    Attributes:
        rows: in the order of their lines. lost: whole lines that hold no record. tail: the last line has begun and is not whole yet.
    """

    inode: int
    read: int = 0
    rows: list[Row] = field(default_factory=list)
    lost: int = 0
    tail: bool = False


class RunIndex:
    """The rows of one run folder.

    Args:
        header: its ``run.json``, to tell records of another run by; without it all are taken for its own.

    Attributes:
        rows: sorted by identity. foreign: how many records answer questions that the run does not ask; they are no rows.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any] | None = None) -> None:
        self.folder, self.header, self.foreign = folder, header, 0
        self.rows: list[Row] = []
        self._by_slug: dict[str, Row] | None = None
        self._asked: frozenset[Key] | None = None
        self._files: dict[str, _File] = {}

    @property
    def torn(self) -> int:
        """Lines that hold no whole record, such as one that is being written."""
        return sum(file.lost + file.tail for file in self._files.values())

    def refresh(self) -> bool:
        """Read what has been written since the last time; True when there are other rows now."""
        paths = {f"records/{path.name}": path for path in (self.folder / "records").glob("rank-*.jsonl")}
        if about_scores(self.folder) is not None:
            paths = {SCORES: self.folder / SCORES}
        gone = self._files.keys() - paths.keys()
        for name in gone:
            del self._files[name]
        changed = bool(gone)
        for name, path in paths.items():
            changed |= self._read(name, path)
        if changed:
            self._settle()
        return changed

    def find(self, slug: str) -> Row | None:
        """The row of that slug. Slugs are made when the first is asked for: a table of thousands needs a hundred."""
        if self._by_slug is None:
            self._by_slug = {row.slug: row for row in self.rows}
        return self._by_slug.get(slug)

    def record(self, row: Row) -> Record:
        """The whole record of a row, from disk.

        Raises:
            OSError, ValueError: it is not there any more.
        """
        with open(self.folder / row.place.file, "rb") as file:
            file.seek(row.place.start)
            found: Record = from_json(file.read(row.place.length))
        return found

    def _read(self, name: str, path: Path) -> bool:
        known = self._files.get(name)
        try:
            about = path.stat()
            if known is None or known.inode != about.st_ino or about.st_size < known.read:
                anew = known is not None
                known = self._files[name] = _File(about.st_ino)
            else:
                anew = False
            if about.st_size == known.read:
                known.tail = False
                return anew
            with open(path, "rb") as file:
                file.seek(known.read)
                return _take(name, known, file.read()) or anew
        except OSError:
            return False

    def _settle(self) -> None:
        found: dict[Key, Row] = {}
        for name in sorted(self._files):
            for row in self._files[name].rows:
                there = found.get(row.key)
                if there is None or there.status == "error":
                    found[row.key] = row
        # Keys are compared as tuples: dataclass comparison would build one for every pair.
        self.rows = self._own(sorted(found.values(), key=lambda row: _order(row.key)))
        self.foreign = len(found) - len(self.rows)
        self._by_slug = None

    def _own(self, rows: list[Row]) -> list[Row]:
        """Those that the run asks for. Its questions are read only where the rows are not as many: there may be thousands."""
        if self.header is None:
            return rows
        suite, worlds = self.header["suite"], self.header["worlds"]
        near = [row for row in rows if (row.key.suite, row.key.split) == (suite["name"], suite.get("split", row.key.split)) and row.key.world in worlds]
        count = int(self.header["planned"])
        if len(near) == len(rows) == count:
            return rows
        if self._asked is None and (planned := planned_keys(self.folder)) is not None and len(planned) == count:
            self._asked = frozenset(planned)
        return [row for row in near if self._asked is None or row.key in self._asked]


def _take(name: str, known: _File, data: bytes) -> bool:
    """Add the rows of new bytes; a last line that is not whole is left for the next time. True when there are any."""
    at, before = 0, len(known.rows)
    known.tail = False
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at:] if end < 0 else data[at:end]
        row = _row(line, Place(name, known.read + at, len(line)))
        if row is not None:
            known.rows.append(row)
        elif end < 0:
            known.tail = True
            break
        elif line.strip():
            known.lost += 1
        at += len(line) + (end >= 0)
    known.read += at
    return len(known.rows) > before


def _order(key: Key) -> tuple[str, str, str, str, int]:
    return key.suite, key.split, key.world, key.episode, key.repeat


def _row(line: bytes, place: Place) -> Row | None:
    """The row of a line, None when it holds no record."""
    try:
        record = from_json(line)
        key = Key(**record["key"])
        status = record["status"]
    except (ValueError, KeyError, TypeError):
        return None
    if not all(isinstance(part, str) for part in (status, key.suite, key.split, key.world, key.episode)) or not isinstance(key.repeat, int):
        return None
    measures: dict[str, Any] = record.get("measures") or {}
    stages, completed = int(record.get("stages") or 0), int(record.get("completed") or 0)
    return Row(
        key=key,
        task=str(record.get("task") or ""),
        status=status,
        reason=str(record.get("reason") or ""),
        scene=str(record.get("scene") or ""),
        difficulty=str(record.get("difficulty") or ""),
        stages=stages,
        completed=completed,
        reached=_reached(record, stages, completed),
        labels=tuple(dict.fromkeys(str(label["label"]) for label in record.get("labels") or [])),
        figures=tuple(measures.get(name) for name in FIGURES),
        place=place,
    )


def _reached(record: Record, stages: int, completed: int) -> str:
    outcomes = record.get("stage_outcomes") or []
    if stages and completed >= stages:
        return DONE
    return str(outcomes[completed]["kind"]) if completed < len(outcomes) else ""
