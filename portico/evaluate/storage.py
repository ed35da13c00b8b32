"""Files of a run that are there whole or not at all, and what a user is told when the disk refuses."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from portico.errors import StorageError


def storage_error(error: OSError, path: Path) -> StorageError:
    """The user's view of a disk that refused during a run."""
    return StorageError(
        "the run stopped because the disk refused a write",
        where=str(path),
        why=str(error),
        next_step="free some space, then run the same command again: finished episodes are kept",
    )


def write_json(path: Path, value: object) -> None:
    """Write JSON, whole or not at all; NaN and Infinity are refused.

    Raises:
        StorageError: the disk refused.
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of a run, whole or not at all, however many ranks write it at once.

    Raises:
        StorageError: the disk refused.
    """
    staging = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(staging, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        staging.replace(path)
    except OSError as error:
        # What is left of it would keep a full disk full.
        staging.unlink(missing_ok=True)
        raise storage_error(error, path) from error


def sync(path: Path) -> None:
    """Return when a finished file will outlive a power cut.

    Raises:
        OSError: the disk refused.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
