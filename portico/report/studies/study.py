"""A study: one question put to one run or several, answered by tables; and which runs may stand in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from portico.evaluate.compare import check_comparable
from portico.report import wording
from portico.report.runs import Run
from portico.report.sections import Cell, Grid, Row

#: How a run is told from the others in a table that does not vary it.
Title = Callable[[Run], str]


@dataclass(frozen=True)
class Table:
    """A table with a heading and a word for its corner; ``notes`` say what must be known to read it."""

    title: str
    corner: str
    grid: Grid
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A named set of tables.

    Attributes:
        beside: keys of the suite that may differ between its runs, because they are what it compares.
        applies: whether some runs have anything to show in it. make: its tables.
    """

    name: str
    title: str
    applies: Callable[[Sequence[Run]], bool]
    make: Callable[[Sequence[Run]], list[Table]]
    beside: frozenset[str] = frozenset()

    def tables(self, runs: Sequence[Run]) -> list[Table]:
        """Its tables of some runs.

        Raises:
            SuiteError: the runs are not alike, naming the keys that differ.
        """
        for other in runs[1:]:
            check_comparable(runs[0].side(), other.side(), beside=self.beside)
        return self.make(runs)


def row(run: Run, runs: Sequence[Run], cells: Sequence[Cell], *, title: str = "", note: str = "") -> Row:
    """A row of a run, stamped where it is privileged."""
    stamp = wording.privileged_stamp(list(run.header.get("privileged") or ()))
    return Row(title or run.policy, list(cells), "; ".join(part for part in (note, stamp) if part), list(runs).index(run))
