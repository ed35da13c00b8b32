"""NavDP and the image-goal models behind its servers: what the wire does to colours, depth and goals, and how trajectories are followed."""

import json
from math import pi

import numpy as np
import pytest
from model_servers import brief, http_server, observation, pixels, red_left_blue_right, stage

from portico.geometry import Pose
from portico.interface import Camera, Move, PolicyFailure, Stop, Velocity, Waypoints
from portico.policies import create

CAMERAS = (Camera("front", 640, 360, pi / 2, z=0.3),)
POINT = stage("point", goal=(3.0, 1.0, 0.0))
IMAGE = stage("image", goal_image=red_left_blue_right(360, 640))
AHEAD = [[0.1 * (i + 1), 0.0, 0.0] for i in range(24)]


class Server:
    """The reference server's habit: read with PIL, then exchange red and blue."""

    def __init__(self, trajectory=None, **reply):
        self.reply = {"trajectory": [AHEAD if trajectory is None else trajectory], "all_values": [[0.0]]} | reply
        self.paths, self.seen, self.resets = [], [], []

    def __call__(self, path, body, form, files):
        self.paths.append(path)
        if path == "/navigator_reset":
            self.resets.append(body)
            return {"algo": "navdp"}
        if path == "/navigator_reset_env" or path == "/":
            return {}
        rgb = pixels(files["image"])[:, :, ::-1]
        self.seen.append({"rgb": rgb, "form": form, "files": files})
        return self.reply.get("status", self.reply)


def run(server_model, asked=POINT, name="navdp", poses=(Pose(0.0, 0.0),), depth_m=2.0, **options):
    with http_server(server_model) as server:
        more = "".join(f",{k}={v}" for k, v in options.items())
        policy = create(f"{name}?url={server.url}{more}")
        policy.reset(brief(CAMERAS, asked))
        actions = [policy.act(observation(CAMERAS, asked, i, odometry=pose, depth_m=depth_m)) for i, pose in enumerate(poses)]
        policy.close()
        return actions


def test_red_reaches_the_model_as_red_through_the_servers_exchange():
    model = Server()
    run(model)
    rgb = model.seen[0]["rgb"]
    assert rgb.shape == (360, 640, 3)
    assert rgb[180, 100, 0] > 200 > 60 > rgb[180, 100, 2]
    assert rgb[180, 500, 2] > 200 > 60 > rgb[180, 500, 0]


@pytest.mark.parametrize(("depth_m", "sent"), [(1.0, 10_000), (6.5535, 65_535), (7.0, 0), (np.inf, 0), (0.05, 500)])
def test_depth_is_ten_thousandths_of_a_metre_and_far_is_unknown(depth_m, sent):
    model = Server()
    run(model, depth_m=depth_m)
    depth = pixels(model.seen[0]["files"]["depth"])
    assert (depth.shape, int(depth.min()), int(depth.max())) == ((360, 640), sent, sent)


@pytest.mark.parametrize(
    ("goal", "pose", "sent"),
    [
        ((3.0, 1.0), Pose(0.0, 0.0), (3.0, 1.0)),
        ((3.0, 1.0), Pose(0.0, 0.0, 0.0, pi / 2), (1.0, -3.0)),
        ((30.0, -40.0), Pose(0.0, 0.0), (10.0, -10.0)),
        ((-3.0, 1.0), Pose(0.0, 0.0), (0.0, 1.0)),
    ],
)
def test_goals_are_local_and_clipped_and_one_behind_loses_its_distance(goal, pose, sent):
    model = Server()
    run(model, stage("point", goal=(*goal, 0.0)), poses=(pose,))
    said = json.loads(model.seen[0]["form"]["goal_data"])
    assert (said["goal_x"][0], said["goal_y"][0]) == pytest.approx(sent)


def test_a_route_is_asked_for_eight_metres_ahead():
    model = Server()
    route = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [5.0, 20.0, 0.0]])
    run(model, stage("outdoor", goal=(5.0, 20.0, 0.0), route=route), poses=(Pose(1.0, 0.5),))
    said = json.loads(model.seen[0]["form"]["goal_data"])
    assert (said["goal_x"][0], said["goal_y"][0]) == pytest.approx((4.0, 3.5))


def test_a_trajectory_is_followed_for_the_period_from_where_it_was_asked():
    (action,) = run(Server([[0.5, 0.0, 0.0], [1.0, 0.5, 0.0]]), period_s="0.4")
    assert isinstance(action, Waypoints)
    assert (action.frame, action.duration_s) == ("base", 0.4)
    assert [(p.x, p.y) for p in action.poses] == [(0.5, 0.0), (1.0, 0.5)]
    assert action.poses[1].yaw_rad == pytest.approx(pi / 4)


@pytest.mark.parametrize(("side", "name"), [(1.0, "turn_left"), (-1.0, "turn_right")])
def test_a_trajectory_without_any_way_ahead_is_a_turn(side, name):
    (action,) = run(Server([[0.0, side, 0.0]] * 24))
    assert action == Move(name, pi / 6)


def test_navdp_never_stops_by_itself():
    (action,) = run(Server([[0.0, 0.0, 0.0]] * 24))
    assert action == Velocity(0.0, 0.0, 0.0, 0.5)


def test_every_episode_resets_the_environment_and_the_camera_is_told_once():
    model = Server()
    with http_server(model) as server:
        policy = create(f"navdp?url={server.url}")
        for key in ("one", "two"):
            policy.reset(brief(CAMERAS, POINT, key=key))
            policy.act(observation(CAMERAS, POINT, 0))
    assert model.paths == ["/navigator_reset", "/navigator_reset_env", "/pointgoal_step", "/navigator_reset_env", "/pointgoal_step"]
    assert model.resets[0]["batch_size"] == 1
    assert model.resets[0]["intrinsic"] == [[320.0, 0.0, 320.0], [0.0, 320.0, 180.0], [0.0, 0.0, 1.0]] or np.allclose(
        model.resets[0]["intrinsic"], CAMERAS[0].intrinsics()
    )


@pytest.mark.parametrize("name", ["GNM", "vint", "NoMaD"])
def test_image_goals_go_with_their_picture_and_zeros_are_arrival_where_declared(name):
    model = Server([[0.0, 0.0, 0.0]] * 8)
    (action,) = run(model, IMAGE, name)
    assert action == Stop()
    assert model.paths[-1] == "/imagegoal_step"
    goal = pixels(model.seen[0]["files"]["goal"])[:, :, ::-1]
    assert goal[180, 100, 0] > 200 > goal[180, 100, 2]
    assert "depth" not in model.seen[0]["files"]
    (action,) = run(Server([[0.0, 0.0, 0.0]] * 8), IMAGE, name, arrived="nothing")
    assert isinstance(action, Velocity)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"trajectory": [[[0.1]]]}, "invalid"),
        ({"trajectory": []}, "invalid"),
        ({"trajectory": [[[float("nan"), 0.0, 0.0]]]}, "invalid"),
        ({"trajectory": [AHEAD, AHEAD]}, "invalid"),
        ({"status": (500, b"CUDA")}, "server"),
        ({"status": (200, b"\x00")}, "parse"),
    ],
)
def test_faults_are_no_decisions(reply, kind):
    with pytest.raises(PolicyFailure) as failure:
        run(Server(**reply))
    assert failure.value.kind == kind


def test_a_server_started_again_is_told_the_camera_again():
    model = Server(status=(500, b"CUDA"))
    with http_server(model) as server:
        policy = create(f"navdp?url={server.url}")
        policy.reset(brief(CAMERAS, POINT))
        with pytest.raises(PolicyFailure):
            policy.act(observation(CAMERAS, POINT, 0))
        policy.reset(brief(CAMERAS, POINT, key="two"))
    assert model.paths.count("/navigator_reset") == 2
