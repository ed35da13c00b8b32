"""What an address asks the table for, and the rows that answer it: filters, order, pages, one row per episode or per question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import urlencode

from portico.report import wording
from portico.web.index import DONE, FIGURES, Row
from portico.web.library import Library, Shelved

PAGE_ROWS = 100
_LONGEST = 200


class Item(NamedTuple):
    """A row and the run that it is of."""

    run: Shelved
    row: Row


def _figure(place: int, item: Item) -> float | None:
    return item.row.figures[place]


#: What can be filtered by, and what it is in a row.
FILTERS: dict[str, Callable[[Item], Sequence[str]]] = {
    "run": lambda item: (item.run.name,),
    "task": lambda item: (item.row.task,),
    "status": lambda item: (item.row.status,),
    "stage": lambda item: (item.row.reached,) if item.row.reached else (),
    "label": lambda item: item.row.labels,
    "reason": lambda item: (item.row.reason,),
    "world": lambda item: (item.row.key.world,),
    "scene": lambda item: (item.row.scene,) if item.row.scene else (),
    "difficulty": lambda item: (item.row.difficulty,) if item.row.difficulty else (),
}
_OUTCOMES = {"failure": 0, "error": 1, "success": 2}
#: What can be sorted by. Missing figures come last either way.
_ORDERS: dict[str, Callable[[Item], Any]] = {
    "outcome": lambda item: _OUTCOMES.get(item.row.status, 3),
    "policy": lambda item: item.run.number,
    "episode": lambda item: (item.row.key.episode, item.row.key.repeat),
    "task": lambda item: item.row.task,
    "world": lambda item: item.row.key.world,
    "reached": lambda item: (item.row.completed, item.row.stages),
    "reason": lambda item: item.row.reason,
    **{name: partial(_figure, place) for place, name in enumerate(FIGURES)},
}


@dataclass(frozen=True)
class Query:
    """What an address asks for.

    Attributes:
        chosen: by filter. text: to be found in the names of episode and world. sort: a key of the orders, with "-" in front for descending.
        page: from 1 on. by: "run" for a row per episode and run, "question" for a row per question with the runs side by side.
        differ: only questions that the runs answered differently.
    """

    chosen: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    sort: str = ""
    page: int = 1
    by: str = "run"
    differ: bool = False

    @staticmethod
    def of(given: Mapping[str, str]) -> Query:
        """The query of an address; what it does not understand it leaves out."""
        sort = given.get("sort", "")
        page = given.get("page", "1")
        return Query(
            chosen={name: given[name][:_LONGEST] for name in FILTERS if given.get(name)},
            text=given.get("q", "")[:_LONGEST].strip(),
            sort=sort if sort.removeprefix("-") in _ORDERS else "",
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
            by="question" if given.get("by") == "question" else "run",
            differ=given.get("differ") == "1",
        )

    def address(self, **changes: Any) -> str:
        """The part of an address after its path, with some things changed; "" when there is nothing to say."""
        q = replace(self, **changes)
        said = {**q.chosen, "q": q.text, "sort": q.sort, "by": "" if q.by == "run" else q.by, "differ": "1" if q.differ else ""}
        said["page"] = str(q.page) if q.page > 1 else ""
        kept = {name: value for name, value in said.items() if value}
        return f"?{urlencode(kept)}" if kept else ""

    def toward(self, order: str) -> str:
        """The address that sorts by an order, the other way round when it is sorted so already."""
        return self.address(sort=f"-{order}" if self.sort == order else order, page=1)

    @property
    def narrowed(self) -> bool:
        """Whether any row may be left out."""
        return bool(self.chosen or self.text or self.differ)

    def accepts(self, item: Item) -> bool:
        """Whether an episode belongs in the table."""
        row = item.row
        if self.text and self.text.lower() not in f"{row.key.episode} {row.key.world}".lower():
            return False
        return all(value in FILTERS[name](item) for name, value in self.chosen.items())


@dataclass(frozen=True)
class Group:
    """One question and how each run answered it, by run name."""

    first: Item
    answers: Mapping[str, Item]


def everything(library: Library) -> list[Item]:
    """All rows of all runs, run by run."""
    return [Item(run, row) for run in library.runs.values() for row in run.index.rows]


def selected(items: Iterable[Item], query: Query) -> list[Item]:
    """The rows that a query asks for, in its order."""
    found = [item for item in items if query.accepts(item)]
    if query.differ:
        disputed = {identity(g.first) for g in grouped(found) if len({a.row.status for a in g.answers.values()}) > 1}
        found = [item for item in found if identity(item) in disputed]
    order = query.sort.removeprefix("-")
    if not order:
        return found
    key = _ORDERS[order]
    known = [(value, item) for item in found if (value := key(item)) is not None and not (isinstance(value, float) and not isfinite(value))]
    known.sort(key=lambda pair: pair[0], reverse=query.sort.startswith("-"))
    there = {id(item.row) for _, item in known}
    return [item for _, item in known] + [item for item in found if id(item.row) not in there]


def grouped(items: Iterable[Item]) -> list[Group]:
    """Rows by question, in the order in which questions come first."""
    groups: dict[Any, dict[str, Item]] = {}
    for item in items:
        groups.setdefault(identity(item), {}).setdefault(item.run.name, item)
    return [Group(next(iter(answers.values())), answers) for answers in groups.values()]


def identity(item: Item) -> tuple[str, str, str, str, int]:
    """What two runs' rows share when they answer the same question; worlds of other content are other worlds."""
    key = item.row.key
    facts = item.run.header["worlds"].get(key.world) or {}
    return key.suite, key.world, str(facts.get("hash", "")), key.episode, key.repeat


def same_question(library: Library, item: Item) -> list[Item]:
    """How every run answered a question, the given one first."""
    others = [Item(run, row) for run in library.runs.values() if run is not item.run and (row := run.index.find(item.row.slug)) is not None]
    return [item, *(other for other in others if identity(other) == identity(item))]


def neighbours(items: Sequence[Item], item: Item) -> tuple[Item | None, Item | None, int]:
    """The rows before and after one in a table, and its place from 1 on; 0 when it is not there."""
    for place, there in enumerate(items):
        if there.row is item.row:
            return (items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None, place + 1)
    return None, None, 0


class Choice(NamedTuple):
    """One value that can be filtered by."""

    value: str
    words: str
    rows: int
    chosen: bool


def choices(items: Sequence[Item], query: Query) -> dict[str, list[Choice]]:
    """For every filter that leaves a choice, its values with how many rows have them; the chosen one stays even when no row has it."""
    offered: dict[str, list[Choice]] = {}
    policies = [item.run.policy for item in {item.run.name: item for item in items}.values()]
    names = {item.run.name: item.run.policy if policies.count(item.run.policy) == 1 else f"{item.run.policy} ({item.run.name})" for item in items}
    for name, of in FILTERS.items():
        counts: Counter[str] = Counter(value for item in items for value in of(item))
        taken = query.chosen.get(name, "")
        if taken and taken not in counts:
            counts[taken] = 0
        if len(counts) > 1 or taken:
            offered[name] = [
                Choice(value, names.get(value, value) if name == "run" else words(name, value), counts[value], value == taken)
                for value in _in_order(name, counts)
            ]
    return offered


def _in_order(name: str, counts: Mapping[str, int]) -> Iterator[str]:
    usual = {"status": list(_OUTCOMES), "stage": [*wording.STAGES, DONE], "task": list(wording.TASKS), "difficulty": ["easy", "medium", "hard"]}.get(name, [])
    known = [value for value in usual if value in counts]
    yield from known
    rest = [value for value in counts if value not in usual]
    yield from rest if name == "run" else sorted(rest)


def words(name: str, value: str) -> str:
    """A value of a filter as people read it."""
    if name == "stage":
        return "all stages done" if value == DONE else wording.in_words(wording.STAGES, value)
    table = {"label": wording.LABELS, "reason": wording.REASONS}.get(name)
    if name == "scene":
        return value.replace("_", " ")
    return wording.in_words(table, value) if table is not None else value
