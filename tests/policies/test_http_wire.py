"""Three requests over HTTP: the smallest server is enough, and what is wrong is said."""

import json
import urllib.error
import urllib.request

import numpy as np
import pytest
from counting import EXIT, Counting
from model_servers import FRONT, brief, http_server, observation

from portico.interface import Move, PolicyFailure, Stop
from portico.policies import create
from portico.policies.serving import serve


def post(url, data):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=data, method="POST"), timeout=20) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_http_says_what_was_wrong_with_a_request():
    server = serve(Counting, wire="http", limit_bytes=100_000)
    assert post(f"{server.url}/act", b"no json")[0] == 400
    status, said = post(f"{server.url}/act", json.dumps({"session": "s", "seq": 1, "observation": {}}).encode())
    assert (status, said["where"]) == (400, "type")
    assert post(f"{server.url}/reset", json.dumps({"session": "", "seq": 1}).encode())[0] == 400
    assert post(f"{server.url}/act", bytes(200_000))[0] == 413
    server.close()


def test_the_smallest_server_that_an_author_can_write_is_enough():
    """Health with a name, an empty answer to reset, an action."""
    answers = {"/health": {"spec": {"name": "mine", "needs": ["rgb"]}}, "/reset": {}, "/act": {"action": {"kind": "move", "name": "forward", "amount": 0.5}}}
    with http_server(lambda path, *_: answers[path]) as server:
        far = create(f"remote?url={server.url}")
        assert (far.spec.name, far.spec.needs) == ("mine", frozenset({"rgb"}))
        far.reset(brief(FRONT, EXIT))
        assert far.act(observation(FRONT, EXIT, 0)) == Move("forward", 0.5)
        body = server.calls[-1][1]
        rgb = body["observation"]["frames"]["front"]["rgb"]
        assert (rgb["dtype"], rgb["shape"]) == ("|u1", [48, 64, 3])
        far.close()


def test_a_server_that_still_loads_is_waited_for():
    states = iter(["loading", "loading", "ready"])
    with http_server(lambda path, *_: {"status": next(states), "spec": {"name": "slow starter"}}) as server:
        assert create(f"remote?url={server.url},deadline_s=20").spec.name == "slow starter"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ((500, b'{"error": "CUDA out of memory"}'), "server"),
        ((422, b'{"detail": "no field image"}'), "refused"),
        ((404, b"nothing here"), "unsupported"),
        ((301, b""), "unsupported"),
        ((413, b"too much"), "refused"),
        ((200, b"<html>"), "parse"),
        ((200, b"[]"), "parse"),
        ({}, "invalid"),
        ({"action": {"kind": "waypoints", "poses": [{"x": "nan", "y": 0.0}]}}, "invalid"),
        ({"action": {"kind": "move", "name": "forward"}, "seq": 77}, "invalid"),
        ({"action": {"kind": "move", "name": "forward"}, "seq": ["2"]}, "invalid"),
        ({"action": {"kind": "waypoints", "poses": [{"x": {"dtype": "<f4", "shape": [2], "base64": "AAAAAAAAAAA="}, "y": 0.0}]}}, "invalid"),
        ({"action": {"kind": ["stop"]}}, "invalid"),
        ({"action": {"dtype": "(", "shape": [1], "base64": "AAAA"}}, "parse"),
    ],
)
def test_every_kind_of_wrong_http_answer_has_its_kind_of_failure(reply, kind):
    def answer(path, *_):
        return {"/health": {"spec": {"name": "mine"}}, "/reset": {}}.get(path, reply)

    with http_server(answer) as server:
        far = create(f"remote?url={server.url}")
        far.reset(brief(FRONT, EXIT))
        with pytest.raises(PolicyFailure) as failure:
            far.act(observation(FRONT, EXIT, 0))
        assert failure.value.kind == kind
        assert failure.value.next_step


def test_what_is_not_declared_to_repeat_is_never_sent_twice():
    """The connection breaks on every act; only a server that says so gets the request again."""
    for repeats, expected in ((False, 1), (True, 2)):
        acts = []

        def answer(path, body, form, files, repeats=repeats, acts=acts):
            if path == "/act":
                acts.append(body["seq"])
                raise ConnectionError
            return {"/health": {"spec": {"name": "mine"}, "repeats": repeats}}.get(path, {})

        with http_server(answer) as server:
            far = create(f"remote?url={server.url}")
            far.reset(brief(FRONT, EXIT))
            with pytest.raises(PolicyFailure) as failure:
                far.act(observation(FRONT, EXIT, 0))
            assert failure.value.kind == "transport"
        assert acts == [2] * expected


def test_depth_arrives_to_the_last_bit_where_nothing_was_hit():
    seen = {}

    class Watching(Counting):
        def act(self, observation):
            seen["depth"] = observation.frames["front"].depth
            return Stop()

    depth = np.random.default_rng(5).random((48, 64)).astype(np.float32)
    depth[:5] = np.inf
    original = observation(FRONT, EXIT, 0)
    frame = type(original.frames["front"])(FRONT[0], rgb=original.frames["front"].rgb, depth=depth)
    original = type(original)(0, 0.0, {"front": frame}, EXIT)
    for wire in ("portico", "http", "navarena"):
        server = serve(Watching, wire=wire)
        far = create(f"remote?url={server.url},wire={wire}")
        far.reset(brief(FRONT, EXIT))
        assert far.act(original) == Stop()
        np.testing.assert_array_equal(seen.pop("depth"), depth)
        far.close()
        server.close()
