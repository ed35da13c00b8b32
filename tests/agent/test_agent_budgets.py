"""Budgets hold exactly: actions, attempts, cadence, periodic verifications, wall clock; and the progress checkpoint."""

from __future__ import annotations

from itertools import pairwise
from math import pi

import numpy as np
from doubles import NO, YES, Executor, Notary, Walk, agent_of
from hypothesis import given
from hypothesis import strategies as st

from portico.agent.budgets import Budgets
from portico.agent.checkpoints import ProgressCheckpoint, outdoor_verdict
from portico.geometry import Pose, wrap_angle
from portico.interface import Move, Velocity


def occasions(notary: Notary) -> list[tuple[str, int]]:
    return [(s.occasion, s.observation.step) for s in notary.asked]


def test_the_budgets_of_the_source():
    assert Budgets() == Budgets(actions=800, attempt_steps=200, wall_s=900.0, requests=50, cadence=50, periodic=20, replans=3)


def test_periodic_verification_every_fifty_actions_and_attempts_of_two_hundred():
    notary = Notary(NO)
    Walk().run(agent_of(Executor(), notary), most=450)
    assert occasions(notary) == [
        ("periodic", 50),
        ("periodic", 100),
        ("periodic", 150),
        ("attempt_end", 200),
        ("periodic", 250),
        ("periodic", 300),
        ("periodic", 350),
        ("attempt_end", 400),
    ]


def test_four_attempts_and_eight_hundred_actions():
    agent = agent_of(Executor(), Notary(NO))
    walk = Walk().run(agent, most=850)
    report = agent.report()
    assert report["counts"]["attempts"] == 4
    assert report["counts"]["executor_calls"] == 800
    assert walk.stops == []
    assert all(isinstance(a, Velocity) for a in walk.actions[800:])
    assert report["events"][-1]["event"] == "workflow_failed"
    assert "actions" in report["events"][-1]["why"]


def test_twenty_periodic_verifications_an_episode_shared_with_the_checkpoint():
    turning = Notary(NO)
    agent = agent_of(Executor(lambda n: Move("turn_left")), turning)
    Walk().run(agent, most=800)
    assert agent.report()["counts"]["periodic"] == 20
    assert {occasion for occasion, _ in occasions(turning)} >= {"progress", "periodic"}


def test_a_missed_stop_is_found_by_the_cadence():
    notary = Notary(NO, NO, YES)
    walk = Walk().run(agent_of(Executor(), notary))
    assert walk.stops == [150]


def test_no_cadence_outdoors():
    agent = agent_of(Executor(), Notary(NO))
    Walk(("outdoor",), goal=(900.0, 0.0, 0.0)).run(agent, most=190)
    assert agent.report()["counts"]["verifications"] == 0


def test_the_wall_clock_ends_the_workflow():
    clock = iter(np.arange(0.0, 1e6, 3.0))
    agent = agent_of(Executor(), Notary(NO), now=lambda: float(next(clock)))
    walk = Walk().run(agent, most=600)
    assert walk.stops == []
    failed = [e for e in agent.report()["events"] if e["event"] == "workflow_failed"]
    assert len(failed) == 1
    assert "wall clock" in failed[0]["why"]
    assert agent.report()["counts"]["idle"] > 0


def test_the_wall_clock_is_nine_hundred_seconds_to_the_decision():
    """A second and a half per action: what is due at 899 s is still done, at 900 s nothing is."""
    walk = Walk()
    agent = agent_of(Executor(), Notary(NO), cadence=0, now=lambda: 1.5 * walk.step)
    walk.run(agent, most=640)
    assert [e["action"] for e in agent.report()["events"] if e["event"] == "workflow_failed"] == [600]
    assert agent.report()["counts"]["executor_calls"] == 600
    assert not any(isinstance(action, Velocity) for action in walk.actions[:600])
    assert all(isinstance(action, Velocity) for action in walk.actions[600:])


def test_stalling_at_one_place_ends_an_attempt_but_never_the_last():
    notary = Notary(NO)
    agent = agent_of(Executor(lambda n: Move("turn_left")), notary, cadence=0)
    Walk().run(agent, most=700)
    kinds = [e["event"] for e in agent.report()["events"]]
    assert kinds.count("replan") == 3
    assert agent.report()["counts"]["attempts"] == 4


@given(st.lists(st.tuples(st.floats(0.0, 0.5), st.floats(-1.0, 1.0)), min_size=1, max_size=60))
def test_the_checkpoint_fires_as_its_definition_says(motions):
    checkpoint, poses, since = ProgressCheckpoint(), [Pose(0.0, 0.0)], 0
    checkpoint.add(poses[0])
    for step, turn in motions:
        p = poses[-1]
        yaw = wrap_angle(p.yaw_rad + turn)
        poses.append(Pose(p.x + step * float(np.cos(yaw)), p.y + step * float(np.sin(yaw)), 0.0, yaw))
        fired = checkpoint.add(poses[-1])
        window = poses[since:][-17:]
        moved = np.hypot(window[-1].x - window[0].x, window[-1].y - window[0].y)
        turned = sum(abs(wrap_angle(b.yaw_rad - a.yaw_rad)) for a, b in pairwise(window))
        assert fired == (len(window) == 17 and moved < 0.5 and turned >= pi / 2 - 1e-9)
        if fired:
            since = len(poses)


def test_outdoor_arrival_is_decided_by_pose_and_goal_alone():
    from dataclasses import replace

    seen = Walk(("outdoor",), goal=(10.0, 0.0, 0.0)).observation()
    assert outdoor_verdict(seen).parent == "UNCERTAIN"
    assert outdoor_verdict(replace(seen, pose=Pose(7.1, 0.0))).parent == "ACCEPT"
    assert outdoor_verdict(replace(seen, pose=Pose(6.9, 0.0))).parent == "REJECT"
    assert outdoor_verdict(replace(seen, pose=Pose(7.1, 0.0, 4.0))).parent == "REJECT"
    assert {outdoor_verdict(replace(seen, pose=p)).parent_confidence for p in (None, Pose(7.1, 0.0))} == {0.0, 1.0}
