"""The geometric reasoner in a world of boxes: doors, roofs, thresholds, kerbs, objects; and executors with slips."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from math import pi
from pathlib import Path

import numpy as np
import pytest
from doubles import Executor, Notary, Walk, agent_of, brief_of

from portico.agent.contract import Situation, Step
from portico.agent.geometric import GeometricReasoner
from portico.agent.memory import EpisodeMemory, MissionMemory
from portico.agent.slips import PROFILES, SlippingPolicy, Slips, slips_of
from portico.agent.witness import Moment
from portico.errors import UnknownName
from portico.geometry import Pose
from portico.interface import Frame, Move, Observation, Stop
from portico.policies import create
from portico.policies.frontier import FrontierPolicy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "policies"))
from toy_world import ToyWorld, brief_for, house, run, stage_of

START = Pose(2.0, 2.5)
#: From the second room out of the front door at x 5.5 to 6.7, and on across the street.
OUT = [(2.0, 2.5), (3.0, 3.7), (5.0, 3.7), (6.1, 2.5), (6.1, 1.0), (6.1, -0.5), (6.1, -1.6), (6.1, -3.0), (6.1, -4.5)]


def poses_along(points: list[tuple[float, float]], spacing: float = 0.5) -> list[Pose]:
    """Poses along a way, heading along it, with a look around at every corner."""
    poses = []
    for (x0, y0), (x1, y1) in pairwise(points):
        yaw = float(np.arctan2(y1 - y0, x1 - x0))
        poses += [Pose(x0, y0, 0.0, yaw + turn) for turn in (pi / 2, -pi / 2, 0.0)]
        count = max(int(np.hypot(x1 - x0, y1 - y0) / spacing), 1)
        poses += [Pose(x0 + (x1 - x0) * k / count, y0 + (y1 - y0) * k / count, 0.0, yaw) for k in range(1, count + 1)]
    return poses


def walked(world: ToyWorld, kind: str, points, *, detector=None, category="", z_of=lambda pose: 0.0) -> tuple[GeometricReasoner, Situation]:
    """A reasoner that saw a walk, and a situation at its end."""
    stage = stage_of(kind, category=category)
    categories = {1: "wall", 9: "chair"} if detector else {}
    reasoner = GeometricReasoner(detector)
    reasoner.reset(replace(brief_for(stage), categories=categories), None)
    reasoner.enter(stage)
    poses = poses_along(points)
    for step, pose in enumerate(poses):
        at = replace(pose, z=z_of(pose))
        frame = world.frame(at)
        shown = frame if detector else Frame(frame.camera, depth=frame.depth)
        observation = Observation(step, 0.1 * step, {"front": shown}, stage, odometry=at.relative_to(poses[0]))
        reasoner.notice(observation)
    step = Step("all", stage.instruction, stage.kind)
    return reasoner, Situation(stage, observation, EpisodeMemory(stage.kind), MissionMemory((stage.kind,)), step=step, occasion="proposal")


@pytest.mark.parametrize(("until", "outcome"), [(3, "REJECT"), (5, "REJECT"), (9, "ACCEPT")])
def test_an_exit_is_accepted_only_once_it_is_behind(until, outcome):
    reasoner, situation = walked(house(), "exit", OUT[:until])
    assert reasoner.verify(situation).parent == outcome


def test_a_doorway_is_no_exit():
    reasoner, situation = walked(house(), "exit", [*OUT[:5], (6.1, 0.2)])
    assert reasoner.verify(situation).parent != "ACCEPT"


@pytest.mark.parametrize(("points", "outcome"), [([(6.0, -0.5), (6.0, -1.5)], "REJECT"), ([(6.0, -0.5), (6.0, -3.0), (6.0, -4.5)], "ACCEPT")])
def test_an_exit_begins_indoors_by_its_definition_even_where_no_ceiling_was_seen(points, outcome):
    reasoner, situation = walked(house(), "exit", points)
    assert (reasoner.verify(situation).parent == "ACCEPT") == (outcome == "ACCEPT")


@pytest.mark.parametrize(("cover", "open_share", "canopy"), [(1.0, 0.8, True), (1.0, 0.6, False), (0.4, 0.6, True), (0.0, 0.9, False), (1.0, 0.2, False)])
def test_an_awning_over_all_of_the_ground_is_no_roof_where_the_view_is_wide_open(cover, open_share, canopy):
    assert Moment(0, START, cover, open_share, 2.0).canopy == canopy


@pytest.mark.parametrize(("turned", "outcome"), [(4, "REJECT"), (7, "ACCEPT")])
def test_an_entrance_is_accepted_only_well_inside(turned, outcome):
    way = [*OUT[::-1][:4], (6.1, 1.0), (6.1, 2.2), (5.2, 2.5)]
    reasoner, situation = walked(house(), "entrance", way[:turned])
    assert reasoner.verify(situation).parent == outcome


def test_below_the_kerb_nobody_is_sure():
    world = house()
    reasoner, situation = walked(world, "exit", OUT, z_of=lambda pose: -0.15 if pose.y < -2.0 else 0.0)
    verdict = reasoner.verify(situation)
    assert verdict.parent == "UNCERTAIN"
    assert "road" in verdict.parent_reason


def furnished() -> ToyWorld:
    world = house()
    world.add(7.0, 3.5, 0.0, 7.5, 4.0, 0.8, label=9)
    return world


@pytest.mark.parametrize(("way", "outcome"), [(OUT[:3], "REJECT"), ([*OUT[:3], (5.6, 3.7)], "REJECT"), ([*OUT[:3], (6.4, 3.7)], "ACCEPT")])
def test_an_object_is_accepted_from_beside_it(way, outcome):
    reasoner, situation = walked(furnished(), "ovon", way, detector="semantic", category="chair")
    assert reasoner.verify(situation).parent == outcome


def test_without_a_detector_the_executors_word_counts_and_nothing_else():
    reasoner, situation = walked(furnished(), "ovon", OUT[:3], category="chair")
    assert reasoner.verify(situation).parent == "ACCEPT"
    assert reasoner.verify(replace(situation, occasion="periodic")).parent != "ACCEPT"


def test_the_same_walk_gives_the_same_verdict():
    first, second = (walked(house(), "exit", OUT) for _ in range(2))
    assert first[0].verify(first[1]) == second[0].verify(second[1])


def test_an_agent_of_baselines_leaves_the_house_and_says_so_once():
    agent = create("agent")
    result = run(house(), agent, START, stage_of("exit"), max_actions=300)
    assert result.stopped
    assert result.poses[-1].y < -0.5
    report = agent.report()
    assert report["counts"]["requests"] == 0
    assert report["stages"][0]["outcome"] == "declared"


class _HastyAtFirst(SlippingPolicy):
    """Takes the door for the outdoors in its first attempt, and not again."""

    def __init__(self) -> None:
        super().__init__(FrontierPolicy(), Slips(1.0, 0.0))

    def reset(self, brief) -> None:
        super().reset(brief)
        self.slips = Slips(0.0, 0.0)


def test_a_hasty_executor_is_held_back_until_it_is_out():
    alone = run(house(), create("chain", exit=_HastyAtFirst()), START, stage_of("exit"), max_actions=300)
    guarded = run(house(), create("agent", exit=_HastyAtFirst()), START, stage_of("exit"), max_actions=400)
    assert alone.stopped
    assert guarded.stopped
    assert alone.poses[-1].y > 0.0
    assert guarded.poses[-1].y < -0.5


def test_slips_are_thrown_from_episode_and_resets_and_nothing_else():
    def stops(episode: str) -> list[bool]:
        member = SlippingPolicy(Executor(lambda n: Stop()), Slips(0.0, 0.5))
        walk, found = Walk(), []
        for _ in range(40):
            member.reset(replace(brief_of(), episode_key=episode))
            found.append(isinstance(member.act(walk.observation()), Stop))
        return found

    assert stops("a") == stops("a")
    assert stops("a") != stops("b")
    assert 8 < sum(stops("a")) < 32


def test_a_blind_attempt_never_stops_and_leaves_its_member_alone():
    inner = Executor(lambda n: Stop())
    member = SlippingPolicy(inner, Slips(0.0, 1.0))
    member.reset(brief_of())
    actions = [member.act(Walk().observation()) for _ in range(30)]
    assert all(isinstance(a, Move) for a in actions)
    assert len(inner.seen) == 1


def test_outdoors_nothing_slips():
    member = SlippingPolicy(Executor(lambda n: Stop()), Slips(0.0, 1.0))
    member.reset(brief_of(("outdoor",)))
    assert isinstance(member.act(Walk(("outdoor",)).observation()), Stop)


def test_profiles_by_name():
    assert slips_of(None) is None
    assert slips_of("both") == PROFILES["both"]
    with pytest.raises(UnknownName):
        slips_of("clumsy")


def test_an_agent_finds_what_a_blind_executor_misses():
    notary = Notary()
    agent = agent_of(Executor(lambda n: Stop()), notary, slips="blind")
    Walk().run(agent, most=120)
    assert {s.occasion for s in notary.asked} <= {"proposal", "periodic", "progress", "attempt_end"}
