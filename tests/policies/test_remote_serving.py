"""A policy server's life: what it serves, on which port, and what its clients are told when it cannot."""

import socket

import pytest
from counting import EXIT, Counting
from model_servers import FRONT, brief, observation

from portico.errors import PolicyRefused, UserError
from portico.interface import PolicyFailure
from portico.policies import create
from portico.policies.remote.policy import RemotePolicy
from portico.policies.serving import serve


def step(action):
    return round(100 * action.poses[0].x)


def test_the_server_serves_another_policy_than_before():
    current = [Counting]
    server = serve(lambda: current[0]())
    port = int(server.url.rsplit(":", 1)[1])
    far = create(f"remote?url={server.url}")
    far.reset(brief(FRONT, EXIT))
    server.close()
    with pytest.raises(PolicyFailure):
        far.act(observation(FRONT, EXIT, 0))
    other = serve(lambda: create("frontier"), port=port)
    with pytest.raises(PolicyFailure, match="serves another policy"):
        far.reset(brief(FRONT, EXIT))
    far.close()
    other.close()


@pytest.mark.parametrize("wire", ["portico", "http", "navarena"])
def test_a_session_whose_policy_cannot_be_made_is_told_why(wire):
    """The first one was made when the server began; its memory holds no second."""
    made = []

    def once():
        if made:
            raise MemoryError("no room for a second model")
        made.append(Counting())
        return made[0]

    server = serve(once, wire=wire)
    first = create(f"remote?url={server.url},wire={wire}")
    first.reset(brief(FRONT, EXIT))
    assert step(first.act(observation(FRONT, EXIT, 0))) == 1

    def another():
        second = create(f"remote?url={server.url},wire={wire}")
        second.reset(brief(FRONT, EXIT))
        second.act(observation(FRONT, EXIT, 0))

    with pytest.raises(PolicyFailure, match="no room for a second model") as failure:
        another()
    assert failure.value.kind == "server"
    assert step(first.act(observation(FRONT, EXIT, 1))) == 2
    first.close()
    server.close()


@pytest.mark.parametrize("wire", ["portico", "http", "navarena"])
@pytest.mark.parametrize("port", [-1, 70_000, None])
def test_a_port_that_is_none_or_taken_is_said(wire, port):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = taken.getsockname()[1] if port is None else port
        with pytest.raises(UserError, match="cannot listen there") as error:
            serve(Counting, wire=wire, port=where)
    assert error.value.where == f"127.0.0.1:{where}"
    assert error.value.next_step


def test_a_policy_that_needs_what_never_travels_is_not_served():
    with pytest.raises(PolicyRefused, match="cannot be served"):
        serve(lambda: create("privileged/oracle-trajectory"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs an address"),
        ({"url": "ws://127.0.0.1:1", "wire": "smoke"}, "unknown wire"),
        ({"url": "ws://127.0.0.1:1", "deadline_s": "soon"}, "deadline_s"),
        ({"url": "ws://127.0.0.1:1", "wire": "navarena", "image_format": "gif"}, "unknown image format"),
    ],
)
def test_options_that_cannot_be_read_are_named(options, words):
    with pytest.raises(UserError, match=words):
        RemotePolicy(**options)
