"""Summaries: denominators, intervals, stage tables, breakdowns; never NaN."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.evaluate.aggregate import difficulty_limits, stage_table, summarise
from portico.evaluate.intervals import clustered, wilson


def record(
    episode,
    success=None,
    *,
    world="w1",
    task="exit",
    reason="success",
    unscored=None,
    stages=1,
    completed=None,
    length=10.0,
    outcomes=(),
    difficulty=None,
    **measures,
):
    status = "error" if success is None else "success" if success else "failure"
    scores = {} if success is None else {"success": float(success), **measures}
    return {
        "key": {"suite": "s", "split": "eval", "world": world, "episode": episode, "repeat": 0},
        "task": task,
        "difficulty": difficulty,
        "status": status,
        "reason": "error" if success is None else reason,
        "stages": stages,
        "completed": completed if completed is not None else stages * bool(success),
        "stage_outcomes": [{"kind": k, "outcome": o} for k, o in outcomes],
        "measures": scores,
        "unscored": unscored or {},
        "labels": [],
        "reference_length_m": length,
    }


def test_errors_leave_the_denominator_and_the_strict_mean_counts_them():
    summary = summarise([record("a", True, spl=0.8), record("b", False, spl=0.0), record("c")], {"planned": 5})
    assert summary["n"] == {"planned": 5, "scored": 2, "error": 1, "missing": 2}
    success = summary["measures"]["success"]
    assert (success["mean"], success["n"], success["strict"]) == (0.5, 2, pytest.approx(1 / 3))
    assert summary["measures"]["spl"]["mean"] == 0.4


def test_strict_means_exist_only_where_failing_has_a_value():
    summary = summarise([record("a", True, path_length_m=3.0), record("b")])
    assert summary["measures"]["path_length_m"]["strict"] is None


def test_unscored_episodes_are_counted_by_reason():
    rows = [record("a", True, spl=1.0), record("b", True, spl=None, unscored={"spl": "no_reference"}), record("c", False)]
    spl = summarise(rows)["measures"]["spl"]
    assert (spl["mean"], spl["n"], spl["unscored"]) == (1.0, 1, {"no_reference": 1, "not_computed": 1})


def test_nothing_at_all_is_null():
    summary = summarise([record("a", False, spl=None, unscored={"spl": "no_reference"})])
    assert summary["measures"]["spl"]["mean"] is None
    assert summarise([])["n"] == {"planned": 0, "scored": 0, "error": 0, "missing": 0}
    assert summarise([record("a")])["stages"]["exit"]["FSR"] is None


def test_a_rate_has_wilsons_interval():
    low, high = wilson(8, 10)
    assert (low, high) == (pytest.approx(0.4901625), pytest.approx(0.9433178))
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_bootstrap_draws_whole_worlds():
    one_each = [(f"w{k}", float(k % 2)) for k in range(20)]
    repeated = [pair for pair in one_each for _ in range(50)]
    assert clustered(one_each) == pytest.approx(clustered(repeated)), "copies of an episode are no evidence"
    assert clustered([("w1", 1.0), ("w1", 0.0)]) is None
    low, high = clustered(one_each)
    assert 0.2 < low < 0.5 < high < 0.8


def test_the_order_of_records_does_not_matter():
    rng = np.random.default_rng(3)
    rows = [record(str(k), bool(k % 3), world=f"w{k % 4}", spl=float(rng.random())) for k in range(30)]
    assert summarise(rows) == summarise(rows[::-1])


def test_stage_table_with_a_zero_denominator():
    rows = [record(str(k), False, stages=4, completed=c) for k, c in enumerate([0, 1, 1])]
    table = stage_table(rows)
    assert table["N"] == [3, 2, 0, 0, 0]
    assert table["C"] == [pytest.approx(2 / 3), 0.0, None, None]
    assert (table["FSR"], table["CSR"]) == (0.0, pytest.approx(1 / 6))
    assert table["first_failed"] == [1, 2, 0, 0]


def test_conditional_rates_telescope():
    rows = [record(str(k), c == 4, stages=4, completed=c) for k, c in enumerate([0, 0, 0, 0, 1, 1, 2, 3, 4])]
    table = stage_table(rows)
    assert np.prod(table["C"]) == pytest.approx(table["FSR"]) == pytest.approx(1 / 9)
    assert sum(table["first_failed"]) == 8


def test_difficulty_is_thirds_of_the_reference_length_within_a_task():
    rows = [record(str(k), True, length=float(k), task="exit") for k in range(1, 10)] + [
        record(f"o{k}", True, length=100.0 * k, task="outdoor") for k in range(1, 4)
    ]
    assert difficulty_limits(rows)["exit"] == pytest.approx([3.6667, 6.3333], abs=1e-3)
    groups = summarise(rows)["breakdowns"]["difficulty"]
    assert list(groups) == ["easy", "medium", "hard"]
    assert [g["n"]["scored"] for g in groups.values()] == [4, 4, 4]


def test_graded_episodes_keep_their_level_and_are_told_task_by_task():
    rows = [record(str(k), k > 1, length=10.0 - k, task="image", difficulty=level) for k, level in enumerate(["easy", "hard", "hard", "medium"])]
    summary = summarise([*rows, record("p", True, length=1.0, task="point", difficulty="hard")])
    assert {level: g["n"]["scored"] for level, g in summary["breakdowns"]["difficulty"].items()} == {"easy": 1, "medium": 1, "hard": 3}
    levels = summary["breakdowns"]["level"]
    assert list(levels) == ["image/easy", "image/medium", "image/hard", "point/hard"]
    assert levels["image/hard"]["measures"]["success"]["mean"] == 0.5
    assert summary["difficulty_limits_m"] == {}


def test_breakdowns_by_task_world_reason_and_stage():
    rows = [
        record("a", True, stage_exit_spl=0.5, stages=2, task="i2o", outcomes=[("exit", "success"), ("outdoor", "success")]),
        record(
            "b",
            False,
            world="w2",
            stage_exit_spl=0.0,
            stages=2,
            task="i2o",
            reason="failed_declaration",
            outcomes=[("exit", "failure"), ("outdoor", "not_attempted")],
        ),
        record("c", True, outcomes=[("exit", "success")], spl=1.0),
    ]
    breakdowns = summarise(rows)["breakdowns"]
    assert {k: list(v) for k, v in breakdowns.items()} == {
        "task": ["exit", "i2o"],
        "scene": [],
        "stage": ["exit/exit", "i2o/exit", "i2o/outdoor"],
        "difficulty": ["easy"],
        "level": [],
        "world": ["w1", "w2"],
        "reason": ["failed_declaration", "success"],
    }
    assert breakdowns["stage"]["i2o/exit"]["measures"]["spl"]["mean"] == 0.25
    assert breakdowns["stage"]["i2o/outdoor"]["n"]["scored"] == 1
    assert breakdowns["stage"]["exit/exit"]["measures"]["spl"]["mean"] == 1.0


def test_the_transition_from_indoors_to_outdoors():
    rows = [
        record("a", True, reached_outdoors=1.0, coverage_efficiency_before_exit=1.2, coverage_efficiency_after_exit=0.8),
        record("b", False, reached_outdoors=1.0, coverage_efficiency_before_exit=1.0, coverage_efficiency_after_exit=0.6, reason="timeout"),
        record("c", False, reached_outdoors=0.0, reason="budget_exhausted"),
        record("d", True, reached_outdoors=None, unscored={"reached_outdoors": "starts_outdoors"}),
    ]
    table = summarise(rows)["transition"]
    assert (table["n"], table["not_reached"], table["reasons_after"]) == (3, 1, {"timeout": 1})
    assert table["coverage_efficiency_before_exit"]["mean"] == pytest.approx(1.1)


rows = st.lists(
    st.builds(
        lambda k, success, world, efficiency, error: record(str(k), None if error else success, world=world, spl=efficiency * success, task="exit"),
        st.integers(0, 10**6),
        st.booleans(),
        st.sampled_from(["w1", "w2", "w3"]),
        st.floats(0, 1),
        st.booleans(),
    ),
    max_size=15,
    unique_by=lambda r: r["key"]["episode"],
)


@settings(max_examples=60)
@given(rows=rows)
def test_an_unscored_episode_changes_only_its_count(rows):
    blank = record("blank", False, spl=None, unscored={"spl": "no_reference"}, world="w9")
    before = summarise([*rows, record("probe", False, spl=0.0)])["measures"]["spl"]
    after = summarise([*rows, record("probe", False, spl=0.0), blank])["measures"]["spl"]
    assert after.pop("unscored") == {"no_reference": 1}
    assert before.pop("unscored") == {}
    assert after == before


@settings(max_examples=60)
@given(rows=rows)
def test_errors_change_no_mean_and_spl_stays_below_success(rows):
    summary = summarise([*rows, record("probe", True, spl=1.0)])
    clean = summarise([r for r in [*rows, record("probe", True, spl=1.0)] if r["status"] != "error"])
    for name in ("success", "spl"):
        ours, theirs = ({k: v for k, v in s["measures"][name].items() if k != "strict"} for s in (summary, clean))
        assert ours == theirs
        assert summary["measures"][name]["strict"] <= summary["measures"][name]["mean"]
        assert (
            summary["measures"][name]["low"] is None
            or summary["measures"][name]["low"] <= summary["measures"][name]["mean"] <= summary["measures"][name]["high"]
        )
    assert summary["measures"]["spl"]["mean"] <= summary["measures"]["success"]["mean"] + 1e-12
    assert summary["n"]["scored"] + summary["n"]["error"] == summary["n"]["planned"]
    json.dumps(summary, allow_nan=False)
