"""Models that answer with waypoints: OmniNav, SocialNav, LightNav, each against a small server of its shape."""

import json
from math import cos, pi, sin

import numpy as np
import pytest
from model_servers import BODY, FRONT, brief, http_server, observation, pixels, socket_server, stage

from portico.errors import UserError
from portico.geometry import Pose
from portico.interface import PolicyFailure, Stop, Velocity, Waypoints
from portico.policies import create

EXIT, OUTDOOR = stage("exit"), stage("outdoor", goal=(10.0, 0.0, 0.0))
PASSED, NOT_PASSED = [0.3] * 5, [0.3, 0.3, -0.1, 0.3, 0.3]
AHEAD = [[0.0, 1.0 + i] for i in range(5)]


class Omni:
    def __init__(self, **reply):
        self.reply = {"waypoints": AHEAD, "arrive_pred": NOT_PASSED, "recover_angles": [0.0] * 5} | reply
        self.acts, self.resets = [], []

    def __call__(self, path, body, form, files):
        if path == "/reset":
            self.resets.append(body)
            return {}
        if path == "/act":
            self.acts.append(body)
            return self.reply.get("status", self.reply)
        return {"status": "ok"}


def omni(model, asked=EXIT, name="omninav", poses=(Pose(0.0, 0.0),), **options):
    with http_server(model) as server:
        more = "".join(f",{k}={v}" for k, v in options.items())
        policy = create(f"{name}?url={server.url}{more}")
        cameras = policy.spec.cameras or FRONT
        policy.reset(brief(cameras, asked))
        actions = [policy.act(observation(cameras, asked, i, odometry=pose)) for i, pose in enumerate(poses)]
        policy.close()
        return actions


def only_pose(action):
    assert isinstance(action, Waypoints)
    (pose,) = action.poses
    return pose


def test_omninav_turns_by_its_heading_head_and_walks_the_first_waypoints_length():
    """The first waypoint lies to the right; the heading head says left. The head wins, the waypoint gives the distance alone."""
    (action,) = omni(Omni(waypoints=[[2.0, 0.0], *AHEAD[1:]], recover_angles=[pi / 6, 0, 0, 0, 0]))
    pose = only_pose(action)
    assert (pose.x, pose.y, pose.yaw_rad) == pytest.approx((0.6 * cos(pi / 6), 0.6 * sin(pi / 6), pi / 6))


def test_omninav_forward_is_forward_and_its_scale_is_an_option():
    assert only_pose(omni(Omni())[0]) == Pose(pytest.approx(0.3), 0.0, 0.0, 0.0)
    assert only_pose(omni(Omni(), scale_m="1.0")[0]).x == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arrive", "mode", "stops"),
    [
        (PASSED, "logits", True),
        (NOT_PASSED, "logits", False),
        ([0.0] * 5, "logits", True),
        ([0.4] * 5, "probabilities", False),
        ([0.6] * 5, "probabilities", True),
        ([True] * 5, "logits", True),
        ([True, True, False, True, True], "logits", False),
    ],
)
def test_omninav_stops_when_all_five_say_so(arrive, mode, stops):
    (action,) = omni(Omni(arrive_pred=arrive), arrive=mode)
    assert isinstance(action, Stop) == stops


def test_omninav_standing_still_is_no_stop():
    (action,) = omni(Omni(waypoints=[[0.0, 0.0]] * 5))
    assert action == Velocity(0.0, 0.0, 0.0, 0.1)


def test_omninav_gets_three_views_in_their_places_and_its_pose():
    model = Omni()
    omni(model, poses=(Pose(0.0, 0.0), Pose(1.0, 2.0, 0.0, pi / 2)))
    first, second = model.acts
    for view in ("left", "front", "right"):
        picture = pixels(first[f"{view}_image"])
        assert picture.shape == (640, 720, 3)
        assert (picture[0, 0].tolist(), picture[0, -1].tolist()) == ([255, 0, 0], [0, 0, 255])
    assert (first["step"], second["step"], first["session_id"]) == (0, 1, second["session_id"])
    assert second["pose"]["position"] == [1.0, 2.0, 0.0]
    assert second["pose"]["rotation"] == pytest.approx([cos(pi / 4), 0.0, 0.0, sin(pi / 4)])
    assert [r["instruction"] for r in model.resets] == ["carry out exit"]


def test_omninav_cameras_look_left_ahead_and_right():
    with http_server(Omni()) as server:
        spec = create(f"omninav_3view?url={server.url}").spec
    assert [(c.name, round(np.degrees(c.yaw_rad)), round(np.degrees(c.hfov_rad)), c.z) for c in spec.cameras] == [
        ("left", 90, 110, 0.88),
        ("front", 0, 110, 0.88),
        ("right", -90, 110, 0.88),
    ]


def test_omninav_fast_gets_its_track_and_target_to_the_right_and_ahead():
    """The goal is 10 m east; looking north from (1, 0) it lies 9 m to the right."""
    model = Omni()
    omni(model, OUTDOOR, "omninav_fast", poses=(Pose(0.0, 0.0), Pose(1.0, 0.0, 0.0, pi / 2)))
    given = 0.3 * np.array(model.acts[1]["input_waypoints"])
    assert given.shape == (6, 2)
    np.testing.assert_allclose(given, [[-1.0, 0.0]] * 4 + [[0.0, 0.0], [9.0, 0.0]], atol=1e-9)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"waypoints": [[0.0, 1.0]] * 4}, "invalid"),
        ({"waypoints": [[0.0, float("nan")]] * 5}, "invalid"),
        ({"recover_angles": None}, "invalid"),
        ({"arrive_pred": [1.0]}, "invalid"),
        ({"arrive_pred": [10**400] * 5}, "invalid"),
        ({"status": (500, b"CUDA")}, "server"),
        ({"status": (200, b"")}, "parse"),
    ],
)
def test_omninav_faults_are_no_decisions(reply, kind):
    with pytest.raises(PolicyFailure) as failure:
        omni(Omni(**reply))
    assert failure.value.kind == kind


class Social:
    def __init__(self, waypoints=((0.0, 1.0),) * 5, arrive=-1.0):
        self.reply, self.acts = {"waypoints": waypoints, "arrive": arrive}, []

    def __call__(self, path, body, form, files):
        if path == "/act":
            self.acts.append(body)
        return self.reply if path == "/act" else {}


def social(model, poses, **options):
    return omni(model, OUTDOOR, "social-nav", poses, **options)


def test_socialnav_right_is_right_and_the_scale_is_kept():
    (action,) = social(Social([[1.0, 1.0]] * 5), [Pose(0.0, 0.0)], step_scale_m="0.5")
    pose = only_pose(action)
    assert (pose.x, pose.y, pose.yaw_rad) == pytest.approx((0.5, -0.5, -pi / 4))


def test_socialnav_walks_as_many_waypoints_as_told():
    (action,) = social(Social([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]), [Pose(0.0, 0.0)], execute="3")
    assert [(p.x, p.y) for p in action.poses] == [(1.0, 0.0), (2.0, 0.0), (2.0, -1.0)]
    assert action.poses[2].yaw_rad == pytest.approx(-pi / 2)


def test_socialnav_is_given_its_history_and_target_in_the_current_frame():
    model = Social()
    social(model, [Pose(0.0, 0.0), Pose(1.0, 0.0, 0.0, 0.0), Pose(2.0, 0.0, 0.0, pi / 2)])
    given = np.array(model.acts[-1]["input_waypoints"])
    np.testing.assert_allclose(given, [[-2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [8.0, 0.0]], atol=1e-9)
    assert len(model.acts[-1]["images"]) == 5


@pytest.mark.parametrize(("arrive", "stops"), [(-0.01, False), (0.0, True), ([2.0], True), ([[2.0]], True)])
def test_socialnav_arrives_from_half_on(arrive, stops):
    (action,) = social(Social(arrive=arrive), [Pose(0.0, 0.0)])
    assert isinstance(action, Stop) == stops


@pytest.mark.parametrize("arrive", [None, float("nan"), [1.0, 2.0], [], {}, "yes", [[1.0], [1.0, 2.0]]])
def test_socialnav_without_a_readable_arrival_is_no_decision(arrive):
    with pytest.raises(PolicyFailure):
        social(Social(arrive=arrive), [Pose(0.0, 0.0)])


def test_second_episodes_hold_no_frame_of_the_first():
    model = Social()
    with http_server(model) as server:
        policy = create(f"socialnav?url={server.url}")
        for x in (5.0, 0.0):
            policy.reset(brief(policy.spec.cameras, OUTDOOR))
            policy.act(observation(FRONT, OUTDOOR, 0, odometry=Pose(x, 0.0)))
    np.testing.assert_allclose(model.acts[1]["input_waypoints"][:5], np.zeros((5, 2)), atol=1e-12)


class Light:
    """LightNav's server: one memory per login, frames counted."""

    def __init__(self, *replies):
        self.replies, self.frames, self.said = list(replies), 0, []

    def __call__(self, data):
        message = json.loads(data)
        self.said.append((message["action"], message["data"]))
        if message["action"] != "next":
            self.frames = 0
            return json.dumps({"action": message["action"], "data": {"rc": 200}})
        self.frames += 1
        if message["data"]["instruction"] == "":
            return json.dumps({"action": "next", "data": {"rc": 200, "seq": message["data"]["seq"]}})
        reply = self.replies.pop(0)
        if isinstance(reply, str):
            return reply
        return json.dumps({"action": "next", "data": {"rc": 200, "seq": message["data"]["seq"]} | reply})


def chunk(*rows, **more):
    return {"actions": {"step": 0, "actions": [list(r) for r in rows] + [[0.0, 0.0, 0.0]] * (10 - len(rows))}} | more


def light(model, steps=1, **options):
    with socket_server(model) as url:
        more = "".join(f",{k}={v}" for k, v in options.items())
        policy = create(f"lightnav0?url={url}{more}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, EXIT))
        actions = [policy.act(observation(cameras, EXIT, i)) for i in range(steps)]
        policy.close()
        return actions


def test_lightnav_walks_the_first_row_and_no_other():
    (action,) = light(Light(chunk((0.375, 0.0, 0.0), (0.75, 0.0, 0.0))))
    assert only_pose(action) == Pose(0.375, 0.0, 0.0, 0.0)
    (action,) = light(Light(chunk((0.3, 0.2, pi / 20))))
    assert only_pose(action) == Pose(0.3, 0.2, 0.0, pi / 20)


def test_lightnav_turns_left_by_a_positive_yaw_and_makes_small_moves():
    (action,) = light(Light(chunk((0.0, 0.0, pi / 20))))
    assert isinstance(action, Velocity)
    assert action.wz_radps * action.duration_s == pytest.approx(pi / 20)
    (action,) = light(Light(chunk((0.02, 0.0, 0.0))))
    assert action.vx_mps * action.duration_s == pytest.approx(0.02)
    assert action.vx_mps <= BODY.max_speed_mps


@pytest.mark.parametrize(
    ("reply", "stops"),
    [(chunk(stop=True, stop_reason="rvq_stop_code"), True), (chunk(), False), (chunk(stop=False), False), (chunk((0.3, 0.0, 0.0), stop=True), False)],
)
def test_lightnav_stops_by_flag_and_zeros_together(reply, stops):
    (action,) = light(Light(reply))
    assert isinstance(action, Stop) == stops


def test_lightnav_tells_the_instruction_once_and_numbers_what_it_asks():
    model = Light(chunk((0.3, 0, 0)), chunk((0.3, 0, 0)), chunk((0.3, 0, 0)))
    light(model, 3)
    assert [a for a, _ in model.said] == ["login", "reset", "next", "next", "next"]
    assert [(d["seq"], d["instruction"]) for a, d in model.said if a == "next"] == [(1, "carry out exit"), (2, None), (3, None)]
    picture = pixels(model.said[2][1]["image"])
    assert picture.shape == (270, 480, 3)
    assert picture[100, 10, 0] > 200 > picture[100, 10, 2]


def test_lightnav_takes_frames_that_need_no_decision():
    model = Light(chunk((0.3, 0, 0)), chunk((0.3, 0, 0)))
    with socket_server(model) as url:
        policy = create(f"lightnav?url={url}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, EXIT))
        policy.act(observation(cameras, EXIT, 0))
        policy.observe(observation(cameras, EXIT, 1))
        policy.act(observation(cameras, EXIT, 2))
        policy.close()
    assert (model.frames, [d["instruction"] for a, d in model.said if a == "next"]) == (3, ["carry out exit", "", None])


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"rc": 500, "error": "out of memory"}, "server"),
        ({"rc": 400, "error": "no image"}, "refused"),
        ({"seq": 99} | chunk((0.3, 0, 0)), "parse"),
        ({"actions": {"actions": [[0.1, 0.2]]}}, "invalid"),
        ({"actions": {"actions": []}}, "invalid"),
        ({"actions": None}, "invalid"),
        (chunk((float("nan"), 0, 0)), "invalid"),
        ("{half", "parse"),
        ("[]", "parse"),
    ],
)
def test_lightnav_faults_are_no_decisions(reply, kind):
    with pytest.raises(PolicyFailure) as failure:
        light(Light(reply))
    assert failure.value.kind == kind


def test_lightnav_refusal_leaves_the_connection_usable():
    model = Light({"rc": 500}, chunk((0.3, 0, 0)))
    with socket_server(model) as url:
        policy = create(f"lightnav?url={url}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, EXIT))
        with pytest.raises(PolicyFailure):
            policy.act(observation(cameras, EXIT, 0))
        policy.reset(brief(cameras, EXIT, key="two"))
        assert only_pose(policy.act(observation(cameras, EXIT, 0))).x == 0.3
        policy.close()
    assert [a for a, _ in model.said].count("login") == 1


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("omninav", "deadline_s=inf"),
        ("omninav", "deadline_s=1e20"),
        ("omninav", "arrive=perhaps"),
        ("socialnav", "execute=0.5"),
        ("socialnav", "execute=9"),
        ("lightnav", "image=gif"),
        ("navdp", "stop_threshold=low"),
        ("navdp", "period_s=0"),
        ("gnm", "arrived=maybe"),
        ("uninavid", "shape=round"),
    ],
)
def test_options_that_cannot_be_read_are_named_before_anybody_is_asked(name, option):
    with pytest.raises(UserError, match=f"the option {option.split('=')[0]} ") as error:
        create(f"{name}?url=ws://127.0.0.1:9,{option}")
    assert error.value.where == option


@pytest.mark.parametrize("silent", ["omninav", "socialnav", "uninavid", "poliformer", "navdp", "gnm", "vint", "nomad"])
def test_a_policy_without_an_address_says_what_it_needs(silent):
    with pytest.raises(UserError, match="needs the address of its server") as error:
        create(silent)
    assert f"{silent}?url=" in error.value.next_step
