"""``portico view``: serve a run's report to a browser, on this machine only unless told otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import out


def view(
    run_folder: Annotated[Path, typer.Argument(help="run folder, or a folder of run folders", metavar="RUN")],
    host: Annotated[str, typer.Option(help="interface to listen on; anything but loopback exposes the folder")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 picks a free one")] = 7575,
) -> None:
    """Serve the report of a run, with its records and trajectories, until interrupted."""
    from portico.web import serve_folder

    with serve_folder(run_folder, host, port) as server:
        out.print(f"{server.url}\nfrom another machine:  ssh -L {server.port}:127.0.0.1:{server.port} THIS_MACHINE\nstop with Ctrl-C")
        server.forever()
