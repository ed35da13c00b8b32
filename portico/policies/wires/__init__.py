"""What travels between a policy and its server: messages as bytes, and what to say when they are not as expected.

Nothing here opens a socket; ``remote`` holds the clients, ``serving`` the servers. No format that can run code is read.
"""

from portico.policies.wires.structure import Mismatch, plain, structured

__all__ = ["Mismatch", "plain", "structured"]
