"""What stands between the loop and a policy: whatever it raises or wrongly returns becomes an error in words, never a stop or a move."""

from __future__ import annotations

from portico.errors import UserError
from portico.interface import Action, Brief, Move, Observation, Policy, PolicyFailure, Stop, Velocity, Waypoints
from portico.policies.wires.actions import breach_of, in_floats

_ACTIONS = "return one of " + ", ".join(kind.__name__ for kind in (Stop, Move, Waypoints, Velocity))


class PolicyFault(UserError):
    """The policy raised, or returned something that is no Action. Never turned into a stop or a move."""


def begin(policy: Policy, brief: Brief) -> None:
    """Reset a policy.

    Raises:
        PolicyFault: it raised.
    """
    _guarded(policy, "reset", brief)


def decide(policy: Policy, observation: Observation) -> Action:
    """The policy's action.

    Raises:
        PolicyFault: it raised, returned no action, or one that cannot be carried out.
    """
    action = _guarded(policy, "act", observation)
    if not isinstance(action, Action):
        raise PolicyFault("the policy returned no action", where=policy.spec.name, why=f"got {action!r}", next_step=_ACTIONS)
    if wrong := breach_of(action):
        raise PolicyFault("the policy returned an action that cannot be carried out", where=policy.spec.name, why=wrong, next_step=_ACTIONS)
    return in_floats(action)


def _guarded(policy: Policy, call: str, argument: object) -> object:
    try:
        return getattr(policy, call)(argument)
    except PolicyFailure as error:
        where = f"{policy.spec.name}, {call}(){', ' + error.where if error.where else ''} [{error.kind}]"
        raise PolicyFault(error.what, where=where, why=error.why, next_step=error.next_step) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # One that says sys.exit(), or whose own event loop was cancelled, must not end the run, least of all as if all were well.
        raise PolicyFault(f"the policy failed in {call}()", where=policy.spec.name, why=f"{type(error).__name__}: {error}") from error
