"""HTTP/JSON: ``GET /health``, ``POST /reset``, ``/act``, ``/observe``, ``/end``. Sessions are named by the client."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from portico.policies.serving.seats import Answer, Seats
from portico.policies.serving.servers import cannot_listen
from portico.policies.wires.arrays import from_json, to_json
from portico.policies.wires.messages import MIB, PROTOCOL, VERSIONS, error_data
from portico.policies.wires.structure import Mismatch, plain, shown

_STATUS = {"invalid": 400, "refused": 403, "unsupported": 404}
_START_S = 10.0


class HttpServer:
    """A server in a thread of its own.

    Args:
        seats: where sessions are kept. limit_bytes: largest request body.

    Raises:
        UserError: nothing can listen there.
    """

    def __init__(self, seats: Seats, host: str, port: int, limit_bytes: int) -> None:
        self._seats, self._limit_bytes, self._host = seats, limit_bytes, host
        try:
            self._socket = socket.create_server((host, port))
        except (OSError, OverflowError) as error:
            raise cannot_listen(host, port, error) from error
        routes = [Route("/health", self._health), *(Route(f"/{kind}", self._call, methods=["POST"]) for kind in ("reset", "act", "observe", "end"))]
        config = uvicorn.Config(Starlette(routes=routes), log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        due = time.monotonic() + _START_S
        while not self._server.started and self._thread.is_alive() and time.monotonic() < due:
            time.sleep(0.01)

    @property
    def url(self) -> str:
        """``http://HOST:PORT``."""
        return f"http://{self._host}:{self._socket.getsockname()[1]}"

    def forever(self) -> None:
        """Block until it is closed or the process interrupted."""
        while self._thread.is_alive():
            self._thread.join(timeout=0.5)

    def close(self) -> None:
        """Stop listening and give up every session."""
        self._server.should_exit = True
        self._thread.join(timeout=5.0)
        self._socket.close()
        self._seats.close()

    async def _health(self, request: Request) -> Response:
        spec = plain(self._seats.spec)
        return _json({"status": "ready", "protocol": PROTOCOL, "version": VERSIONS[-1], "spec": spec, "observes": self._seats.observes, "repeats": True})

    async def _call(self, request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self._limit_bytes:
                too_large = Mismatch("", f"a request of at most {self._limit_bytes / MIB:g} MiB", "a larger one")
                return _json(error_data(too_large), 413)
        answer = await run_in_threadpool(self._answer, bytes(body), request.url.path.removeprefix("/"))
        return _json(answer, _STATUS.get(answer.get("kind", ""), 500) if answer["type"] == "error" else 200)

    def _answer(self, body: bytes, kind: str) -> Answer:
        try:
            message = from_json(body)
            session = message.get("session", "one") if isinstance(message, dict) else None
            if not isinstance(message, dict) or not isinstance(session, str) or not 0 < len(session) <= 64:
                raise Mismatch("session", "a JSON map with a session of at most 64 characters", shown(session if isinstance(message, dict) else message))
        except Mismatch as error:
            return error_data(error)
        try:
            seat = self._seats.open(session)
        except Exception as error:
            return error_data(error)
        answer = seat.answer({**message, "type": kind})
        if kind == "end" and answer["type"] == "done":
            self._seats.leave(session)
        return answer


def _json(data: dict[str, Any], status: int = 200) -> Response:
    return Response(to_json(data), status_code=status, media_type="application/json")
