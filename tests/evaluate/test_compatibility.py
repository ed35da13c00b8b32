"""Whether a policy fits is told before the first episode: codes that refuse, codes that are recorded with the run."""

import json
from math import pi

import pytest
import yaml
from hut import build

from portico.declarations import DepthRange, Emits, MadeFor, StopRule
from portico.errors import PolicyRefused
from portico.evaluate.compatibility import check, findings
from portico.evaluate.executors import InProcess
from portico.evaluate.prepare import prepare
from portico.evaluate.run import RunRequest, execute
from portico.interface import Camera, Move, PolicyFailure, PolicySpec
from portico.suites import load_suite


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    build(folder / "hut")
    (folder / "hut.yaml").write_text(yaml.safe_dump({"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 1}, "budget": {"max_actions": 40}}))
    suite = load_suite(folder / "hut.yaml")
    return suite, prepare(suite, folder / "cache", relative_to=folder, announce=lambda _: None)


@pytest.fixture(scope="module")
def suite(prepared):
    return prepared[0]


class Declared:
    """Whatever its spec says, it walks ahead."""

    def __init__(self, **spec):
        self.spec = PolicySpec("declared", **spec)
        self.seen = []

    def reset(self, brief):
        self.cameras = brief.cameras

    def act(self, observation):
        self.seen.append(observation)
        return Move("forward", 0.1)

    def close(self):
        pass


def codes(suite, kinds=("exit",), **spec):
    return [f.code for f in findings(Declared(**spec), suite, kinds)]


def test_the_shortest_spec_fits_without_a_word(suite):
    assert codes(suite) == []


@pytest.mark.parametrize(
    ("code", "spec", "kinds"),
    [
        ("privileged", {"needs": frozenset({"oracle"})}, ("exit",)),
        ("privileged", {"privileges": frozenset({"goal_distance"})}, ("exit",)),
        ("stages", {"stages": frozenset({"point"})}, ("exit", "point")),
        ("goals", {"goals": frozenset({"image"})}, ("exit",)),
        ("actions", {"actions": (Emits("stop"),), "stages": frozenset({"exit"})}, ("exit",)),
    ],
)
def test_what_cannot_work_is_refused_with_a_code_and_a_remedy(suite, code, spec, kinds):
    if code == "actions":
        suite = _accepting(suite, "move")
    with pytest.raises(PolicyRefused) as refusal:
        check(Declared(**spec), suite, kinds)
    assert f"[{code}]" in refusal.value.where
    assert refusal.value.why
    assert refusal.value.next_step


def _accepting(suite, kind):
    """A suite that takes one kind of action only."""

    class Narrow:
        def __getattr__(self, name):
            return getattr(suite.actions, name)

        def space(self):
            return type(suite.actions.space())(accepts=frozenset({kind}))

    class Suite:
        actions = Narrow()

        def __getattr__(self, name):
            return getattr(suite, name)

    return Suite()


def test_every_refusal_is_named_at_once(suite):
    with pytest.raises(PolicyRefused) as refusal:
        check(Declared(needs=frozenset({"map"}), stages=frozenset({"point"})), suite, ("exit",))
    assert "[privileged]" in refusal.value.where
    assert "also [stages]" in refusal.value.why


def test_shortcuts_may_be_allowed_like_needs(suite):
    policy = Declared(privileges=frozenset({"navmesh"}))
    assert check(policy, suite, ("exit",), allow_privileged=True) == []
    assert policy.spec.beyond("rgbd") == frozenset({"navmesh"})


@pytest.mark.parametrize(
    ("code", "spec"),
    [
        ("cameras", {"cameras": (Camera("left"), Camera("front"))}),
        ("steps", {"actions": (Emits("move", 0.25, pi / 6),)}),
        ("never-declares", {"stop": StopRule(False)}),
        ("body", {"made_for": MadeFor(radius_m=0.18)}),
        ("slides", {"made_for": MadeFor(slides=True)}),
        ("samples", {"seedable": False}),
    ],
)
def test_what_is_worth_knowing_is_recorded_and_refuses_nothing(suite, code, spec):
    (note,) = check(Declared(**spec), suite, ("exit",))
    assert (note.code, note.refuses) == (code, False)
    assert note.sentence
    assert note.remedy


def test_a_server_that_is_away_refuses_with_its_own_words(suite):
    class Away(Declared):
        def ready(self):
            raise PolicyFailure("transport", "no policy server answers", where="ws://nowhere", next_step="start it")

    with pytest.raises(PolicyRefused, match="no policy server answers") as refusal:
        check(Away(), suite, ("exit",))
    assert "[server]" in refusal.value.where
    assert "ws://nowhere" in refusal.value.why
    assert refusal.value.next_step == "start it"


def test_a_run_mounts_the_policys_cameras_counts_its_observations_and_records_the_notes(prepared, tmp_path, monkeypatch):
    suite, worlds = prepared
    views = (Camera("left", 24, 16, yaw_rad=pi / 2, z=0.5), Camera("right", 32, 24, yaw_rad=-pi / 2, z=0.5))
    policy = Declared(needs=frozenset({"rgb"}), cameras=views, depth=DepthRange(), actions=(Emits("move", 0.1),))
    monkeypatch.setattr("portico.policies.registry.create", lambda name: policy)
    monkeypatch.setattr("portico.evaluate.worker.create", lambda name: policy)
    execute(RunRequest(suite, "declared", tmp_path, worlds), executor=InProcess())
    assert policy.cameras == views
    assert [(o.number, o.step) for o in policy.seen] == [(i, i) for i in range(len(policy.seen))]
    first = policy.seen[0]
    assert [first.frames[name].rgb.shape for name in ("left", "right")] == [(16, 24, 3), (24, 32, 3)]
    moved = [o.odometry.x for o in policy.seen[:4]]
    assert moved == pytest.approx([0.0, 0.1, 0.2, 0.3])
    header = json.loads((tmp_path / "run.json").read_text())
    assert header["declared"]["actions"] == [{"kind": "move", "step_m": 0.1, "turn_rad": None, "horizon": 1, "executed": 1, "native": ""}]
    assert (header["declared"]["depth"]["max_m"], header["declared"]["pose_frame"], header["declared"]["stop"]["declares"]) == ("inf", "none", True)
    assert (header["timing"], [n["code"] for n in header["compatibility"]]) == ("paused", ["cameras", "steps"])
