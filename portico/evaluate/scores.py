"""What ``portico score`` leaves beside a run: every record scored again, and of which state of the run that was.

Readers count these instead of the run's own records for as long as nothing has been recorded since; after that the run's own count again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from portico import __version__
from portico.evaluate.records import Key, Record, parsed, read_records, write_json, write_text

#: The records, a line each, and what they were made from.
SCORES, ABOUT = "scores.jsonl", "scores.json"


def extent(run_folder: Path) -> dict[str, int]:
    """Bytes of every record file; they only ever grow, so the same sizes mean the same records."""
    return {path.name: path.stat().st_size for path in sorted((run_folder / "records").glob("rank-*.jsonl"))}


def write_scores(run_folder: Path, scores: Iterable[Record], made_from: Mapping[str, int], measures: Mapping[str, int]) -> None:
    """Write both files.

    Args:
        made_from: the ``extent`` before the run's records were read. measures: versions, as in ``run.json``.

    Raises:
        StorageError: the disk refused.
    """
    # Without it nobody counts what is half written.
    (run_folder / ABOUT).unlink(missing_ok=True)
    write_text(run_folder / SCORES, "".join(json.dumps(r, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n" for r in scores))
    write_json(run_folder / ABOUT, {"records": dict(made_from), "measures": dict(measures), "portico": __version__})


def about_scores(run_folder: Path) -> dict[str, Any] | None:
    """What ``scores.json`` says, None where nobody has scored again, or where the run has gone on since."""
    try:
        about = json.loads((run_folder / ABOUT).read_text(encoding="utf-8"))
        counts = about["records"] == extent(run_folder) and isinstance(about["measures"], dict) and (run_folder / SCORES).is_file()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(about) if counts else None


def read_scored(run_folder: Path, own: dict[Key, Record] | None = None) -> dict[Key, Record]:
    """The records that count, sorted by key: scored again where that was done, else the run's own.

    Args:
        own: those, where they have been read already.

    Raises:
        SuiteError: a record answers a question that this run does not ask.
    """
    if about_scores(run_folder) is None:
        return read_records(run_folder) if own is None else own
    with open(run_folder / SCORES, "rb") as file:
        found = {Key.of(record): record for line in file if (record := parsed(line)) is not None}
    return dict(sorted(found.items()))


def scored_header(run_folder: Path, header: Mapping[str, Any]) -> dict[str, Any]:
    """A run's header with the versions of the measures that count."""
    about = about_scores(run_folder)
    return {**header, "measures": about["measures"]} if about is not None else dict(header)
