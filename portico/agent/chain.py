"""One policy per stage, handed over when the evaluator confirms a stage: the fixed chain that agents are compared with."""

from __future__ import annotations

from dataclasses import replace

from portico.agent.members import DEFAULT_MEMBERS, all_ready, distinct, image_size_of, make_members, needs_of, privileges_of, seedable
from portico.errors import PolicyRefused
from portico.interface import Action, Brief, Observation, Policy, PolicySpec, StageKind
from portico.policies.own_cameras import cameras_of


class ChainPolicy:
    """A policy per stage, reset at every hand-off.

    Args:
        exit, outdoor, entrance, ovon, object, point, image, place, vln: names of the members, or policies.
        detector: handed to every member that is ``frontier``.
        slips: a profile of unreliable declarations, see ``portico.agent.slips``.
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
        slips: str | None = None,
    ) -> None:
        given: dict[StageKind, str | Policy | None] = {"exit": exit, "outdoor": outdoor, "entrance": entrance, "ovon": ovon, "object": object}
        given |= {"point": point, "image": image, "place": place, "vln": vln}
        self._members = make_members(given, DEFAULT_MEMBERS, detector, slips)
        stages = frozenset(kind for kind, m in self._members.items() if kind in m.spec.stages)
        cameras, keeps = cameras_of(self._members)
        self.spec = PolicySpec(
            "chain",
            needs=needs_of(self._members),
            stages=stages,
            image_size=image_size_of(self._members) if keeps or not cameras else None,
            cameras=cameras,
            keeps_cameras=keeps,
            privileges=privileges_of(self._members),
            seedable=seedable(self._members),
        )
        self._brief: Brief | None = None
        self._active: Policy | None = None
        self._stage = -1

    def ready(self) -> None:
        """See whether every member's server answers.

        Raises:
            PolicyFailure: one does not.
        """
        all_ready(self._members)

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
        for member in distinct(self._members):
            member.close()

    @property
    def active(self) -> Policy | None:
        """The member at work, for display."""
        return self._active
