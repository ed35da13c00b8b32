"""The loop: declarations only after acceptance, bounded recovery, steps, hand-offs, looking around."""

from __future__ import annotations

import pytest
from doubles import NO, PERHAPS, YES, Executor, Notary, Walk, agent_of, brief_of

from portico.agent.contract import SchemaFailure, Step, Verdict
from portico.errors import PolicyRefused, UnknownName, UserError
from portico.interface import Move, Stop, Velocity
from portico.policies import create


def events(agent, name: str) -> list[dict]:
    return [e for e in agent.report()["events"] if e["event"] == name]


def stops_at(*steps: int):
    """An executor that proposes STOP at these of its own steps, and walks otherwise."""
    return Executor(lambda n: Stop() if n in steps else Move("forward"))


def test_an_accepted_stop_is_declared():
    agent = agent_of(stops_at(5), Notary(YES))
    walk = Walk().run(agent)
    assert walk.over == "success"
    assert walk.stops == [5]
    assert agent.report()["stages"][0]["outcome"] == "declared"


@pytest.mark.parametrize("verdict", [NO, PERHAPS, SchemaFailure("no JSON"), Verdict(True, 0.9, "", True, 0.4, "")])
def test_a_stop_that_is_not_accepted_never_reaches_the_evaluator(verdict):
    agent = agent_of(stops_at(5), Notary(verdict), cadence=0)
    walk = Walk().run(agent, most=300)
    assert walk.stops == []
    assert agent.report()["counts"]["attempts"] == 4
    assert agent.report()["counts"]["replans"] == 3
    assert agent.report()["stages"][0]["outcome"] == "failed"
    assert all(isinstance(a, Velocity) and a.vx_mps == a.wz_radps == 0.0 for a in walk.actions[-50:])


def test_recovery_resets_the_executor_and_tells_it_what_was_planned():
    executor = stops_at(5)
    notary = Notary(NO, YES, steps=[Step("out", "Leave by the other door.", "exit")])
    walk = Walk().run(agent_of(executor, notary))
    assert walk.stops == [10]
    assert len(executor.resets) == 2
    assert executor.resets[1].stage.instruction == "Leave by the other door."
    assert notary.plans[0].verdict is None
    assert notary.plans[1].verdict is NO


def test_replanning_is_shared_by_the_steps_of_a_workflow_and_renewed_at_a_hand_off():
    two = [Step("stairs", "Go down.", "exit", closes=False), Step("door", "Go out.", "exit")]
    half = Verdict(True, 0.9, "down", False, 0.9, "still inside")
    notary = Notary(NO, half, NO, half, YES, NO, YES, steps=two)
    agent = agent_of(stops_at(3), notary)
    walk = Walk(("exit", "entrance")).run(agent)
    assert walk.over == "success"
    # The exit replans twice, once in the first step and once in the second; the entrance begins with three again.
    assert [s["replans"] for s in agent.report()["stages"]] == [2, 1]
    assert [s["outcome"] for s in agent.report()["stages"]] == ["confirmed", "declared"]


def test_a_completed_step_leaves_the_stage_as_it_is():
    two = [Step("stairs", "Go down.", "exit", closes=False), Step("door", "Go out.", "exit")]
    executor = stops_at(3)
    agent = agent_of(executor, Notary(Verdict(True, 0.9, "down", False, 0.9, "inside"), YES, steps=two))
    walk = Walk().run(agent)
    assert [b.stage.instruction for b in executor.resets] == ["Go down.", "Go out."]
    assert [b.stage.index for b in executor.resets] == [0, 0]
    assert len(walk.stops) == 1
    assert agent.report()["counts"]["attempts"] == 1


def test_nothing_is_recovered_after_the_evaluator_refused():
    walk = Walk(confirms=lambda step: False).run(agent_of(stops_at(5), Notary(YES)))
    assert walk.over == "refused"
    assert walk.step == 6


def test_looking_costs_three_actions_and_brings_four_views_in_order():
    notary = Notary(YES, looks=("proposal",))
    agent = agent_of(stops_at(5), notary)
    walk = Walk().run(agent)
    assert walk.stops == [8]
    (asked,) = notary.asked
    assert list(asked.views) == ["start", "forward", "left", "right"]
    assert [o.step for o in asked.views.values()] == [0, 5, 6, 7]
    headings = [asked.views[name].odometry.yaw_rad for name in ("forward", "left", "right")]
    assert headings == pytest.approx([0.0, 1.5708, -1.5708], abs=0.03)
    assert walk.pose.yaw_rad == pytest.approx(0.0, abs=1e-9)
    assert agent.report()["counts"]["looks"] == 3


def test_an_outdoor_stop_declares_nothing_and_arrival_is_geometric():
    notary = Notary(YES)
    agent = agent_of(stops_at(5), notary)
    agent.reset(brief_of(("outdoor",)))
    walk = Walk(("outdoor",), goal=(50.0, 0.0, 0.0))
    walk.run(agent, most=120)
    assert walk.stops == []
    assert notary.asked == []
    assert {e["evidence"] for e in events(agent, "verification")} == {"outdoor_geometric_v1"}


def test_memory_of_a_mission_keeps_outcomes_and_failures_and_drops_the_rest():
    notary = Notary(NO, YES, YES)
    agent = agent_of(stops_at(5), notary)
    Walk(("exit", "entrance")).run(agent)
    first, last = notary.asked[0], notary.asked[-1]
    assert last.mission.contract == ("exit", "entrance")
    assert [(o.kind, o.outcome, o.source) for o in last.mission.outcomes] == [("exit", "success", "evaluator")]
    assert last.mission.hypotheses == ["exit: attempt 1: not seen"]
    assert first.episode is not last.episode
    assert last.episode.directions == []
    assert last.episode.failures == []
    assert all("exit" not in event for event in last.episode.recent)


def test_continuation_withholds_a_stop_and_never_asks_the_reasoner():
    notary = Notary(YES)
    agent = agent_of(stops_at(5), notary, control="continuation", extra=1)
    walk = Walk().run(agent)
    assert walk.stops == [10]
    assert notary.asked == []
    assert agent.report()["counts"]["verifications"] == 0
    assert agent.report()["counts"]["attempts"] == 2


def test_continuation_stands_by_what_was_proposed_when_another_attempt_brings_nothing():
    once = {"done": False}

    def does(n: int):
        if n == 5 and not once["done"]:
            once["done"] = True
            return Stop()
        return Move("forward")

    walk = Walk().run(agent_of(Executor(does), Notary(), control="continuation"))
    assert walk.stops == [205]


def test_without_verification_every_stop_counts():
    walk = Walk().run(agent_of(stops_at(5), Notary(NO), verify="none"))
    assert walk.stops == [5]


def test_without_periodic_verification_only_proposals_and_ends_of_attempts_are_judged():
    notary = Notary(NO)
    Walk().run(agent_of(Executor(), notary, verify="proposals"), most=450)
    assert [s.occasion for s in notary.asked] == ["attempt_end", "attempt_end"]
    assert [s.observation.step for s in notary.asked] == [200, 400]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"reasoner": "oracle"}, UnknownName),
        ({"control": "luck"}, UnknownName),
        ({"verify": "some"}, UnknownName),
        ({"slips": "few"}, UnknownName),
        ({"replans": "many"}, UserError),
        ({"cadence": "-1"}, UserError),
        ({"cassette": "x.jsonl"}, UserError),
        ({"colour": "red"}, UnknownName),
    ],
)
def test_options_that_do_not_exist_are_refused(options, error):
    with pytest.raises(error):
        create("agent", **options)


def test_an_agent_attempts_the_four_workflows_and_nothing_else():
    agent = create("agent?replans=1,cadence=25")
    assert agent.spec.stages == {"exit", "outdoor", "entrance", "ovon"}
    assert agent.spec.needs == {"depth", "odometry", "pose", "route"}
    with pytest.raises(PolicyRefused):
        agent.act(Walk().observation())
