"""The index reads what ``read_records`` reads, however a run was written and looked at meanwhile."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from portico.evaluate.records import Key, read_records
from portico.web.index import DONE, FIGURES, RunIndex


def record(episode: str, status: str = "failure", **more) -> dict:
    return {
        "key": Key("suite", "eval", "town", episode).as_dict(),
        "task": "i2o",
        "status": status,
        "reason": "timeout",
        "stages": 2,
        "completed": 1,
        "stage_outcomes": [{"kind": "exit", "outcome": "success"}, {"kind": "outdoor", "outcome": "failure"}],
        "measures": {"spl": 0.25, "steps": 12.0},
        "labels": [{"label": "never_left", "steps": [1, 2]}, {"label": "never_left", "steps": [4, 5]}],
        **more,
    }


def written(folder: Path, name: str, data: bytes) -> None:
    (folder / "records").mkdir(parents=True, exist_ok=True)
    with open(folder / "records" / name, "ab") as file:
        file.write(data)


def line(one: dict) -> bytes:
    return json.dumps(one).encode() + b"\n"


def test_a_row_says_what_the_table_shows(tmp_path):
    written(tmp_path, "rank-00000.jsonl", line(record("a")) + line(record("b", "success", completed=2)))
    index = RunIndex(tmp_path)
    assert index.refresh()
    first, second = index.rows
    assert (first.reached, second.reached) == ("outdoor", DONE)
    assert first.labels == ("never_left",)
    assert dict(zip(FIGURES, first.figures, strict=True))["spl"] == 0.25
    assert first.figures[FIGURES.index("duration_s")] is None
    assert index.record(first) == record("a")
    assert not index.refresh()


def test_a_line_that_is_being_written_waits_until_it_is_whole(tmp_path):
    whole = line(record("a")) + line(record("b"))
    written(tmp_path, "rank-00000.jsonl", whole[:-20])
    index = RunIndex(tmp_path)
    index.refresh()
    assert ([row.key.episode for row in index.rows], index.torn) == (["a"], 1)
    written(tmp_path, "rank-00000.jsonl", whole[-20:])
    assert index.refresh()
    assert ([row.key.episode for row in index.rows], index.torn) == (["a", "b"], 0)
    assert index.record(index.rows[1])["key"]["episode"] == "b"


def test_a_torn_line_in_the_middle_is_counted_and_left_out(tmp_path):
    written(tmp_path, "rank-00000.jsonl", line(record("a"))[:40] + b"\n" + line(record("b")) + b"[1]\n" + b'{"key": {"suite": []}, "status": 3}\n')
    index = RunIndex(tmp_path)
    index.refresh()
    assert ([row.key.episode for row in index.rows], index.torn) == (["b"], 3)


def test_files_that_are_written_anew_or_go_are_read_anew(tmp_path):
    written(tmp_path, "rank-00000.jsonl", line(record("a")) + line(record("b")))
    written(tmp_path, "rank-00001.jsonl", line(record("c")))
    index = RunIndex(tmp_path)
    index.refresh()
    fresh = tmp_path / "fresh"
    fresh.write_bytes(line(record("a", "success")))
    fresh.replace(tmp_path / "records" / "rank-00000.jsonl")
    (tmp_path / "records" / "rank-00001.jsonl").unlink()
    assert index.refresh()
    assert [(row.key.episode, row.status) for row in index.rows] == [("a", "success")]


def test_a_folder_without_records_has_no_rows(tmp_path):
    index = RunIndex(tmp_path)
    assert not index.refresh()
    assert index.rows == []


_LINES = st.tuples(st.sampled_from("abc"), st.sampled_from(["success", "failure", "error"]), st.integers(0, 2), st.booleans())


@settings(max_examples=60)
@given(st.lists(_LINES, max_size=12), st.integers(1, 60))
def test_whatever_is_written_between_two_looks_it_shows_what_counts(tmp_path_factory, lines, cut):
    folder = tmp_path_factory.mktemp("run")
    index = RunIndex(folder)
    for number, (episode, status, rank, torn) in enumerate(lines):
        data = line(record(episode, status, serial=number))
        # A crash leaves half a line; the next write ends it.
        written(folder, f"rank-{rank:05d}.jsonl", data[: len(data) - cut] + b"\n" if torn else data)
        if number % 2:
            index.refresh()
    index.refresh()
    expected = read_records(folder)
    assert {row.key: index.record(row)["serial"] for row in index.rows} == {key: found["serial"] for key, found in expected.items()}
    assert [row.key for row in index.rows] == list(expected)
