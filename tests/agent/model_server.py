"""A scripted OpenAI-compatible server on a real socket, in a thread: each request gets the next line of the script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Line:
    """One answer. ``stalls``: headers, then nothing. ``after_s``: how long it takes. ``raw``: the body as it is, whatever it is."""

    text: str | None = ""
    status: int = 200
    finish: str = "stop"
    refusal: str | None = None
    after_s: float = 0.0
    retry_after: str | None = None
    stalls: bool = False
    raw: bytes | None = None
    drops: bool = False


#: What a script is: answers in order, or a function of the request and its number.
Script = list[Line] | Callable[[dict[str, Any], int], Line]


@dataclass
class Server:
    """Where it listens, and what it was asked."""

    base_url: str
    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def line(self, body: dict[str, Any]) -> Line:
        number = len(self.requests)
        self.requests.append(body)
        if callable(self.script):
            return self.script(body, number)
        return self.script[min(number, len(self.script) - 1)]


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    """A server for the length of a ``with``."""
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.headers.append({k.lower(): v for k, v in self.headers.items()})
            line = server.line(body)
            closing.wait(line.after_s)
            if line.drops:
                self.connection.close()
                return
            payload = line.raw if line.raw is not None else _completion(line)
            try:
                self.send_response(line.status)
                if line.retry_after is not None:
                    self.send_header("Retry-After", line.retry_after)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                if line.stalls:
                    self.wfile.write(payload[:3])
                    self.wfile.flush()
                    closing.wait(60.0)
                    return
                self.wfile.write(payload)
            except OSError:
                pass

        def log_message(self, *args: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(f"http://127.0.0.1:{httpd.server_address[1]}/v1", script)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        closing.set()
        httpd.shutdown()
        httpd.server_close()


def _completion(line: Line) -> bytes:
    if line.status != 200:
        return json.dumps({"error": {"message": f"scripted {line.status}"}}).encode()
    message = {"role": "assistant", "content": line.text, "refusal": line.refusal}
    choice = {"index": 0, "message": message, "finish_reason": line.finish}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}).encode()


def verdict(done: bool, confidence: float = 0.9, **more: Any) -> str:
    """A good verdict as text."""
    said = {
        "step_completed": done,
        "step_confidence": confidence,
        "step_reason": "seen",
        "parent_completed": done,
        "parent_confidence": confidence,
        "parent_reason": "seen",
        "evidence": "a door",
        "retry_guidance": "" if done else "turn left",
    }
    return json.dumps({**said, **more})


def purpose_of(body: dict[str, Any]) -> str:
    """What a request asks for, told from the keys it wants."""
    text = body["messages"][1]["content"][0]["text"]
    return "verification" if "step_completed" in text else "plan" if '"steps"' in text else "location"


LOCATION = json.dumps({"location": "indoors", "floor": "ground", "confidence": 0.8, "reason": "walls"})
PLAN = json.dumps({"steps": [{"name": "leave", "instruction": "Go out of the door.", "executor": "exit"}]})


def answers(*verifications: Line) -> Callable[[dict[str, Any], int], Line]:
    """Good locations and plans, and these verifications in order, the last one for ever."""
    left = list(verifications)

    def script(body: dict[str, Any], number: int) -> Line:
        match purpose_of(body):
            case "location":
                return Line(LOCATION)
            case "plan":
                return Line(PLAN)
            case _:
                return left.pop(0) if len(left) > 1 else left[0]

    return script
