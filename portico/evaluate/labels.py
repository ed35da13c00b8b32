"""Why a stage failed, from the record alone: labels with the steps that show them and a sentence for people [I2 D.8].

Steps are indices of recorded states. An episode may carry several labels, the most telling first, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from portico.evaluate.measures.evaluation import Evaluation
from portico.evaluate.measures.stages import stage_evaluation
from portico.tasks.annotations import Annotations, Bools
from portico.tasks.machine import ends_on_arrival
from portico.tasks.predicates import opened, satisfied
from portico.world import SPHERE

LabelName = Literal[
    "wrong_building",
    "premature_stop",
    "missed_stop",
    "off_pedestrian_network",
    "never_left",
    "blocked_progress",
    "search_exhausted",
    "budget_exhausted",
]

#: A window of actions that moves less than this and turns at least that is blocked [I2 F.4].
BLOCKED_ACTIONS, BLOCKED_MOTION_M, BLOCKED_ROTATION_RAD = 16, 0.5, float(np.pi / 2)


@dataclass(frozen=True)
class Label:
    """One finding about the stage of index ``stage``: the state indices that show it, and a sentence."""

    label: LabelName
    stage: int
    steps: tuple[int, ...]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a record."""
        return {**asdict(self), "steps": list(self.steps)}


def label_episode(e: Evaluation) -> list[Label]:
    """Labels of the first failed stage, most telling first; none for a success."""
    stage = e.outcome.completed
    view = None if e.success else stage_evaluation(e, stage)
    if view is None:
        return []
    failed = _FailedStage(view, e.outcome.stages[stage].start or 0)
    where = f"Stage {stage + 1} ({failed.spec.kind})"
    return [Label(name, stage, tuple(failed.at(s) for s in steps), f"{where}: {text}") for name, find in _FINDERS for steps, text in find(failed)]


Finding = tuple[tuple[int, ...], str]


class _FailedStage:
    """The failed stage on its own, with what several labels ask of it; ``first`` is its first state's index in the episode."""

    def __init__(self, e: Evaluation, first: int) -> None:
        self.e, self.first = e, first
        self.spec = e.episode.stages[0]
        self.annotations: Annotations = e.context.annotations
        self.last = len(e.positions) - 1
        self.stop = e.outcome.stages[0].stop
        self.declares = not ends_on_arrival(self.spec)
        self.valid: Bools = satisfied(e.goal, e.positions)
        gate = e.goal.gate(e.positions)
        self.crossed = gate is None or bool(opened(*gate)[-1])

    def at(self, step: int) -> int:
        """Index in the episode of a state of this stage."""
        return self.first + step

    def span(self, steps: tuple[int, int]) -> str:
        """Two indices as people say them."""
        return f"from step {self.at(steps[0])} to {self.at(steps[1])}"

    def accepted_buildings(self) -> set[int]:
        """Buildings that are not the wrong one at the end of this stage."""
        if self.spec.building is not None:
            return {self.annotations.building_index(self.spec.building)}
        if self.spec.kind == "exit":
            return {int(self.e.inside[0])}
        return {self.annotations.building_index(o.building) for o in self.annotations.instances(self.spec.category)}

    def building_name(self, index: int) -> str:
        """What people call it."""
        building = self.annotations.buildings[index]
        return building.name or f"building {building.id}"

    def closing_run(self, mask: Bools) -> tuple[int, int]:
        """First and last index of the run of true states that ends the stage."""
        false = np.flatnonzero(~mask)
        return (int(false[-1]) + 1 if len(false) else 0), self.last

    def valid_span(self) -> tuple[int, int]:
        """First and last index of the states that could have been declared."""
        valid = np.flatnonzero(self.valid)
        return int(valid[0]), int(valid[-1])


def _wrong_building(s: _FailedStage) -> Iterator[Finding]:
    here = int(s.e.inside[-1])
    if s.spec.kind in ("exit", "entrance", "ovon") and here >= 0 and here not in s.accepted_buildings():
        steps = s.closing_run(s.e.inside == here)
        yield steps, f"ended inside {s.building_name(here)}, where it was {s.span(steps)}: not the building asked for."


def _premature_stop(s: _FailedStage) -> Iterator[Finding]:
    if s.stop is None or s.valid.any() or any(_wrong_building(s)):
        return
    match s.spec.kind:
        case "exit" if not s.crossed:
            yield (s.stop,), f"declared at step {s.at(s.stop)} while still inside the building."
        case "entrance" if not s.crossed:
            yield (s.stop,), f"declared at step {s.at(s.stop)} before going in."
        case "exit" | "entrance":
            return
        case _:
            distance = float(s.e.goal_distance_m[s.stop])
            away = f"{distance:.1f} m from the goal" if np.isfinite(distance) else "with no goal to reach"
            yield (s.stop,), f"declared at step {s.at(s.stop)}, {away}, before any state was valid."


def _missed_stop(s: _FailedStage) -> Iterator[Finding]:
    if s.declares and s.stop is None and s.valid.any():
        steps = s.valid_span()
        yield steps, f"{int(s.valid.sum())} states {s.span(steps)} were valid, none was declared."


def _late_stop(s: _FailedStage) -> Iterator[Finding]:
    if s.stop is not None and s.valid.any():
        steps = s.valid_span()
        yield (*steps, s.stop), f"{int(s.valid.sum())} states {s.span(steps)} were valid, but the declaration came at step {s.at(s.stop)}."


def _off_network(s: _FailedStage) -> Iterator[Finding]:
    if s.spec.kind not in ("exit", "outdoor", "entrance"):
        return
    off = (s.e.inside < 0) & ~s.annotations.allowed(s.e.positions)
    if off[-1]:
        region = s.annotations.region_at(s.e.positions[-1])
        ground = region.type.replace("_", " ") if region else "ground of no region"
        steps = s.closing_run(off)
        yield steps, f"ended off the pedestrian network, on {ground}, where it was {s.span(steps)}."


def _never_left(s: _FailedStage) -> Iterator[Finding]:
    start = int(s.e.inside[0])
    if s.spec.kind == "exit" and s.stop is None and start >= 0 and bool((s.e.inside == start).all()):
        steps = (0, s.last)
        yield steps, f"stayed inside {s.building_name(start)} {s.span(steps)}."


def _blocked_progress(s: _FailedStage) -> Iterator[Finding]:
    trajectory = s.e.trajectory
    ends = np.flatnonzero(np.append(np.diff(trajectory.action) != 0, True))
    if len(ends) <= BLOCKED_ACTIONS:
        return
    turned = np.abs((np.diff(trajectory.yaw_rad) + np.pi) % (2 * np.pi) - np.pi)
    rotation = np.concatenate([[0.0], np.cumsum(turned)])
    since, until = ends[:-BLOCKED_ACTIONS], ends[BLOCKED_ACTIONS:]
    before, after = trajectory.position[since, :2], trajectory.position[until, :2]
    moved = SPHERE.distance_m(before, after) if s.e.protocol == "satnav" else np.linalg.norm(after - before, axis=1)
    # Six turns of 15 degrees are a right angle, whatever their sum in binary says.
    blocked = np.flatnonzero((moved < BLOCKED_MOTION_M) & (rotation[until] - rotation[since] >= BLOCKED_ROTATION_RAD - 1e-9))
    spans: list[tuple[int, int]] = []
    for k in blocked:
        if spans and since[k] <= spans[-1][1]:
            spans[-1] = (spans[-1][0], int(until[k]))
        else:
            spans.append((int(since[k]), int(until[k])))
    for span in spans:
        yield span, f"turned on the spot {s.span(span)}: {BLOCKED_ACTIONS} actions moved it less than {BLOCKED_MOTION_M} m."


def _search_exhausted(s: _FailedStage) -> Iterator[Finding]:
    if s.spec.kind in ("ovon", "object", "place", "vln") and s.stop is None and not s.valid.any() and _spent(s):
        nearest = int(np.argmin(s.e.goal_distance_m))
        near = f", at best {s.e.goal_distance_m[nearest]:.1f} m away" if np.isfinite(s.e.goal_distance_m[nearest]) else ""
        steps = (0, s.last)
        yield steps, f"searched {s.span(steps)} without reaching any {s.spec.category or 'goal'}{near}."


def _budget_exhausted(s: _FailedStage) -> Iterator[Finding]:
    if _spent(s):
        what = "actions" if s.e.outcome.reason == "budget_exhausted" else "simulated time"
        yield (s.last,), f"the budget of {what} ran out at step {s.at(s.last)}."


def _spent(s: _FailedStage) -> bool:
    return s.e.outcome.reason in ("budget_exhausted", "timeout")


#: Most telling first.
_FINDERS: tuple[tuple[LabelName, Callable[[_FailedStage], Iterator[Finding]]], ...] = (
    ("wrong_building", _wrong_building),
    ("premature_stop", _premature_stop),
    ("missed_stop", _missed_stop),
    ("off_pedestrian_network", _off_network),
    ("missed_stop", _late_stop),
    ("never_left", _never_left),
    ("blocked_progress", _blocked_progress),
    ("search_exhausted", _search_exhausted),
    ("budget_exhausted", _budget_exhausted),
)
