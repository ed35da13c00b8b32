"""Paired comparison: pairing, McNemar, and refusals that say why."""

import json
from copy import deepcopy

import pytest

from portico.errors import SuiteError
from portico.evaluate.compare import Run, compare, mcnemar

HEADER = {
    "suite": {"name": "s", "seed": 1, "budget": {"max_actions": 800, "max_time_s": None}, "policies": ["a"]},
    "policy": "p",
    "measures": {"success": 1, "spl": 1},
    "worlds": {"w0": {"hash": "abc", "folder": "/x"}},
}


def row(episode, success, spl=0.0, world="w0"):
    status = "error" if success is None else "success" if success else "failure"
    measures = {} if success is None else {"success": float(success), "spl": spl}
    return {"key": {"suite": "s", "split": "eval", "world": world, "episode": episode, "repeat": 0}, "status": status, "measures": measures}


def run(name, *records, **changes):
    header = deepcopy(HEADER)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = header
        for parent in parents:
            place = place[parent]
        place[last] = value
    return Run(name, header, records)


def test_episodes_are_paired_by_identity():
    a = run("A", row("1", True, 0.5), row("2", False), row("3", True, 1.0), row("4", True, 1.0))
    b = run("B", row("2", True, 0.8), row("1", True, 0.7), row("3", None), row("5", False))
    result = compare(a, b)
    assert result["n"] == {"pairs": 2, "only_a": 1, "only_b": 1, "errors": 1}
    assert result["measures"]["success"]["difference"] == 0.5
    assert result["measures"]["spl"]["difference"] == pytest.approx(0.5)
    assert result["measures"]["spl"]["low"] is None, "one world says nothing about others"
    assert result["mcnemar"] == {"both": 1, "only_a": 0, "only_b": 1, "neither": 0, "p_value": 1.0}
    json.dumps(result, allow_nan=False)


def test_the_interval_is_of_the_paired_difference():
    a = run("A", *[row(str(k), k % 2 == 0, 0.1 * (k % 5), world=f"w{k % 6}") for k in range(60)])
    b = run("B", *[row(str(k), k % 2 == 0, 0.1 * (k % 5) + 0.05, world=f"w{k % 6}") for k in range(60)])
    spl = compare(a, b)["measures"]["spl"]
    assert spl["low"] == pytest.approx(spl["difference"]) == pytest.approx(spl["high"]) == pytest.approx(0.05)


def test_runs_under_different_termination_are_not_mixed():
    a, b = run("A", row("1", True), suite__termination="on_arrival"), run("B", row("1", True), suite__termination="explicit_stop")
    with pytest.raises(SuiteError, match="suite termination: 'on_arrival' against 'explicit_stop'"):
        compare(a, b)


def test_mcnemar_by_hand():
    pairs = [(True, False)] * 1 + [(False, True)] * 6 + [(True, True)] * 10
    assert mcnemar(pairs)["p_value"] == pytest.approx(2 * (1 + 7) / 2**7)
    assert mcnemar([(True, True)])["p_value"] == 1.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"measures__spl": 2}, "measure spl: 1 against 2"),
        ({"suite__budget__max_actions": 400}, "budget max_actions: 800 against 400"),
        ({"suite__seed": 2}, "suite seed: 1 against 2"),
        ({"suite__name": "other"}, "suite name: 's' against 'other'"),
        ({"worlds__w0": {"hash": "xyz"}}, "world w0: 'abc' against 'xyz'"),
        ({"worlds__w1": {"hash": "xyz"}}, "world w1: none against 'xyz'"),
    ],
)
def test_runs_that_asked_differently_are_refused_by_name(change, said):
    with pytest.raises(SuiteError) as refused:
        compare(run("A", row("1", True)), run("B", row("1", True), **change))
    assert said in str(refused.value)


def test_who_was_meant_to_run_does_not_matter():
    assert compare(run("A", row("1", True)), run("B", row("1", True), suite__policies=["x"]))["n"]["pairs"] == 1


def test_nothing_in_common_is_said():
    with pytest.raises(SuiteError, match="nothing to compare"):
        compare(run("A", row("1", True)), run("B", row("2", True)))
    with pytest.raises(SuiteError, match="error in one of them"):
        compare(run("A", row("1", True)), run("B", row("1", None)))


def test_one_policy_is_compared_across_robots_motion_and_friction():
    dry = run("A", row("1", True), suite__motion="physics", suite__friction=1.0)
    wet = run("B", row("1", False), suite__motion="physics", suite__friction=0.5, suite__asked_of={"embodiment": "spot", "motion": "physics", "friction": 1.0})
    assert compare(dry, wet)["conditions"] == {"friction": [1.0, 0.5]}
    with pytest.raises(SuiteError, match=r"suite friction: 1\.0 against 0\.5"):
        compare(dry, run("C", row("1", False), policy="another", suite__motion="physics", suite__friction=0.5))


def test_conditions_whose_questions_differ_are_not_compared():
    spot, wheels = run("A", row("1", True)), run("B", row("1", False), suite__embodiment="turtlebot")
    with pytest.raises(SuiteError, match="questions for embodiment: 'spot' against 'turtlebot'"):
        compare(spot, wheels)


def test_answers_to_different_questions_of_one_name_are_not_paired():
    asked = [{**row("1", True), "question": digest} for digest in ("aa", "bb")]
    assert compare(run("A", asked[0]), run("B", asked[0]))["n"]["pairs"] == 1
    assert compare(run("A", asked[0]), run("B", row("1", True)))["n"]["pairs"] == 1, "older runs do not know their questions"
    with pytest.raises(SuiteError, match="1 episodes of one name ask different things, the first is 1 in w0"):
        compare(run("A", asked[0]), run("B", asked[1]))
