"""Hidden labels stay hidden: what crosses to a policy, a reasoner or a model holds none, by value, by reference and by effect.

A policy in the same process could walk the stack or the heap to the simulator, as any Python code can: that is not claimed to be shut. What
is shut is everything that is handed over; behind a process border, where only that crosses, heap and stack hold nothing either.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import msgpack
import numpy as np
import pytest
from doubles import NO, YES, Notary
from hut import build
from model_server import Line, answers, serving, verdict
from ransack import planted, ransack

from portico.agent import AgentPolicy
from portico.agent.geometric import GeometricReasoner
from portico.agent.vlm import VlmReasoner
from portico.evaluate.episode import run_episode
from portico.interface import Action, Brief, Move, Observation, PolicySpec, Stop, Waypoints
from portico.policies import create
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.remote.socket import Socket
from portico.policies.serving import WIRES, serve
from portico.policies.wires.arrays import to_msgpack
from portico.robots import embodiment
from portico.sim import Simulator
from portico.space import build_space
from portico.tasks.episode import Budget, Episode, Reference, StageSpec, Start
from portico.world import load

#: Rooms whose objects know answers.
_SECRET_ROOMS = ("portico.world", "portico.space", "portico.tasks", "portico.sim", "portico.episodes", "portico.evaluate", "portico.robots", "portico.render")
START = (5.1371, 4.8613, 0.0)
EXIT = StageSpec(kind="exit", building="a")
NEAR = StageSpec(kind="outdoor", goal=(13.7719, 6.1137, 0.0), radius_m=1.0, route=[(10.3391, 5.2717, 0.0), (13.7719, 6.1137, 0.0)])
FAR = StageSpec(kind="outdoor", goal=(12.9133, 2.2171, 0.0), radius_m=1.5, route=[(11.1173, 4.4391, 0.0), (12.9133, 2.2171, 0.0)])
MISSION: list[Action] = [Move("turn_left")] * 2 + [Move("turn_right")] * 2 + [Move("forward")] * 17 + [Stop()] + [Move("forward")] * 3


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    world = load(build(tmp_path_factory.mktemp("hygiene") / "hut"))
    return world, build_space(world, embodiment("spot"))


def simulator(place, **options) -> Simulator:
    world, space = place
    return Simulator(world, embodiment("spot"), space=space, needs={"rgb", "depth", "odometry", "pose", "route"}, image_size=(64, 48), **options)


def asked(*stages: StageSpec, reference: Reference | None = None) -> Episode:
    task = "i2o" if len(stages) > 1 else stages[0].kind
    start = Start(position=START, yaw_rad=0.0)
    return Episode(id="e", world="hut", task=task, embodiment="spot", start=start, stages=list(stages), budget=Budget(max_actions=60), reference=reference)


class Spy:
    """Carries out a list of actions and keeps all that it is handed."""

    def __init__(self, actions: list[Action]) -> None:
        self.spec = PolicySpec("spy", needs=frozenset({"rgb", "depth", "odometry", "pose", "route"}))
        self._actions = actions
        self.handed: list[Any] = []

    def reset(self, brief: Brief) -> None:
        self.handed.append(brief)
        self._next = iter(self._actions)

    def act(self, observation: Observation) -> Action:
        self.handed.append(observation)
        return next(self._next, Move("turn_left"))

    def close(self) -> None:
        pass


def parts(root: Any) -> Iterator[Any]:
    """Everything that can be reached from an object by fields, attributes, items and the memory that an array looks into."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | ModuleType):
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, Mapping):
            waiting += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting += list(thing)
        elif isinstance(thing, np.ndarray):
            waiting += [] if thing.base is None else [thing.base]
        if dataclasses.is_dataclass(thing):
            waiting += [getattr(thing, f.name) for f in dataclasses.fields(thing)]
        waiting += list(getattr(thing, "__dict__", {}).values())
        waiting += [getattr(thing, name) for name in getattr(type(thing), "__slots__", ()) if isinstance(name, str) and hasattr(thing, name)]
        waiting += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]


def numbers(root: Any) -> np.ndarray:
    """All numbers in it, pictures left out."""
    found: list[float] = []
    for part in parts(root):
        if isinstance(part, float):
            found.append(part)
        elif isinstance(part, np.ndarray) and part.ndim <= 2 and part.dtype == np.float64:
            found += part.ravel().tolist()
    return np.array(found)


def holds(root: Any, values: list[float]) -> bool:
    known = numbers(root)
    return bool(len(known)) and any(bool((np.abs(known - value) < 1e-6).any()) for value in values)


def stream(place, episode: Episode, actions: list[Action], key: str = "k") -> list[bytes]:
    spy = Spy(actions)
    run_episode(simulator(place), spy, episode, key=key, seed=3)
    return [pickle.dumps(thing) for thing in spy.handed]


def test_nothing_that_is_handed_over_leads_to_what_is_known(place):
    spy = Spy(MISSION)
    run_episode(simulator(place), spy, asked(EXIT, NEAR), key="k", seed=3)
    assert len(spy.handed) > 22
    for thing in spy.handed:
        for part in parts(thing):
            assert not type(part).__module__.startswith(_SECRET_ROOMS), part
            assert not callable(part) or isinstance(part, type), part


def test_before_the_exit_neither_pose_nor_route_is_in_anything(place):
    sim = simulator(place)
    brief, observation = sim.reset(asked(EXIT, NEAR), key="k", seed=3)
    secrets = [*NEAR.goal[:2], *(v for point in NEAR.route for v in point[:2])]
    confirmed = False
    assert not holds(brief, [*secrets, *START[:2]])
    for action in MISSION:
        here = sim.robot.pose
        if not confirmed:
            assert observation.pose is None
            assert not holds(observation, [*secrets, here.x, here.y])
        else:
            assert holds(observation, secrets)
            assert observation.pose is not None
        observation = sim.step(action)
        if observation is None:
            break
        confirmed = confirmed or observation.stage_changed
    assert confirmed


def test_other_hidden_labels_change_no_byte_before_the_exit(place):
    """Goal, route, radius and reference of what comes later, and the reference of the exit itself, have no effect on anything seen."""
    reference = Reference(path=[START, (9.0, 5.0, 0.0), (14.0, 6.0, 0.0)], length_m=10.0, stage_ends=[1, 2])
    other = Reference(path=[START, (8.5, 4.5, 0.0), (12.0, 2.0, 0.0)], length_m=11.0, stage_ends=[1, 2])
    first, second = stream(place, asked(EXIT, NEAR, reference=reference), MISSION), stream(place, asked(EXIT, FAR, reference=other), MISSION)
    before = 1 + 22
    assert first[:before] == second[:before]
    assert first[before:] != second[before:]


def test_labels_of_objects_change_no_byte(place):
    """Which instances count is the evaluator's alone."""
    chair = StageSpec(kind="ovon", building="a", category="chair")
    one = StageSpec(kind="ovon", building="a", category="chair", instances=["chair-1"], radius_m=9.0)
    assert stream(place, asked(chair), MISSION[:20]) == stream(place, asked(one), MISSION[:20])


def test_pickles_name_nothing_hidden(place):
    for data in stream(place, asked(EXIT, NEAR), MISSION):
        for word in (b"footprint", b"chair", b"portal", b"polygon", b"sidewalk", b"reference", b"access", b"portico.tasks", b"portico.world", b"portico.sim"):
            assert word not in data


def test_times_and_contacts_tell_what_the_actions_tell(place):
    """The same actions take the same simulated time whatever is hidden; a refused STOP costs none and says nothing."""
    near, far = (simulator(place) for _ in range(2))
    for sim, episode in ((near, asked(EXIT, NEAR)), (far, asked(EXIT, FAR))):
        sim.reset(episode, key="k", seed=3)
    for action in MISSION[:21]:
        a, b = near.step(action), far.step(action)
        assert (a.time_s, a.collided, a.tilt_rad, a.stage) == (b.time_s, b.collided, b.tilt_rad, b.stage)


def test_behind_a_process_border_heap_and_stack_hold_nothing(place):
    """Only what was handed over crosses, and a policy there that searches its whole heap and every frame of its stack finds no more."""
    data = stream(place, asked(EXIT, NEAR), MISSION)[:20]
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(ransack, (data,)) == []
        assert "portico.tasks.episode.StageSpec" in pool.apply(planted, (data,))


class _Listening(GeometricReasoner):
    """A geometric reasoner that keeps all it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Any] = []

    def notice(self, observation):
        self.given.append(observation)
        super().notice(observation)

    def plan(self, situation, assessment):
        self.given.append(situation)
        return super().plan(situation, assessment)

    def verify(self, situation):
        self.given.append(situation)
        return super().verify(situation)


def test_the_reasoner_gets_no_more_than_the_policy(place):
    reasoner = _Listening()
    agent = AgentPolicy(reasoner=reasoner, exit=Spy(MISSION), outdoor=Spy(MISSION))
    sim = simulator(place)
    run_episode(sim, agent, asked(EXIT, NEAR), key="k", seed=3)
    secrets = [*NEAR.goal[:2], *(v for point in NEAR.route for v in point[:2]), *START[:2]]
    before = [thing for thing in reasoner.given if (thing.stage.index == 0)]
    assert len(before) > 20
    for thing in before:
        assert not holds(thing, secrets)
        for part in parts(thing):
            assert not type(part).__module__.startswith(_SECRET_ROOMS), part


def test_the_geometric_reasoner_judges_the_same_with_and_without_a_released_pose(place):
    """It works by odometry alone: a pose, right or wrong, changes no verdict."""

    def verdicts(pose_of) -> list[str]:
        reasoner = GeometricReasoner()
        sim = simulator(place)
        brief, observation = sim.reset(asked(EXIT), key="k", seed=3)
        reasoner.reset(brief, None)
        reasoner.enter(observation.stage)
        for action in MISSION[:21]:
            reasoner.notice(dataclasses.replace(observation, pose=pose_of(sim)))
            observation = sim.step(action)
        return [reasoner._evidence()]

    assert verdicts(lambda sim: None) == verdicts(lambda sim: sim.robot.pose) == verdicts(lambda sim: sim.robot.pose.compose(sim.robot.pose))


def test_what_a_model_is_asked_before_the_exit_does_not_depend_on_what_comes_after_it(place, tmp_path):
    def requests(outdoor: StageSpec) -> list[Any]:
        with serving(answers(Line(verdict(False)), Line(verdict(True)))) as server:
            profile = tmp_path / "p.yaml"
            profile.write_text(f"base_url: {server.base_url}\nmodel: m\n")
            agent = AgentPolicy(reasoner=VlmReasoner(profile=str(profile)), exit=Spy(MISSION), outdoor=Spy(MISSION))
            run_episode(simulator(place), agent, asked(EXIT, outdoor), key="k", seed=3)
            agent.close()
            return server.requests

    first, second = requests(NEAR), requests(FAR)
    assert len(first) >= 4
    assert first == second
    for body in first:
        text = body["messages"][1]["content"][0]["text"]
        assert not any(str(abs(v))[:5] in text for v in (*START[:2], *NEAR.goal[:2], *FAR.goal[:2]))


def test_an_agent_asked_with_other_labels_acts_the_same(place):
    def actions(outdoor: StageSpec) -> list[bytes]:
        agent = AgentPolicy(reasoner=Notary(NO, YES), exit=Spy(MISSION), outdoor=Spy([Waypoints(())]))
        sim, acts = simulator(place), []
        brief, observation = sim.reset(asked(EXIT, outdoor), key="k", seed=3)
        agent.reset(brief)
        while observation is not None and observation.stage.index == 0:
            acts.append(agent.act(observation))
            observation = sim.step(acts[-1])
        return [pickle.dumps(a) for a in acts]

    assert actions(NEAR) == actions(FAR)


def sent(place, wire: str, outdoor: StageSpec, monkeypatch) -> list[Any]:
    """All that a client puts on a wire until the exit is confirmed, but for the marks of one session: its name and the time of day."""
    raw: list[bytes | str] = []
    send, post = Socket.send, HttpChannel.post
    monkeypatch.setattr(Socket, "send", lambda self, data: (raw.append(data), send(self, data))[1])
    monkeypatch.setattr(HttpChannel, "post", lambda self, path, body: (raw.append(to_msgpack({"path": path, **body})), post(self, path, body))[1])
    server = serve(lambda: Spy(MISSION), wire=wire)
    far = create(f"remote?url={server.url},wire={wire}")
    before = 0

    class Counted:
        spec = far.spec
        reset, close = far.reset, far.close

        def act(self, observation: Observation) -> Action:
            nonlocal before
            before = before or (len(raw) if observation.stage.index else 0)
            return far.act(observation)

    run_episode(simulator(place), Counted(), asked(EXIT, outdoor), key="k", seed=3)
    far.close()
    server.close()
    assert before >= 23
    found = [msgpack.unpackb(data, object_hook=lambda m: {k: v for k, v in m.items() if k not in ("session", "timestamp")}) for data in raw]
    return [found[:before], found[before:]]


@pytest.mark.parametrize("wire", WIRES)
def test_what_travels_before_the_exit_does_not_depend_on_what_comes_after_it(place, monkeypatch, wire):
    """Not what a server makes of it: the messages themselves, with whatever a wire adds of its own."""
    (near, later), (far, otherwise) = (sent(place, wire, outdoor, monkeypatch) for outdoor in (NEAR, FAR))
    assert near == far
    assert later != otherwise
    text = repr(near)
    assert not any(str(abs(v))[:5] in text for v in (*NEAR.goal[:2], *FAR.goal[:2]))
    assert any(str(abs(v))[:5] in repr(later) for v in NEAR.goal[:2])


def test_what_was_handed_over_cannot_be_used_to_change_what_is_known(place):
    """A policy that writes into all it gets changes nothing that is judged by, nor what it is shown next."""

    class Vandal(Spy):
        def act(self, observation: Observation) -> Action:
            action = super().act(observation)
            for thing in parts(observation):
                if isinstance(thing, np.ndarray) and thing.flags.writeable:
                    thing[...] = 0
                elif isinstance(thing, dict):
                    thing.clear()
            return action

    runs = []
    for kind in (Spy, Vandal):
        episode = asked(EXIT, NEAR)
        runs.append(run_episode(simulator(place), kind(MISSION), episode, key="k", seed=3))
        assert episode == asked(EXIT, NEAR)
    plain, wild = runs
    assert plain.outcome == wild.outcome
    np.testing.assert_array_equal(plain.trajectory.position, wild.trajectory.position)
    np.testing.assert_array_equal(plain.trajectory.time_s, wild.trajectory.time_s)
