"""The contract as plain data and back: nothing is lost, and what does not fit is named by its place."""

import contextlib
from math import inf, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_servers import BODY, brief, observation, stage

from portico.declarations import DepthRange, Emits, History, MadeFor, StopRule, Timing
from portico.geometry import Pose
from portico.interface import Action, Brief, Camera, Frame, Move, Observation, PolicySpec, Stop, Velocity, Waypoints
from portico.policies.wires.arrays import array_of, from_json, from_msgpack, to_json, to_msgpack
from portico.policies.wires.messages import action_data, action_of, agreed_version, failure_of, observation_of, spec_of
from portico.policies.wires.structure import Mismatch, plain, structured

WRITINGS = [(to_msgpack, from_msgpack), (to_json, from_json)]
finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-6, max_value=1e6)
poses = st.builds(Pose, finite, finite, finite, finite)
actions = st.one_of(
    st.just(Stop()),
    st.builds(Move, st.sampled_from(["forward", "backward"]), st.none() | positive),
    st.builds(Move, st.sampled_from(["turn_left", "turn_right"]), st.none() | st.floats(min_value=1e-6, max_value=pi)),
    st.builds(Velocity, finite, finite, finite, positive),
    st.builds(Waypoints, st.lists(poses, min_size=1, max_size=5).map(tuple), st.sampled_from(["base", "odometry", "world"]), st.none() | positive),
)
specs = st.builds(
    PolicySpec,
    st.text(min_size=1),
    needs=st.frozensets(st.sampled_from(["rgb", "depth", "odometry", "pose", "route"])),
    image_size=st.none() | st.tuples(st.integers(1, 999), st.integers(1, 999)),
    cameras=st.lists(st.builds(Camera, st.text(), st.integers(1, 99), st.integers(1, 99), finite), max_size=3).map(tuple),
    depth=st.builds(DepthRange, positive, positive, st.just(inf) | positive, st.sampled_from(["kept", "zero", "clipped"])),
    actions=st.lists(st.builds(Emits, st.sampled_from(["move", "stop"]), st.none() | positive, st.none() | positive), max_size=3).map(tuple),
    stop=st.builds(StopRule, st.booleans(), st.text()),
    history=st.builds(History, st.sampled_from(["policy", "client"]), st.booleans(), st.none() | st.integers(0, 99)),
    timing=st.builds(Timing, st.none() | positive, st.none() | positive),
    made_for=st.builds(MadeFor, st.none() | positive, st.none() | positive, st.none() | st.booleans()),
)


@pytest.mark.parametrize(("write", "read"), WRITINGS)
@given(action=actions)
def test_actions_come_back_as_they_were(write, read, action):
    assert action_of(read(write(action_data(action)))) == action


@pytest.mark.parametrize(("write", "read"), WRITINGS)
@given(spec=specs)
def test_specs_come_back_as_they_were(write, read, spec):
    assert spec_of(read(write({"spec": plain(spec)}))) == spec


@pytest.mark.parametrize(("write", "read"), WRITINGS)
def test_briefs_and_observations_come_back_to_the_last_bit(write, read):
    cameras = (Camera("left", 8, 6), Camera("front", 4, 3))
    route = np.random.default_rng(1).normal(size=(5, 3))
    picture = np.random.default_rng(2).integers(0, 255, (6, 8, 3), np.uint8)
    asked = stage("outdoor", goal=(0.1, 0.2, 0.3), route=route, goal_image=picture)
    said = brief(cameras, asked)
    said = Brief(**{**vars(said), "categories": {1: "wall", 20: "chair"}})
    found = structured(Brief, read(write(plain(said))))
    assert plain(found).keys() == plain(said).keys()
    assert (found.categories, found.cameras, found.body, found.stages) == (said.categories, said.cameras, BODY, ("outdoor",))
    np.testing.assert_array_equal(found.stage.route, route)
    np.testing.assert_array_equal(found.stage.goal_image, picture)
    seen = observation(cameras, asked, 3, odometry=Pose(1 / 3, -2.0, 0.0, pi / 7), depth_m=np.inf)
    again = observation_of(read(write(plain(seen))))
    assert (again.odometry, again.pose, again.step, again.number, again.time_s) == (seen.odometry, seen.pose, 3, 3, 1.5)
    for name, frame in seen.frames.items():
        assert again.frames[name].camera == frame.camera
        np.testing.assert_array_equal(again.frames[name].rgb, frame.rgb)
        np.testing.assert_array_equal(again.frames[name].depth, frame.depth)
        assert again.frames[name].depth.dtype == np.float32


@pytest.mark.parametrize(
    ("change", "where", "expected"),
    [
        ({"step": "one"}, "observation.step", "a whole number"),
        ({"step": True}, "observation.step", "a whole number"),
        ({"time_s": None}, "observation.time_s", "a number"),
        ({"frames": []}, "observation.frames", "a map"),
        ({"stage": {"kind": "swim"}}, "observation.stage.kind", "one of"),
        ({"odometry": [1.0, 2.0]}, "observation.odometry", "a map of Pose"),
        ({"tilt_rad": [0.0]}, "observation.tilt_rad", "2 values"),
    ],
)
def test_what_does_not_fit_is_named(change, where, expected):
    data = plain(observation((), stage("exit"))) | change
    with pytest.raises(Mismatch) as mismatch:
        observation_of(data)
    assert mismatch.value.where == where
    assert expected in mismatch.value.expected


def test_what_is_missing_is_named_and_what_has_a_default_is_not_missed():
    data = plain(observation((), stage("exit")))
    del data["collided"], data["number"]
    assert observation_of(data).collided is False
    del data["step"]
    with pytest.raises(Mismatch, match=r"observation\.step: expected a value of Observation, received nothing"):
        observation_of(data)


def test_what_the_other_side_added_is_passed_over():
    assert observation_of(plain(observation((), stage("exit"))) | {"smell": "coffee"}).step == 0


def test_images_of_another_size_or_type_are_refused():
    camera = Camera("front", 8, 6)
    small = Observation(0, 0.0, {"front": Frame(camera, depth=np.zeros((5, 8), np.float32))}, stage("exit"))
    with pytest.raises(Mismatch, match=r"frames\.front\.depth"):
        observation_of(plain(small))
    double = Observation(0, 0.0, {"front": Frame(camera, depth=np.zeros((6, 8)))}, stage("exit"))
    with pytest.raises(Mismatch, match="an array of float32"):
        observation_of(plain(double))


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "move", "name": "sideways"},
        {"kind": "move", "name": "forward", "amount": -1.0},
        {"kind": "move", "name": "turn_left", "amount": 4.0},
        {"kind": "move", "name": "forward", "amount": 10**400},
        {"kind": "waypoints", "poses": []},
        {"kind": "waypoints", "poses": [{"x": "nan", "y": 0.0}]},
        {"kind": "waypoints", "poses": [{"x": float("inf"), "y": 0.0}]},
        {"kind": "waypoints", "poses": [{"x": 0.0, "y": 0.0}], "frame": "moon"},
        {"kind": "waypoints", "poses": [{"x": 0.0, "y": 0.0}] * 2000},
        {"kind": "velocity", "vx_mps": 1.0, "vy_mps": 0.0, "wz_radps": 0.0, "duration_s": 0.0},
        {"kind": "waypoints", "poses": [{"x": np.zeros(2), "y": 0.0}]},
        {"kind": "waypoints", "poses": [{"x": np.zeros(1), "y": 0.0}]},
        {"kind": "waypoints", "poses": np.zeros((2, 3))},
        {"kind": "waypoints", "poses": [{"x": 0.0, "y": 0.0}], "frame": np.zeros(2)},
        {"kind": "move", "name": ["forward"]},
        {"kind": "move", "name": np.zeros(3)},
        {"kind": ["move"], "name": "forward"},
        {"kind": np.zeros(2)},
        {"kind": "teleport"},
        {},
        None,
        "stop",
    ],
)
def test_what_cannot_be_carried_out_is_no_action(data):
    with pytest.raises(Mismatch):
        action_of(data)


def test_arrays_of_objects_are_neither_written_nor_read():
    with pytest.raises(TypeError, match="cannot travel"):
        to_msgpack({"a": np.array([object()])})
    with pytest.raises(Mismatch, match="dtype"):
        from_json('{"dtype": "O", "shape": [1], "base64": "AAAA"}')
    with pytest.raises(Mismatch, match="8 bytes for shape"):
        from_json('{"dtype": "<f4", "shape": [2], "base64": "AAAA"}')


@given(st.binary(max_size=100))
def test_no_bytes_do_more_than_be_refused(data):
    for read in (from_msgpack, from_json):
        with contextlib.suppress(Mismatch):
            read(data)


@pytest.mark.parametrize("dtype", ["(", "(2,", "f4,(", "007", "<f4)", "O", "V8", [["a", "f4"]], None, 5, {"names": ["a"]}])
def test_a_type_that_is_none_is_refused_whatever_numpy_makes_of_it(dtype):
    with pytest.raises(Mismatch):
        array_of(bytes(4), dtype, [3])


@pytest.mark.parametrize("shape", [[True], [-1], [1.0], "1", None, [2**40], [[1]], [1] * 9])
def test_a_shape_that_is_none_is_refused(shape):
    with pytest.raises(Mismatch):
        array_of(bytes(4), "<f4", shape)


@pytest.mark.parametrize("odd", [np.zeros(2), np.zeros(1), [1], {}, None, True, b"x"])
@pytest.mark.parametrize("name", ["kind", "error", "where", "why", "next_step"])
def test_an_error_of_odd_parts_is_an_error_all_the_same(name, odd):
    failure = failure_of({"type": "error", "kind": "server", "error": "out of memory", name: odd}, "there")
    assert (failure.kind, failure.where) == ("server", "there")
    assert failure.next_step


@pytest.mark.parametrize("odd", [np.zeros(2), [np.zeros(2)], {}, None, 1.5])
@pytest.mark.parametrize("name", ["protocol", "versions"])
def test_a_greeting_of_odd_parts_is_no_agreement(name, odd):
    with pytest.raises(Mismatch, match=name):
        agreed_version({"protocol": "portico.policy", "versions": [1], name: odd}, "here")


def test_every_action_kind_has_a_name():
    assert {action_data(a)["kind"] for a in (Stop(), Move("forward"), Waypoints((Pose(0, 0),)), Velocity(0, 0, 0, 1))} == {
        "stop",
        "move",
        "waypoints",
        "velocity",
    }
    assert set(Action.__args__) == {Stop, Move, Waypoints, Velocity}
