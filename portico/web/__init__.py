"""The viewer: shows run folders in a browser, on loopback unless told otherwise. Pages come from records, pictures from worlds when looked at."""

from portico.web.library import Library
from portico.web.server import INSTALL, ViewServer, serve_runs

__all__ = ["INSTALL", "Library", "ViewServer", "serve_runs"]
