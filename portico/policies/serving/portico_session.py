"""Portico's own protocol from the server's side: one connection's bytes in, bytes out."""

from __future__ import annotations

from portico.policies.serving.seats import Answer, Seat, Seats
from portico.policies.wires.arrays import from_msgpack, to_msgpack
from portico.policies.wires.messages import agreed_version, error_data, welcome
from portico.policies.wires.structure import Mismatch, shown


class PorticoSession:
    """One connection of a client. A session outlives its connection for as long as the server keeps its seat.

    Args:
        seats: where sessions are kept. limit_bytes: largest message, told to the client.
    """

    def __init__(self, seats: Seats, limit_bytes: int) -> None:
        self._seats, self._limit_bytes = seats, limit_bytes
        self._seat: Seat | None = None
        self._opened = 0

    def answer(self, data: bytes | str) -> bytes:
        """The answer to one message; whatever is wrong with it is said in the answer."""
        try:
            message = from_msgpack(data) if isinstance(data, bytes) else None
            if not isinstance(message, dict):
                raise Mismatch("", "one msgpack map in a binary message", shown(data[:40] if message is None else message))
            return to_msgpack(self._welcome(message) if self._seat is None else self._seat.answer(message))
        except Mismatch as error:
            return to_msgpack(error_data(error))

    def close(self, *, meant: bool) -> None:
        """The connection is gone; ``meant`` when the client said goodbye, so that its session is given up."""
        if self._seat is None:
            return
        if meant:
            self._seats.leave(self._seat.session)
        else:
            self._seats.lose(self._seat.session, self._opened)

    def _welcome(self, message: Answer) -> Answer:
        kind = message.get("type")
        if not isinstance(kind, str) or kind != "hello":
            raise Mismatch("type", "hello first", shown(kind))
        version = agreed_version(message, "this server")
        session = "" if message.get("session") is None else message["session"]
        if not isinstance(session, str) or len(session) > 64:
            raise Mismatch("session", "text of at most 64 characters", shown(session))
        try:
            self._seat = self._seats.open(session)
        except Exception as error:
            return error_data(error)
        self._opened = self._seat.opened
        return welcome(version, self._seat.session, self._seats.spec, self._limit_bytes, seq=self._seat.seq, observes=self._seats.observes)
