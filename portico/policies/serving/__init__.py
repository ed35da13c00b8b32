"""Any in-process policy behind a wire: ``portico serve NAME``.

Sessions know no sockets and can be tested as functions of bytes; the servers carry bytes to them. A session has a policy of its own, so that
several runs or workers never share a memory.
"""

from portico.policies.serving.seats import Seats
from portico.policies.serving.servers import WIRES, Server, serve

__all__ = ["WIRES", "Seats", "Server", "serve"]
