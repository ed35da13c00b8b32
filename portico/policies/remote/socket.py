"""A WebSocket with deadlines and a size limit, whose faults are failures of the policy in words."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from portico.interface import PolicyFailure
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES, MIB

#: Waits between attempts to connect, seconds.
CONNECT_WAITS_S = (0.25, 0.5, 1.0)
_TOO_BIG = 1009


class Socket:
    """One connection to a server.

    Args:
        url: ``ws://HOST:PORT/PATH`` or ``wss://``. limit_bytes: largest message that is accepted.
        pings: whether a silent server is probed. waits_s: between attempts to connect.

    Raises:
        PolicyFailure: nobody answers there.
    """

    def __init__(
        self,
        url: str,
        *,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        timeout_s: float = DEFAULT_DEADLINE_S,
        pings: bool = True,
        waits_s: Sequence[float] = CONNECT_WAITS_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url, self._limit_bytes, self._timeout_s = url, limit_bytes, timeout_s
        due = time.monotonic() + timeout_s
        for attempt, wait_s in enumerate((*waits_s, None), start=1):
            try:
                self._connection = _connect(url, limit_bytes, timeout_s, pings)
                return
            except (OSError, TimeoutError) as error:
                # Who refuses may be about to start; who says nothing for as long as an answer may take is not waited for again.
                if wait_s is None or time.monotonic() >= due:
                    raise unreachable(url, error, attempts=attempt) from error
                sleep(wait_s)

    def send(self, data: bytes | str) -> None:
        """Send one message.

        Raises:
            PolicyFailure: the connection is gone, or the other side takes nothing for as long as an answer may take.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            self._connection.send(data)
        except (ConnectionClosed, OSError) as error:
            if isinstance(error, BlockingIOError) or isinstance(error.__cause__, BlockingIOError):
                raise late(self.url, self._timeout_s) from error
            raise self._broken(error) from error

    def receive(self, deadline_s: float) -> bytes | str:
        """The next message.

        Raises:
            PolicyFailure: none came in time, it is too large, or the connection is gone.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            received: bytes | str = self._connection.recv(timeout=max(0.0, deadline_s))
            return received
        except TimeoutError as error:
            raise late(self.url, deadline_s) from error
        except (ConnectionClosed, OSError) as error:
            raise self._broken(error) from error

    def close(self) -> None:
        """Say goodbye."""
        self._connection.close()

    def drop(self) -> None:
        """Hang up without waiting for anything."""
        self._connection.close_socket()

    def _broken(self, error: Exception) -> PolicyFailure:
        received, sent = getattr(error, "rcvd", None), getattr(error, "sent", None)
        # A close is echoed, so both sides' codes are the same: who closed first tells whose message was too large.
        if sent is not None and sent.code == _TOO_BIG and not getattr(error, "rcvd_then_sent", False):
            return PolicyFailure(
                "refused",
                f"the policy's server sent a message of more than {self._limit_bytes / MIB:g} MiB",
                where=self.url,
                next_step="an answer is a few kilobytes: mend the server, or raise limit_mib if it is meant to be that large",
            )
        if received is not None and received.code == _TOO_BIG:
            return PolicyFailure(
                "refused",
                "the policy's server refuses messages as large as this observation",
                where=self.url,
                why=received.reason,
                next_step="raise its limit (`portico serve --limit-mib`), or ask for smaller images",
            )
        return PolicyFailure(
            "transport",
            "the connection to the policy's server broke",
            where=self.url,
            why=str(error),
            next_step="see whether the server still runs and start it again; the same command then runs this episode again",
        )


def unreachable(url: str, error: Exception, *, attempts: int = 1) -> PolicyFailure:
    """Nobody answers at an address."""
    tried = f" ({attempts} attempts)" if attempts > 1 else ""
    return PolicyFailure(
        "transport",
        "no policy server answers",
        where=url,
        why=f"{type(error).__name__}: {error}{tried}",
        next_step="start it (a policy of Portico: `portico serve NAME --port PORT`) and check the address",
    )


def late(url: str, deadline_s: float) -> PolicyFailure:
    """A server did not answer in time."""
    return PolicyFailure(
        "timeout",
        f"the policy's server did not answer within {deadline_s:.3g} s",
        where=url,
        next_step="raise deadline_s in the policy's options if the model is that slow, or see what holds the server up",
    )


def _connect(url: str, limit_bytes: int, timeout_s: float, pings: bool) -> Any:
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
    from websockets.sync.client import connect

    try:
        interval = 20.0 if pings else None
        opened = connect(url, compression=None, max_size=limit_bytes, open_timeout=timeout_s, ping_interval=interval, close_timeout=2.0, proxy=None)
        # Entered by hand: the connection outlives this function, and every version of the library returns it here.
        connection = opened.__enter__()
        # The library waits for ever for a server that takes nothing; the kernel gives up in time.
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", *_seconds_and_micros(timeout_s)))
        return connection
    except ConnectionClosed as error:  # taken in by a process that is on its way out
        raise ConnectionResetError(str(error)) from error
    except (InvalidURI, ValueError) as error:
        raise PolicyFailure("refused", "this is no WebSocket address", where=url, why=str(error), next_step="write ws://HOST:PORT") from error
    except InvalidHandshake as error:
        raise PolicyFailure(
            "transport", "what answers is no WebSocket server", where=url, why=str(error), next_step="check port and path; for HTTP servers write http://"
        ) from error


def _seconds_and_micros(seconds: float) -> tuple[int, int]:
    """As the kernel counts; never zero, which would be no limit."""
    micros = max(1, round(seconds * 1e6))
    return micros // 1_000_000, micros % 1_000_000
