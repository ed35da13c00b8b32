"""Filters, order and addresses of the table."""

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.evaluate.records import Key
from portico.web.index import DONE, FIGURES, Place, Row, RunIndex
from portico.web.library import Library, Shelved
from portico.web.listing import FILTERS, Query, choices, everything, grouped, neighbours, same_question, selected


def row(
    episode: str, *, world: str = "town", status: str = "failure", reached: str = "exit", labels: tuple[str, ...] = (), spl: float | None = 0.0, **more
) -> Row:
    key = Key("suite", "eval", world, episode)
    figures = tuple(spl if name == "spl" else None for name in FIGURES)
    return Row(key, more.get("task", "exit"), status, "timeout", "", "", 1, int(reached == DONE), reached, labels, figures, Place("f", 0, 0))


def library(**rows: list[Row]) -> Library:
    made = Library([])
    for number, (name, of_run) in enumerate(rows.items()):
        index = RunIndex(Path(name))
        index.rows = of_run
        header = {"suite": {"name": "suite"}, "policy": name, "worlds": {"town": {"hash": "1"}, "village": {"hash": name}}, "planned": 3}
        made.runs[name] = Shelved(name, number, Path(name), header, index)
    return made


TWO = library(
    a=[
        row("one", status="success", reached=DONE, spl=0.5),
        row("two", labels=("never_left", "blocked_progress"), spl=None),
        row("three", world="village", spl=0.75),
    ],
    b=[row("one", spl=0.25), row("two", labels=("never_left",)), row("three", world="village", task="outdoor", reached="outdoor")],
)


def names(query: str) -> list[tuple[str, str]]:
    return [(item.run.name, item.row.key.episode) for item in selected(everything(TWO), Query.of(dict(parse_qsl(query))))]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("run=a&world=town", [("a", "one"), ("a", "two")]),
        ("label=never_left", [("a", "two"), ("b", "two")]),
        ("label=blocked_progress", [("a", "two")]),
        ("stage=done", [("a", "one")]),
        ("stage=outdoor&task=outdoor", [("b", "three")]),
        ("status=success", [("a", "one")]),
        ("q=VILL", [("a", "three"), ("b", "three")]),
        ("differ=1", [("a", "one"), ("b", "one")]),
        ("sort=spl&q=one", [("b", "one"), ("a", "one")]),
        ("sort=-spl&run=a", [("a", "three"), ("a", "one"), ("a", "two")]),
        ("sort=spl&run=a", [("a", "one"), ("a", "three"), ("a", "two")]),
        ("sort=nonsense&run=b", [("b", "one"), ("b", "two"), ("b", "three")]),
    ],
)
def test_the_table_holds_what_was_asked_for_in_that_order(query, expected):
    assert names(query) == expected


def test_the_same_question_needs_the_same_world():
    first = everything(TWO)[0]
    assert [item.run.name for item in same_question(TWO, first)] == ["a", "b"]
    # village has another content in the other run.
    third = everything(TWO)[2]
    assert [item.run.name for item in same_question(TWO, third)] == ["a"]
    assert [len(group.answers) for group in grouped(everything(TWO))] == [2, 2, 1, 1]


def test_choices_count_rows_and_keep_what_is_chosen():
    offered = choices(everything(TWO), Query.of({"label": "premature_stop"}))
    assert {c.value: c.rows for c in offered["label"]} == {"never_left": 2, "blocked_progress": 1, "premature_stop": 0}
    assert [c.words for c in offered["label"] if c.chosen] == ["stopped too early"]
    assert "reason" not in offered


def test_neighbours_follow_the_order_of_the_table():
    items = selected(everything(TWO), Query.of({"sort": "-spl", "run": "a"}))
    before, after, number = neighbours(items, items[1])
    assert (before, after, number) == (items[0], items[2], 2)
    assert neighbours(items[:1], items[2]) == (None, None, 0)


_WORDS = st.text(min_size=1, max_size=12).map(str.strip).filter(bool)


@given(
    st.dictionaries(st.sampled_from(sorted(FILTERS)), _WORDS, max_size=3),
    _WORDS | st.just(""),
    st.sampled_from(["", "spl", "-spl", "episode"]),
    st.integers(1, 500),
    st.booleans(),
)
def test_an_address_says_all_of_a_query(chosen, text, sort, page, differ):
    query = Query(chosen=chosen, text=text, sort=sort, page=page, by="question", differ=differ)
    assert Query.of(dict(parse_qsl(query.address().removeprefix("?")))) == query


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=6))
def test_any_address_is_some_query(given_words):
    selected(everything(TWO), Query.of(given_words))
