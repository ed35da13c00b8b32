"""A policy per session: kept while the session lives, found again after a broken connection, and handed on when it is over.

Policies are costly to make and serve one episode after the other, so one that is free is used before another is made.
"""

from __future__ import annotations

import threading
import time
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
#: How long a session whose connection broke is kept for its client to come back.
GRACE_S = 60.0


class Seat:
    """A session's policy, and the last answer that it gave, so that a message sent twice is carried out once."""

    def __init__(self, session: str, policy: Policy) -> None:
        self.session, self.policy = session, policy
        self.seq = 0
        self.lock = threading.Lock()
        self.lost_at: float | None = None
        self.opened = 0
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
            except (Exception, SystemExit) as error:
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
        make: a fresh policy. most: sessions kept at once; the one that was opened longest ago gives way.
        clock: seconds, for how long a lost session is kept.

    Raises:
        PolicyRefused: the policy needs what no observation holds.
    """

    def __init__(self, make: Callable[[], Policy], *, most: int = 32, clock: Callable[[], float] = time.monotonic) -> None:
        self._make, self._most, self._clock = make, most, clock
        self._seats: OrderedDict[str, Seat] = OrderedDict()
        self._lock = threading.Lock()
        first = make()
        self._free: list[Policy] = [first]
        self.spec: PolicySpec = first.spec
        self.observes = isinstance(first, Observer)
        if hidden := sorted(self.spec.needs & {"oracle", "map"}):
            raise PolicyRefused(
                f"policy {self.spec.name!r} cannot be served",
                why=f"it needs {', '.join(hidden)}, which never travels",
                next_step="run it in-process: `portico run SUITE --policy NAME --allow-privileged`",
            )

    def open(self, session: str = "") -> Seat:
        """The seat of a session that is still kept, else a new one under a new name, or under the name given if nobody has it."""
        with self._lock:
            self._sweep()
            if session in self._seats:
                self._seats.move_to_end(session)
                seat = self._seats[session]
                seat.lost_at, seat.opened = None, seat.opened + 1
                return seat
            name = session or uuid.uuid4().hex
            while len(self._seats) >= self._most:
                self._release(next(iter(self._seats)))
            self._seats[name] = Seat(name, self._free.pop() if self._free else self._make())
            return self._seats[name]

    def lose(self, session: str, opened: int) -> None:
        """The connection that opened the session as the ``opened``-th broke: unless another has taken it over, it is kept for a while."""
        with self._lock:
            seat = self._seats.get(session)
            if seat is not None and seat.opened == opened:
                seat.lost_at = self._clock()

    def leave(self, session: str) -> None:
        """The session is over."""
        with self._lock:
            self._release(session)

    def close(self) -> None:
        """Every session is over, and no policy is kept."""
        with self._lock:
            for name in list(self._seats):
                self._release(name)
            policies, self._free = self._free, []
        for policy in policies:
            policy.close()

    @property
    def held(self) -> int:
        """Policies in existence: at work and free."""
        return len(self._seats) + len(self._free)

    def _sweep(self) -> None:
        now = self._clock()
        for name in [n for n, seat in self._seats.items() if seat.lost_at is not None and now - seat.lost_at > GRACE_S]:
            self._release(name)

    def _release(self, session: str) -> None:
        """Take a session's policy back; one that is still busy with a decision nobody waits for is not used again."""
        seat = self._seats.pop(session, None)
        if seat is not None and seat.lock.acquire(blocking=False):
            self._free.append(seat.policy)
            seat.lock.release()
