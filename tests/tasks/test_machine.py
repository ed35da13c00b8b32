"""The stage machine: hand-offs, declarations, budgets, and the same verdict live and from the record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from little_town import BODY, MISSION, SPECS, TOWN, episode, full_mission, walk

from portico.tasks import Annotations, StageMachine, StageSpec, replay, trivial_at_start

ANNOTATIONS = Annotations(TOWN)


def machine(task="i2o2i", start=(5.0, 4.0, 0.0), **options):
    m = StageMachine(episode(task, start=start, **options), ANNOTATIONS, BODY)
    assert m.start(np.array(start)) is None
    return m


def test_a_mission_hands_off_from_the_state_reached():
    outcome = replay(episode(), full_mission(), ANNOTATIONS, BODY)
    assert outcome.reason == "success"
    assert outcome.success
    assert [s.outcome for s in outcome.stages] == ["success"] * 4
    assert [a.end for a in outcome.stages[:-1]] == [b.start for b in outcome.stages[1:]]
    assert [s.stop is None for s in outcome.stages] == [False, True, False, False]


def test_events_tell_hand_off_and_mission_success():
    m = machine()
    m.update([(11.5, 4, 0)])
    event = m.declare_stop()
    assert (event.kind, event.stage, event.state, m.stage) == ("hand_off", 0, 1, 1)
    event = m.update([(38.5, 7, 0), (38.5, 5, 0)])
    assert (event.kind, event.stage, event.state, m.stage) == ("hand_off", 1, 2, 2)
    m.update([(42, 5, 0)])
    assert m.declare_stop().kind == "hand_off"
    m.update([(48.4, 6, 0)])
    assert m.declare_stop().kind == "mission_success"
    assert m.done
    assert len(m.events) == 4


def test_a_failed_declaration_ends_the_episode_and_leaves_the_rest_unattempted():
    m = machine()
    m.update([(9, 4, 0)])
    event = m.declare_stop()
    assert (event.kind, event.reason) == ("stage_failure", "failed_declaration")
    outcome = m.outcome()
    assert [s.outcome for s in outcome.stages] == ["failure", *["not_attempted"] * 3]
    assert outcome.completed == 0
    assert m.update([(11.5, 4, 0)]) is None
    assert m.outcome() == outcome


def test_passing_through_the_success_region_declares_nothing():
    outcome = replay(episode("exit"), walk((5, 4, 0), (11.5, 4, 0)), ANNOTATIONS, BODY)
    assert (outcome.reason, outcome.completed) == ("incomplete", 0)


def test_a_stop_in_the_outdoor_stage_declares_nothing():
    m = machine("outdoor", start=(11.5, 4.0, 0.0))
    assert m.declare_stop() is None
    assert not m.done
    assert m.update([(38.5, 5, 0)]).kind == "mission_success"


def test_an_outdoor_goal_reached_at_the_hand_off_counts_at_once():
    near = StageSpec(kind="outdoor", goal=(12, 4, 0))
    m = machine("i2o", stages=[SPECS["exit"], near])
    m.update([(11.5, 4, 0)])
    assert m.declare_stop().kind == "mission_success"


def test_arrival_between_the_end_points_of_an_action_counts():
    m = machine("outdoor", start=(11.5, 4.0, 0.0))
    assert m.update([(38.5, 5, 0), (20, 5, 0)]).state == 1


def test_crossings_count_only_within_their_stage():
    """In and out again on the way: the entrance stage itself must go in."""
    m = machine("o2i", start=(11.5, 4.0, 0.0))
    m.update([(42, 5, 0), (38.5, 5, 0)])
    assert m.stage == 1
    assert m.declare_stop().reason == "failed_declaration"


def test_the_hand_off_state_belongs_to_the_next_stage():
    inside_goal = StageSpec(kind="outdoor", goal=(38.5, 5, 0), radius_m=1.4)
    m = machine("o2i", start=(11.5, 4.0, 0.0), stages=[inside_goal, SPECS["entrance"]])
    m.update([(39.8, 5, 0)])
    m.update([(40.5, 5, 0)])
    assert m.declare_stop().kind == "mission_success"


def test_budgets_end_the_stage_without_a_stop_of_their_own():
    m = machine("exit", max_actions=3)
    m.update([(11.5, 4, 0)])
    assert m.spend(2, 10.0) is None
    assert m.spend(3, 10.0).reason == "budget_exhausted"
    assert m.outcome().stages[0].stop is None
    late = machine("exit", max_time_s=300.0)
    assert late.spend(1, 300.0) is None
    assert late.spend(1, 300.1).reason == "timeout"


def test_a_replay_ends_where_the_budget_did():
    out = walk((5, 4, 0), (11.5, 4, 0), stops=(1,))
    assert replay(episode("exit", max_actions=26), out, ANNOTATIONS, BODY).reason == "success"
    short = replay(episode("exit", max_actions=25), out, ANNOTATIONS, BODY)
    assert (short.reason, short.end) == ("budget_exhausted", 25)


def test_on_arrival_and_explicit_stop_for_points():
    there = walk((0.5, 4, 0), (5, 4, 0), (8, 4, 0))
    arrival = SPECS["point"].model_copy(update={"termination": "on_arrival"})
    outcome = replay(episode("point", start=(0.5, 4, 0), stages=[arrival]), there, ANNOTATIONS, BODY)
    assert outcome.success
    assert outcome.end == outcome.stages[0].end == 16
    assert replay(episode("point", start=(0.5, 4, 0)), there, ANNOTATIONS, BODY).reason == "incomplete"


def test_other_endings_are_named_by_whoever_sees_them():
    m = machine("exit")
    assert m.end("fall").reason == "fall"
    assert m.end("stuck") is None


def test_trivial_at_start():
    def trivial(task, start, **options):
        return trivial_at_start(episode(task, start=start, **options), ANNOTATIONS, BODY)

    assert trivial("point", (5, 4.2, 0))
    assert trivial("outdoor", (38.5, 6, 0))
    assert trivial("ovon", (48.4, 6, 0))
    assert not trivial("exit", (11.5, 4, 0))
    assert not trivial("entrance", (45, 5, 0))
    loop = StageSpec(kind="boundary", goal=(8, 48, 50))
    assert not trivial("boundary", (8, 48, 50), stages=[loop])


#: Places where something may be decided, and a few where nothing is.
SPOTS = [*MISSION, (20, 5, 0), (9.9, 4, 0), (10.1, 4, 0), (39.9, 5, 0), (42, 5, 0), (5, 4, 3.2), (50, 8, 0)]


@settings(max_examples=150)
@given(
    task=st.sampled_from(["i2o2i", "i2o", "o2i", "exit", "entrance", "ovon", "outdoor", "object", "place", "vln"]),
    actions=st.lists(st.tuples(st.lists(st.sampled_from(SPOTS), min_size=1, max_size=3), st.booleans()), min_size=1, max_size=12),
    max_actions=st.integers(1, 14),
    mission_first=st.booleans(),
)
def test_live_and_replayed_verdicts_agree(task, actions, max_actions, mission_first):
    if mission_first:
        actions = [([p], p in (MISSION[1], MISSION[5], MISSION[6])) for p in MISSION[1:]] + actions
    live = StageMachine(episode(task, max_actions=max_actions), ANNOTATIONS, BODY)
    live.start(np.array(MISSION[0]))
    states, numbers, stops = [MISSION[0]], [0], []
    for number, (passed, stop) in enumerate(actions, start=1):
        if live.done:
            break
        states += passed
        numbers += [number] * len(passed)
        live.update(passed)
        if stop:
            stops.append(len(states) - 1)
            live.declare_stop()
        live.spend(number, float(number))
    live.end("incomplete")
    n = len(states)
    record = walk(*([states[0]] * n), spacing=1.0)
    record.position[:] = states
    record.action[:] = numbers
    record.time_s[:] = numbers
    record = type(record)(**{**record.__dict__, "stop_steps": np.array(stops, np.int32)})
    assert replay(episode(task, max_actions=max_actions), record, ANNOTATIONS, BODY) == live.outcome()


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        (StageSpec(kind="place", category="bakery"), "wrong_goal"),
        (StageSpec(kind="vln", instances=["p"]), "wrong_goal"),
        (StageSpec(kind="object", category="counter"), "wrong_goal"),
        (StageSpec(kind="object", category="counter", rule="navarena"), "failed_declaration"),
    ],
)
def test_a_stop_at_a_wrong_goal_is_called_that_by_navverses_rule(stage, reason):
    m = StageMachine(episode(stage.kind, stages=[stage]), ANNOTATIONS, BODY)
    m.start(np.array([20.0, 12.0, 0.0]))
    assert m.declare_stop().reason == reason
