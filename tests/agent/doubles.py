"""Executors, reasoners and observations that do what a test says, and a loop without a simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import cos, sin
from typing import Any

import numpy as np

from portico.agent import AgentPolicy
from portico.agent.contract import Assessment, Situation, Step, Verdict
from portico.geometry import Pose, wrap_angle
from portico.interface import (
    Action,
    ActionSpace,
    Body,
    Brief,
    Camera,
    Frame,
    Move,
    Observation,
    PolicySpec,
    StageBrief,
    StageKind,
    Stop,
    Velocity,
    Waypoints,
)

BODY = Body("toy", radius_m=0.3, height_m=0.8, climb_m=0.25, max_speed_mps=1.0, max_turn_radps=1.0)
CAMERA = Camera("front", 32, 24)
YES = Verdict(True, 0.9, "seen", True, 0.9, "seen")
NO = Verdict(False, 0.9, "not seen", False, 0.9, "not seen", "a wall", "turn left")
PERHAPS = Verdict(False, 0.2, "dark", False, 0.2, "dark")


class Executor:
    """Does what a function of its own step since its reset says; walks by default."""

    def __init__(self, does: Callable[[int], Action] | None = None, name: str = "executor") -> None:
        self.spec = PolicySpec(name, needs=frozenset({"rgb"}))
        self._does = does or (lambda n: Move("forward"))
        self.resets: list[Brief] = []
        self.seen: list[Observation] = []
        self._n = 0

    def reset(self, brief: Brief) -> None:
        self.resets.append(brief)
        self._n = 0

    def act(self, observation: Observation) -> Action:
        self.seen.append(observation)
        self._n += 1
        return self._does(self._n - 1)

    def close(self) -> None:
        pass


class Notary:
    """A reasoner that gives the verdicts of a script, the last one for ever, and keeps what it was asked."""

    name = "notary"
    needs = frozenset({"rgb"})

    def __init__(self, *verdicts: Verdict | Exception, looks: Sequence[str] = (), steps: Sequence[Step] = ()) -> None:
        self._script, self._steps = list(verdicts) or [NO], list(steps)
        self.looks = frozenset(looks)
        self.asked: list[Situation] = []
        self.plans: list[Situation] = []
        self.entered: list[StageKind] = []
        self.noticed: list[Observation] = []

    def reset(self, brief: Brief, requests: Any) -> None:
        self.requests = requests

    def enter(self, stage: StageBrief) -> None:
        self.entered.append(stage.kind)

    def notice(self, observation: Observation) -> None:
        self.noticed.append(observation)

    def assess(self, situation: Situation) -> Assessment:
        return Assessment()

    def plan(self, situation: Situation, assessment: Assessment) -> Sequence[Step]:
        self.plans.append(situation)
        return self._steps or [Step("all of it", situation.stage.instruction, situation.stage.kind)]

    def verify(self, situation: Situation) -> Verdict:
        self.asked.append(situation)
        verdict = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    def close(self) -> None:
        pass


def stage(kind: StageKind = "exit", index: int = 0, count: int = 1, **more: Any) -> StageBrief:
    return StageBrief(kind, index, count, **{"instruction": f"Do the {kind}.", **more})


def brief_of(kinds: Sequence[StageKind] = ("exit",), *, accepts: frozenset[str] = frozenset({"stop", "move", "waypoints", "velocity"})) -> Brief:
    return Brief("toy", "toy", tuple(kinds), stage(kinds[0], 0, len(kinds)), BODY, (CAMERA,), ActionSpace(accepts=accepts), "rgb", 800, 7)


def frame(shade: int = 90) -> Frame:
    return Frame(CAMERA, rgb=np.full((CAMERA.height, CAMERA.width, 3), shade, np.uint8))


class Walk:
    """A plain without obstacles: moves a pose by actions, hands out observations, and ends stages when told to.

    Args:
        confirms: whether a STOP at that action count succeeds; a refused one ends the episode.
    """

    def __init__(self, kinds: Sequence[StageKind] = ("exit",), confirms: Callable[[int], bool] = lambda step: True, **stage_fields: Any) -> None:
        self.kinds, self._confirms, self._fields = tuple(kinds), confirms, stage_fields
        self.pose, self.step, self.index = Pose(0.0, 0.0), 0, 0
        self.stops: list[int] = []
        self.actions: list[Action] = []
        self.over = ""

    def observation(self, *, changed: bool = False) -> Observation:
        spec = stage(self.kinds[self.index], self.index, len(self.kinds), **self._fields)
        return Observation(self.step, 0.1 * self.step, {"front": frame(self.step % 200)}, spec, stage_changed=changed, odometry=self.pose)

    def run(self, agent: AgentPolicy, *, most: int = 900) -> Walk:
        agent.reset(brief_of(self.kinds))
        changed = False
        while not self.over and self.step < most:
            action = agent.act(self.observation(changed=changed))
            changed = self._do(action)
        return self

    def _do(self, action: Action) -> bool:
        self.actions.append(action)
        self.step += 1
        if isinstance(action, Stop):
            self.stops.append(self.step - 1)
            if not self._confirms(self.step - 1):
                self.over = "refused"
                return False
            self.index += 1
            self.over = "success" if self.index == len(self.kinds) else ""
            return not self.over
        self.pose = moved(self.pose, action)
        return False


def moved(pose: Pose, action: Action) -> Pose:
    match action:
        case Move("forward"):
            return replace(pose, x=pose.x + 0.25 * cos(pose.yaw_rad), y=pose.y + 0.25 * sin(pose.yaw_rad))
        case Move(name):
            return replace(pose, yaw_rad=wrap_angle(pose.yaw_rad + np.deg2rad(15.0) * (1 if name == "turn_left" else -1)))
        case Waypoints(poses):
            return pose.compose(poses[-1])
        case Velocity():
            return pose
    return pose


def agent_of(executor: Executor | None = None, notary: Notary | None = None, **options: Any) -> AgentPolicy:
    worker = executor or Executor()
    return AgentPolicy(exit=worker, outdoor=worker, entrance=worker, ovon=worker, reasoner=notary or Notary(), **options)
