"""What all adapters share: frames converted once, chunks queued on this side, faults that stay faults, and a run from end to end."""

import json
import threading
from math import pi

import numpy as np
import pytest
import yaml
from hut import build
from hypothesis import given
from hypothesis import strategies as st
from model_servers import BODY, FRONT, brief, http_server, observation, pixels, socket_server, stage

from portico.declarations import History
from portico.errors import PolicyRefused
from portico.evaluate.prepare import prepare
from portico.evaluate.records import read_records
from portico.evaluate.run import RunRequest, execute
from portico.geometry import Pose
from portico.interface import Move, PolicyFailure, PolicySpec, Stop, Velocity, Waypoints
from portico.policies import create
from portico.policies.remote.published.adapter import Adapter, local_points
from portico.policies.remote.published.motions import along, from_right_forward, hold, polar, step_to, to_right_forward
from portico.suites import load_suite

EXIT = stage("exit")
metres, angles = st.floats(-1000.0, 1000.0), st.floats(-pi, pi)


@given(metres, metres, angles, st.lists(st.tuples(metres, metres), min_size=1, max_size=6))
def test_world_to_local_to_world_is_where_it_was(x, y, yaw_rad, points):
    pose, world = Pose(x, y, 0.0, yaw_rad), np.array(points)
    local = local_points(world, pose)
    back = np.array([(p.x, p.y) for p in (pose.compose(Pose(float(a), float(b))) for a, b in local)])
    np.testing.assert_allclose(back, world, atol=1e-6)
    np.testing.assert_array_equal(from_right_forward(to_right_forward(local)), local)


def test_right_is_negative_left_and_forward_stays_forward():
    np.testing.assert_array_equal(to_right_forward(np.array([[2.0, 0.5]])), [[-0.5, 2.0]])
    np.testing.assert_array_equal(from_right_forward(np.array([[1.0, 3.0]])), [[3.0, -1.0]])


@given(angles, st.floats(0.0, 5.0))
def test_a_polar_move_turns_then_walks_and_keeps_its_heading(turn_rad, distance_m):
    action = polar(turn_rad, distance_m, BODY, 0.1)
    if isinstance(action, Waypoints):
        (pose,) = action.poses
        assert np.hypot(pose.x, pose.y) == pytest.approx(distance_m)
        assert pose.yaw_rad == turn_rad
    else:
        assert distance_m <= 0.03
        assert action.wz_radps * action.duration_s == pytest.approx(turn_rad, abs=1e-9)
        assert abs(action.wz_radps) <= BODY.max_turn_radps + 1e-9


def test_small_moves_are_walked_and_none_is_standing_still():
    assert step_to(Pose(0.0, 0.0), BODY, 0.5) == hold(0.5) == Velocity(0.0, 0.0, 0.0, 0.5)
    small = step_to(Pose(0.01, 0.02), BODY, 0.5)
    assert (small.vx_mps * small.duration_s, small.vy_mps * small.duration_s) == pytest.approx((0.01, 0.02))


def test_headings_along_points_follow_the_way():
    poses = along(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])).poses
    assert [round(p.yaw_rad, 6) for p in poses] == [0.0, round(pi / 2, 6), round(pi / 2, 6)]


class Chunky(Adapter):
    """Three moves per answer; remembers what its server would see."""

    def __init__(self, every_step=True):
        super().__init__(PolicySpec("chunky", history=History("policy", every_step)), "here", "there")
        self.begun, self.asked, self.shown = [], [], []

    def _begin(self, observation):
        self.begun.append(observation.stage.instruction)

    def _decide(self, observation):
        self.asked.append(observation.number)
        return [Move("forward"), Move("turn_left"), Stop()]

    def _show(self, observation):
        self.shown.append(observation.number)


def acted(policy, steps, asked=EXIT):
    return [policy.act(observation(FRONT, asked, i)) for i in steps]


def test_a_chunk_of_three_is_asked_for_once_and_the_frames_in_between_are_shown():
    policy = Chunky()
    policy.reset(brief(FRONT, EXIT))
    assert acted(policy, range(5)) == [Move("forward"), Move("turn_left"), Stop(), Move("forward"), Move("turn_left")]
    assert (policy.asked, policy.shown, len(policy.begun)) == ([0, 3], [1, 2, 4], 1)


def test_a_model_that_wants_only_the_frames_it_decides_on_gets_those():
    policy = Chunky(every_step=False)
    policy.reset(brief(FRONT, EXIT))
    acted(policy, range(3))
    assert (policy.asked, policy.shown) == ([0], [])


def test_a_new_stage_and_a_new_episode_drop_what_was_queued():
    policy = Chunky()
    policy.reset(brief(FRONT, EXIT))
    acted(policy, range(2))
    later = type(EXIT)("entrance", 1, 2, "go in")
    acted(policy, [2], later)
    policy.reset(brief(FRONT, EXIT))
    acted(policy, [0])
    assert (policy.asked, policy.begun) == ([0, 2, 0], ["carry out exit", "go in", "carry out exit"])


def test_an_adapter_wants_a_reset_first():
    with pytest.raises(PolicyRefused, match="was not reset"):
        Chunky().act(observation(FRONT, EXIT, 0))


SILENT = ["omninav", "omninav_fast", "socialnav", "uninavid", "poliformer", "navdp", "gnm"]


@pytest.mark.parametrize("name", SILENT)
def test_a_server_that_dawdles_is_a_timeout_and_not_a_decision(name):
    over = threading.Event()

    def answer(path, *_):
        if path in ("/act", "/pointgoal_step", "/imagegoal_step"):
            over.wait(600.0)
        return {}

    kind = {"poliformer": "object", "navdp": "point", "gnm": "image", "omninav_fast": "outdoor", "socialnav": "outdoor"}.get(name, "exit")
    asked = stage(kind, goal=(3.0, 0.0, 0.0), goal_image=np.zeros((48, 64, 3), np.uint8))
    with http_server(answer) as server:
        policy = create(f"{name}?url={server.url},deadline_s=1.5")
        cameras = policy.spec.cameras or FRONT
        policy.reset(brief(cameras, asked))
        with pytest.raises(PolicyFailure) as failure:
            policy.act(observation(cameras, asked, 0))
        over.set()
        policy.close()
    assert failure.value.kind == "timeout"


def test_lightnav_too():
    over = threading.Event()

    def answer(data):
        if json.loads(data)["action"] == "next":
            over.wait(600.0)
        return json.dumps({"data": {"rc": 200}})

    with socket_server(answer) as url:
        policy = create(f"lightnav?url={url},deadline_s=1.5")
        policy.reset(brief(policy.spec.cameras, EXIT))
        with pytest.raises(PolicyFailure) as failure:
            policy.act(observation(policy.spec.cameras, EXIT, 0))
        over.set()
    assert failure.value.kind == "timeout"


def test_a_published_model_runs_a_suite_with_its_own_cameras_and_moves(tmp_path):
    """OmniNav on a robot with one camera: the simulator mounts its three, and it is scored like any policy."""
    build(tmp_path / "hut")
    (tmp_path / "hut.yaml").write_text(yaml.safe_dump({"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 1}, "budget": {"max_actions": 40}}))
    suite = load_suite(tmp_path / "hut.yaml")
    prepared = prepare(suite, tmp_path / "cache", relative_to=tmp_path, announce=lambda _: None)
    seen = []

    def answer(path, body, form, files):
        if path != "/act":
            return {}
        seen.append((body["step"], body["pose"]["position"], {v: pixels(body[f"{v}_image"]).shape for v in ("left", "front", "right")}))
        arrived = 1.0 if body["step"] == 2 else -1.0
        return {"waypoints": [[0.0, 0.5]] * 5, "arrive_pred": [arrived] * 5, "recover_angles": [pi / 3] + [0.0] * 4}

    with http_server(answer) as server:
        execute(RunRequest(suite, f"omninav_3view?url={server.url}", tmp_path / "run", prepared))
    (record,) = read_records(tmp_path / "run").values()
    assert (record["status"], record["measures"]["steps"]) == ("failure", 3.0)
    assert [step for step, _, _ in seen] == [0, 1, 2]
    assert all(set(shapes.values()) == {(640, 720, 3)} for _, _, shapes in seen)
    moved = np.linalg.norm(np.diff([position for _, position, _ in seen], axis=0), axis=1)
    np.testing.assert_allclose(moved, 0.15, atol=0.02)
    notes = {note["code"] for note in json.loads((tmp_path / "run" / "run.json").read_text())["compatibility"]}
    assert "cameras" in notes
