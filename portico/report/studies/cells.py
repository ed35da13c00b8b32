"""Figures of groups of cases as cells: rates with Wilson's intervals, means, and how many episodes they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from portico.evaluate.aggregate import summarise_measure
from portico.evaluate.intervals import wilson
from portico.report import wording
from portico.report.sections import Cell
from portico.report.studies.cases import Case


def share(part: int, whole: int, note: str = "") -> Cell:
    """A rate with its interval; a dash of nothing."""
    if not whole:
        return Cell(wording.DASH, note=note)
    low, high = wilson(part, whole)
    return Cell(wording.percent(part / whole), wording.interval("success", low, high), note or f"{part} of {whole}", part / whole, low, high)


def rate(group: Sequence[Case], test: Callable[[Case], bool], note: str = "") -> Cell:
    """Share of the scored cases that pass a test."""
    scored = [case for case in group if case.scored]
    return share(sum(map(test, scored)), len(scored), note)


def mean(group: Sequence[Case], measure: str) -> Cell:
    """Mean of a measure over the scored cases that have it, and why others have none."""
    row = summarise_measure(measure, [case.record for case in group if case.scored and case.record is not None], 0)
    unscored = f"unscored: {wording.unscored_words(row['unscored'])}" if row["unscored"] else ""
    if row["mean"] is None:
        return Cell(wording.DASH, note=unscored)
    interval = wording.interval(measure, row["low"], row["high"]) if row["low"] is not None else ""
    ends = (row["mean"], row["low"], row["high"]) if wording.is_share(measure) else (None, None, None)
    return Cell(wording.value(measure, row["mean"], row["unit"]), interval, unscored, *ends)


def success(group: Sequence[Case]) -> Cell:
    """SR with its interval, SPL beside it, and the count where not all of the group is scored."""
    if not group:
        return Cell(wording.DASH)
    spl = mean(group, "spl").text
    return rate(group, lambda case: case.succeeded, f"SPL {spl}, {count_words(group)}")


def counts(group: Sequence[Case]) -> Cell:
    """How many were planned, scored, in error and not run."""
    return Cell(count_words(group))


def count_words(group: Sequence[Case]) -> str:
    """``12 of 14 scored, 1 error, 1 not run``."""
    scored = sum(case.scored for case in group)
    errors = sum(case.record is not None and not case.scored for case in group)
    missing = sum(case.record is None for case in group)
    words = [f"{scored} of {len(group)} scored" if scored < len(group) else f"n {scored}"]
    words += [wording.counted(errors, "error")] if errors else []
    words += [f"{missing} not run"] if missing else []
    return ", ".join(words)


def reasons(group: Sequence[Case], names: Sequence[str]) -> list[Cell]:
    """Of the failures, the share that ended for each reason, and for any other."""
    failed = [case for case in group if case.failed]
    ended = Counter(case.reason for case in failed)
    others = {name: n for name, n in ended.items() if name not in names}
    cells = [share(ended[name], len(failed)) for name in names]
    words = ", ".join(f"{wording.in_words(wording.REASONS, name)} {n}" for name, n in sorted(others.items()))
    return [*cells, share(sum(others.values()), len(failed), words)]
