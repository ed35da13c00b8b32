"""The client of NavArena-Server's protocol, and a policy behind such a server.

The protocol has no handshake: what a server needs is asked of it by an observation outside an episode, which every server answers with an error and
Portico's own with the policy's spec as well; other servers are told by the options what to expect.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from portico.errors import UserError
from portico.interface import Action, Brief, Need, Observation, PolicyFailure, PolicySpec
from portico.policies.remote.portico_wire import unreadable
from portico.policies.remote.socket import CONNECT_WAITS_S, Socket
from portico.policies.wires.messages import DEFAULT_LIMIT_BYTES, MIB
from portico.policies.wires.navarena import ImageFormat, Message, MessageType, pack, unpack
from portico.policies.wires.navarena_values import EXTENSION, action_from, observation_data, task_data
from portico.policies.wires.structure import Mismatch, structured

#: Seconds between the five attempts of NavArena's own client.
NAVARENA_WAITS_S = (2.0, 4.0, 8.0, 16.0)
_DEFAULT_NEEDS = "rgb+depth+odometry+pose"


class NavArenaClient:
    """NavArena's client: messages numbered over everything it sends, answers matched to them.

    Args:
        deadline_s: for an answer and for connecting. strict: whether an answer with another number is an error or a warning.

    Raises:
        PolicyFailure: nobody answers after as many attempts as ``waits_s`` has waits, and one.
    """

    def __init__(
        self,
        url: str,
        *,
        deadline_s: float = 30.0,
        image_format: ImageFormat = "png",
        strict: bool = True,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        waits_s: Sequence[float] = NAVARENA_WAITS_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url, self._deadline_s, self._image_format, self._strict = url, deadline_s, image_format, strict
        self._socket = Socket(url, limit_bytes=limit_bytes, timeout_s=deadline_s, pings=False, waits_s=waits_s, sleep=sleep)
        self._seq = 0

    def start_episode(self, config: Mapping[str, Any]) -> None:
        """Begin an episode; ``config`` is the payload as it is, with its ``task``. Nothing is answered unless it fails."""
        self._send("episode_start", config)

    def act(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        """The action for an observation.

        Raises:
            PolicyFailure: the server reports an error, answers another message, or does not answer in time.
        """
        self._send("observation", observation)
        reply = self.receive()
        if reply.type == "error":
            raise PolicyFailure(
                "server",
                f"the policy's server says: {str(reply.payload.get('error'))[:500]}",
                where=self.url,
                why="" if reply.seq == self._seq else "it is about the start of the episode",
                next_step="look at what the server printed; the same command runs this episode again",
            )
        if reply.type != "action":
            raise unreadable(self.url, Mismatch("type", "action", reply.type))
        if reply.seq != self._seq:
            if self._strict:
                raise unreadable(self.url, Mismatch("seq", str(self._seq), str(reply.seq)))
            warnings.warn(f"{self.url} answered message {reply.seq}, not {self._seq}", stacklevel=2)
        return reply.payload

    def end_episode(self, result: Mapping[str, Any]) -> None:
        """End an episode; never answered."""
        self._send("episode_end", result)

    def receive(self) -> Message:
        """The next frame.

        Raises:
            PolicyFailure: none came in time, or it is no message.
        """
        data = self._socket.receive(self._deadline_s)
        try:
            return unpack(data if isinstance(data, bytes) else data.encode())
        except ValueError as error:
            raise PolicyFailure(
                "parse",
                "the answer of the policy's server cannot be read",
                where=self.url,
                why=str(error),
                next_step="see whether it speaks NavArena's protocol",
            ) from error

    def close(self) -> None:
        """Hang up politely."""
        self._socket.close()

    def drop(self) -> None:
        """Hang up at once."""
        self._socket.drop()

    def _send(self, kind: MessageType, payload: Mapping[str, Any]) -> None:
        self._seq += 1
        self._socket.send(pack(kind, payload, self._seq, time.time(), self._image_format))

    def greet(self) -> Message:
        """An observation outside an episode: what the server answers it with.

        Raises:
            PolicyFailure: it is no error about this message, which every server must answer with.
        """
        self._send("observation", {})
        reply = self.receive()
        if reply.type != "error" or reply.seq != self._seq:
            raise unreadable(self.url, Mismatch("type", f"an error about message {self._seq}", f"{reply.type} about message {reply.seq}"))
        return reply


class NavArenaWire:
    """A policy behind a NavArena server.

    Args:
        needs, size: what is sent to a server that does not say what it needs. image_format: raw, png or jpeg.

    Raises:
        UserError: an option that cannot be read. PolicyFailure: nobody answers, or what answers speaks something else.
    """

    def __init__(self, url: str, *, deadline_s: float, limit_mib: float, needs: str = "", size: str = "", image_format: str = "raw") -> None:
        if image_format not in get_args(ImageFormat):
            raise UserError(f"unknown image format {image_format!r}", where=url, next_step=f"choose one of {', '.join(get_args(ImageFormat))}")
        self._format: ImageFormat = image_format  # type: ignore[assignment]
        self._url, self._deadline_s, self._limit_bytes = url, deadline_s, int(limit_mib * MIB)
        self._extended = False
        self._client: NavArenaClient | None = self._connected()
        self._in_episode = False
        self.spec = self._greeted(self._client, needs, size)

    def reset(self, brief: Brief) -> None:
        """End the last episode and begin the next, on a new connection where the old one is lost."""
        if self._client is None:
            self._client = self._connected()
        elif self._in_episode:
            self._client.end_episode({"success": False})
        self._client.start_episode(task_data(brief, extended=self._extended))
        self._in_episode = True

    def act(self, observation: Observation) -> Action:
        """Ask for a decision. After a failure nothing of the connection is used again: late answers would be taken for others."""
        if self._client is None:
            raise PolicyFailure("transport", "the connection to the policy's server was lost", where=self._url, next_step="call reset(brief) first")
        try:
            return action_from(self._client.act(observation_data(observation, extended=self._extended)))
        except Mismatch as error:
            self._give_up()
            raise unreadable(self._url, error) from error
        except PolicyFailure:
            self._give_up()
            raise

    def observe(self, observation: Observation) -> None:
        """NavArena has no message for it."""
        raise PolicyFailure("unsupported", "NavArena's protocol has no frames that need no decision", where=self._url)

    def close(self) -> None:
        """End the episode and the connection."""
        if self._client is not None:
            with contextlib.suppress(PolicyFailure):
                if self._in_episode:
                    self._client.end_episode({})
            self._client.close()
        self._client, self._in_episode = None, False

    def _connected(self) -> NavArenaClient:
        return NavArenaClient(self._url, deadline_s=self._deadline_s, image_format=self._format, limit_bytes=self._limit_bytes, waits_s=CONNECT_WAITS_S)

    def _greeted(self, client: NavArenaClient, needs: str, size: str) -> PolicySpec:
        reply = client.greet()
        if EXTENSION in reply.payload:
            self._extended = True
            try:
                return structured(PolicySpec, reply.payload[EXTENSION], "spec")
            except Mismatch as error:
                raise unreadable(self._url, error) from error
        return PolicySpec(
            "navarena", needs=_needs(needs or _DEFAULT_NEEDS), stages=frozenset({"point", "object", "image"}), image_size=image_size(size), seedable=False
        )

    def _give_up(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.drop()
        self._client, self._in_episode = None, False


def _needs(text: str) -> frozenset[Need]:
    names = frozenset(filter(None, text.split("+")))
    if strange := sorted(names - set(get_args(Need))):
        raise UserError(f"unknown need {strange[0]!r}", where=f"needs={text}", next_step=f"join some of {', '.join(get_args(Need))} by +")
    return names  # type: ignore[return-value]


def image_size(text: str) -> tuple[int, int] | None:
    """``640x480`` as (width, height); None for no text.

    Raises:
        UserError: it is no size.
    """
    if not text:
        return None
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) > 0 and int(height) > 0):
        raise UserError("the image size cannot be read", where=f"size={text}", next_step="write for example size=640x480")
    return int(width), int(height)
