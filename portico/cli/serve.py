"""``portico serve``: host a policy of this installation for clients in other processes, on this machine only unless told otherwise."""

from __future__ import annotations

from socket import gethostname
from typing import Annotated

import typer

from portico.cli.console import errors, out
from portico.errors import UserError

#: Hosts that stand for every interface, which no client can connect to from elsewhere.
_ANY = ("0.0.0.0", "::")


def serve(
    policy: Annotated[str, typer.Argument(help="a name of `portico list policies`, with options, or module:Class of your own")],
    wire: Annotated[str, typer.Option(help="portico (WebSocket), navarena (NavArena-Server's WebSocket) or http (JSON)")] = "portico",
    host: Annotated[str, typer.Option(help="interface to listen on; anything but loopback lets other machines in")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free one")] = 8765,
    limit_mib: Annotated[float, typer.Option(min=0.01, help="largest message that is accepted")] = 64.0,
) -> None:
    """Host a policy behind a wire until interrupted: every client's session has a policy of its own.

    For example `portico serve frontier` here, and `portico run i2o2i-demo --policy "remote?url=ws://127.0.0.1:8765"` in another terminal.
    """
    try:
        from portico.policies.serving.servers import INSTALL, is_loopback
        from portico.policies.serving.servers import serve as listen
    except ModuleNotFoundError as error:
        raise UserError("serving needs a few packages more", why=str(error), next_step='pip install "portico-nav[remote]"') from error
    from portico.policies.registry import made

    try:
        server = listen(lambda: made(policy), wire=wire, host=host, port=port, limit_bytes=int(limit_mib * 2**20))
    except ModuleNotFoundError as error:
        raise UserError("serving needs a few packages more", why=str(error), next_step=INSTALL) from error
    if not is_loopback(host):
        errors.print(f"warning: {host} is reachable from other machines, and nobody is asked for a password", markup=False)
    if host in _ANY:
        errors.print(f"on other machines write this one's name for {host}: {gethostname()}", markup=False)
    option = "" if wire in ("portico", "http") else f",wire={wire}"
    out.print(f"{policy} at {server.url}\nrun it:  portico run SUITE --policy 'remote?url={server.url}{option}'\nstop with Ctrl-C", markup=False)
    try:
        server.forever()
    except KeyboardInterrupt:
        out.print("stopped")
    finally:
        server.close()
