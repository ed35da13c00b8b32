"""Cassettes: HTTP calls written down while they happen, and played again without a network, errors included.

A line per call, JSON: the key of its request, the status and body or the error. Keys are SHA-256 over the request's body, so that a
changed prompt or picture is noticed; no key of a provider is ever in them.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from pathlib import Path
from typing import Any, Literal

from portico.agent.contract import ProviderFailure
from portico.errors import StorageError, UserError

Mode = Literal["replay", "record"]
Call = dict[str, Any]


def key_of(body: dict[str, Any]) -> str:
    """SHA-256 of a request's body."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Cassette:
    """A file of calls.

    Args:
        path: the file. mode: ``record`` appends to it, ``replay`` answers from it, calls of equal requests in the order they were made.

    Raises:
        UserError: there is nothing to replay, or it is damaged.
    """

    def __init__(self, path: Path, mode: Mode) -> None:
        self.path, self.mode = path, mode
        self._calls: dict[str, deque[Call]] = defaultdict(deque)
        if mode == "replay":
            self.rewind()

    def rewind(self) -> None:
        """Begin again, as every episode does: equal requests of two episodes get the same answers."""
        if self.mode == "record":
            return
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
            calls = [json.loads(line) for line in lines if line.strip()]
            self._calls = defaultdict(deque)
            for call in calls:
                if not ("error" in call or (isinstance(call["status"], int) and isinstance(call["body"], str))):
                    raise ValueError(f"a call that is neither an answer nor an error: {str(call)[:80]}")
                self._calls[call["key"]].append(call)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                "the cassette cannot be replayed", where=str(self.path), why=f"{type(error).__name__}: {error}", next_step="record it with mode=record"
            ) from error

    def play(self, key: str) -> Call:
        """The next call that was recorded for a request.

        Raises:
            ProviderFailure: there is none.
        """
        waiting = self._calls.get(key)
        if not waiting:
            raise ProviderFailure(
                "refused",
                "the cassette holds no answer to this request",
                where=str(self.path),
                why=f"request {key[:12]}: prompt, picture or model differ from those recorded, or it was asked more often",
                next_step="record it again with mode=record",
            )
        return waiting.popleft()

    def write(self, call: Call) -> None:
        """Append a call.

        Raises:
            StorageError: the disk refused.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(call, ensure_ascii=False, sort_keys=True) + "\n")
        except OSError as error:
            raise StorageError("the cassette cannot be written", where=str(self.path), why=str(error), next_step="choose another cassette") from error
