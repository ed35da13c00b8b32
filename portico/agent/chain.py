"""One policy per stage, handed over when the evaluator confirms a stage: the fixed chain that agents are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from portico.errors import PolicyRefused
from portico.interface import Action, Brief, Need, Observation, Policy, PolicySpec, StageKind
from portico.policies import create

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


class ChainPolicy:
    """A policy per stage, reset at every hand-off.

    Args:
        exit, outdoor, entrance, ovon, object, point, image, place, vln: names of the members, or policies.
        detector: handed to every member that is ``frontier``.
    """

    def __init__(
        self,
        exit: str | Policy | None = None,
        outdoor: str | Policy | None = None,
        entrance: str | Policy | None = None,
        ovon: str | Policy | None = None,
        object: str | Policy | None = None,
        point: str | Policy | None = None,
        image: str | Policy | None = None,
        place: str | Policy | None = None,
        vln: str | Policy | None = None,
        detector: str | None = None,
    ) -> None:
        given: dict[StageKind, str | Policy | None] = {"exit": exit, "outdoor": outdoor, "entrance": entrance, "ovon": ovon, "object": object}
        given |= {"point": point, "image": image, "place": place, "vln": vln}
        made: dict[str, Policy] = {}
        self._members: dict[StageKind, Policy] = {}
        for kind, default in DEFAULT_MEMBERS.items():
            wanted = given[kind] or default
            self._members[kind] = wanted if not isinstance(wanted, str) else made.setdefault(wanted, _member(wanted, detector))
        self.spec = _union(self._members)
        self._brief: Brief | None = None
        self._active: Policy | None = None
        self._stage = -1

    def reset(self, brief: Brief) -> None:
        """Wait for the first observation: it says which stage comes first."""
        self._brief, self._active, self._stage = brief, None, -1

    def act(self, observation: Observation) -> Action:
        """Ask the member of the current stage.

        Raises:
            PolicyRefused: the chain was not reset.
        """
        if self._brief is None:
            raise PolicyRefused("the policy was not reset", next_step="call reset(brief) before act(observation)")
        if self._active is None or observation.stage.index != self._stage:
            self._stage = observation.stage.index
            self._active = self._members[observation.stage.kind]
            self._active.reset(replace(self._brief, stage=observation.stage))
        return self._active.act(observation)

    def close(self) -> None:
        """Release every member."""
        for member in self._distinct():
            member.close()

    @property
    def active(self) -> Policy | None:
        """The member at work, for display."""
        return self._active

    def _distinct(self) -> list[Policy]:
        return list({id(member): member for member in self._members.values()}.values())


def _member(name: str, detector: str | None) -> Policy:
    options: dict[str, Any] = {"detector": detector} if detector and name == "frontier" else {}
    return create(name, **options)


def _union(members: dict[StageKind, Policy]) -> PolicySpec:
    """What the members need together; the largest image any of them wants."""
    needs: frozenset[Need] = frozenset().union(*(m.spec.needs for m in members.values()))
    stages = frozenset(kind for kind, m in members.items() if kind in m.spec.stages)
    sizes = [m.spec.image_size for m in members.values() if m.spec.needs & {"rgb", "depth", "semantic"}]
    size = None if not sizes or None in sizes else max(s for s in sizes if s is not None)
    return PolicySpec("chain", needs=needs, stages=stages, image_size=size)
