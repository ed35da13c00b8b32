"""Policies made of policies: who acts in which stage, and when one hands over to the next.

``portico.policies`` names them without importing this room.
"""

from portico.agent.chain import DEFAULT_MEMBERS, ChainPolicy

__all__ = ["DEFAULT_MEMBERS", "ChainPolicy"]
