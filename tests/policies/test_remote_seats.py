"""A server's sessions: policies are handed on rather than made anew, lost clients may come back, and nobody waits for a seat."""

import pytest
from model_servers import FRONT, brief, observation, stage

from portico.interface import PolicySpec, Stop
from portico.policies import create
from portico.policies.serving import Seats, serve
from portico.policies.serving.navarena_agent import PolicyAgent
from portico.policies.serving.navarena_session import NavArenaSession
from portico.policies.serving.portico_session import PorticoSession
from portico.policies.serving.seats import GRACE_S
from portico.policies.wires.arrays import from_msgpack, to_msgpack
from portico.policies.wires.messages import hello
from portico.policies.wires.navarena import pack
from portico.policies.wires.structure import plain

EXIT = stage("exit")


class Costly:
    """Counts how often it was made."""

    spec = PolicySpec("costly", stages=frozenset({"exit"}))
    made = 0

    def __init__(self):
        Costly.made += 1
        self.closed = False

    def reset(self, brief):
        pass

    def act(self, observation):
        return Stop()

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True)
def _none_made():
    Costly.made = 0


def test_connections_one_after_the_other_make_one_policy():
    seats = Seats(Costly)
    for _ in range(3):
        session = PorticoSession(seats, 2**20)
        session.answer(to_msgpack(hello()))
        for seq in (1, 2):
            reply = from_msgpack(session.answer(to_msgpack({"type": "reset", "seq": seq, "brief": plain(brief(FRONT, EXIT))})))
            assert reply["type"] == "done"
        session.close(meant=True)
    assert Costly.made == 1


def test_so_do_navarenas():
    agent = PolicyAgent(Costly)
    for _ in range(3):
        session = NavArenaSession(agent)
        for seq in (1, 2):
            assert session.answer(pack("episode_start", {"task": {"task_type": "pointnav"}}, seq, 0.0)) is None
        session.close(meant=False)
    assert Costly.made == 1


def test_and_those_over_http():
    server = serve(Costly, wire="http")
    for _ in range(3):
        far = create(f"remote?url={server.url}")
        for i in range(2):
            far.reset(brief(FRONT, EXIT, key=f"e{i}"))
            assert far.act(observation(FRONT, EXIT, 0)) == Stop()
        far.close()
    assert Costly.made == 1
    server.close()


def test_a_lost_session_is_kept_for_its_client_and_then_handed_on():
    now = [0.0]
    seats = Seats(Costly, clock=lambda: now[0])
    seat = seats.open("mine")
    seats.lose("mine", seat.opened)
    now[0] = 0.9 * GRACE_S
    assert seats.open("mine") is seat
    seats.lose("mine", seat.opened)
    now[0] += 1.1 * GRACE_S
    assert seats.open("other").policy is seat.policy
    assert seats.open("mine") is not seat
    assert Costly.made == 2


def test_the_end_of_an_old_connection_does_not_lose_a_session_that_was_taken_over():
    now = [0.0]
    seats = Seats(Costly, clock=lambda: now[0])
    seat = seats.open("mine")
    before = seat.opened
    seats.open("mine")
    seats.lose("mine", before)
    now[0] = 2.0 * GRACE_S
    seats.open("other")
    assert seats.open("mine") is seat


def test_more_sessions_than_seats_take_from_the_oldest():
    seats = Seats(Costly, most=3)
    found = [seats.open(f"s{i}") for i in range(5)]
    assert seats.held == 3
    assert seats.open("s4") is found[4]
    assert seats.open("s0") is not found[0]


def test_a_policy_still_busy_for_somebody_who_left_is_not_handed_on():
    seats = Seats(Costly)
    seat = seats.open("slow")
    with seat.lock:
        seats.leave("slow")
    assert seats.open("next").policy is not seat.policy


def test_closing_closes_every_policy():
    seats = Seats(Costly)
    policies = [seats.open(name).policy for name in "abc"]
    seats.close()
    assert all(policy.closed for policy in policies)


def test_a_seat_never_raises():
    seat = Seats(Costly).open()
    for message in ({}, {"seq": True}, {"seq": 1}, {"seq": 1, "type": []}, {"seq": 1, "type": "reset", "brief": []}, {"seq": 1, "type": "act"}):
        assert seat.answer(message)["type"] == "error"
    fresh = Seats(Costly).open()
    assert fresh.answer({"seq": 1, "type": "reset", "brief": plain(brief(FRONT, EXIT))})["type"] == "done"
