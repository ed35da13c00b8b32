"""NavArena-Server's state machine, one connection's bytes in, bytes out: single episodes and batches of slots."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from portico.policies.serving.servers import HangUp
from portico.policies.wires.navarena import ImageFormat, Message, MessageType, pack, unpack


@dataclass
class Context:
    """What an agent is told of the episode that it is asked about."""

    session_id: str
    episode_id: str
    task: Mapping[str, Any]
    slot_id: str | None = None
    step: int = 0
    mode: str = field(default="sync", init=False)

    @property
    def is_first(self) -> bool:
        """Whether nothing was decided yet."""
        return self.step == 0


class Agent(Protocol):
    """Who answers. One agent serves every connection: its memory belongs under ``(session_id, slot_id)``."""

    def on_episode_start(self, context: Context, payload: Mapping[str, Any]) -> None:
        """An episode begins."""

    def predict(self, context: Context, observation: Mapping[str, Any]) -> Mapping[str, Any]:
        """Decide."""

    def on_episode_end(self, context: Context, result: Mapping[str, Any]) -> None:
        """The episode is over; ``result`` is empty where the client just went."""

    def on_disconnect(self, session_id: str) -> None:
        """The connection is gone, after the ends of all its episodes."""

    def greeting(self) -> Mapping[str, Any]:
        """What is added to the answer to an observation outside an episode."""


class NavArenaSession:
    """One connection.

    Args:
        agent: who answers. image_format: of pictures in answers.
    """

    def __init__(self, agent: Agent, image_format: ImageFormat = "png") -> None:
        self._agent, self._image_format = agent, image_format
        self._session_id = str(uuid.uuid4())
        self._context: Context | None = None
        self._in_episode = False
        self._slots: dict[str, Context] = {}

    def answer(self, data: bytes | str) -> bytes | None:
        """The answer to one frame, None where the protocol is silent.

        Raises:
            HangUp: the frame is no message.
        """
        try:
            message = unpack(data if isinstance(data, bytes) else data.encode())
        except ValueError as error:
            raise HangUp(str(error)) from error
        handlers = {
            "episode_start": self._start,
            "observation": self._observe,
            "episode_end": self._end,
            "batch_episode_start": self._start_batch,
            "batch_observation": self._observe_batch,
            "batch_episode_end": self._end_batch,
        }
        handler = handlers.get(message.type)
        if handler is None:
            return self._error(message, f"a server takes no {message.type}")
        return handler(message)

    def close(self, *, meant: bool) -> None:
        """The connection is gone: whoever is under way is told with an empty result."""
        left = [*self._slots.values(), *([self._context] if self._context is not None and self._in_episode else [])]
        self._in_episode, self._slots = False, {}
        for context in left:
            self._farewell(context, {})
        self._agent.on_disconnect(self._session_id)

    def _start(self, message: Message) -> bytes | None:
        self._context = self._new(message.payload, None)
        try:
            self._agent.on_episode_start(self._context, message.payload)
        except Exception as error:
            return self._error(message, _told(error))
        self._in_episode = True
        return None

    def _observe(self, message: Message) -> bytes:
        if not self._in_episode or self._context is None:
            return self._error(message, "an observation outside an episode", **self._agent.greeting())
        try:
            reply = self._reply("action", self._agent.predict(self._context, message.payload), message)
        except (Exception, SystemExit) as error:
            self._in_episode = False
            return self._error(message, _told(error), fatal=True)
        self._context.step += 1
        return reply

    def _end(self, message: Message) -> None:
        if self._context is not None:
            self._farewell(self._context, message.payload)
        self._in_episode = False

    def _start_batch(self, message: Message) -> bytes | None:
        episodes = message.payload.get("episodes")
        if not isinstance(episodes, dict):
            return self._error(message, "a batch start without episodes")
        for slot, payload in episodes.items():
            self._slots[slot] = self._new(payload, slot)
        try:
            for slot, payload in episodes.items():
                self._agent.on_episode_start(self._slots[slot], payload)
        except Exception as error:
            return self._error(message, _told(error))
        return None

    def _observe_batch(self, message: Message) -> bytes:
        if not self._slots:
            return self._error(message, "a batch observation outside a batch")
        try:
            actions = {slot: self._agent.predict(self._slots[slot], seen) for slot, seen in message.payload["observations"].items()}
            reply = self._reply("batch_action", {"actions": actions}, message)
        except Exception as error:
            return self._error(message, _told(error), fatal=True)
        for slot in actions:
            self._slots[slot].step += 1
        return reply

    def _end_batch(self, message: Message) -> None:
        episodes = message.payload.get("episodes")
        for slot, result in (episodes if isinstance(episodes, dict) else {}).items():
            context = self._slots.pop(slot, None)
            if context is not None:
                self._farewell(context, result)

    def _new(self, payload: Mapping[str, Any], slot: str | None) -> Context:
        task = payload.get("task") if isinstance(payload, dict) else None
        task = task if isinstance(task, dict) else {}
        given = task.get("episode_id")
        return Context(self._session_id, str(given) if given is not None else str(uuid.uuid4()), task, slot)

    def _farewell(self, context: Context, result: Mapping[str, Any]) -> None:
        try:
            self._agent.on_episode_end(context, result)
        except Exception:
            return  # the protocol is silent about the end of episodes

    def _error(self, message: Message, text: str, **more: Any) -> bytes:
        return self._reply("error", {"error": text, **more}, message)

    def _reply(self, kind: MessageType, payload: Mapping[str, Any], message: Message) -> bytes:
        return pack(kind, payload, message.seq, time.time(), self._image_format)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
