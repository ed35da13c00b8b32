"""Policies made of policies: who acts in which stage, and when one hands over to the next.

``portico.policies`` names them without importing this room.
"""

from portico.agent.chain import ChainPolicy
from portico.agent.members import DEFAULT_MEMBERS
from portico.agent.modular import AgentPolicy

__all__ = ["DEFAULT_MEMBERS", "AgentPolicy", "ChainPolicy"]
