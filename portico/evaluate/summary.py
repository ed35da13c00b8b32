"""``summary.json``: what the records add up to, whether they are all there, and by name those that are not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from portico.evaluate.aggregate import summarise
from portico.evaluate.records import Key, Record, outcome_digest, planned_keys


def summary_of(run_folder: Path, header: Mapping[str, Any], records: Mapping[Key, Record], scores: Sequence[Record]) -> dict[str, Any]:
    """The summary of a run folder.

    Args:
        records: the run's own, by key. scores: the same, or scored again.

    Returns:
        What ``summarise`` returns, and status: ``complete``, ``complete_with_errors`` (every episode has a record) or ``incomplete``.
        unfinished: names of episodes that are ``missing`` or ended in an ``error``. outcome: SHA-256 over the run's own records.
    """
    open_ = unfinished(planned_keys(run_folder) or [], records)
    summary = summarise(scores, header)
    n = summary["n"]
    status = "incomplete" if n["missing"] else "complete_with_errors" if n["error"] else "complete"
    return {**summary, "status": status, "unfinished": open_, "outcome": outcome_digest(records[key] for key in sorted(records))}


def unfinished(planned: Collection[Key], records: Mapping[Key, Record]) -> dict[str, list[str]]:
    """What a run has not scored, by name: ``missing`` and ``error``."""
    return {
        "missing": [str(key) for key in planned if key not in records],
        "error": [str(key) for key in planned if key in records and records[key]["status"] == "error"],
    }
