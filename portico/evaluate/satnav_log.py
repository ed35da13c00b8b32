"""SatNav's evaluator as far as results depend on it: identities, order, shards, seeds, logs and their means [SN 5, 6].

Portico's own runs need none of it: they go by identity, retry errors and notice what is missing. This reads what SatNav's evaluator
wrote, and says which rank it would have given which episode, so that both can be laid side by side.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isfinite
from pathlib import Path
from typing import Any

from portico.errors import EpisodeError, StorageError, SuiteError

SEPARATOR = "::"
_LOG = "episodes.jsonl"


def episode_key(split: str, scene: str, episode: str) -> str:
    """``<split>::<scene>::<id>``.

    Raises:
        EpisodeError: a part is empty or holds the separator.
    """
    for name, part in (("split", split), ("scene_id", scene), ("episode_id", episode)):
        if not part or SEPARATOR in part:
            raise EpisodeError("a part of an episode's key is empty or holds '::'", where=name, why=f"{part!r}", next_step="rename it")
    return SEPARATOR.join((split, scene, episode))


def selected(keys: Sequence[str], *, offset: int = 0, limit: int | None = None, rank: int = 0, ranks: int = 1) -> list[str]:
    """The keys of one rank: sorted as plain texts, then offset and limit, then every ``ranks``-th.

    Raises:
        EpisodeError: the same key twice. SuiteError: an offset, limit or rank that makes no sense.
    """
    if len(set(keys)) != len(keys):
        twice = sorted(k for k in set(keys) if list(keys).count(k) > 1)
        raise EpisodeError(f"duplicate episode key {twice[0]!r}", next_step="rename one of the two")
    if offset < 0 or (limit is not None and limit < -1) or not 0 <= rank < ranks:
        raise SuiteError(
            "no such shard", where=f"offset {offset}, limit {limit}, rank {rank} of {ranks}", next_step="offset and limit from 0, rank below ranks"
        )
    chosen = sorted(keys)[offset:]
    return (chosen if limit in (None, -1) else chosen[:limit])[rank::ranks]


def episode_seed(base: int, key: str) -> int:
    """The first eight bytes, big-endian, of SHA-256 over the decimal base seed, a zero byte and the key."""
    return int.from_bytes(hashlib.sha256(f"{base}\0{key}".encode()).digest()[:8], "big")


def mend_log(path: Path) -> list[str]:
    """Make a rank's log fit to go on with: a torn last line is cut off, a missing line end added; the keys that are done.

    Raises:
        StorageError: a line that is damaged and not the last.
    """
    data = path.read_bytes()
    lines = data.split(b"\n")
    tail = lines.pop()
    keys = [_record(line, path, n)["episode_key"] for n, line in enumerate(lines)]
    if tail:
        try:
            keys.append(json.loads(tail)["episode_key"])
            path.write_bytes(data + b"\n")
        except (ValueError, KeyError, TypeError):
            path.write_bytes(data[: len(data) - len(tail)])
    return [str(k) for k in keys]


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All records of a results folder, ranks in order.

    Raises:
        StorageError: there is no log, or a line is damaged, the last one included.
    """
    logs = sorted(folder.glob(f"rank_*/{_LOG}"))
    if not logs:
        raise StorageError("there are no SatNav results", where=str(folder), why=f"no rank_*/{_LOG} lies in it", next_step="give the evaluator's output folder")
    return [_record(line, log, n) for log in logs for n, line in enumerate(log.read_bytes().split(b"\n")[: None if _torn(log) else -1])]


def aggregate(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """SatNav's summary: the last record of a key counts, errors leave the means, each measure has its own denominator."""
    listed = list(records)
    unique = {str(r.get("episode_key", n)): r for n, r in enumerate(listed)}
    done = [r for r in unique.values() if r.get("status") == "ok"]
    values: dict[str, list[float]] = {}
    for record in done:
        for name, value in (record.get("metrics") or {}).items():
            if isinstance(value, int | float) and isfinite(value):
                values.setdefault(name, []).append(float(value))
    errors = sum(r.get("status") == "error" for r in unique.values())
    return {
        "status": "completed_with_errors" if errors else "complete",
        "record_count": len(listed),
        "unique_record_count": len(unique),
        "ok_episode_count": len(done),
        "error_episode_count": errors,
        "metrics": {name: fsum(found) / len(found) for name, found in sorted(values.items())},
    }


def _torn(log: Path) -> bool:
    return not log.read_bytes().endswith(b"\n")


def _record(line: bytes, log: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("no object")
    except ValueError as error:
        raise StorageError(
            "a line of the results is damaged", where=f"{log}: line {number + 1}", why=str(error), next_step="resume the evaluation, or cut the line off"
        ) from error
    return record
