"""Portico's own protocol: handshake, retries that feed no frame twice, limits, sessions; and what is said when something does not fit."""

import base64
import contextlib
import hashlib
import socket
import threading

import msgpack
import numpy as np
import pytest
from counting import EXIT, Counting
from model_servers import FRONT, brief, observation

from portico.errors import UserError
from portico.interface import PolicyFailure, Stop
from portico.policies import create
from portico.policies.remote.socket import Socket
from portico.policies.serving import Seats, serve
from portico.policies.serving.portico_session import PorticoSession
from portico.policies.wires.arrays import from_msgpack, to_msgpack
from portico.policies.wires.messages import hello
from portico.policies.wires.structure import plain


def step(action):
    return round(100 * action.poses[0].x)


def ask(session, message):
    return from_msgpack(session.answer(to_msgpack(message)))


@pytest.fixture
def session():
    found = PorticoSession(Seats(Counting), 2**20)
    ask(found, hello())
    return found


def act(seq, number=0):
    return {"type": "act", "seq": seq, "observation": plain(observation(FRONT, EXIT, number))}


RESET = {"type": "reset", "seq": 1, "brief": plain(brief(FRONT, EXIT))}


def test_the_handshake_tells_what_the_policy_needs_and_what_the_server_takes():
    reply = ask(PorticoSession(Seats(Counting), 2**20), hello())
    assert (reply["type"], reply["version"], reply["limit_bytes"], reply["observes"], reply["repeats"]) == ("welcome", 1, 2**20, True, True)
    assert (reply["spec"]["name"], reply["spec"]["needs"], reply["spec"]["stages"]) == ("counting", ["rgb"], ["exit"])


def test_a_message_sent_twice_is_answered_twice_and_carried_out_once(session):
    ask(session, RESET)
    first, again = ask(session, act(2)), ask(session, act(2))
    assert first == again
    assert ask(session, act(3, 1))["action"]["poses"][0]["x"] == pytest.approx(0.02)


def test_a_message_out_of_turn_is_refused_with_what_was_expected(session):
    ask(session, RESET)
    reply = ask(session, act(5))
    assert (reply["type"], reply["kind"], reply["expected"], reply["received"]) == ("error", "invalid", "2, or 1 again", "5")
    assert ask(session, act(2))["type"] == "action"


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ({"type": "act", "seq": "two"}, "seq"),
        ({"type": "dance", "seq": 2}, "type"),
        ({"type": "act", "seq": 2, "observation": {"step": 0}}, "observation.time_s"),
        ({"type": "act", "seq": 2}, "observation"),
    ],
)
def test_what_does_not_fit_is_answered_with_its_place(session, message, where):
    ask(session, RESET)
    reply = ask(session, message)
    assert (reply["type"], reply["where"]) == ("error", where)
    assert reply["expected"]
    assert reply["received"]


def test_an_act_before_a_reset_and_a_reset_before_a_hello_are_refused():
    fresh = PorticoSession(Seats(Counting), 2**20)
    assert ask(fresh, RESET)["where"] == "type"
    ask(fresh, hello())
    assert "no episode is under way" in ask(fresh, {**act(1)})["expected"]


@pytest.mark.parametrize("change", [{"versions": [0, 7]}, {"versions": "1"}, {"protocol": "http"}, {"session": 5}])
def test_another_protocol_or_version_is_refused_with_both(change):
    reply = ask(PorticoSession(Seats(Counting), 2**20), hello() | change)
    assert (reply["type"], reply["where"]) == ("error", next(iter(change)))


@pytest.mark.parametrize("data", ["text", b"", b"\xc1", msgpack.packb([1]), b"\x80\x03cposix\nsystem\n."])
def test_what_is_no_message_is_answered_and_nothing_is_run(session, data):
    assert from_msgpack(session.answer(data))["type"] == "error"


@pytest.mark.parametrize("odd", [np.zeros(2), [np.zeros(2)], {}, True, 1.5, "x" * 99])
@pytest.mark.parametrize("name", ["type", "seq", "session", "protocol", "versions", "brief", "observation"])
def test_odd_parts_of_a_message_are_answered(session, name, odd):
    for message in (hello(), RESET, act(2)):
        if name in message:
            found = PorticoSession(Seats(Counting), 2**20) if "protocol" in message else session
            assert from_msgpack(found.answer(to_msgpack(message | {name: odd})))["type"] == "error"


class CuttingProxy:
    """Passes bytes on, and once, when told, swallows the answer and breaks the connection."""

    def __init__(self, port):
        self._port, self.cut = port, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near, _ = self._listener.accept()
            far = socket.create_connection(("127.0.0.1", self._port))
            for a, b, answers in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pass, args=(a, b, answers), daemon=True).start()

    def _pass(self, a, b, answers):
        try:
            while data := a.recv(65536):
                if answers and self.cut:
                    self.cut = False
                    break
                b.sendall(data)
        except OSError:
            pass
        for end in (a, b):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_an_answer_lost_with_the_connection_is_asked_for_again_and_no_frame_is_fed_twice():
    server = serve(Counting)
    proxy = CuttingProxy(int(server.url.rsplit(":", 1)[1]))
    far = create(f"remote?url={proxy.url},deadline_s=20")
    far.reset(brief(FRONT, EXIT))
    assert [step(far.act(observation(FRONT, EXIT, i))) for i in range(2)] == [1, 2]
    proxy.cut = True
    assert step(far.act(observation(FRONT, EXIT, 2))) == 3
    assert step(far.act(observation(FRONT, EXIT, 3))) == 4
    far.close()
    server.close()


@contextlib.contextmanager
def deaf_server(*, welcomes):
    """Takes connections in and reads nothing of them; with ``welcomes`` it shakes hands first. Yields its address and who was taken in."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = []

        def take():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    taken.append(connection)
                    if welcomes:
                        key = next(line for line in connection.recv(4096).decode().split("\r\n") if line.lower().startswith("sec-websocket-key"))
                        accept = base64.b64encode(hashlib.sha1((key.split(": ")[1] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
                        reply = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
                        connection.sendall(reply.encode())

        threading.Thread(target=take, daemon=True).start()
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}", taken
        for connection in taken:
            connection.close()


def test_a_server_that_takes_nothing_does_not_hold_up_who_sends():
    """More than any kernel buffers, to a process that has stopped: without a limit of its own this would wait for ever."""
    with deaf_server(welcomes=True) as (url, _):
        client = Socket(url, timeout_s=1.0, pings=False)
        with pytest.raises(PolicyFailure, match="did not answer within 1 s") as failure:
            client.send(bytes(64 * 2**20))
        client.drop()
    assert failure.value.kind == "timeout"


def test_a_server_that_shakes_no_hands_is_waited_for_once():
    with deaf_server(welcomes=False) as (url, taken):
        with pytest.raises(PolicyFailure, match="no policy server answers") as failure:
            create(f"remote?url={url},deadline_s=1")
        assert len(taken) == 1
    assert "attempts" not in failure.value.why


@pytest.mark.parametrize("url", ["ws://127.0.0.1:99999", "foo", "http://127.0.0.1:1", "ws://"])
def test_what_is_no_websocket_address_is_said(url):
    with pytest.raises(PolicyFailure, match="no WebSocket address") as failure:
        create(f"remote?url={url},wire=portico")
    assert (failure.value.kind, failure.value.where) == ("refused", url)
    assert failure.value.why


def test_frames_that_need_no_decision_reach_the_memory():
    server = serve(Counting)
    far = create(f"remote?url={server.url}")
    far.reset(brief(FRONT, EXIT))
    far.observe(observation(FRONT, EXIT, 0))
    assert step(far.act(observation(FRONT, EXIT, 1))) == 2
    far.close()
    server.close()


@pytest.mark.parametrize("wire", ["portico", "http", "navarena"])
def test_a_policy_without_such_a_memory_says_so(wire):
    server = serve(lambda: create("random"), wire=wire)
    far = create(f"remote?url={server.url},wire={wire}")
    far.reset(brief(FRONT, EXIT))
    with pytest.raises(PolicyFailure) as failure:
        far.observe(observation(FRONT, EXIT, 0))
    assert failure.value.kind == "unsupported"
    far.close()
    server.close()


@pytest.mark.parametrize("wire", ["portico", "http", "navarena"])
def test_sessions_do_not_share_a_memory_and_episodes_do_not_share_frames(wire):
    server = serve(Counting, wire=wire)
    a, b = (create(f"remote?url={server.url},wire={wire}") for _ in range(2))
    for far in (a, b):
        far.reset(brief(FRONT, EXIT))
    assert [(step(a.act(observation(FRONT, EXIT, i))), step(b.act(observation(FRONT, EXIT, i)))) for i in range(3)] == [(1, 1), (2, 2), (3, 3)]
    a.reset(brief(FRONT, EXIT))
    assert step(a.act(observation(FRONT, EXIT, 0))) == 1
    assert step(b.act(observation(FRONT, EXIT, 3))) == 4
    for far in (a, b):
        far.close()
    server.close()


@pytest.mark.parametrize("wire", ["portico", "http", "navarena"])
def test_a_policy_that_raises_is_told_in_its_own_words_and_goes_on_with_the_next_episode(wire):
    class Moody(Counting):
        def act(self, observation):
            if observation.step == 1:
                raise UserError("the map is full", why="too many rooms", next_step="look at fewer rooms")
            return Stop()

    server = serve(Moody, wire=wire)
    far = create(f"remote?url={server.url},wire={wire}")
    far.reset(brief(FRONT, EXIT))
    assert far.act(observation(FRONT, EXIT, 0)) == Stop()
    with pytest.raises(PolicyFailure, match="the map is full") as failure:
        far.act(observation(FRONT, EXIT, 1))
    assert failure.value.kind == "server"
    far.reset(brief(FRONT, EXIT))
    assert far.act(observation(FRONT, EXIT, 0)) == Stop()
    far.close()
    server.close()


@pytest.mark.parametrize("wire", ["portico", "http", "navarena"])
def test_a_policy_that_would_end_its_server_is_told_of_and_does_not(wire):
    class Quitting(Counting):
        def act(self, observation):
            raise SystemExit("CUDA is lost")

    server = serve(Quitting, wire=wire)
    far = create(f"remote?url={server.url},wire={wire}")
    for _ in range(2):
        far.reset(brief(FRONT, EXIT))
        with pytest.raises(PolicyFailure, match="SystemExit: CUDA is lost") as failure:
            far.act(observation(FRONT, EXIT, 0))
        assert failure.value.kind == "server"
    far.close()
    server.close()


@pytest.mark.parametrize("wire", ["portico", "http"])
def test_an_observation_too_large_for_the_server_is_refused_with_the_remedy(wire):
    server = serve(Counting, wire=wire, limit_bytes=6000)
    far = create(f"remote?url={server.url}")
    small = brief((), EXIT)
    far.reset(small)
    with pytest.raises(PolicyFailure) as failure:
        far.act(observation(FRONT, EXIT, 0))
    assert failure.value.kind == "refused"
    assert ("as large as this observation" if wire == "portico" else "413") in failure.value.what
    assert "--limit-mib" in failure.value.next_step
    far.close()
    server.close()
