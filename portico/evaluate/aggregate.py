"""From records to a summary: means with intervals, what was left out and why, stage tables and breakdowns.

Every figure says how many episodes it rests on. Errors stay out of denominators and are shown next to them; a strict
mean counts them as failures. Undefined is null, never NaN and never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.evaluate.intervals import clustered_by_world, wilson
from portico.evaluate.measures import MEASURES, Measure, measure
from portico.geometry import Floats
from portico.tasks.episode import LEVELS, SCENES

SUMMARY_SCHEMA = "portico.summary/1"

Record = Mapping[str, Any]
Integers = NDArray[np.int64]
Group = dict[str, Any]


def summarise(records: Iterable[Record], header: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Summary of one run, ready for JSON.

    Args:
        records: one per finished episode, in any order.
        header: the run's ``run.json``; its ``planned`` counts, and who ran what is copied.

    Returns:
        run: suite, split, termination, policy, privileged, partial, repeats, as the header has them; what tables are stamped with.
        n: planned, scored, error, missing.
        measures: name -> mean, low, high, n, unscored (reason -> count), strict, version, direction, unit.
        stages: task -> stage table (see ``stage_table``).
        reasons, labels: counts of episodes.
        transition: see ``transition_table``.
        breakdowns: task, scene, stage, difficulty, level, world, reason -> value -> n and measures. difficulty is as the episodes say, else by
            difficulty_limits_m: task -> [1/3, 2/3 quantile of L]; level, written ``task/difficulty``, is of graded episodes alone.
    """
    ordered = sorted(records, key=_identity)
    header = header or {}
    rows = _Rows(ordered)
    group = _group(rows, range(len(ordered)))
    planned = max(int(header.get("planned", 0)), len(ordered))
    limits = difficulty_limits(ordered)
    return {
        "schema_version": SUMMARY_SCHEMA,
        "run": _identity_of_run(header),
        "n": {"planned": planned, **group["n"], "missing": planned - len(ordered)},
        "measures": group["measures"],
        "stages": {task: stage_table(members) for task, members in _grouped(ordered, lambda r: r.get("task")).items()},
        "reasons": _counts(r.get("reason") for r in ordered),
        "labels": _counts(name for r in ordered for name in sorted({label["label"] for label in r.get("labels") or ()})),
        "transition": transition_table(ordered),
        "difficulty_limits_m": limits,
        "breakdowns": {
            "task": _breakdown(rows, lambda r: r.get("task")),
            "scene": _breakdown(rows, lambda r: r.get("scene"), SCENES),
            "stage": _breakdown(_Rows(list(_stage_records(ordered))), lambda r: r["task"]),
            "difficulty": _breakdown(rows, lambda r: _difficulty(r, limits), LEVELS),
            "level": _breakdown(rows, _level, [f"{task}/{level}" for task in sorted({str(r.get("task")) for r in ordered}) for level in LEVELS]),
            "world": _breakdown(rows, _world),
            "reason": _breakdown(rows, lambda r: r.get("reason")),
        },
    }


def _identity_of_run(header: Mapping[str, Any]) -> dict[str, Any]:
    suite = header.get("suite") or {}
    return {
        "suite": suite.get("name"),
        "split": suite.get("split"),
        "termination": suite.get("termination"),
        "policy": header.get("policy"),
        "privileged": list(header.get("privileged") or ()),
        "partial": bool(header.get("partial")),
        "repeats": int(header.get("repeats") or 1),
    }


def summarise_group(records: Sequence[Record]) -> Group:
    """Counts and measures of some records."""
    return _group(_Rows(records), range(len(records)))


def _group(rows: _Rows, at: Sequence[int]) -> Group:
    """Counts and measures of some of the rows."""
    scored = rows.part([i for i in at if rows.records[i]["status"] != "error"])
    errors = len(at) - len(scored.records)
    names = sorted(scored.names(), key=_table_order)
    return {"n": {"scored": len(scored.records), "error": errors}, "measures": {name: _summarised(name, scored, errors) for name in names}}


def summarise_measure(name: str, scored: Sequence[Record], errors: int) -> dict[str, Any]:
    """One measure over records without errors; an episode that lacks it is counted by reason and changes nothing else."""
    return _summarised(name, _Rows(scored), errors)


class _Rows:
    """Records, read once into columns: a large run is summarised in many groups, each of which is a part of the whole."""

    def __init__(self, records: Sequence[Record], whole: _Rows | None = None, at: Integers | None = None) -> None:
        self.records, self._whole, self._at = records, whole, at
        self._values: dict[str, Floats] = {}
        self._reasons: dict[str, NDArray[np.object_]] = {}
        self._worlds: list[Integers] | None = None

    def part(self, at: Sequence[int]) -> _Rows:
        """Some of them, in that order."""
        return _Rows([self.records[i] for i in at], self, np.array(at, np.int64))

    def names(self) -> set[str]:
        """Every measure that a record has, scored or not."""
        kinds = {tuple(r.get("measures") or ()) for r in self.records}
        return {name for kind in kinds for name in kind}

    def values(self, name: str) -> Floats:
        """(n,) values of a measure, NaN where it is not scored."""
        if name not in self._values:
            if self._whole is not None:
                self._values[name] = self._whole.values(name)[self._at]
            else:
                column = [(r.get("measures") or {}).get(name) for r in self.records]
                self._values[name] = np.array([np.nan if v is None else v for v in column], np.float64)
        return self._values[name]

    def reasons(self, name: str) -> NDArray[np.object_]:
        """(n,) why a measure is not scored, where it is not."""
        if name not in self._reasons:
            if self._whole is not None:
                self._reasons[name] = self._whole.reasons(name)[self._at]
            else:
                self._reasons[name] = np.array([(r.get("unscored") or {}).get(name, "not_computed") for r in self.records], object)
        return self._reasons[name]

    def worlds(self) -> list[Integers]:
        """Which rows are of which world, the worlds in the order of their names."""
        if self._worlds is None:
            of_world: dict[str, list[int]] = {}
            for i, record in enumerate(self.records):
                of_world.setdefault(_world(record), []).append(i)
            self._worlds = [np.array(of_world[world], np.int64) for world in sorted(of_world)]
        return self._worlds


def _summarised(name: str, rows: _Rows, errors: int) -> dict[str, Any]:
    about, column = measure(name), rows.values(name)
    there = ~np.isnan(column)
    values = column[there].tolist()
    unscored = Counter(rows.reasons(name)[~there].tolist()) if len(values) < len(column) else Counter[str]()
    total, n = fsum(values), len(values)
    interval = wilson(total, n) if n and about.rate else clustered_by_world(_by_world(column, rows.worlds())) if n else None
    strict = about.failed is not None and name in MEASURES and n + errors > 0
    return {
        "mean": total / n if n else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": n,
        "unscored": dict(sorted(unscored.items())),
        "strict": (total + (about.failed or 0.0) * errors) / (n + errors) if strict else None,
        "version": about.version,
        "direction": about.direction,
        "unit": about.unit,
    }


def _by_world(column: Floats, worlds: Sequence[Integers]) -> list[list[float]]:
    """The values of each world that has any."""
    parts = (column[at] for at in worlds)
    return [values for part in parts if (values := part[~np.isnan(part)].tolist())]


def stage_table(records: Iterable[Record]) -> dict[str, Any]:
    """Prefix counts of episodes with the same stages, errors left out [I2 D.6].

    Returns:
        kinds: stage kinds, where records say them. N: N_0 to N_K, episodes whose first k stages succeeded.
        C: C_k = N_k / N_{k-1}, null for a zero denominator; low, high: their Wilson intervals.
        FSR: N_K / N_0. CSR: mean of c / K. first_failed: episodes whose first failed stage is k, which is c + 1.
    """
    scored = [r for r in records if r["status"] != "error"]
    stages = max((int(r["stages"]) for r in scored), default=0)
    completed = [int(r["completed"]) for r in scored]
    prefix = [sum(c >= k for c in completed) for k in range(stages + 1)]
    pairs = list(zip(prefix[1:], prefix[:-1], strict=True))
    intervals = [wilson(n, before) if before else None for n, before in pairs]
    n = len(scored)
    return {
        "kinds": next(([o["kind"] for o in r["stage_outcomes"]] for r in scored if r.get("stage_outcomes")), []),
        "N": prefix if n else [],
        "C": [k / before if before else None for k, before in pairs],
        "low": [i.low if i else None for i in intervals],
        "high": [i.high if i else None for i in intervals],
        "FSR": prefix[-1] / n if n else None,
        "CSR": fsum(c / int(r["stages"]) for c, r in zip(completed, scored, strict=True)) / n if n else None,
        "first_failed": [before - k for k, before in pairs],
    }


def transition_table(records: Iterable[Record]) -> dict[str, Any]:
    """Episodes that start in a building, those of indoor scenes aside: how many got out, how they explored before and after, why they failed afterwards [NV 4.3]."""
    leaving = [r for r in records if r["status"] != "error" and r.get("scene") != "indoor"]
    starts = [r for r in leaving if (r.get("measures") or {}).get("reached_outdoors") is not None]
    out = [r for r in starts if r["measures"]["reached_outdoors"] == 1.0]
    table: dict[str, Any] = {
        "n": len(starts),
        "not_reached": len(starts) - len(out),
        "not_reached_rate": (len(starts) - len(out)) / len(starts) if starts else None,
    }
    for side in ("before", "after"):
        name = f"coverage_efficiency_{side}_exit"
        table[name] = summarise_measure(name, out, 0)
    return {**table, "reasons_after": _counts(r.get("reason") for r in out if r["status"] == "failure")}


def difficulty_limits(records: Iterable[Record]) -> dict[str, list[float]]:
    """Per task the 1/3 and 2/3 quantiles of the reference length L, over all its ungraded episodes whatever became of them [NV 4.4]."""
    lengths: dict[str, list[float]] = {}
    for r in records:
        if r.get("reference_length_m") is not None and r.get("task") and r.get("difficulty") is None:
            lengths.setdefault(r["task"], []).append(float(r["reference_length_m"]))
    return {task: [float(q) for q in np.quantile(lengths[task], [1 / 3, 2 / 3])] for task in sorted(lengths)}


def _difficulty(record: Record, limits: Mapping[str, Sequence[float]]) -> str | None:
    if record.get("difficulty") is not None:
        return str(record["difficulty"])
    length = record.get("reference_length_m")
    if length is None or record.get("task") not in limits:
        return None
    above: int = sum(length > limit for limit in limits[record["task"]])
    return LEVELS[above]


def _level(record: Record) -> str | None:
    return None if record.get("difficulty") is None else f"{record.get('task')}/{record['difficulty']}"


def _stage_records(records: Iterable[Record]) -> Iterator[Record]:
    """Every attempted stage as a record of its own, its task written ``task/stage``."""
    for r in records:
        outcomes = [o for o in r.get("stage_outcomes") or () if o["outcome"] != "not_attempted"]
        seen = Counter[str]()
        for outcome in outcomes:
            seen[outcome["kind"]] += 1
            name = outcome["kind"] + (str(seen[outcome["kind"]]) if seen[outcome["kind"]] > 1 else "")
            prefix = f"stage_{name}_" if int(r["stages"]) > 1 else ""
            yield {
                "key": r.get("key") or {},
                "task": f"{r.get('task')}/{name}",
                "status": outcome["outcome"],
                "measures": _own(r.get("measures") or {}, prefix),
                "unscored": _own(r.get("unscored") or {}, prefix),
            }


def _own(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def _breakdown(rows: _Rows, by: Callable[[Record], str | None], order: Sequence[str] = ()) -> dict[str, Group]:
    groups: dict[str, list[int]] = {}
    for i, record in enumerate(rows.records):
        value = by(record)
        if value is not None:
            groups.setdefault(value, []).append(i)
    return {value: _group(rows, groups[value]) for value in (order or sorted(groups)) if value in groups}


def _grouped(records: Iterable[Record], by: Callable[[Record], str | None]) -> dict[str, list[Record]]:
    """Groups in alphabetical order; records without the property belong to none."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        value = by(record)
        if value is not None:
            groups.setdefault(value, []).append(record)
    return dict(sorted(groups.items()))


def _counts(names: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(name for name in names if name is not None).items()))


def _world(record: Record) -> str:
    return str((record.get("key") or {}).get("world", ""))


def _identity(record: Record) -> tuple[str, ...]:
    key = record.get("key") or {}
    return tuple(str(key.get(part, "")) for part in ("suite", "split", "world", "episode", "repeat"))


def _table_order(name: str) -> tuple[bool, int, str]:
    """Whole-episode measures first, each in the order of the registry."""
    about: Measure = measure(name)
    return name not in MEASURES, list(MEASURES).index(about.name), name
