"""The viewer as a server of its own thread: it listens from the moment it exists, on loopback unless told otherwise."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

from portico.errors import UserError
from portico.web.library import Library

INSTALL = 'pip install "portico-nav[web]"'
_STARTS_S = 30.0


class ViewServer:
    """A running viewer; ``url`` opens its table.

    Args:
        library: the runs, read already. worlds: folder that holds the worlds, when they have moved since the runs. port: 0 picks a free one.

    Raises:
        UserError: nothing can listen there, or the packages of the viewer are missing.
    """

    def __init__(self, library: Library, *, worlds: Path | None = None, host: str = "127.0.0.1", port: int = 7575) -> None:
        try:
            import uvicorn

            from portico.web.app import create_app
        except ModuleNotFoundError as error:
            raise UserError("the viewer needs a few packages more", why=str(error), next_step=INSTALL) from error
        self._socket = _listening(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._app = create_app(library, worlds=worlds, any_host=not is_loopback(host))
        config = uvicorn.Config(self._app, log_level="error", access_log=False, lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name="viewer", daemon=True)
        self._thread.start()
        until = time.monotonic() + _STARTS_S
        while not self._server.started and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.005)

    @property
    def url(self) -> str:
        """Address of the table."""
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, f"[{self.host}]" if ":" in self.host else self.host)
        return f"http://{shown}:{self.port}/"

    def forever(self) -> None:
        """Block until the server is closed or the process interrupted."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Stop listening."""
        # Pictures that are given up are no news to whoever stops the viewer.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._server.should_exit = True
        self._thread.join(5.0)
        self._app.state.viewer.close()
        with contextlib.suppress(OSError):
            self._socket.close()


@contextmanager
def serve_runs(folders: Sequence[Path], *, worlds: Path | None = None, host: str = "127.0.0.1", port: int = 0) -> Iterator[ViewServer]:
    """Show runs until the block ends.

    Args:
        folders: run folders, or folders of run folders.

    Raises:
        SuiteError: a folder is missing, holds no run, or none can be read.
        UserError: the port is taken, or the packages of the viewer are missing.
    """
    server = ViewServer(Library.opened(folders), worlds=worlds, host=host, port=port)
    try:
        yield server
    finally:
        server.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that interface."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        UserError: it cannot.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(64)
    except OSError as error:
        raise UserError(
            "the viewer cannot listen there", where=f"{host}:{port}", why=error.strerror or str(error), next_step="choose another --port, or 0 for a free one"
        ) from error
    return listener
