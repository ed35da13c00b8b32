"""One log per rank: when it started and where, what came of each episode, how it ended. For people and for ``portico runs check``."""

from __future__ import annotations

import json
import os
import platform
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numba
import numpy as np

from portico import __version__
from portico.evaluate.storage import storage_error

Entry = dict[str, Any]


def versions() -> dict[str, str]:
    """Of what results may depend on."""
    return {"portico": __version__, "numpy": np.__version__, "numba": numba.__version__, "python": platform.python_version()}


class Logbook:
    """Appends to ``logs/rank-00000.jsonl``; every start of the rank adds to it.

    Events: ``start`` (rank, world_size, host, versions, what there is to do), ``episode`` (status, seconds), ``died`` (a worker; its episode is
    tried again or an error), ``end`` (counts) and ``stopped`` (why).
    """

    def __init__(self, run_folder: Path, rank: int) -> None:
        self.path = run_folder / "logs" / f"rank-{rank:05d}.jsonl"

    def note(self, event: str, **facts: Any) -> None:
        """Add one line.

        Raises:
            StorageError: the disk refused.
        """
        entry = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8", errors="replace") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as error:
            raise storage_error(error, self.path) from error

    def start(self, **facts: Any) -> None:
        """Add who starts, and where."""
        self.note("start", host=socket.gethostname(), pid=os.getpid(), versions=versions(), **facts)


def read_logs(run_folder: Path) -> Iterator[tuple[int, Entry]]:
    """(rank, entry) of every line that can be read, rank by rank, oldest first."""
    for path in sorted((run_folder / "logs").glob("rank-*.jsonl")):
        rank = int(path.stem.removeprefix("rank-"))
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and "event" in entry:
                yield rank, entry
