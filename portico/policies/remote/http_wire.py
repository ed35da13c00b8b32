"""The client of HTTP/JSON servers: ``GET /health``, ``POST /reset``, ``POST /act``. The smallest thing that a model author can write.

A server may leave out all but ``spec.name`` of its health and all but ``action`` of its answers. What it declares is used: with ``observes`` it gets
frames that need no decision, with ``repeats`` a request whose answer was lost is sent again under the same ``seq``.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from typing import Any

from portico.interface import Action, Brief, Observation, PolicyFailure
from portico.policies.remote.http_channel import HttpChannel
from portico.policies.wires.messages import MIB, action_of, spec_of
from portico.policies.wires.structure import Mismatch, plain, shown

_ASK_AGAIN_S = 0.5


class HttpWire:
    """One session with an HTTP/JSON server.

    Raises:
        PolicyFailure: nobody answers, or what answers describes no policy.
    """

    def __init__(self, url: str, *, deadline_s: float, limit_mib: float) -> None:
        self._http = HttpChannel(url, deadline_s=deadline_s, limit_bytes=int(limit_mib * MIB))
        self._deadline_s = deadline_s
        self._health = self._ready()
        self._session, self._seq, self._failed = uuid.uuid4().hex, 0, False
        try:
            self.spec = spec_of(self._health)
        except Mismatch as error:
            raise PolicyFailure(
                "refused",
                "the server describes no policy",
                where=f"{self._http.url}/health",
                why=str(error),
                next_step='answer {"spec": {"name": "mine"}} at least',
            ) from error

    def reset(self, brief: Brief) -> None:
        """Begin an episode; after a failure in a new session, because nobody knows what the old one has seen."""
        if self._failed:
            self._session, self._seq, self._failed = uuid.uuid4().hex, 0, False
        self._ask("/reset", {"brief": plain(brief)})

    def act(self, observation: Observation) -> Action:
        """Ask for a decision."""
        reply = self._ask("/act", {"observation": plain(observation)})
        try:
            return action_of(reply.get("action"))
        except Mismatch as error:
            raise PolicyFailure(
                "invalid",
                "the policy's server answered with something that is no decision",
                where=f"{self._http.url}/act",
                why=str(error),
                next_step="mend the server's answer; docs/remote-policies.md shows what is expected",
            ) from error

    def observe(self, observation: Observation) -> None:
        """Show a frame that needs no decision."""
        if not self._health.get("observes"):
            raise PolicyFailure("unsupported", f"{self.spec.name} takes no frames that it need not decide on", where=self._http.url)
        self._ask("/observe", {"observation": plain(observation)})

    def close(self) -> None:
        """End the session."""
        self._end()
        self._http.close()

    def _end(self) -> None:
        if self._seq and self._health.get("repeats"):
            with contextlib.suppress(PolicyFailure):
                self._http.post("/end", {"session": self._session, "seq": self._seq + 1})
        self._seq = 0

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self._seq += 1
        body = {"session": self._session, "seq": self._seq, **body}
        before, self._failed = self._failed, True
        try:
            reply = self._http.post(path, body)
        except PolicyFailure as failure:
            if failure.kind != "transport" or not self._health.get("repeats"):
                raise
            reply = self._http.post(path, body)
        self._failed = before
        seq = reply.get("seq", self._seq)
        if not isinstance(seq, int) or seq != self._seq:
            raise PolicyFailure(
                "invalid",
                "the policy's server answered another request",
                where=f"{self._http.url}{path}",
                why=f"expected seq {self._seq}, received {shown(seq)}",
                next_step="answer with the seq of the request, or with none",
            )
        return reply

    def _ready(self) -> dict[str, Any]:
        """The server's health once it has loaded what it needs."""
        due = time.monotonic() + self._deadline_s
        while True:
            health = self._http.get("/health")
            status = health.get("status", "ready")
            if isinstance(status, str) and status == "loading" and time.monotonic() < due:
                time.sleep(_ASK_AGAIN_S)
                continue
            if not isinstance(status, str) or status not in ("ready", "ok", "healthy"):
                raise PolicyFailure(
                    "server",
                    f"the policy's server is not ready: {shown(status)}",
                    where=f"{self._http.url}/health",
                    why=str(health.get("reason") or ""),
                    next_step="wait until it has loaded its model, or look at what it printed",
                )
            return health
