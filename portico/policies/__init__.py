"""Who decides: the baselines that ship, and the registry that names every policy.

Nothing here but ``privileged`` may see a world, a space, a task or a simulator: policies live on observations.
"""

from portico.policies.registry import DEFERRED, ENTRY_POINT_GROUP, POLICIES, create, describe, parse_name, policy_names

__all__ = ["DEFERRED", "ENTRY_POINT_GROUP", "POLICIES", "create", "describe", "parse_name", "policy_names"]
