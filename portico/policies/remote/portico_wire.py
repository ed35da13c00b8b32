"""The client of Portico's own protocol over a WebSocket: handshake, deadlines, and retries that never feed a frame twice."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from portico.interface import Action, Brief, Observation, PolicyFailure, PolicySpec
from portico.policies.remote.socket import Socket
from portico.policies.wires.arrays import from_msgpack, to_msgpack
from portico.policies.wires.messages import MIB, action_of, agreed_version, failure_of, hello, spec_of
from portico.policies.wires.structure import Mismatch, plain, shown


class PorticoWire:
    """One session with a server; the connection may break and be made again within it.

    Args:
        deadline_s: for every answer, retries included. limit_mib: largest answer that is accepted.

    Raises:
        PolicyFailure: nobody answers, or what answers speaks another protocol or version.
    """

    def __init__(self, url: str, *, deadline_s: float, limit_mib: float) -> None:
        self.url, self._deadline_s, self._limit_bytes = url, deadline_s, int(limit_mib * MIB)
        self._session, self._seq = "", 0
        self._socket: Socket | None = None
        self.spec = self._connected()

    def reset(self, brief: Brief) -> None:
        """Begin an episode, on a new connection where the old one is lost; a session that does not even take a reset is replaced."""
        if self._socket is None:
            self.spec = self._connected(anew=True)
        try:
            self._ask({"type": "reset", "brief": plain(brief)}, "done")
        except PolicyFailure:
            self._give_up()
            self._session = ""
            raise

    def act(self, observation: Observation) -> Action:
        """Ask for a decision."""
        reply = self._ask({"type": "act", "observation": plain(observation)}, "action")
        try:
            return action_of(reply.get("action"))
        except Mismatch as error:
            raise unreadable(self.url, error) from error

    def observe(self, observation: Observation) -> None:
        """Show a frame that needs no decision."""
        self._ask({"type": "observe", "observation": plain(observation)}, "done")

    def close(self) -> None:
        """End the session."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _ask(self, message: dict[str, Any], expected: str) -> dict[str, Any]:
        """Send a message and take its answer; where the connection breaks, once more within the deadline."""
        if self._socket is None:
            raise PolicyFailure("transport", "the connection to the policy's server was lost", where=self.url, next_step="call reset(brief) first")
        self._seq += 1
        data, due = to_msgpack({**message, "seq": self._seq}), time.monotonic() + self._deadline_s
        try:
            reply = self._exchanged(data, due)
            if reply.get("type") != expected:
                raise unreadable(self.url, Mismatch("type", expected, shown(reply.get("type"))))
            return reply
        except PolicyFailure as failure:
            if failure.kind in ("timeout", "transport", "parse", "refused"):
                self._give_up()
            raise

    def _exchanged(self, data: bytes, due: float) -> dict[str, Any]:
        assert self._socket is not None
        try:
            self._socket.send(data)
            return self._answer(due)
        except PolicyFailure as failure:
            if failure.kind != "transport":
                raise
            broken = failure
        self._give_up()
        try:
            self._connected()
        except PolicyFailure as failure:
            raise broken from failure
        self._socket.send(data)
        return self._answer(due)

    def _answer(self, due: float) -> dict[str, Any]:
        """The answer to the last message; answers to earlier ones that came too late are passed over."""
        assert self._socket is not None
        while True:
            reply = self._read(due)
            if reply.get("seq") == self._seq or (reply.get("type") == "error" and reply.get("seq") == 0):
                if reply.get("type") == "error":
                    raise failure_of(reply, self.url)
                return reply
            if reply["seq"] > self._seq:
                raise unreadable(self.url, Mismatch("seq", str(self._seq), shown(reply["seq"])))

    def _read(self, due: float) -> dict[str, Any]:
        assert self._socket is not None
        try:
            data = self._socket.receive(due - time.monotonic())
        except PolicyFailure as failure:
            if failure.kind == "timeout":
                failure = _late_by_deadline(failure, self._deadline_s)
            raise failure from failure.__cause__
        try:
            reply = from_msgpack(data) if isinstance(data, bytes) else data
            if not isinstance(reply, dict):
                raise Mismatch("", "one msgpack map in a binary message", shown(reply))
            for name, kind, words in (("type", str, "text"), ("seq", int, "a whole number")):
                if not isinstance(reply.get(name), kind):
                    raise Mismatch(name, words, shown(reply.get(name)))
        except Mismatch as error:
            raise unreadable(self.url, error) from error
        return reply

    def _connected(self, *, anew: bool = False) -> PolicySpec:
        """Connect and shake hands, going on with this session where the server still keeps it; ``anew``: wherever it stands."""
        self._socket = Socket(self.url, limit_bytes=self._limit_bytes, timeout_s=self._deadline_s)
        try:
            self._socket.send(to_msgpack(hello(self._session)))
            reply = self._read(time.monotonic() + self._deadline_s)
            if reply.get("type") == "error":
                raise failure_of(reply, self.url)
            if reply.get("type") != "welcome":
                raise Mismatch("type", "welcome", shown(reply.get("type")))
            agreed_version({**reply, "versions": [reply.get("version")]}, "this client")
            if anew or not self._session:
                self._seq = reply["seq"]
            elif reply.get("seq") not in (self._seq, self._seq - 1):
                raise PolicyFailure("transport", "the policy's server lost the episode", where=self.url, next_step="the same command runs it again")
            self._session = str(reply.get("session") or "")
            return spec_of(reply)
        except Mismatch as error:
            self._give_up()
            raise _no_agreement(self.url, error) from error
        except PolicyFailure:
            self._give_up()
            raise

    def _give_up(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(Exception):
                self._socket.drop()
        self._socket = None


def unreadable(url: str, error: Exception) -> PolicyFailure:
    """An answer that is no decision; ``invalid`` where it can be read, else ``parse``."""
    readable = isinstance(error, Mismatch) and error.where not in ("", "seq", "type")
    return PolicyFailure(
        "invalid" if readable else "parse",
        "the policy's server answered with something that is no decision" if readable else "the answer of the policy's server cannot be read",
        where=url,
        why=str(error),
        next_step="mend the server's answer; docs/remote-policies.md shows what is expected",
    )


def _late_by_deadline(failure: PolicyFailure, deadline_s: float) -> PolicyFailure:
    return PolicyFailure(
        "timeout", f"the policy's server did not answer within {deadline_s:.3g} s", where=failure.where, why=failure.why, next_step=failure.next_step
    )


def _no_agreement(url: str, error: Mismatch) -> PolicyFailure:
    return PolicyFailure(
        "refused",
        "client and server speak different protocols or versions",
        where=url,
        why=str(error),
        next_step="install the same version of Portico on both sides, or name the wire: `remote?url=...,wire=navarena`",
    )
