"""Names, plug-ins and options of policies: ``create("chain?exit=frontier,outdoor=route-follower")``.

A name is looked up in ``POLICIES`` (built in), ``DEFERRED`` (import paths, loaded when first asked for) and the entry
points of the group ``portico.policies``. ``package.module:Class`` names a class that is registered nowhere.
"""

from __future__ import annotations

import importlib
import inspect
import traceback
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from portico.errors import PolicyRefused, UnknownName, UserError
from portico.interface import Policy
from portico.policies.calibration import ForwardPolicy, RandomPolicy, StopPolicy
from portico.policies.frontier import FrontierPolicy
from portico.policies.instruction_follower import InstructionFollower
from portico.policies.names import parse_name as parse_name
from portico.policies.outline_follower import OutlineFollower
from portico.policies.point_follower import PointFollower
from portico.policies.published_names import ALIASES, PUBLISHED
from portico.policies.route_follower import RouteFollower
from portico.policies.semantic_frontier import SemanticFrontier

PolicyFactory = Callable[..., Policy]

ENTRY_POINT_GROUP = "portico.policies"
LIST_COMMAND = "portico list policies"

#: Built-in policies that run in-process on a CPU.
POLICIES: dict[str, PolicyFactory] = {
    "stop": StopPolicy,
    "random": RandomPolicy,
    "forward": ForwardPolicy,
    "frontier": FrontierPolicy,
    "semantic-frontier": SemanticFrontier,
    "instruction-follower": InstructionFollower,
    "route-follower": RouteFollower,
    "outline-follower": OutlineFollower,
    "point-follower": PointFollower,
}

#: Policies of rooms that this one must not import: name -> ("module:attribute", description), imported only when created.
DEFERRED: dict[str, tuple[str, str]] = {
    **PUBLISHED,
    "remote": ("portico.policies.remote.policy:RemotePolicy", "A policy behind a wire: remote?url=ws://127.0.0.1:8765, see `portico serve`."),
    "agent": ("portico.agent.modular:AgentPolicy", "Executors per stage under verified completion and bounded recovery."),
    "chain": ("portico.agent.chain:ChainPolicy", "A policy per stage, reset at every hand-off."),
    "privileged/oracle-goal": ("portico.policies.privileged:OracleGoal", "Knows where the goal is, not the way (privileged)."),
    "privileged/reference-follower": (
        "portico.policies.privileged:ReferenceFollower",
        "Flies along the reference path with a policy's own moves (privileged).",
    ),
    "privileged/oracle-trajectory": ("portico.policies.privileged:OracleTrajectory", "Follows the reference path (privileged)."),
}


def policy_names() -> list[str]:
    """Every name that ``create`` knows, sorted; plug-ins are listed without being imported."""
    return sorted({*POLICIES, *DEFERRED, *_plugins()})


def describe() -> dict[str, str]:
    """Name -> one line, for every policy; plug-ins are named by where they come from, without being imported."""
    lines = {name: (inspect.getdoc(factory) or "").split("\n")[0] for name, factory in POLICIES.items()}
    lines |= {name: line for name, (_, line) in DEFERRED.items()}
    lines |= {name: f"plug-in {point.value}" for name, point in _plugins().items()}
    return dict(sorted(lines.items()))


def create(name: str, **options: Any) -> Policy:
    """A policy by name.

    Args:
        name: a registered name or ``package.module:Class``, with options after a question mark when they come as text:
            ``frontier?detector=semantic``. Several are separated by commas.
        options: keyword arguments of the policy; they win over those in the name.

    Raises:
        UnknownName: no registry holds the name; lists the closest matches.
        UserError: an option that the policy does not have, or cannot read.
        PolicyRefused: a plug-in that cannot be imported or is no policy.
    """
    plain, text_options = parse_name(name)
    factory = _find(plain)
    options = {**text_options, **options}
    _check_options(plain, factory, options)
    policy = factory(**options)
    if not isinstance(policy, Policy):
        raise PolicyRefused(
            f"{plain!r} is not a policy",
            why=f"{type(policy).__name__} lacks one of spec, reset, act, close",
            next_step="see portico.interface.Policy; portico.testing.check_policy explains each part",
        )
    return policy


def made(name: str) -> Policy:
    """A policy by name, or in words where its own code gives up.

    Raises:
        PolicyRefused: its own code raised; says where. Others: as ``create``.
    """
    try:
        return create(name)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise PolicyRefused(
            f"the policy {name!r} cannot be made",
            where=f"{last.filename}, line {last.lineno}",
            why=f"{type(error).__name__}: {error}",
            next_step="mend it there",
        ) from error


def _find(name: str) -> PolicyFactory:
    name = ALIASES.get(name, name)
    if name in POLICIES:
        return POLICIES[name]
    if name in DEFERRED:
        return _load(DEFERRED[name][0], name)
    plugins = _plugins()
    if name in plugins:
        return _load(plugins[name].value, name)
    if ":" in name:
        return _load(name, name)
    raise UnknownName("policy", name, policy_names(), list_command=LIST_COMMAND)


def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _load(path: str, name: str) -> PolicyFactory:
    module_name, _, attribute = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise PolicyRefused(
            f"the policy {name!r} cannot be imported",
            where=path,
            why=f"{type(error).__name__}: {error}",
            next_step="check the spelling (package.module:Class); the module must lie in this folder or be installed in this environment",
        ) from error
    if not callable(found):
        raise PolicyRefused(f"the policy {name!r} is not a class or factory", where=path, next_step="point to something that returns a policy when called")
    factory: PolicyFactory = found
    return factory


def _check_options(name: str, factory: PolicyFactory, options: dict[str, Any]) -> None:
    try:
        parameters = inspect.signature(factory).parameters
    except ValueError:  # compiled code without a signature: the call itself will tell
        return
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return
    known = [key for key, p in parameters.items() if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)]
    for key in options:
        if key not in known:
            raise UnknownName(f"option of the policy {name!r}", key, known) if known else UserError(f"the policy {name!r} takes no options", where=key)
