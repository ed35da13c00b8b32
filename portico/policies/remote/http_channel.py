"""HTTP with one deadline for the whole exchange and a size limit, whose faults are failures of the policy in words."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx

from portico.interface import FailureKind, PolicyFailure
from portico.policies.remote.socket import late, unreachable
from portico.policies.wires.arrays import from_json, to_json
from portico.policies.wires.messages import MIB
from portico.policies.wires.structure import Mismatch, shown

Json = dict[str, Any]
_SHOWN_CHARACTERS = 300


class HttpChannel:
    """Requests to one server, one attempt each: nothing is sent twice unless the caller says so.

    Args:
        url: ``http://HOST:PORT``. deadline_s: for every exchange. limit_bytes: largest answer that is accepted.
    """

    def __init__(self, url: str, *, deadline_s: float, limit_bytes: int) -> None:
        self.url, self._deadline_s, self._limit_bytes = url.rstrip("/"), deadline_s, limit_bytes
        # Settings of proxies in the environment are for the web, not for a model server.
        self._client = httpx.Client(trust_env=False, follow_redirects=False)

    def get(self, path: str) -> Json:
        """The JSON map at a path.

        Raises:
            PolicyFailure: nobody answers, not in time, or not with a JSON map.
        """
        return self._json("GET", path)

    def answers(self, path: str) -> None:
        """Return when anybody answers there, whatever the answer: for servers that need not have a health page.

        Raises:
            PolicyFailure: nobody answers, or not in time.
        """
        try:
            self.get(path)
        except PolicyFailure as failure:
            if failure.kind in ("transport", "timeout"):
                raise

    def post(self, path: str, body: object) -> Json:
        """The JSON map that a server answers a JSON body with.

        Raises:
            PolicyFailure: nobody answers, not in time, or not with a JSON map.
        """
        return self._json("POST", path, content=to_json(body), headers={"content-type": "application/json"})

    def post_parts(self, path: str, files: Mapping[str, tuple[str, bytes, str]], form: Mapping[str, str]) -> Json:
        """The JSON map that a server answers a multipart form with; files are (name, bytes, media type).

        Raises:
            PolicyFailure: nobody answers, not in time, or not with a JSON map.
        """
        return self._json("POST", path, files=dict(files), data=dict(form))

    def close(self) -> None:
        """Let the connection go."""
        self._client.close()

    def _json(self, method: str, path: str, **request: Any) -> Json:
        where = f"{self.url}{path}"
        status, body = self._exchanged(method, where, request)
        if status >= 300:
            raise _refusal(where, status, body)
        try:
            answer = from_json(body)
            if not isinstance(answer, dict):
                raise Mismatch("", "a JSON map", shown(answer))
        except Mismatch as error:
            raise PolicyFailure("parse", "the answer of the policy's server cannot be read", where=where, why=str(error), next_step=_MEND) from error
        return answer

    def _exchanged(self, method: str, where: str, request: dict[str, Any]) -> tuple[int, bytes]:
        due = time.monotonic() + self._deadline_s
        body = bytearray()
        try:
            with self._client.stream(method, where, timeout=self._deadline_s, **request) as response:
                for part in response.iter_bytes():
                    body += part
                    if len(body) > self._limit_bytes:
                        raise PolicyFailure(
                            "refused", f"the policy's server sent an answer of more than {self._limit_bytes / MIB:g} MiB", where=where, next_step=_MEND
                        )
                    if time.monotonic() > due:
                        raise late(where, self._deadline_s)
                return response.status_code, bytes(body)
        except httpx.TimeoutException as error:
            raise late(where, self._deadline_s) from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol) as error:
            raise unreachable(where, error) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise PolicyFailure(
                "transport",
                "the exchange with the policy's server broke off",
                where=where,
                why=f"{type(error).__name__}: {error}",
                next_step="see whether the server still runs and start it again; the same command then runs this episode again",
            ) from error


_MEND = "check the address, or mend the server's answer; docs/remote-policies.md shows what is expected"
_SMALLER = "raise its limit (`portico serve --limit-mib`), or ask for smaller images"


def _refusal(where: str, status: int, body: bytes) -> PolicyFailure:
    """What a status of 300 and more says, with the server's own words where it has some. Nothing is followed to another address."""
    try:
        said = from_json(body)
    except Mismatch:
        said = body.decode(errors="replace")
    if isinstance(said, dict):
        found = said.get("error") or said.get("detail") or said
        said = f"{found}; {said['why']}" if said.get("why") else str(found)
    kind: FailureKind = "unsupported" if status in (404, 405) or status < 400 else "refused" if status < 500 else "server"
    steps: dict[FailureKind, str] = {
        "unsupported": "check the address and which model it serves: this server does not know the request",
        "refused": "compare what the server expects with docs/remote-policies.md",
        "server": "look at what the server printed; the same command runs this episode again",
    }
    step = _SMALLER if status == 413 else steps[kind]
    return PolicyFailure(kind, f"the policy's server answered with HTTP status {status}", where=where, why=str(said)[:_SHOWN_CHARACTERS], next_step=step)
