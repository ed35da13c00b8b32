"""The durable side of a run: one JSON line per finished episode, appended and synced; torn tails are recognised and cut.

A killed run loses at most the episodes that were under way. Reading never depends on which worker wrote what: records
are keyed by (suite, split, world, episode, repeat) and the first complete one counts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from portico.errors import SuiteError, UserError
from portico.evaluate.storage import storage_error as storage_error
from portico.evaluate.storage import write_json as write_json
from portico.evaluate.storage import write_text as write_text

Record = dict[str, Any]

#: Fields that differ between two runs of the same thing.
TIMING_FIELDS = ("timing", "rank", "worker")


@dataclass(frozen=True, order=True)
class Key:
    """Identity of an episode within a run."""

    suite: str
    split: str
    world: str
    episode: str
    repeat: int = 0

    @staticmethod
    def of(record: Record) -> Key:
        """The key a record carries."""
        return Key(**record["key"])

    def slug(self) -> str:
        """A file name: unique within a run, safe on any file system."""
        text = f"{self.world}--{self.episode}--{self.repeat}"
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in text)
        # Where the plain form could be that of another episode too, or is too long for a file, a digest tells them apart.
        plain = (
            safe == text
            and len(safe.encode()) <= 180
            and not any("--" in part or part.startswith("-") or part.endswith("-") for part in (self.world, self.episode))
        )
        return safe if plain else f"{safe[:80]}--{hashlib.sha256(repr(self).encode()).hexdigest()[:12]}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.world} {self.episode}" + (f" repeat {self.repeat}" if self.repeat else "")


@runtime_checkable
class Reporting(Protocol):
    """A policy that says what an episode took it: plain data, which its record keeps as ``agent``."""

    def report(self) -> Mapping[str, Any]:
        """Of the last episode: ``episode`` is its brief's key; what differs from run to run, such as seconds, belongs under ``timing``."""


def add_report(record: Record, policy: object) -> None:
    """Put what a policy reports of this episode into its record, times apart from the rest; most policies report nothing.

    Raises:
        UserError: it reports what cannot be written.
    """
    said = dict(policy.report()) if isinstance(policy, Reporting) else {}
    try:
        json.dumps(said, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError("the policy's report cannot be written", where="report()", why=str(error), next_step="report plain data, without NaN") from error
    timing = said.pop("timing", None)
    # An episode that could not begin leaves the policy with the report of the one before.
    if not said or said.pop("episode", None) != Key.of(record).slug():
        return
    record["agent"] = said
    if timing:
        record["timing"] = {**record.get("timing", {}), "agent": timing}


class RecordWriter:
    """Appends records to one worker's file, each on disk before the call returns."""

    def __init__(self, run_folder: Path, rank: int, worker: int = 0) -> None:
        self.path = run_folder / "records" / (f"rank-{rank:05d}.jsonl" if worker == 0 else f"rank-{rank:05d}-worker-{worker:03d}.jsonl")
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, record: Record) -> None:
        """Write one line and sync it.

        Raises:
            StorageError: the disk refused; lines before this one are intact.
        """
        # Halves of characters, which models and servers do send, are in no UTF-8.
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True).encode(errors="replace")
        try:
            with open(self.path, "ab", buffering=0) as file:
                _mend(file.fileno(), self.path)
                _write_all(file.fileno(), line + b"\n")
                os.fsync(file.fileno())
        except OSError as error:
            raise storage_error(error, self.path) from error

    def last(self) -> Record | None:
        """The record that was written last, None where there is none or its line is torn."""
        if not self.path.is_file():
            return None
        with open(self.path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            ended = size > 0 and (file.seek(size - 1), file.read(1))[1] == b"\n"
            file.seek(_last_line(file, size - ended))
            return parsed(file.read())


@dataclass(frozen=True)
class Line:
    """One line of a record file; ``record`` is None where it cannot be read, ``torn`` where it lacks its end besides."""

    path: Path
    number: int
    record: Record | None
    torn: bool = False


def scan(run_folder: Path) -> Iterator[Line]:
    """Every line of every record file of a run, file by file in the order of their names."""
    for path in sorted((run_folder / "records").glob("rank-*.jsonl")):
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                record = parsed(line)
                yield Line(path, number, record, torn=record is None and not line.endswith(b"\n"))


def parsed(line: bytes) -> Record | None:
    """The record in a line, None in what is left of one: half a JSON object never parses, so whatever does is whole."""
    try:
        record = json.loads(line)
        Key.of(record)
    except (ValueError, KeyError, TypeError):
        return None
    return record if isinstance(record.get("status"), str) else None


def read_records(run_folder: Path) -> dict[Key, Record]:
    """All complete records of a run, sorted by key; an error gives way to any outcome, an earlier error to a later one.

    Raises:
        SuiteError: a record answers a question that this run does not ask.
    """
    found: dict[Key, Record] = {}
    for record in (line.record for line in scan(run_folder) if line.record is not None):
        key = Key.of(record)
        if key not in found or found[key]["status"] == "error":
            found[key] = record
    _refuse_foreign(run_folder, found)
    return dict(sorted(found.items()))


def planned_keys(run_folder: Path) -> list[Key] | None:
    """Every episode that a run is to answer, in its order, by what the run itself has written down; None where that is gone."""
    try:
        header = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
        suite, repeats = header["suite"], int(header.get("repeats", 1))
        worlds = {
            world: [str(e["id"]) for e in json.loads((run_folder / "episodes" / f"{world}.json").read_text(encoding="utf-8"))["episodes"]]
            for world in header["worlds"]
        }
        return [Key(suite["name"], suite["split"], world, e, repeat) for repeat in range(repeats) for world, ids in worlds.items() for e in ids]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def without_timing(record: Record) -> Record:
    """What must be the same however the run was carried out."""
    return {k: v for k, v in record.items() if k not in TIMING_FIELDS}


def outcome_digest(records: Iterable[Record]) -> str:
    """SHA-256 over what must be the same however a run was carried out; records in the order of their keys."""
    digest = hashlib.sha256()
    for record in records:
        digest.update(json.dumps(without_timing(record), ensure_ascii=False, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _refuse_foreign(run_folder: Path, found: Mapping[Key, Record]) -> None:
    planned = planned_keys(run_folder) if found else None
    foreign = sorted(found.keys() - set(planned)) if planned is not None else []
    if foreign:
        raise SuiteError(
            "the folder holds records that are not of this run",
            where=str(run_folder / "records"),
            why=f"{len(foreign)} records answer questions it does not ask, the first is {foreign[0]} of suite {foreign[0].suite}",
            next_step=f"portico runs check {run_folder} names their files; move those out",
        )


def _mend(descriptor: int, path: Path) -> None:
    """Cut what a crash has left of a last line; end one that lacks nothing but its line end."""
    size = os.fstat(descriptor).st_size
    if size == 0 or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) == b"\n":
            return
        start = _last_line(file, size)
        file.seek(start)
        whole = parsed(file.read()) is not None
    if whole:
        _write_all(descriptor, b"\n")
    else:
        os.ftruncate(descriptor, start)


def _last_line(file: Any, size: int) -> int:
    """Where the last line begins."""
    end, step = size, 1 << 16
    while end > 0:
        begin = max(0, end - step)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return int(begin + found + 1)
        end = begin
    return 0


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
