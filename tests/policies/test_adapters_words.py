"""Models that answer with words: Uni-NaVid and PoliFormer, each against a small server of its shape."""

from math import pi

import numpy as np
import pytest
from model_servers import brief, http_server, observation, pixels, stage

from portico.interface import Move, PolicyFailure, Stop, Velocity
from portico.policies import create

VLN, OBJECT = stage("vln"), stage("object", category="chair")


class Words:
    """A server in either of Uni-NaVid's shapes, or PoliFormer's; counts the frames in its memory."""

    def __init__(self, *replies):
        self.replies, self.frames, self.pictures, self.instructions = list(replies), 0, [], []

    def __call__(self, path, body, form, files):
        if path == "/reset":
            self.frames = 0
            self.instructions.append(body["instruction"])
            return {"status": "ok"}
        if path in ("/act", "/predict"):
            self.frames += 1
            self.pictures.append(pixels(body.get("image") or body["image_base64"]))
            reply = self.replies.pop(0)
            return reply if isinstance(reply, tuple) else {("action" if path == "/act" else "actions"): reply, "path": [[0.5, 0.0, -0.5]]}
        return {"status": "ready"}


def run(name, model, steps, asked=VLN, **options):
    with http_server(model) as server:
        more = "".join(f",{k}={v}" for k, v in options.items())
        policy = create(f"{name}?url={server.url}{more}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, asked))
        actions = [policy.act(observation(cameras, asked, i)) for i in range(steps)]
        policy.close()
        return actions, [path for path, _ in server.calls]


def test_words_move_by_the_models_own_amounts_and_left_is_counter_clockwise():
    actions, _ = run("uninavid", Words("left", "forward", "right", "stop"), 4)
    assert actions == [Move("turn_left", pi / 6), Move("forward", 0.25), Move("turn_right", pi / 6), Stop()]


def test_the_server_that_queues_gets_every_frame():
    model = Words("forward", "forward", "left")
    _, paths = run("uni-navid", model, 3)
    assert paths == ["/reset", "/act", "/act", "/act"]
    assert (model.frames, model.instructions) == (3, ["carry out vln"])


def test_the_server_that_does_not_is_asked_once_per_answer_and_words_after_stop_are_dropped():
    actions, paths = run("uninavid", Words(["forward", "left", "forward", "right"], "forward stop left"), 6, shape="predict")
    assert paths == ["/reset", "/predict", "/predict"]
    assert actions == [Move("forward", 0.25), Move("turn_left", pi / 6), Move("forward", 0.25), Move("turn_right", pi / 6), Move("forward", 0.25), Stop()]


@pytest.mark.parametrize(("colours", "channel"), [("rgb", 0), ("bgr", 2)])
def test_red_is_where_the_checkpoint_expects_it(colours, channel):
    model = Words("forward")
    run("uninavid", model, 1, colours=colours)
    picture = model.pictures[0]
    assert picture.shape == (480, 640, 3)
    assert picture[:, 0, channel].min() == 255
    assert picture[:, -1, 2 - channel].min() == 255
    assert picture[:, 0, 1].max() == 0


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "parse"),
        ([""], "parse"),
        (None, "parse"),
        ("sideways", "parse"),
        (2, "parse"),
        ((500, b"CUDA"), "server"),
        ((200, b"<html>"), "parse"),
        ((200, b'{"action": NaN}'), "parse"),
    ],
)
def test_no_fault_becomes_a_decision(reply, kind):
    with pytest.raises(PolicyFailure) as failure:
        run("uninavid", Words(reply), 1)
    assert failure.value.kind == kind


def test_two_episodes_begin_alike_and_share_no_frame():
    model = Words("forward", "left", "forward")
    with http_server(model) as server:
        policy = create(f"uninavid?url={server.url}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, VLN))
        first = [policy.act(observation(cameras, VLN, i)) for i in range(2)]
        policy.reset(brief(cameras, VLN, key="two"))
        assert policy.act(observation(cameras, VLN, 0)) == first[0]
    assert (model.frames, len(model.instructions)) == (1, 2)


def test_the_same_observation_again_gets_the_same_answer_and_feeds_no_frame():
    model = Words("left", "forward")
    with http_server(model) as server:
        policy = create(f"uninavid?url={server.url}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, VLN))
        seen = observation(cameras, VLN, 0)
        assert policy.act(seen) == policy.act(seen) == Move("turn_left", pi / 6)
    assert model.frames == 1


def test_a_new_stage_is_a_new_instruction():
    model = Words("forward", "forward")
    with http_server(model) as server:
        policy = create(f"uninavid?url={server.url}")
        cameras = policy.spec.cameras
        policy.reset(brief(cameras, VLN))
        policy.act(observation(cameras, VLN, 0))
        later = type(VLN)("entrance", 1, 2, "go in")
        policy.act(observation(cameras, later, 1))
    assert model.instructions == ["carry out vln", "go in"]


def test_poliformers_letters_turn_the_way_thor_turns():
    """Positive is right there; small turns stay small, backward stays backward, an event moves nothing."""
    actions, _ = run("poliformer", Words("m", "b", "l", "r", "ls", "rs", "sub_done", "end"), 8, OBJECT)
    turns = [Move("turn_left", pi / 6), Move("turn_right", pi / 6), Move("turn_left", pi / 30), Move("turn_right", pi / 30)]
    assert actions == [Move("forward", 0.2), Move("backward", 0.2), *turns, Velocity(0.0, 0.0, 0.0, 0.1), Stop()]


@pytest.mark.parametrize(
    ("word", "kind"), [("yp", "unsupported"), ("d", "unsupported"), ("z", "parse"), (["m"], "parse"), ({}, "parse"), (7, "parse"), (None, "parse")]
)
def test_poliformers_arm_is_refused_and_nonsense_is_no_move(word, kind):
    with pytest.raises(PolicyFailure) as failure:
        run("PoliFormer", Words(word), 1, OBJECT)
    assert failure.value.kind == kind


def test_poliformer_sees_59_degrees_upright():
    model = Words("m")
    run("poliformer", model, 1, OBJECT)
    assert model.pictures[0].shape == (224, 384, 3)
    with http_server(model) as server:
        (camera,) = create(f"poliformer?url={server.url}").spec.cameras
    assert np.degrees(2 * np.arctan(0.5 * camera.height / camera.focal_px)) == pytest.approx(59.0)
