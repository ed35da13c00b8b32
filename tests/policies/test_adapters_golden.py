"""What every client of a published model must hold, whichever shape its server speaks: begins alike, mixes nothing, guesses nothing."""

import json
from contextlib import contextmanager
from math import pi

import numpy as np
import pytest
from model_servers import FRONT, brief, http_server, observation, pixels, red_left_blue_right, socket_server, stage

from portico.geometry import Pose
from portico.interface import PolicyFailure
from portico.policies import create
from portico.policies.published_names import PUBLISHED

_POINT, _IMAGE = stage("outdoor", goal=(3.0, 1.0, 0.0)), stage("image", goal_image=red_left_blue_right(48, 64))
ASKED = dict.fromkeys(PUBLISHED, stage("exit"))
ASKED |= {"omninav_fast": _POINT, "socialnav": _POINT, "navdp": _POINT, "poliformer": stage("object", category="chair")}
ASKED |= dict.fromkeys(("gnm", "vint", "nomad"), _IMAGE)
WORDS = {"uninavid": "forward", "poliformer": "m"}
DECIDING = ("/act", "/pointgoal_step", "/imagegoal_step")
#: Named for one request or one session, not for what is asked.
_MARKS = ("session_id", "seq")


def good(name):
    """An answer that the model could give: about half a metre ahead."""
    if name in WORDS:
        return {"action": WORDS[name]}
    if name == "lightnav":
        return {"actions": {"step": 0, "actions": [[0.5, 0.0, 0.0]] * 10}}
    omni = {"waypoints": [[0.0, 0.5 * (i + 1)] for i in range(5)], "arrive_pred": [-1.0] * 5, "recover_angles": [0.1] * 5}
    return omni | {"arrive": -1.0, "trajectory": [[[0.5, 0.0, 0.0], [1.0, 0.0, 0.0]]]}


class Recorder:
    """Answers as told and keeps the requests that ask for a decision: (body or form, files)."""

    def __init__(self, name, reply=None):
        self.reply = good(name) if reply is None else reply
        self.asked = []

    def over_http(self, path, body, form, files):
        if path not in DECIDING:
            return {}
        said = form if body is None else body
        self.asked.append(({k: v for k, v in said.items() if k not in _MARKS}, files))
        return self.reply

    def over_socket(self, data):
        message = json.loads(data)
        told = {"rc": 200}
        if message["action"] == "next":
            self.asked.append(({k: v for k, v in message["data"].items() if k not in _MARKS}, {}))
            if isinstance(self.reply, str):
                return self.reply
            told |= {"seq": message["data"]["seq"], **self.reply}
        return json.dumps({"action": message["action"], "data": told})


@contextmanager
def client(name, reply=None):
    """(policy, its cameras, recorder)."""
    recorder = Recorder(name, reply)
    serving = socket_server(recorder.over_socket) if name == "lightnav" else http_server(recorder.over_http)
    with serving as found:
        policy = create(f"{name}?url={found if name == 'lightnav' else found.url}")
        yield policy, policy.spec.cameras or FRONT, recorder
        policy.close()


@pytest.mark.parametrize("name", PUBLISHED)
def test_two_episodes_begin_alike_and_the_second_holds_nothing_of_the_first(name):
    """The server is asked the very same, history included, and so gives the same first decision."""
    asked = ASKED[name]
    with client(name) as (policy, cameras, recorder):
        policy.reset(brief(cameras, asked))
        first = [policy.act(observation(cameras, asked, i, odometry=Pose(0.1 * i, 0.0))) for i in range(3)]
        before = len(recorder.asked)
        policy.reset(brief(cameras, asked, key="two"))
        assert policy.act(observation(cameras, asked, 0)) == first[0]
    assert before == 3
    assert recorder.asked[before] == recorder.asked[0]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_same_observation_again_asks_nobody(name):
    asked = ASKED[name]
    with client(name) as (policy, cameras, recorder):
        policy.reset(brief(cameras, asked))
        seen = observation(cameras, asked, 0)
        assert policy.act(seen) == policy.act(seen)
        assert len(recorder.asked) == 1


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_camera_arrives_with_red_on_the_left_as_the_model_was_trained(name):
    """NavDP's server and its relatives' exchange red and blue after they have decoded, so there the wire has them exchanged."""
    asked = ASKED[name]
    with client(name) as (policy, cameras, recorder):
        policy.reset(brief(cameras, asked))
        policy.act(observation(cameras, asked, 0))
    (said, files) = recorder.asked[0]
    found = [files["image"]] if files else [v for k, v in said.items() if k == "image" or k.endswith("_image")] + list(said.get("images", []))
    assert len(found) == {"socialnav": 5}.get(name, len(cameras))
    red = 2 if files else 0
    for picture in map(pixels, found):
        middle, right = picture.shape[0] // 2, picture.shape[1] - 4
        assert picture[middle, 4, red] > 200 > 60 > picture[middle, 4, 2 - red]
        assert picture[middle, right, 2 - red] > 200 > 60 > picture[middle, right, red]


FAULTS = {
    "it says that it failed": ((500, b'{"error": "CUDA out of memory"}'), {"rc": 500, "error": "CUDA out of memory"}, {"server"}),
    "a page of the web": ((200, b"<html>hello</html>"), "<html>hello</html>", {"parse"}),
    "nothing": ((200, b""), "", {"parse"}),
    "an empty answer": ({}, {"actions": None}, {"invalid", "parse"}),
    "a list": ([], "[]", {"parse"}),
    "no number": ((200, b'{"waypoints": NaN, "arrive_pred": NaN, "action": NaN, "trajectory": NaN}'), {"actions": {"actions": "NaN"}}, {"invalid", "parse"}),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", PUBLISHED)
def test_no_fault_is_ever_a_decision(name, fault):
    over_http, over_socket, kinds = FAULTS[fault]
    asked = ASKED[name]
    with client(name, over_socket if name == "lightnav" else over_http) as (policy, cameras, _):
        policy.reset(brief(cameras, asked))
        with pytest.raises(PolicyFailure) as failure:
            policy.act(observation(cameras, asked, 0))
    assert failure.value.kind in kinds
    assert failure.value.next_step


@pytest.mark.parametrize(("name", "where"), [("omninav_fast", [1.0 / 0.3, -2.0 / 0.3]), ("socialnav", [1.0, -2.0])])
def test_a_goal_behind_the_robot_stays_behind_it(name, where):
    """Two metres behind and one to the right: x right, z forward, in the model's own unit; nothing is clipped. NavDP's loses its distance."""
    behind = stage("outdoor", goal=(1.0, 2.0, 0.0))
    with client(name) as (policy, cameras, recorder):
        policy.reset(brief(cameras, behind))
        policy.act(observation(cameras, behind, 0, odometry=Pose(2.0, 0.0, 0.0, -pi / 2)))
    np.testing.assert_allclose(recorder.asked[0][0]["input_waypoints"][-1], where, atol=1e-9)
