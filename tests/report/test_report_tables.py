"""What the terminal shows: content, width, and nothing undefined."""

from __future__ import annotations

import io

import pytest
from report_samples import saved_corner, write_run
from rich.console import Console

from portico.evaluate.compare import compare
from portico.report import print_runs, print_summary, wording
from portico.report.runs import load_run
from portico.report.stages import pooled_stage, tasks_in_order
from portico.report.tables import print_comparison


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), soft_wrap=True, highlight=False, width=100)


def text_of(console: Console) -> str:
    text = console.file.getvalue()
    assert max(map(len, text.splitlines()), default=0) <= 100
    assert "nan" not in text.lower().replace("nanmean", "")
    return text


def test_one_run(corner_runs, console) -> None:
    print_summary(load_run(corner_runs.chain).summary, console)
    text = text_of(console)
    assert "chain on corner-suite: 10 episodes scored of 11 planned" in text
    assert "1 error, in no mean" in text
    success = next(line for line in text.splitlines() if "success@1" in line)
    assert success.split() == ["success@1", "↑", "10", "%", "[2,", "40]", "10/11", "9", "%"]
    assert "no outdoor travel 5" in text
    entrance, ovon = (line.split() for line in text.splitlines() if line.split()[:1] in (["entrance"], ["ovon"]) and "%" in line and "[0, 79]" not in line)
    assert entrance[:3] == ["entrance", "0", "%"]
    assert ovon[:3] == ["ovon", "0", "%"]


def test_undefined_stages_are_dashes(corner_runs, console) -> None:
    print_summary(load_run(corner_runs.chain).summary, console)
    last = next(line for line in text_of(console).splitlines() if line.split() == ["ovon", "0", "0", "–", "–"])
    assert last


def test_runs_side_by_side(corner_runs, console) -> None:
    print_runs([load_run(corner_runs.chain).summary, load_run(corner_runs.oracle).summary], console)
    text = text_of(console)
    assert "*privileged: oracle" in text
    heads = next(line.split() for line in text.splitlines() if line.split()[:1] == ["policy"])
    assert heads == ["policy", "exit", "outdoor", "entrance", "ovon", "i2o2i", "all"]
    assert "How often each policy managed each stage it reached" in text
    assert "2 of 5" in text


def test_a_file_is_as_wide_as_a_page(corner_runs) -> None:
    narrow = Console(file=io.StringIO(), soft_wrap=True, width=80)
    print_runs([load_run(corner_runs.oracle).summary], narrow)
    text = narrow.file.getvalue()
    assert "privileged/oracle" in text
    assert "100]" in text


def test_a_run_without_records(tmp_path, console) -> None:
    world = saved_corner(tmp_path / "world")
    summary = load_run(write_run(tmp_path / "run", world, tmp_path / "world", "stop", {}, partial=True)).summary
    print_summary(summary, console)
    print_runs([summary], console)
    text = text_of(console)
    assert "0 episodes scored of 11 planned" in text
    assert "partial" in text
    assert "11 of 11 episodes not run yet" in text


def test_comparison(corner_runs, console) -> None:
    a, b = load_run(corner_runs.chain), load_run(corner_runs.oracle)
    print_comparison(compare(a.side(), b.side()), a.summary, b.summary, console)
    text = text_of(console)
    assert "10 episodes scored by both" in text
    assert "dropped, an error in either: 1" in text
    assert "+80 pp" in text
    assert "McNemar's exact test p = 0.00781" in text


def test_stages_are_pooled_over_tasks(corner_runs) -> None:
    summary = load_run(corner_runs.chain).summary
    exits = pooled_stage(summary, "exit")
    assert (exits.reached, exits.done) == (5, 2)
    assert pooled_stage(summary, "landmark") is None
    assert tasks_in_order([summary]) == ["exit", "outdoor", "entrance", "ovon", "i2o2i"]


@pytest.mark.parametrize(
    ("name", "amount", "unit", "text"),
    [
        ("success", 0.625, "", "62 %"),
        ("steps", 120.0, "", "120"),
        ("steps", 51.24, "", "51.2"),
        ("path_length_m", 1234.5, "m", "1,234 m"),
        ("navigation_error_m", float("nan"), "m", "–"),
        ("navigation_error_m", float("inf"), "m", "–"),
        ("spl", None, "", "–"),
    ],
)
def test_values_in_words(name: str, amount: float | None, unit: str, text: str) -> None:
    assert wording.value(name, amount, unit) == text


def test_intervals_and_differences_in_words() -> None:
    assert wording.interval("success", 0.021, 0.404) == "[2, 40]"
    assert wording.interval("steps", None, 3.0) == "–"
    assert wording.difference("success", -0.1) == "−10 pp"
    assert wording.difference("path_length_m", 1.44, "m") == "+1.44 m"
    assert wording.difference("path_length_m", None, "m") == "–"
