"""A client of ``/chat/completions`` over plain HTTP: one deadline per request, retries inside it, every HTTP call counted."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from portico.agent.contract import ProviderFailure, Requests
from portico.agent.vlm.cassette import Call, Cassette, key_of
from portico.agent.vlm.profiles import Profile
from portico.errors import UserError
from portico.interface import FailureKind

_BACKOFF_S, _MOST_BACKOFF_S = 1.0, 8.0
_SHOWN = 200


@dataclass(frozen=True)
class Reply:
    """A usable answer: its text, why it ended (``stop``, ``length``, ``content_filter`` …), what the model refused, tokens."""

    text: str
    finish: str
    refusal: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class ChatClient:
    """Asks one provider.

    Args:
        profile: where and how. cassette: records or replays its calls. sleep: waits, for tests.
    """

    def __init__(self, profile: Profile, cassette: Cassette | None = None, sleep: Callable[[float], None] = time.sleep) -> None:
        self.profile, self.cassette, self._sleep = profile, cassette, sleep
        self._pool: ThreadPoolExecutor | None = None

    def complete(self, messages: list[dict[str, Any]], *, purpose: str, max_tokens: int, requests: Requests, seconds_left: float) -> Reply:
        """One request, tried again where that may help, all within the profile's timeout and the episode's time.

        Raises:
            BudgetSpent: no HTTP call is left. ProviderFailure: no usable answer came in time.
        """
        body = {"model": self.profile.model, "messages": messages, "stream": False, self.profile.max_tokens_name: max_tokens, **self.profile.body}
        if self.profile.temperature is not None:
            body["temperature"] = self.profile.temperature
        key, began = key_of(body), time.monotonic()
        deadline = began + min(self.profile.timeout_s, max(seconds_left, 0.0))
        for attempt in range(self.profile.retries + 1):
            requests.spend_request(purpose)
            asked = time.monotonic()
            call = self._call(key, body, deadline - asked)
            reply, failure, wait_s = _read(call, attempt)
            facts = {"purpose": purpose, "status": call.get("status"), "try": attempt + 1, "request": key[:12]}
            facts |= {"tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out, "finish": reply.finish} if reply else {"failed": failure[1]}
            requests.note_reply(facts, seconds=time.monotonic() - asked)
            if reply is not None:
                return reply
            last = attempt == self.profile.retries
            if wait_s is None or last or time.monotonic() + wait_s >= deadline:
                where = f"{self.profile.base_url} ({purpose}, try {attempt + 1})"
                raise ProviderFailure(failure[0], "the model's provider failed", where=where, why=failure[1], next_step=self._remedy(*failure))
            if self.cassette is None or self.cassette.mode == "record":
                self._sleep(wait_s)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the thread that waits for answers."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _call(self, key: str, body: Mapping[str, Any], timeout_s: float) -> Call:
        """One HTTP call, or its recording: ``{"status", "body", "retry_after"}`` or ``{"error", "kind"}``."""
        if self.cassette is not None and self.cassette.mode == "replay":
            return self.cassette.play(key)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="portico-vlm")
        # A loop of its own in a thread of its own: the deadline cuts off even a server that trickles, whoever else runs a loop here.
        call: Call = self._pool.submit(asyncio.run, self._post(body, timeout_s)).result()
        if self.cassette is not None:
            self.cassette.write({"key": key, **call})
        return call

    async def _post(self, body: Mapping[str, Any], timeout_s: float) -> Call:
        httpx = _httpx()
        if timeout_s <= 0.0:
            return {"error": "no time was left", "kind": "timeout"}
        try:
            async with asyncio.timeout(timeout_s), httpx.AsyncClient(timeout=timeout_s) as client:
                response = await client.post(f"{self.profile.base_url.rstrip('/')}/chat/completions", json=body, headers=self._headers())
        except (TimeoutError, httpx.TimeoutException):
            return {"error": f"no answer within {timeout_s:.1f} s", "kind": "timeout"}
        except httpx.HTTPError as error:
            return {"error": f"{type(error).__name__}: {error}", "kind": "transport"}
        return {"status": response.status_code, "body": self._without_key(response.text), "retry_after": response.headers.get("retry-after")}

    def _remedy(self, kind: FailureKind, why: str) -> str:
        if why.startswith(("401", "403")):
            key = self.profile.key_env
            return (
                f"check the key in the environment variable {key}; {_NEXT}" if key else f"name the variable that holds the key in the profile: key_env; {_NEXT}"
            )
        first = {"refused": "check the model's name and the profile; ", "transport": "see whether anybody answers at that address; "}
        return first.get(kind, "") + _NEXT

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {provider_key(self.profile)}"} if self.profile.key_env else {}

    def _without_key(self, text: str) -> str:
        """Some providers repeat a key that they refuse; records and cassettes never hold it."""
        return text.replace(provider_key(self.profile), "(the key)") if self.profile.key_env else text


def provider_key(profile: Profile) -> str:
    """The key from the environment, without the line end that files leave behind.

    Raises:
        UserError: it is missing, or cannot be one.
    """
    name = profile.key_env
    key = os.environ.get(name, "").strip()
    if not key:
        step = f"export {name}=..., or choose another profile: agent?reasoner=vlm,profile=vllm"
        raise UserError("the provider's key is missing", where=f"environment variable {name}", next_step=step)
    if not key.isascii() or not key.isprintable():
        raise UserError(
            "the provider's key holds characters that no key has", where=f"environment variable {name}", next_step=f"set {name} again: one line of ASCII"
        )
    return key


_NEXT = "the same command tries episodes in error again and keeps finished ones"


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise UserError("the vlm reasoner needs httpx", next_step='pip install "portico-nav[vlm]"') from error
    return httpx


def _read(call: Call, attempt: int) -> tuple[Reply | None, tuple[FailureKind, str], float | None]:
    """A reply, or why there is none and how long to wait before another try; no wait where trying again is pointless."""
    backoff = min(_BACKOFF_S * 2.0**attempt, _MOST_BACKOFF_S)
    if "error" in call:
        kind: FailureKind = "timeout" if call.get("kind") == "timeout" else "transport"
        return None, (kind, str(call["error"])), backoff if kind == "transport" else None
    status = int(call["status"])
    if status == 429:
        return None, ("server", "429: too many requests"), _retry_after(call.get("retry_after"), backoff)
    if status >= 500 or status == 408:
        return None, ("server", f"{status}: {str(call['body'])[:_SHOWN]}"), backoff
    if status != 200:
        return None, ("refused", f"{status}: {str(call['body'])[:_SHOWN]}"), None
    try:
        return _reply(json.loads(call["body"])), ("server", ""), None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        return None, ("parse", f"200, but no chat completion: {type(error).__name__}: {error}"), backoff


def _reply(envelope: Any) -> Reply:
    choice = envelope["choices"][0]
    message, usage = choice["message"], envelope.get("usage") or {}
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    counts = (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
    return Reply(_whole(content), _whole(choice.get("finish_reason") or ""), _whole(message.get("refusal") or ""), *counts)


def _whole(said: object) -> str:
    """Text without halves of characters, which no file and no other server takes."""
    return str(said).encode(errors="replace").decode()


def _retry_after(value: Any, otherwise: float) -> float:
    """Seconds of a Retry-After header; dates and nonsense fall back."""
    try:
        return max(float(value), 0.0)
    except (TypeError, ValueError):
        return otherwise
