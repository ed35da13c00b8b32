"""A policy per session: kept while the session lives, found again after a broken connection, let go when too many wait."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from portico.errors import PolicyRefused
from portico.interface import Observer, Policy, PolicyFailure, PolicySpec
from portico.policies.wires.messages import action_data, brief_of, error_data, observation_of
from portico.policies.wires.structure import Mismatch, shown

#: A message carried out: the plain data of its answer.
Answer = dict[str, Any]
_KINDS = ("reset", "observe", "act", "end")


class Seat:
    """A session's policy, and the last answer that it gave, so that a message sent twice is carried out once."""

    def __init__(self, session: str, policy: Policy) -> None:
        self.session, self.policy = session, policy
        self.seq = 0
        self.lock = threading.Lock()
        self._answer: Answer = {}
        self._in_episode = False

    def answer(self, message: Answer) -> Answer:
        """Carry a message out, or repeat the answer it already had; never raises."""
        with self.lock:
            seq = message.get("seq")
            if not isinstance(seq, int) or isinstance(seq, bool):
                return error_data(Mismatch("seq", "a whole number", shown(seq)))
            if seq == self.seq and self._answer:
                return self._answer
            if seq != self.seq + 1:
                return error_data(Mismatch("seq", f"{self.seq + 1}, or {self.seq} again", str(seq)), seq)
            try:
                self._answer = {**self._carried_out(message), "seq": seq}
            except Exception as error:
                self._answer = error_data(error, seq)
            self.seq = seq
            return self._answer

    def _carried_out(self, message: Answer) -> Answer:
        kind = message.get("type")
        if kind == "reset":
            brief = brief_of(message.get("brief"))
            self._in_episode = False
            self.policy.reset(brief)
            self._in_episode = True
            return {"type": "done", "episode": brief.episode_key}
        if kind not in _KINDS:
            raise Mismatch("type", f"one of {', '.join(_KINDS)}", shown(kind))
        if not self._in_episode:
            raise Mismatch("type", "reset, because no episode is under way", shown(kind))
        if kind == "end":
            self._in_episode = False
            return {"type": "done"}
        observation = observation_of(message.get("observation"))
        if kind == "observe":
            if not isinstance(self.policy, Observer):
                raise PolicyFailure("unsupported", f"{self.policy.spec.name} takes no frames that it need not decide on")
            self.policy.observe(observation)
            return {"type": "done"}
        return {"type": "action", "action": action_data(self.policy.act(observation))}


class Seats:
    """The sessions of one server.

    Args:
        make: a fresh policy. most: sessions kept at once; the one that was silent longest gives way.

    Raises:
        PolicyRefused: the policy needs what no observation holds.
    """

    def __init__(self, make: Callable[[], Policy], *, most: int = 32) -> None:
        self._make, self._most = make, most
        self._seats: OrderedDict[str, Seat] = OrderedDict()
        self._lock = threading.Lock()
        self._spare: Policy | None = make()
        self.spec: PolicySpec = self._spare.spec
        self.observes = isinstance(self._spare, Observer)
        if hidden := sorted(self.spec.needs & {"oracle", "map"}):
            raise PolicyRefused(
                f"policy {self.spec.name!r} cannot be served",
                why=f"it needs {', '.join(hidden)}, which never travels",
                next_step="run it in-process: `portico run SUITE --policy NAME --allow-privileged`",
            )

    def open(self, session: str = "") -> Seat:
        """The seat of a session that is still kept, else a new one under a new name, or under the name given if nobody has it."""
        with self._lock:
            if session in self._seats:
                self._seats.move_to_end(session)
                return self._seats[session]
            name = session or uuid.uuid4().hex
            policy, self._spare = self._spare or self._make(), None
            self._seats[name] = Seat(name, policy)
            while len(self._seats) > self._most:
                _, oldest = self._seats.popitem(last=False)
                oldest.policy.close()
            return self._seats[name]

    def leave(self, session: str) -> None:
        """Give up a session."""
        with self._lock:
            seat = self._seats.pop(session, None)
        if seat is not None:
            seat.policy.close()

    def close(self) -> None:
        """Give up every session."""
        with self._lock:
            seats, self._seats = list(self._seats.values()), OrderedDict()
            policies = [seat.policy for seat in seats] + ([self._spare] if self._spare else [])
            self._spare = None
        for policy in policies:
            policy.close()
