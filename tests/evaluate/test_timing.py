"""What deciding costs in simulated time: nothing, what is told, or what it took; and what the body does meanwhile."""

import json
import time

import pytest
import yaml
from hut import build

from portico.errors import SuiteError, UserError
from portico.evaluate.episode import run_episode
from portico.evaluate.executors import InProcess
from portico.evaluate.prepare import prepare
from portico.evaluate.records import read_records
from portico.evaluate.run import RunRequest, execute
from portico.evaluate.scoring import rescore
from portico.evaluate.timing import TimingMode, timing_mode
from portico.geometry import Pose
from portico.interface import Move, PolicySpec, Stop, Timing, Velocity, Waypoints
from portico.robots import embodiment
from portico.sim import Simulator
from portico.suites import load_suite
from portico.world import load


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    build(folder / "hut")
    raw = {"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 2}, "budget": {"max_actions": 40}}
    (folder / "hut.yaml").write_text(yaml.safe_dump(raw))
    suite = load_suite(folder / "hut.yaml")
    return suite, prepare(suite, folder / "cache", relative_to=folder, announce=lambda _: None)


@pytest.fixture(scope="module")
def simulator(prepared):
    return Simulator(load(prepared[1][0].folder), embodiment("spot"))


@pytest.fixture
def episode(prepared):
    return prepared[1][0].episodes.episodes[0]


class Scripted:
    """Does what it is told, then stops; may take its time."""

    def __init__(self, *actions, takes_s=0.0, **spec):
        self.spec = PolicySpec("scripted", **spec)
        self._script, self._takes_s = actions, takes_s

    def reset(self, brief):
        self._left = list(self._script)
        self.times, self.poses = [], []

    def act(self, observation):
        time.sleep(self._takes_s)
        self.times.append(observation.time_s)
        self.poses.append(observation.odometry)
        return self._left.pop(0) if self._left else Stop()

    def close(self):
        pass


@pytest.mark.parametrize(("text", "mode"), [("paused", TimingMode()), ("charged:0.2", TimingMode("charged", 0.2)), ("realtime", TimingMode("realtime"))])
def test_modes_by_name(text, mode):
    assert timing_mode(text) == mode


@pytest.mark.parametrize("text", ["", "fast", "charged:", "charged:-1", "charged:nan", "paused:1", "realtime:2"])
def test_other_words_are_refused(text):
    with pytest.raises(UserError, match="unknown timing"):
        timing_mode(text)


def test_paused_decisions_cost_nothing_however_long_they_take(simulator, episode):
    quick, slow = Scripted(Move("turn_left")), Scripted(Move("turn_left"), takes_s=0.05)
    for policy in (quick, slow):
        run_episode(simulator, policy, episode, key="", seed=0)
    assert quick.times == slow.times


def test_charged_decisions_cost_what_is_told(simulator, episode):
    free, charged = Scripted(*[Move("turn_left")] * 3), Scripted(*[Move("turn_left")] * 3)
    run_episode(simulator, free, episode, key="", seed=0)
    rollout = run_episode(simulator, charged, episode, key="", seed=0, timing=timing_mode("charged:0.5"))
    assert charged.times == pytest.approx([t + 0.5 * i for i, t in enumerate(free.times)])
    assert charged.poses == free.poses
    assert rollout.trajectory.time_s[-1] == pytest.approx(free.times[-1] + 4 * 0.5)


def test_charged_decisions_cost_what_they_took(simulator, episode):
    policy = Scripted(Move("turn_left"), takes_s=0.2)
    rollout = run_episode(simulator, policy, episode, key="", seed=0, timing=timing_mode("charged"))
    turning = policy.times[1] - rollout.decisions_s[0]
    assert rollout.decisions_s[0] >= 0.2
    assert turning == pytest.approx(simulator.actions.turn_rad / simulator.body.max_turn_radps)


def test_in_real_time_motion_lasts_as_long_as_it_does(simulator, episode):
    policy = Scripted(Velocity(0.0, 0.0, 0.1, 0.4))
    began = time.monotonic()
    run_episode(simulator, policy, episode, key="", seed=0, timing=timing_mode("realtime"))
    assert time.monotonic() - began >= 0.4


def test_a_velocity_goes_on_until_it_runs_out_and_then_the_body_stands(simulator, episode):
    """0.1 m/s for 1 s, then 3 s of deciding: a command that expires after 2 s goes on for those."""
    for expires_s, metres in ((None, 0.1), (2.0, 0.3), (9.0, 0.4)):
        policy = Scripted(Velocity(0.1, 0.0, 0.0, 1.0), Move("turn_left", 0.01), timing=Timing(expires_s=expires_s))
        run_episode(simulator, policy, episode, key="", seed=0, timing=timing_mode("charged:3"))
        assert policy.poses[2].x == pytest.approx(metres)


def test_waypoints_are_meant_from_where_they_were_asked_for(simulator, episode):
    """The body drifts 0.2 m ahead while the policy thinks; its waypoint 0.5 m ahead stays where it was."""
    policy = Scripted(Velocity(0.1, 0.0, 0.0, 1.0), Waypoints((Pose(0.5, 0.0),)), timing=Timing(expires_s=2.0))
    run_episode(simulator, policy, episode, key="", seed=0, timing=timing_mode("charged:2"))
    asked_at = policy.poses[1].x
    assert policy.poses[2].x == pytest.approx(asked_at + 0.5, abs=1e-6)


def test_a_stop_is_for_the_stage_that_was_asked_about(simulator, episode):
    rollout = run_episode(simulator, Scripted(), episode, key="", seed=0, timing=timing_mode("charged:1"))
    assert len(rollout.trajectory.stop_steps) == 1
    assert rollout.outcome.reason


def test_runs_of_other_timing_are_other_runs_and_are_scored_again_alike(prepared, tmp_path):
    suite, worlds = prepared
    first, again = ({}, {})
    for folder, found in (("a", first), ("b", again)):
        execute(RunRequest(suite, "random", tmp_path / folder, worlds, timing="charged:0.3"), executor=InProcess())
        found.update({k: r["measures"] for k, r in read_records(tmp_path / folder).items()})
    assert first == again
    assert rescore(tmp_path / "a").changed == []
    assert json.loads((tmp_path / "a" / "run.json").read_text())["timing"] == "charged:0.3"
    with pytest.raises(SuiteError, match="holds another run"):
        execute(RunRequest(suite, "random", tmp_path / "a", worlds))
