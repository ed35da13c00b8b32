"""Flies the expert through an episode without looking: what verification, expert trajectories and their statistics are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portico.geometry import Floats, Pose
from portico.interface import Move, MoveName
from portico.policies.privileged.reference_follower import follower_of
from portico.robots import Flyer
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode
from portico.tasks.machine import StageMachine, TerminalReason
from portico.world import GEODESIES, Semantics

_NOTHING = Annotations(Semantics())


@dataclass(frozen=True)
class Flown:
    """What the expert did.

    Attributes:
        moves: in order, the STOP not among them. positions: (M + 1, 3) degrees and metres. yaw_rad: (M + 1,).
        reason: why the episode ended. rejected: how many forward moves led too near to the border.
    """

    moves: tuple[MoveName, ...]
    positions: Floats
    yaw_rad: Floats
    reason: TerminalReason | None
    rejected: int

    @property
    def success(self) -> bool:
        """Whether it stopped where it should."""
        return self.reason == "success"


def flown(episode: Episode, flyer: Flyer, *, searches: bool = True) -> Flown:
    """Roll the expert out.

    Args:
        searches: False for SatNav's own expert.

    Raises:
        EpisodeError: the start lies outside the imagery, or there is no goal. PolicyRefused: there is no reference.
    """
    flyer.geodesy = GEODESIES[episode.stages[0].geodesy]
    pose = flyer.reset(Pose(*episode.start.position, episode.start.yaw_rad))
    machine = StageMachine(episode, _NOTHING, flyer.embodiment)
    machine.start(pose.position)
    follower = follower_of(episode, flyer.actions, searches=searches)
    moves: list[MoveName] = []
    poses, rejected = [pose], 0
    while not machine.done:
        move = follower.next(flyer.pose)
        if move is None:
            machine.declare_stop()
        else:
            motion = flyer.execute(Move(move))
            moves.append(move)
            poses.append(flyer.pose)
            machine.update([flyer.pose.position])
            if motion.collided:
                rejected += 1
                follower.rejected()
        machine.spend(len(moves) + (move is None), 0.0)
    return Flown(tuple(moves), np.array([p.position for p in poses]), np.array([p.yaw_rad for p in poses]), machine.reason, rejected)
