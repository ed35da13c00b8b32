"""Teams of policies on one robot, each seeing through its own cameras: what one brings is mounted beside what the others use, and hidden from them.

Published models were trained with cameras of their own, so a team of them needs several "front" cameras. On the robot each has its member's name
before its own (``omninav/front``); the member is shown it under the name it knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from portico.interface import Action, Answering, Brief, Camera, Observation, Observer, Policy, PolicyFailure

Kind = TypeVar("Kind")
_BETWEEN = "/"


class OwnCameras:
    """A member of a team that is shown its own cameras, or the robot's own where it brings none.

    Args:
        member: whose. name: that its cameras bear on the robot; unique within the team.
    """

    def __init__(self, member: Policy, name: str) -> None:
        self._member = member
        self._on_robot = {replace(camera, name=f"{name}{_BETWEEN}{camera.name}"): camera for camera in member.spec.cameras}
        self.spec = replace(member.spec, cameras=tuple(self._on_robot))

    def ready(self) -> None:
        """See whether the member's server answers, where it has one.

        Raises:
            PolicyFailure: it does not.
        """
        if isinstance(self._member, Answering):
            self._member.ready()

    def reset(self, brief: Brief) -> None:
        """Begin an episode with the cameras that are the member's."""
        theirs = tuple(self._on_robot.values()) or tuple(c for c in brief.cameras if _BETWEEN not in c.name)
        self._member.reset(replace(brief, cameras=theirs))

    def act(self, observation: Observation) -> Action:
        """Decide by what the member sees."""
        return self._member.act(self._seen(observation))

    def observe(self, observation: Observation) -> None:
        """Show the member a frame that needs no decision.

        Raises:
            PolicyFailure: it takes none.
        """
        if not isinstance(self._member, Observer):
            raise PolicyFailure("unsupported", f"{self.spec.name} takes no frames that it need not decide on")
        self._member.observe(self._seen(observation))

    def close(self) -> None:
        """Release the member."""
        self._member.close()

    def _seen(self, observation: Observation) -> Observation:
        frames = observation.frames
        if self._on_robot:
            return replace(observation, frames={own.name: replace(frames[there.name], camera=own) for there, own in self._on_robot.items()})
        return replace(observation, frames={name: frame for name, frame in frames.items() if _BETWEEN not in name})


def each_with_its_own(members: Mapping[Kind, Policy]) -> dict[Kind, Policy]:
    """The members, told apart by their cameras where any of them brings its own; the same member stays one."""
    if not any(member.spec.cameras for member in members.values()):
        return dict(members)
    bearing: Counter[str] = Counter()
    wrapped: dict[int, Policy] = {}
    for member in members.values():
        if id(member) not in wrapped:
            name = member.spec.name
            bearing[name] += 1
            wrapped[id(member)] = OwnCameras(member, name if bearing[name] == 1 else f"{name}-{bearing[name]}")
    return {kind: wrapped[id(member)] for kind, member in members.items()}


def cameras_of(members: Mapping[Kind, Policy]) -> tuple[tuple[Camera, ...], bool]:
    """For the spec of a team: the cameras that its members bring, and whether the robot's own stay for those that bring none."""
    distinct = list({id(member): member for member in members.values()}.values())
    looking = [member for member in distinct if member.spec.needs & {"rgb", "depth", "semantic"}]
    return tuple(camera for member in distinct for camera in member.spec.cameras), any(not member.spec.cameras for member in looking)
