"""A read-only file server for one folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from portico.errors import StorageError, UserError


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".jsonl": "application/json", ".npz": "application/octet-stream"}  # noqa: RUF012

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are nobody's news."""


class FolderServer:
    """A running server; ``url`` opens its front page."""

    def __init__(self, folder: Path, host: str, port: int) -> None:
        try:
            self._server = ThreadingHTTPServer((host, port), partial(_Handler, directory=str(folder)))
        except OSError as error:
            raise UserError(
                "the viewer cannot listen there", where=f"{host}:{port}", why=str(error), next_step="choose another --port, or 0 for a free one"
            ) from error
        self.host, self.port = host, int(self._server.server_address[1])
        self._folder = folder
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the report, or of the folder's listing when there is none."""
        page = "report.html" if (self._folder / "report.html").is_file() else ""
        return f"http://{self.host}:{self.port}/{page}"

    def forever(self) -> None:
        """Block until the server is closed or the process interrupted."""
        self._thread.join()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serve_folder(folder: Path, host: str = "127.0.0.1", port: int = 0) -> Iterator[FolderServer]:
    """Serve a folder until the block ends.

    Raises:
        StorageError: there is no such folder.
        UserError: the port is taken.
    """
    if not folder.is_dir():
        raise StorageError("there is no such run folder", where=str(folder), next_step="make one with `portico run`")
    server = FolderServer(folder.resolve(), host, port)
    try:
        yield server
    finally:
        server.close()
