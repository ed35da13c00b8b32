"""Servers by wire: they listen, carry bytes to sessions, and keep to loopback unless told otherwise."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from ipaddress import ip_address
from typing import Protocol

from portico.errors import UserError
from portico.interface import Policy
from portico.policies.serving.seats import Seats
from portico.policies.wires.messages import DEFAULT_LIMIT_BYTES

INSTALL = 'pip install "portico-nav[remote]"'


class Server(Protocol):
    """A server that listens from the moment it exists."""

    @property
    def url(self) -> str:
        """What clients connect to."""

    def forever(self) -> None:
        """Block until it is closed or the process interrupted."""

    def close(self) -> None:
        """Stop listening and give up every session."""


def serve(make: Callable[[], Policy], *, wire: str = "portico", host: str = "127.0.0.1", port: int = 0, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> Server:
    """Host a policy.

    Args:
        make: a fresh policy for every session. wire: a key of ``WIRES``. port: 0 picks a free one.

    Raises:
        UserError: no such wire, or nothing can listen there.
        PolicyRefused: the policy needs what never travels.
    """
    if wire not in WIRES:
        raise UserError(f"unknown wire {wire!r}", next_step=f"choose one of {', '.join(WIRES)}")
    return WIRES[wire](make, host, port, limit_bytes)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that interface."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return False


class SocketServer:
    """A WebSocket server with a thread per connection.

    Args:
        connected: called for every connection; its ``answer`` gets each message and returns what is sent back, None for silence.
        pings: whether silent connections are probed, so that dead ones are noticed.
    """

    def __init__(self, connected: Callable[[], Conversation], host: str, port: int, limit_bytes: int, *, pings: bool, release: Callable[[], None]) -> None:
        from websockets.sync.server import serve as listen

        self._connected, self._release, self._host = connected, release, host
        try:
            interval = 20.0 if pings else None
            self._server = listen(self._converse, host, port, max_size=limit_bytes, compression=None, ping_interval=interval)
        except (OSError, OverflowError) as error:
            raise cannot_listen(host, port, error) from error
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """``ws://HOST:PORT``."""
        return f"ws://{self._host}:{self._server.socket.getsockname()[1]}"

    def forever(self) -> None:
        """Block until it is closed or the process interrupted."""
        while self._thread.is_alive():
            self._thread.join(timeout=0.5)

    def close(self) -> None:
        """Stop listening and give up every session."""
        self._server.shutdown()
        self._thread.join(timeout=5.0)
        self._release()

    def _converse(self, connection: object) -> None:
        from websockets.exceptions import ConnectionClosed, ConnectionClosedOK
        from websockets.sync.server import ServerConnection

        assert isinstance(connection, ServerConnection)
        conversation, meant = self._connected(), False
        try:
            while True:
                reply = conversation.answer(connection.recv())
                if reply is not None:
                    connection.send(reply)
        except HangUp:
            connection.close()
        except ConnectionClosedOK:
            meant = True
        except ConnectionClosed:
            pass
        finally:
            conversation.close(meant=meant)


class HangUp(Exception):
    """A conversation that cannot go on; the connection is closed normally."""


class Conversation(Protocol):
    """One connection as a function of messages."""

    def answer(self, data: bytes | str) -> bytes | str | None:
        """What is sent back; raises ``HangUp`` to close the connection."""

    def close(self, *, meant: bool) -> None:
        """The connection is gone."""


_ELSEWHERE = "choose another --port, or 0 for a free one; --host is an IPv4 address or a name of this machine"


def cannot_listen(host: str, port: int, error: Exception) -> UserError:
    """The user's view of a port that is taken, or of an interface that does not exist."""
    return UserError("the policy server cannot listen there", where=f"{host}:{port}", why=str(error), next_step=_ELSEWHERE)


def _portico(make: Callable[[], Policy], host: str, port: int, limit_bytes: int) -> Server:
    from portico.policies.serving.portico_session import PorticoSession

    seats = Seats(make)
    return SocketServer(lambda: PorticoSession(seats, limit_bytes), host, port, limit_bytes, pings=True, release=seats.close)


def _navarena(make: Callable[[], Policy], host: str, port: int, limit_bytes: int) -> Server:
    from portico.policies.serving.navarena_agent import PolicyAgent
    from portico.policies.serving.navarena_session import NavArenaSession

    agent = PolicyAgent(make)
    return SocketServer(lambda: NavArenaSession(agent), host, port, limit_bytes, pings=False, release=agent.close)


def _http(make: Callable[[], Policy], host: str, port: int, limit_bytes: int) -> Server:
    from portico.policies.serving.http_server import HttpServer

    return HttpServer(Seats(make), host, port, limit_bytes)


#: Wire -> what makes a server that speaks it.
WIRES: dict[str, Callable[[Callable[[], Policy], str, int, int], Server]] = {"portico": _portico, "navarena": _navarena, "http": _http}
