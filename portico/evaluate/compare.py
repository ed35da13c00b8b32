"""Two runs of the same questions: paired differences with intervals, and McNemar's exact test on success."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from portico.errors import SuiteError
from portico.evaluate.intervals import clustered
from portico.evaluate.measures import measure

Identity = tuple[str, str, str, str, int]

#: Entries of a suite that do not change what is asked, or that are compared under a name of their own.
_NOT_ASKED = frozenset({"description", "policies", "measures", "budget"})
#: What one policy may be compared across: who moves how over which ground.
CONDITIONS = ("embodiment", "motion", "friction")


@dataclass(frozen=True)
class Run:
    """One side of a comparison: a name for tables, the run's ``run.json``, its records."""

    name: str
    header: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]


def compare(a: Run, b: Run) -> dict[str, Any]:
    """Compare two runs over the episodes that both scored; differences are b - a.

    Returns:
        conditions: name -> [a, b], where robot, motion or friction differ.
        n: pairs, only_a, only_b (episodes that one run lacks), errors (pairs dropped because either ended in an error).
        measures: name -> a, b (means over the pairs), difference, low, high, n, direction, unit.
        mcnemar: both, only_a, only_b, neither, p_value (two-sided, exact).

    Raises:
        SuiteError: measures, suites, worlds or budgets differ, naming which; conditions differ between two policies; episodes of one
            name ask different things; or no episode is in both runs.
    """
    check_comparable(a, b)
    of_a, of_b = _by_identity(a.records), _by_identity(b.records)
    shared = sorted(of_a.keys() & of_b.keys())
    _check_questions(a, b, [(of_a[k], of_b[k]) for k in shared])
    pairs = [(of_a[k], of_b[k]) for k in shared if "error" not in (of_a[k]["status"], of_b[k]["status"])]
    if not pairs:
        why = f"{len(shared)} episodes are in both runs, and each ended in an error in one of them" if shared else "no episode is in both runs"
        raise SuiteError("there is nothing to compare", where=f"{a.name} and {b.name}", why=why, next_step="compare runs of the same suite and split")
    names = [name for name in pairs[0][0]["measures"] if any(name in rb["measures"] for _, rb in pairs)]
    return {
        "a": {"name": a.name, "policy": a.header.get("policy")},
        "b": {"name": b.name, "policy": b.header.get("policy")},
        "conditions": _conditions(a, b),
        "n": {"pairs": len(pairs), "only_a": len(of_a) - len(shared), "only_b": len(of_b) - len(shared), "errors": len(shared) - len(pairs)},
        "measures": {name: _difference(name, pairs) for name in names},
        "mcnemar": mcnemar((ra["status"] == "success", rb["status"] == "success") for ra, rb in pairs),
    }


def _check_questions(a: Run, b: Run, pairs: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Refuse to pair answers to different questions that have one name; runs made before records knew their question are taken as they are."""
    unlike = [ra["key"] for ra, rb in pairs if ra.get("question", "") != rb.get("question", "") and "question" in ra and "question" in rb]
    if unlike:
        raise SuiteError(
            "these runs cannot be compared",
            where=f"{a.name} and {b.name}",
            why=f"{len(unlike)} episodes of one name ask different things, the first is {unlike[0]['episode']} in {unlike[0]['world']}",
            next_step="run both policies on the same episodes",
        )


def check_comparable(a: Run, b: Run, *, beside: Collection[str] = ()) -> None:
    """Refuse runs that did not ask and measure the same.

    Args:
        beside: keys of the suite that may differ, because they are what is compared.

    Raises:
        SuiteError: listing every difference.
    """
    suite_a, suite_b = dict(a.header.get("suite") or {}), dict(b.header.get("suite") or {})
    found = _differences("measure", a.header.get("measures") or {}, b.header.get("measures") or {})
    found += _differences("deciding", *({"timing": run.header.get("timing", "paused")} for run in (a, b)))
    found += _differences("budget", suite_a.get("budget") or {}, suite_b.get("budget") or {})
    # One thing at a time: either two policies under the same conditions, or one policy under two.
    same_policy = a.header.get("policy") == b.header.get("policy")
    aside = _NOT_ASKED | set(beside) | ({*CONDITIONS, "asked_of"} if same_policy else set())
    found += _differences("suite", *({k: v for k, v in suite.items() if k not in aside} for suite in (suite_a, suite_b)))
    found += _differences("questions for", _asked_of(suite_a), _asked_of(suite_b)) if same_policy else []
    found += _differences("world", _hashes(a.header), _hashes(b.header))
    if found:
        raise SuiteError(
            "these runs cannot be compared",
            where=f"{a.name} and {b.name}",
            why="; ".join(found),
            next_step="run both policies on the same suite, with the same version of Portico",
        )


def _asked_of(suite: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions that a suite's questions are made for."""
    defaults = {"embodiment": "spot", "motion": "kinematic", "friction": 1.0}
    return {name: (suite.get("asked_of") or suite).get(name, default) for name, default in defaults.items()}


def _conditions(a: Run, b: Run) -> dict[str, list[Any]]:
    pairs = {name: [(run.header.get("suite") or {}).get(name) for run in (a, b)] for name in CONDITIONS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def mcnemar(outcomes: Iterable[tuple[bool, bool]]) -> dict[str, Any]:
    """McNemar's exact test on paired successes (a, b): do discordant pairs split evenly?"""
    pairs = list(outcomes)
    only_a, only_b = sum(x and not y for x, y in pairs), sum(y and not x for x, y in pairs)
    discordant = only_a + only_b
    return {
        "both": sum(x and y for x, y in pairs),
        "only_a": only_a,
        "only_b": only_b,
        "neither": sum(not x and not y for x, y in pairs),
        "p_value": _sign_test(only_a, discordant) if discordant else 1.0,
    }


def _sign_test(wins: int, of: int) -> float:
    # Importing it takes longer than most commands do.
    from scipy.stats import binomtest

    return float(binomtest(wins, of, 0.5).pvalue)


def _difference(name: str, pairs: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, Any]:
    about = measure(name)
    scored = [(ra["key"]["world"], ra["measures"][name], rb["measures"][name]) for ra, rb in pairs if _has(ra, name) and _has(rb, name)]
    n = len(scored)
    interval = clustered((world, vb - va) for world, va, vb in scored)
    mean_a, mean_b = (fsum(row[side] for row in scored) / n if n else None for side in (1, 2))
    return {
        "a": mean_a,
        "b": mean_b,
        "difference": fsum(vb - va for _, va, vb in scored) / n if n else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": n,
        "direction": about.direction,
        "unit": about.unit,
    }


def _has(record: Mapping[str, Any], name: str) -> bool:
    return record["measures"].get(name) is not None


def _by_identity(records: Iterable[Mapping[str, Any]]) -> dict[Identity, Mapping[str, Any]]:
    return {(k["suite"], k["split"], k["world"], k["episode"], int(k.get("repeat", 0))): r for r in records for k in (r["key"],)}


def _hashes(header: Mapping[str, Any]) -> dict[str, Any]:
    return {world: facts.get("hash") for world, facts in (header.get("worlds") or {}).items()}


def _differences(what: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """One phrase per entry that differs."""
    return [f"{what} {name}: {_shown(a, name)} against {_shown(b, name)}" for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]


def _shown(values: Mapping[str, Any], name: str) -> str:
    text = repr(values[name]) if name in values else "none"
    return text if len(text) <= 60 else text[:57] + "..."
