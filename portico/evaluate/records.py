"""The durable side of a run: one JSON line per finished episode, appended and synced; torn tails are recognised.

A killed run loses at most the episodes that were under way. Reading never depends on which worker wrote what: records
are keyed by (suite, split, world, episode, repeat) and the first complete one counts.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from portico.errors import StorageError

Record = dict[str, Any]

#: Fields that differ between two runs of the same thing.
TIMING_FIELDS = ("timing", "rank")


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
        """A file name: unique, safe on any file system."""
        text = f"{self.world}--{self.episode}--{self.repeat}"
        return "".join(c if c.isalnum() or c in "-_." else "_" for c in text)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@runtime_checkable
class Reporting(Protocol):
    """A policy that says what an episode took it: plain data, which its record keeps as ``agent``."""

    def report(self) -> Mapping[str, Any]:
        """Of the last episode. What differs from run to run, such as seconds, belongs under ``timing``."""


def add_report(record: Record, policy: object) -> None:
    """Put what a policy reports of an episode into its record, times apart from the rest; most policies report nothing."""
    said = dict(policy.report()) if isinstance(policy, Reporting) else {}
    timing = said.pop("timing", None)
    if said:
        record["agent"] = said
    if timing:
        record["timing"] = {**record.get("timing", {}), "agent": timing}


class RecordWriter:
    """Appends records to one rank's file, each on disk before the call returns."""

    def __init__(self, run_folder: Path, rank: int) -> None:
        self.path = run_folder / "records" / f"rank-{rank:05d}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, record: Record) -> None:
        """Write one line and sync it.

        Raises:
            StorageError: the disk refused; lines before this one are intact.
        """
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()
        try:
            with open(self.path, "ab", buffering=0) as file:
                # A crash may have left half a line: a fresh line start keeps it from swallowing this record.
                torn = file.tell() > 0 and _last_byte(self.path) != b"\n"
                _write_all(file.fileno(), (b"\n" if torn else b"") + line + b"\n")
                os.fsync(file.fileno())
        except OSError as error:
            raise storage_error(error, self.path) from error


def storage_error(error: OSError, path: Path) -> StorageError:
    """The user's view of a disk that refused during a run."""
    return StorageError(
        "the run stopped because the disk refused a write",
        where=str(path),
        why=str(error),
        next_step="free some space, then run the same command again: finished episodes are kept",
    )


def read_records(run_folder: Path) -> dict[Key, Record]:
    """All complete records of a run, sorted by key; torn lines are skipped, an error gives way to a later outcome."""
    found: dict[Key, Record] = {}
    for path in sorted((run_folder / "records").glob("rank-*.jsonl")):
        for record in _lines(path):
            key = Key.of(record)
            if key not in found or found[key]["status"] == "error":
                found[key] = record
    return dict(sorted(found.items()))


def without_timing(record: Record) -> Record:
    """What must be the same however the run was carried out."""
    return {k: v for k, v in record.items() if k not in TIMING_FIELDS}


def write_json(path: Path, value: object) -> None:
    """Write JSON, whole or not at all; NaN and Infinity are refused.

    Raises:
        StorageError: the disk refused.
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of a run, whole or not at all.

    Raises:
        StorageError: the disk refused.
    """
    staging = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(staging, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        staging.replace(path)
    except OSError as error:
        raise storage_error(error, path) from error


@contextmanager
def locked(run_folder: Path) -> Iterator[None]:
    """Hold a run folder so that two processes never write it at once.

    Raises:
        StorageError: another run holds it, or the folder cannot be written.
    """
    try:
        run_folder.mkdir(parents=True, exist_ok=True)
        handle = open(run_folder / ".lock", "w")  # noqa: SIM115 - held for the whole run, closed below
    except OSError as error:
        raise StorageError("the run folder cannot be written", where=str(run_folder), why=str(error), next_step="choose another --out") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        raise StorageError("another run is writing this folder", where=str(run_folder), next_step="wait for it, or choose another --out") from error
    try:
        yield
    finally:
        handle.close()


def _lines(path: Path) -> Iterator[Record]:
    with open(path, "rb") as file:
        for line in file:
            # Half a JSON object never parses, so whatever does is whole, with or without its line end.
            try:
                record = json.loads(line)
            except (json.JSONDecodeError, UnicodeDecodeError):
                continue
            if isinstance(record, dict) and "key" in record and "status" in record:
                yield record


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
