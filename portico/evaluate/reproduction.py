"""Whether a second run came to the same as the first: identity, then every outcome, by hash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portico.evaluate.identity import differences, read_header
from portico.evaluate.records import Record, outcome_digest, read_records, without_timing


@dataclass(frozen=True)
class Verdict:
    """What two runs of the same share.

    Attributes:
        unlike: what of their identity differs, in words.
        digests: SHA-256 over the outcomes of both that have an outcome in either.
        episodes: how many. changed: the name of an episode and which fields of its record differ.
        errors: how many ended in an error in either: an error is no outcome, it need not happen twice.
    """

    unlike: tuple[str, ...]
    digests: tuple[str, str]
    episodes: int
    changed: tuple[str, ...]
    errors: int

    @property
    def same(self) -> bool:
        """Nothing differs."""
        return not self.unlike and not self.changed


def verdict(first: Path, second: Path) -> Verdict:
    """Compare two run folders.

    Raises:
        SuiteError: one of them is no run folder, or holds records of another run.
    """
    unlike = tuple(f"{name}: {words}" for name, words in differences(read_header(first), read_header(second)))
    of_a, of_b = read_records(first), read_records(second)
    faulty = {k for records in (of_a, of_b) for k, r in records.items() if r["status"] == "error"}
    keys = sorted((of_a.keys() | of_b.keys()) - faulty)
    changed = tuple(f"{key}: {words}" for key in keys if (words := _differing(of_a.get(key), of_b.get(key))))
    digests = (outcome_digest(of_a[k] for k in keys if k in of_a), outcome_digest(of_b[k] for k in keys if k in of_b))
    return Verdict(unlike, digests, len(keys), changed, len(faulty))


def _differing(a: Record | None, b: Record | None) -> str:
    if a is None or b is None:
        return "missing in the first run" if a is None else "missing in the second run"
    plain_a, plain_b = (_plain(record) for record in (a, b))
    return ", ".join(name for name in sorted(plain_a.keys() | plain_b.keys()) if plain_a.get(name) != plain_b.get(name))


def _plain(record: Record) -> dict[str, Any]:
    """Its fields without timing, the measures one by one."""
    plain = json.loads(json.dumps(without_timing(record)))
    return {**{k: v for k, v in plain.items() if k != "measures"}, **plain.get("measures", {})}
