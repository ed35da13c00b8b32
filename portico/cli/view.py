"""``portico view``: runs in a browser, episode by episode, on this machine only unless told otherwise."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import errors, out


def view(
    run_folders: Annotated[list[Path], typer.Argument(help="run folders, or folders of run folders; several are shown side by side", metavar="RUN...")],
    worlds: Annotated[Path | None, typer.Option(help="folder that holds the worlds, when they have moved since the run")] = None,
    host: Annotated[str, typer.Option(help="interface to listen on; anything but loopback lets other machines in")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 picks a free one")] = 7575,
    open_page: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
) -> None:
    """Show runs in the browser until interrupted: a table of episodes, and each of them step by step with map and camera."""
    from portico.web import serve_runs
    from portico.web.server import is_loopback

    with serve_runs(run_folders, worlds=worlds, host=host, port=port) as server:
        if not is_loopback(host):
            errors.print(f"warning: {host} is reachable from other machines, and nobody is asked for a password", markup=False)
        out.print(f"{server.url}\nfrom another machine:  ssh -L {server.port}:127.0.0.1:{server.port} THIS_MACHINE\nstop with Ctrl-C", markup=False)
        if open_page:
            typer.launch(server.url)
        with contextlib.suppress(KeyboardInterrupt):
            server.forever()
