"""The public checker on the completed contract, and on policies behind every wire."""

import json
from dataclasses import replace
from math import inf, nan, pi

import pytest
from model_servers import http_server, socket_server

from portico.declarations import DepthRange, Emits, StopRule, Timing
from portico.errors import UserError
from portico.geometry import Pose
from portico.interface import Camera, Move, PolicySpec, Stop, Velocity, Waypoints
from portico.policies import create
from portico.policies.conformance import spec_findings
from portico.policies.published_names import PUBLISHED
from portico.policies.serving import WIRES, serve
from portico.testing import NotConformant, check_policy

GOOD = PolicySpec("good", needs=frozenset({"rgb"}), stages=frozenset({"exit"}))


class Declaring:
    def __init__(self, spec=GOOD, action=None):
        self.spec, self._action = spec, action or Stop()

    def reset(self, brief):
        self.cameras = [c.name for c in brief.cameras]

    def act(self, observation):
        for name in self.cameras:
            if observation.frames[name].rgb is None:
                raise UserError("no rgb")
        return self._action

    def close(self):
        pass


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"goals": frozenset({"smell"})}, "unknown names: smell"),
        ({"goals": frozenset()}, "cannot be told anything"),
        ({"privileges": frozenset({"luck"})}, "unknown names: luck"),
        ({"cameras": (Camera("a"), Camera("a"))}, "the same name"),
        ({"cameras": (Camera("a", 0, 480),)}, "without a size"),
        ({"cameras": (Camera("a", hfov_rad=pi),)}, "without a size or field of view"),
        ({"cameras": (Camera("a"),), "image_size": (64, 48)}, "both cameras and an image_size"),
        ({"depth": DepthRange(min_m=5.0, max_m=1.0)}, "no range"),
        ({"actions": (Emits("teleport"),)}, "unknown kind"),
        ({"actions": (Emits("move", -1.0), Emits("stop"))}, "not above zero"),
        ({"actions": (Emits("waypoints", horizon=2, executed=3), Emits("stop"))}, "carries out 3 of 2"),
        ({"actions": (Emits("move"),)}, "holds no stop"),
        ({"timing": Timing(decides_hz=0.0)}, "spec.timing"),
    ],
)
def test_breaches_of_the_spec_are_named(change, words):
    assert any(words in finding for finding in spec_findings(Declaring(replace(GOOD, **change))))


def test_a_full_spec_is_well_formed():
    full = replace(GOOD, cameras=(Camera("left"), Camera("front")), actions=(Emits("move", 0.2, 0.5), Emits("stop")), stop=StopRule(True, "the word end"))
    assert spec_findings(Declaring(full)) == []
    check_policy(lambda: Declaring(full))


@pytest.mark.parametrize(
    "action",
    [
        Move("forward", 0.0),
        Move("forward", inf),
        Move("turn_left", 3.5),
        Move("forward", 10**400),
        Waypoints(()),
        Waypoints((Pose(nan, 0.0),)),
        Waypoints((Pose(0.0, 0.0),), duration_s=0.0),
        Waypoints((Pose(0.0, 0.0),) * 2000),
        Velocity(0.0, 0.0, 0.0, -1.0),
    ],
)
def test_actions_that_cannot_be_carried_out_are_caught(action):
    with pytest.raises(NotConformant, match="cannot be carried out"):
        check_policy(lambda: Declaring(action=action))


def test_a_policy_that_samples_is_not_asked_to_repeat_itself():
    class Dice(Declaring):
        count = 0

        def act(self, observation):
            super().act(observation)
            Dice.count += 1
            return Move("forward") if Dice.count % 5 else Move("turn_left")

    with pytest.raises(NotConformant, match="acts differently"):
        check_policy(Dice)
    check_policy(lambda: Dice(replace(GOOD, seedable=False)))


def test_a_memory_that_can_be_fed_is_fed():
    class Proud(Declaring):
        def observe(self, observation):
            raise RuntimeError("not now")

    with pytest.raises(NotConformant, match=r"observe\(\) raised RuntimeError"):
        check_policy(Proud)


@pytest.mark.parametrize("wire", WIRES)
def test_a_policy_behind_a_wire_conforms(wire):
    server = serve(Declaring, wire=wire)
    check_policy(lambda: create(f"remote?url={server.url},wire={wire}"), steps=4)
    server.close()


def _model(path, body, form, files):
    """An answer that any of the published models could give: half a metre ahead."""
    ahead = [[0.0, 0.5 * (i + 1)] for i in range(5)]
    words = {"action": "forward"} if "image_shape" in (body or {}) else {"action": "m"}
    trajectory = {"trajectory": [[[0.5, 0.0, 0.0], [1.0, 0.0, 0.0]]], "all_values": [[0.0]]}
    return {"waypoints": ahead, "arrive_pred": [-1.0] * 5, "recover_angles": [0.1] * 5, "arrive": -1.0, **words, **trajectory}


def _light(data):
    message = json.loads(data)
    chunk = {"actions": {"actions": [[0.3, 0.0, 0.0]] * 10}} if message["action"] == "next" else {}
    return json.dumps({"action": message["action"], "data": {"rc": 200, **({"seq": message["data"]["seq"]} if chunk else {}), **chunk}})


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_client_conforms(name):
    """Where a pose is withheld a client that needs one says so; all else holds as for any policy."""
    with http_server(_model) as server, socket_server(_light) as url:
        address = url if name == "lightnav" else server.url
        policy = create(f"{name}?url={address}")
        assert spec_findings(policy) == []
        assert policy.spec.name == name
        assert policy.spec.license
        if "pose" not in policy.spec.needs:
            check_policy(lambda: _in_one_stage(f"{name}?url={address}"), steps=1)
        policy.close()


def _in_one_stage(name):
    policy = create(name)
    policy.spec = replace(policy.spec, stages=frozenset(sorted(policy.spec.stages)[:1]))
    return policy
