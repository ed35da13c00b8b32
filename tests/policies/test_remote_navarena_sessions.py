"""NavArena-Server's sessions as its description scripts them, and the client's rules over a real socket."""

import threading

import numpy as np
import pytest
from model_servers import socket_server
from websockets.sync.client import connect
from websockets.sync.server import serve as listen

from portico.interface import PolicyFailure
from portico.policies import create
from portico.policies.remote.navarena_wire import NavArenaClient
from portico.policies.serving import serve
from portico.policies.serving.navarena_session import NavArenaSession
from portico.policies.serving.servers import HangUp, SocketServer
from portico.policies.wires.navarena import pack, unpack


class Scripted:
    """An agent that can be told to fail, and remembers what it was told."""

    def __init__(self):
        self.steps, self.ended, self.gone = [], [], []
        self.fail_start = self.fail_predict = False

    def greeting(self):
        return {}

    def on_episode_start(self, context, payload):
        if self.fail_start:
            raise RuntimeError("no such scene")

    def predict(self, context, observation):
        if self.fail_predict:
            raise RuntimeError("out of memory")
        self.steps.append((context.slot_id, context.step, context.is_first, context.mode))
        return {"x": 0.25, "y": 0.0, "yaw": 0.05}

    def on_episode_end(self, context, result):
        self.ended.append((context.episode_id, dict(result)))

    def on_disconnect(self, session_id):
        self.gone.append(session_id)


@pytest.fixture
def agent():
    return Scripted()


@pytest.fixture
def session(agent):
    return NavArenaSession(agent)


def say(session, kind, seq, payload=None):
    reply = session.answer(pack(kind, payload or {}, seq, 0.0))
    return None if reply is None else unpack(reply)


TASK = {"task": {"episode_id": 7, "task_type": "pointnav", "goals": []}}


def test_an_observation_first_is_an_error_and_the_socket_stays_open(session):
    reply = say(session, "observation", 1)
    assert (reply.type, reply.seq) == ("error", 1)
    assert "fatal" not in reply.payload
    assert say(session, "episode_start", 2, TASK) is None


def test_an_episode_counts_its_steps_and_ends_in_silence(session, agent):
    assert say(session, "episode_start", 1, TASK) is None
    assert say(session, "observation", 2).seq == 2
    assert say(session, "observation", 3).type == "action"
    assert say(session, "episode_end", 4, {"success": True}) is None
    assert agent.steps == [(None, 0, True, "sync"), (None, 1, False, "sync")]
    assert agent.ended == [("7", {"success": True})]


def test_a_start_that_fails_is_an_error_and_so_is_what_follows(session, agent):
    agent.fail_start = True
    assert (say(session, "episode_start", 1, TASK).type, say(session, "observation", 2).type) == ("error", "error")


def test_a_failed_decision_ends_the_episode_and_a_new_one_may_start(session, agent):
    say(session, "episode_start", 1, TASK)
    agent.fail_predict = True
    reply = say(session, "observation", 2)
    assert (reply.seq, reply.payload["fatal"]) == (2, True)
    assert "out of memory" in reply.payload["error"]
    agent.fail_predict = False
    assert "outside" in say(session, "observation", 3).payload["error"]
    say(session, "episode_start", 4, TASK)
    assert say(session, "observation", 5).type == "action"


def test_a_decision_that_cannot_be_written_is_fatal_too(session, agent, monkeypatch):
    monkeypatch.setattr(agent, "predict", lambda context, observation: {"x": object()})
    say(session, "episode_start", 1, TASK)
    assert say(session, "observation", 2).payload["fatal"] is True


def test_a_start_within_an_episode_replaces_it_without_its_end(session, agent):
    say(session, "episode_start", 1, TASK)
    say(session, "observation", 2)
    say(session, "episode_start", 3, {"task": {"episode_id": 8}})
    say(session, "observation", 4)
    assert [step for _, step, _, _ in agent.steps] == [0, 0]
    assert agent.ended == []


def test_batches_keep_their_slots_apart(session, agent):
    assert say(session, "batch_observation", 1, {"observations": {"a": {}}}).type == "error"
    say(session, "batch_episode_start", 2, {"episodes": {"a": TASK, "b": TASK}})
    assert set(say(session, "batch_observation", 3, {"observations": {"a": {}, "b": {}}}).payload["actions"]) == {"a", "b"}
    say(session, "batch_episode_end", 4, {"episodes": {"a": {"success": True}}})
    assert say(session, "batch_observation", 5, {"observations": {"b": {}}}).type == "batch_action"
    assert say(session, "batch_observation", 6, {"observations": {"a": {}}}).payload["fatal"] is True
    assert say(session, "batch_observation", 7, {"observations": {"b": {}}}).type == "batch_action"
    say(session, "batch_episode_end", 8, {"episodes": {"b": {}}})
    assert say(session, "batch_observation", 9, {"observations": {"b": {}}}).type == "error"
    assert [step for slot, step, _, _ in agent.steps if slot == "b"] == [0, 1, 2]


def test_going_away_within_an_episode_ends_it_once_with_nothing(session, agent):
    say(session, "episode_start", 1, TASK)
    session.close(meant=False)
    session.close(meant=False)
    assert agent.ended == [("7", {})]


def test_a_corrupt_frame_is_no_message(session):
    with pytest.raises(HangUp):
        session.answer(b"not-msgpack")


def test_a_corrupt_frame_closes_the_socket_normally_without_an_answer(agent):
    server = SocketServer(lambda: NavArenaSession(agent), "127.0.0.1", 0, 2**20, pings=False, release=lambda: None)
    with connect(server.url, proxy=None) as connection:
        connection.send(b"not-msgpack")
        with pytest.raises(Exception, match="1000"):
            connection.recv(timeout=10)
    server.close()


def test_what_an_agent_returns_reaches_the_client_unchanged(agent):
    server = SocketServer(lambda: NavArenaSession(agent), "127.0.0.1", 0, 2**24, pings=False, release=lambda: None)
    client = NavArenaClient(server.url)
    client.start_episode(TASK)
    assert client.act({"rgb": {"face": np.zeros((48, 64, 3), np.uint8)}}) == {"x": 0.25, "y": 0.0, "yaw": 0.05}
    client.end_episode({"success": False})
    client.close()
    server.close()


def test_an_answer_to_another_message_is_an_error_or_a_warning():
    with socket_server(lambda data: pack("action", {"x": 1.0}, unpack(data).seq + 5, 0.0)) as url:
        with pytest.raises(PolicyFailure, match="cannot be read") as failure:
            NavArenaClient(url).act({})
        assert "expected 1, received 6" in failure.value.why
        with pytest.warns(UserWarning, match="answered message 6"):
            assert NavArenaClient(url, strict=False).act({}) == {"x": 1.0}


def test_a_server_that_is_down_is_tried_five_times_over_thirty_seconds():
    waits = []
    with pytest.raises(PolicyFailure) as failure:
        NavArenaClient("ws://127.0.0.1:9", sleep=waits.append)
    assert (waits, failure.value.kind) == ([2.0, 4.0, 8.0, 16.0], "transport")
    assert "5 attempts" in failure.value.why


def test_clients_of_one_server_do_not_share_a_memory():
    """Two connections, interleaved: each has a policy of its own."""
    server = serve(lambda: create("random"), wire="navarena")
    clients = [NavArenaClient(server.url) for _ in range(2)]
    seen = {"rgb": {"face": np.zeros((48, 64, 3), np.uint8)}, "pose": {"position": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "yaw": 0.0}}
    for client in clients:
        client.start_episode({"task": {"task_type": "pointnav", "goals": [{"position": [3.0, 0.0, 0.0]}]}})
    actions = [[client.act(seen) for client in clients] for _ in range(12)]
    assert [a for a, _ in actions] == [b for _, b in actions]
    for client in clients:
        client.close()
    server.close()


def test_a_foreign_client_gets_waypoints_from_a_map_building_policy():
    """Brief and observation are made of NavArena's own fields alone."""
    server = serve(lambda: create("point-follower"), wire="navarena")
    client = NavArenaClient(server.url)
    client.start_episode({"task": {"episode_id": "e1", "task_type": "pointnav", "goals": [{"position": [4.0, 0.0, 0.0]}]}})
    depth = np.full((120, 160, 1), 6.0, np.float32)
    picture = np.zeros((120, 160, 3), np.uint8)
    pose = {"position": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0]}
    action = client.act({"rgb": {"face": picture}, "depth": {"face": depth}, "pose": pose})
    assert set(action) == {"waypoints"}
    assert set(action["waypoints"][0]) == {"x", "y", "yaw"}
    client.close()
    server.close()


def test_a_task_of_no_known_type_is_told_at_the_first_observation():
    server = serve(lambda: create("stop"), wire="navarena")
    client = NavArenaClient(server.url)
    client.start_episode({"task": {"task_type": "juggling"}})
    with pytest.raises(PolicyFailure, match="juggling"):
        client.act({})
    client.close()
    server.close()


def test_a_server_that_never_answers_is_given_up():
    held = threading.Event()
    server = listen(lambda connection: held.wait(600), "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = NavArenaClient(f"ws://127.0.0.1:{server.socket.getsockname()[1]}", deadline_s=2.0)
    with pytest.raises(PolicyFailure) as failure:
        client.act({})
    assert failure.value.kind == "timeout"
    held.set()
    client.drop()
    server.shutdown()
