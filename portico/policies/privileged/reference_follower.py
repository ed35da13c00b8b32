"""Follows the reference path of an episode on a satellite map with the moves that a policy has: SatNav's expert, and one that is never stuck.

SatNav's own goes ahead where the next point lies within a tolerance of its heading and turns towards it otherwise [SN]. With steps of
10 m it circles for ever around a point that it must come within 3 m of, unless the legs happen to be multiples of its steps. Here the
last stretch to such a point is looked for among all ways of a few steps in the directions that turns can reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, radians
from typing import Literal

import numpy as np

from portico.errors import PolicyRefused
from portico.geometry import Floats, Pose
from portico.interface import Action, ActionSpace, Brief, Move, MoveName, Observation, PolicySpec, StageKind, Stop
from portico.sim import Simulator
from portico.tasks.episode import Episode
from portico.world.geodesy import GEODESIES, Geodesy

#: How near the expert comes to each point before it turns to the next, metres [SN].
ARRIVAL_M: dict[StageKind, float] = {"boundary": 10.0, "landmark": 3.0, "route": 10.0}
_TOLERANCE_RAD, _NEAR_TOLERANCE_RAD, _AFTER_FORWARD = radians(7.5), radians(15.0), 1.5
#: Of the arrival radius so much is aimed for, and ways of up to so many steps are looked through.
_AIM, _STEPS = 0.9, 3
_SAME_POINT = 1e-6
_SLACK_RAD = 1e-9

Choice = Literal["forward", "turn_left", "turn_right", "arrived"]


def greedy_choice(distance_m: float, error_rad: float, after_forward: bool, arrival_m: float) -> Choice:
    """SatNav's rule for one target.

    Args:
        error_rad: bearing of the target from the heading, clockwise, in (-pi, pi]. after_forward: whether the last action was a forward move.
    """
    if distance_m <= arrival_m:
        return "arrived"
    tolerance = _NEAR_TOLERANCE_RAD if distance_m < 2.0 * arrival_m else _TOLERANCE_RAD
    tolerance *= _AFTER_FORWARD if after_forward else 1.0
    if abs(error_rad) <= tolerance + _SLACK_RAD:
        return "forward"
    return "turn_right" if error_rad > 0.0 else "turn_left"


@dataclass
class Follower:
    """Chooses moves along targets (N, 2+) in degrees.

    Attributes:
        arrival_m: how near counts as there. actions: amounts of the moves. searches: look for the last stretch instead of SatNav's rule alone.
        at: index of the target now; N when all are reached.
    """

    targets: Floats
    arrival_m: float
    geodesy: Geodesy
    actions: ActionSpace
    searches: bool = True
    at: int = 0
    _after_forward: bool = False
    _plan: list[MoveName] = field(default_factory=list)

    def next(self, pose: Pose) -> MoveName | None:
        """The next move from a pose in degrees, None at the end."""
        while self.at < len(self.targets):
            ahead, aside = self._seen(pose)
            distance = float(self.geodesy.distance_m(pose.position[:2], self.targets[self.at, :2]))
            # Yaw is counter-clockwise and this error clockwise; straight behind is to the right.
            error = -atan2(aside, ahead) if (ahead, aside) != (0.0, 0.0) else 0.0
            if error <= -np.pi + _SLACK_RAD:
                error = float(np.pi)
            choice = greedy_choice(distance, error, self._after_forward, self.arrival_m)
            if choice == "arrived":
                self.at, self._plan = self.at + 1, []
                continue
            move: MoveName = self._searched(ahead, aside, distance) or choice
            self._after_forward = move == "forward"
            return move
        return None

    def rejected(self) -> None:
        """The last move was not carried out."""
        self._plan = []

    def _seen(self, pose: Pose) -> tuple[float, float]:
        east, north = self.geodesy.offset_m(pose.position, self.targets[self.at]).tolist()
        c, s = np.cos(pose.yaw_rad), np.sin(pose.yaw_rad)
        return float(c * east + s * north), float(-s * east + c * north)

    def _searched(self, ahead: float, aside: float, distance_m: float) -> MoveName | None:
        """The next move of the last stretch; None where SatNav's rule serves."""
        step = self.actions.step_m
        if not self.searches or self.arrival_m >= 0.5 * step or distance_m > (_STEPS - 0.5) * step:
            return None
        if not self._plan:
            self._plan = last_stretch(ahead, aside, self.arrival_m * _AIM, step, self.actions.turn_rad)
        return self._plan.pop(0) if self._plan else None


def last_stretch(ahead: float, aside: float, within_m: float, step_m: float, turn_rad: float) -> list[MoveName]:
    """The fewest moves that end ``within_m`` of a point ahead and to the left, or as near as a few steps lead."""
    count = round(2.0 * np.pi / turn_rad)
    turns = (np.arange(count) + count // 2) % count - count // 2
    best: tuple[bool, float, float, tuple[int, ...]] | None = None
    for steps in range(1, _STEPS + 1):
        grids = np.meshgrid(*[turns] * steps, indexing="ij")
        headings = np.cumsum([g.ravel() for g in grids], axis=0)
        x, y = step_m * np.cos(headings * turn_rad).sum(axis=0), step_m * np.sin(headings * turn_rad).sum(axis=0)
        off = np.hypot(x - ahead, y - aside)
        cost = steps + np.abs([g.ravel() for g in grids]).sum(axis=0)
        missed = off > within_m
        k = int(np.lexsort((off, cost, np.where(missed, off, 0.0)))[0])
        found = (bool(missed[k]), float(off[k]) if missed[k] else 0.0, float(cost[k]), tuple(int(g.ravel()[k]) for g in grids))
        best = found if best is None or found < best else best
    assert best is not None
    moves: list[MoveName] = []
    for turn in best[3]:
        way: MoveName = "turn_left" if turn > 0 else "turn_right"
        moves += [way] * abs(turn)
        moves.append("forward")
    return moves


def follower_of(episode: Episode, actions: ActionSpace, *, searches: bool = True) -> Follower:
    """The follower of an episode's reference: its points after the first, then the goal where the last is another place [SN].

    Raises:
        PolicyRefused: the episode has no reference path or no goal.
    """
    stage = episode.stages[0]
    if episode.reference is None or not episode.reference.path or stage.goal is None:
        raise PolicyRefused("the follower needs a reference path and a goal", where=f"episode {episode.id}", next_step="generate the episodes with Portico")
    path = [tuple(p) for p in episode.reference.path]
    targets = path[1:] or path
    if any(abs(a - b) > _SAME_POINT for a, b in zip(targets[-1], stage.goal, strict=True)):
        targets = [*targets, tuple(stage.goal)]
    return Follower(np.array(targets), ARRIVAL_M.get(stage.kind, 10.0), GEODESIES[stage.geodesy], actions, searches)


class ReferenceFollower:
    """Flies along the reference path with a policy's own moves and stops at its end (privileged).

    Args:
        rule: ``search`` never gets stuck; ``satnav`` is SatNav's own.
    """

    spec = PolicySpec("privileged/reference-follower", needs=frozenset({"oracle"}), stages=frozenset({"boundary", "landmark", "route"}))

    def __init__(self, rule: str = "search") -> None:
        self._searches = rule != "satnav"
        self._simulator: Simulator | None = None

    def attach(self, simulator: Simulator, episode: Episode) -> None:
        """Take the reference path.

        Raises:
            PolicyRefused: the episode has none.
        """
        self._simulator, self._episode = simulator, episode
        self._follower = follower_of(episode, simulator.actions, searches=self._searches)

    def reset(self, brief: Brief) -> None:
        """Start at the first point."""
        assert self._simulator is not None
        self._follower = follower_of(self._episode, self._simulator.actions, searches=self._searches)

    def act(self, observation: Observation) -> Action:
        """The next move, or STOP at the goal."""
        assert self._simulator is not None
        if observation.collided:
            self._follower.rejected()
        move = self._follower.next(self._simulator.robot.pose)
        return Stop() if move is None else Move(move)

    def close(self) -> None:
        """Let go of the simulator."""
        self._simulator = None
