"""Executors of a chain or an agent: made by name through the registry, unchanged, one per kind of stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from portico.agent.slips import SlippingPolicy, slips_of
from portico.declarations import Privilege
from portico.errors import UserError
from portico.interface import Answering, Need, Policy, StageKind
from portico.policies import create
from portico.policies.own_cameras import each_with_its_own

#: Who carries out which stage unless options say otherwise.
DEFAULT_MEMBERS: dict[StageKind, str] = {
    "exit": "frontier",
    "outdoor": "route-follower",
    "entrance": "frontier",
    "ovon": "frontier",
    "object": "frontier",
    "point": "frontier",
    "image": "frontier",
    "place": "frontier",
    "vln": "frontier",
}


def make_members(
    given: Mapping[StageKind, str | Policy | None], kinds: Iterable[StageKind], detector: str | None = None, slips: str | None = None
) -> dict[StageKind, Policy]:
    """A policy per kind of stage; those of the same name are one. Who brings cameras of its own sees through them and nobody else does.

    Args:
        given: names or policies by kind, None for the default. In a name, options are separated by ``&``.
        detector: handed to every member that is plain ``frontier``.
        slips: a profile of unreliable declarations that every member gets, see ``portico.agent.slips``.
    """
    made: dict[str, Policy] = {}
    members: dict[StageKind, Policy] = {}
    rates = slips_of(slips)
    for kind in kinds:
        wanted = given.get(kind) or DEFAULT_MEMBERS[kind]
        member = wanted if not isinstance(wanted, str) else made.setdefault(wanted, _member(wanted, detector))
        members[kind] = member if rates is None else SlippingPolicy(member, rates)
    return each_with_its_own(members)


def distinct(members: Mapping[StageKind, Policy]) -> list[Policy]:
    """Every member once."""
    return list({id(member): member for member in members.values()}.values())


def all_ready(members: Mapping[StageKind, Policy]) -> None:
    """Return when every member that depends on a server can be asked.

    Raises:
        PolicyFailure: one of them cannot.
    """
    for member in distinct(members):
        if isinstance(member, Answering):
            member.ready()


def seedable(members: Mapping[StageKind, Policy]) -> bool:
    """Whether equal seeds give equal actions, whoever is at work."""
    return all(member.spec.seedable for member in members.values())


def needs_of(members: Mapping[StageKind, Policy]) -> frozenset[Need]:
    """What they need together."""
    return frozenset().union(*(m.spec.needs for m in members.values()))


def privileges_of(members: Mapping[StageKind, Policy]) -> frozenset[Privilege]:
    """The shortcuts that any of them takes."""
    return frozenset().union(*(m.spec.privileges for m in members.values()))


def image_size_of(members: Mapping[StageKind, Policy]) -> tuple[int, int] | None:
    """The largest image any of those that look wants; None where one of them takes the body's own."""
    sizes = [m.spec.image_size for m in members.values() if m.spec.needs & {"rgb", "depth", "semantic"}]
    return None if not sizes or None in sizes else max(s for s in sizes if s is not None)


def _member(name: str, detector: str | None) -> Policy:
    if "&" in name and "?" not in name:
        first, _, rest = name.partition("&")
        raise UserError(
            f"cannot read the executor {name!r}",
            why="options come after a question mark, the next ones after &",
            next_step=f"write {first}?{rest}",
        )
    options: dict[str, Any] = {"detector": detector} if detector and name == "frontier" else {}
    return create(name.replace("&", ","), **options)
