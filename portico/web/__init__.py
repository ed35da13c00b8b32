"""The viewer: serves run folders to a browser, on loopback unless told otherwise. The pages are made by ``report``."""

from portico.web.server import FolderServer, serve_folder

__all__ = ["FolderServer", "serve_folder"]
