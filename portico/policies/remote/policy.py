"""``remote?url=...``: a policy that lives in another process, by whichever wire its server speaks."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Protocol

from portico.errors import UserError
from portico.interface import Action, Brief, Observation, PolicyFailure, PolicySpec
from portico.policies.wires.messages import DEFAULT_DEADLINE_S, DEFAULT_LIMIT_BYTES, MIB

INSTALL = 'pip install "portico-nav[remote]"'
#: Largest number that an option may have: eleven days, a tebibyte.
_MOST = 1e6


class Wire(Protocol):
    """One session with a server, as policies see it."""

    spec: PolicySpec

    def reset(self, brief: Brief) -> None:
        """Begin an episode, connecting anew where the connection was lost."""

    def act(self, observation: Observation) -> Action:
        """Ask for a decision."""

    def observe(self, observation: Observation) -> None:
        """Show a frame that needs no decision."""

    def close(self) -> None:
        """End the session."""


class RemotePolicy:
    """A policy behind a wire: ``remote?url=ws://127.0.0.1:8765``.

    Args:
        url: ws:// or wss:// for WebSockets, http:// or https:// for HTTP/JSON.
        wire: portico, navarena or http; by the address when left out.
        deadline_s: how long an answer may take.
        limit_mib: largest message that is accepted.
        needs: what is sent where the server cannot say it (navarena), joined by ``+``; rgb+depth+odometry+pose when left out.
        size: WIDTHxHEIGHT of images where the server cannot say it.
        image_format: of pictures on the navarena wire: raw, png or jpeg.

    Raises:
        UserError: no address, or one of no known kind.
        PolicyFailure: no server answers, or it speaks something else.
    """

    def __init__(
        self,
        url: str = "",
        wire: str = "",
        deadline_s: float | str = DEFAULT_DEADLINE_S,
        limit_mib: float | str = DEFAULT_LIMIT_BYTES / MIB,
        needs: str = "",
        size: str = "",
        image_format: str = "raw",
    ) -> None:
        if not url:
            raise UserError("the policy 'remote' needs an address", next_step="for example --policy remote?url=ws://127.0.0.1:8765")
        named = wire or ("http" if url.startswith(("http://", "https://")) else "portico")
        deadline, limit = number("deadline_s", deadline_s), number("limit_mib", limit_mib)
        self._wire = _opened(named, url, deadline, limit, needs, size, image_format)
        self.spec = self._wire.spec

    def reset(self, brief: Brief) -> None:
        """Begin an episode.

        Raises:
            PolicyFailure: the server is gone, or meanwhile serves a policy of other needs.
        """
        self._wire.reset(brief)
        if self._wire.spec != self.spec:
            raise PolicyFailure(
                "refused",
                "the server serves another policy than when the run began",
                where=self._wire.spec.name,
                why=f"{self.spec.name} version {self.spec.version} then, {self._wire.spec.name} version {self._wire.spec.version} now",
                next_step="serve the same policy again, or start another run",
            )

    def act(self, observation: Observation) -> Action:
        """Ask the server.

        Raises:
            PolicyFailure: it has no decision.
        """
        return self._wire.act(observation)

    def observe(self, observation: Observation) -> None:
        """Show the server a frame that needs no decision.

        Raises:
            PolicyFailure: it cannot take it.
        """
        self._wire.observe(observation)

    def close(self) -> None:
        """End the session."""
        self._wire.close()


def number(name: str, value: float | str, *, signed: bool = False) -> float:
    """An option as a number, above zero unless it is signed, and small enough for clocks and memories to count.

    Raises:
        UserError: it is none.
    """
    try:
        found = float(value)
    except ValueError:
        found = nan
    if not (-_MOST if signed else 0.0) < found <= _MOST:
        words = "number" if signed else "number above zero"
        raise UserError(f"the option {name} is no {words}", where=f"{name}={value}", next_step=f"write a number of at most {_MOST:g}")
    return found


def _opened(wire: str, url: str, deadline_s: float, limit_mib: float, needs: str, size: str, image_format: str) -> Wire:
    makers: dict[str, Callable[[], Wire]] = {
        "portico": lambda: _portico(url, deadline_s, limit_mib),
        "navarena": lambda: _navarena(url, deadline_s, limit_mib, needs, size, image_format),
        "http": lambda: _http(url, deadline_s, limit_mib),
    }
    if wire not in makers:
        raise UserError(f"unknown wire {wire!r}", where=url, next_step=f"choose one of {', '.join(makers)}")
    try:
        return makers[wire]()
    except ModuleNotFoundError as error:
        raise UserError("policies behind a wire need a few packages more", why=str(error), next_step=INSTALL) from error


def _portico(url: str, deadline_s: float, limit_mib: float) -> Wire:
    from portico.policies.remote.portico_wire import PorticoWire

    return PorticoWire(url, deadline_s=deadline_s, limit_mib=limit_mib)


def _navarena(url: str, deadline_s: float, limit_mib: float, needs: str, size: str, image_format: str) -> Wire:
    from portico.policies.remote.navarena_wire import NavArenaWire

    return NavArenaWire(url, deadline_s=deadline_s, limit_mib=limit_mib, needs=needs, size=size, image_format=image_format)


def _http(url: str, deadline_s: float, limit_mib: float) -> Wire:
    from portico.policies.remote.http_wire import HttpWire

    return HttpWire(url, deadline_s=deadline_s, limit_mib=limit_mib)
