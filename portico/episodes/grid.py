"""Starts and goals on a grid, by NavArena's rules [NA]: a point every metre, six headings, a window of path lengths.

The source fixes grid, headings and window, but not which pairs are taken, in which order, or what is left out. Here [P]:
starts come in a seeded order, each with one goal drawn evenly among those in its window, round after round; objects take
turns by category. Success is judged by planar distance alone [NA], which walls and floors do not stop: a question
whose reference would already succeed through one is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, zip_longest

import numpy as np

from portico.episodes.grounds import Grounds, Mask
from portico.episodes.references import Planner, dense
from portico.episodes.sampling import Question, heading_rad
from portico.geometry import Floats, resample
from portico.seeding import generator
from portico.suites import Suite
from portico.tasks.episode import Episode, Reference, Scene, StageSpec, TaskName
from portico.tasks.predicates import DEFAULT_RADIUS_M, Ground, predicate, success_radius_m
from portico.tasks.trajectory import Trajectory
from portico.world import ObjectInstance

#: An object's floor is within this height of the ground that people stand on beside it, where no storey tells.
_STANDING_M = 1.0
#: Longest stretch between two recorded states of a robot.
_RECORDED_M = 0.25
_SLACK_M = 1e-6


class GridDraw:
    """Draws the questions of one world by NavArena's rules, see ``portico.episodes.draws.Draw``."""

    oversampling = 1

    def __init__(self, planner: Planner, suite: Suite) -> None:
        self.planner, self.grid, self._seed = planner, suite.grid, suite.seed
        self.grounds: Grounds = planner.grounds
        self.rejected: Counter[str] = Counter()

    def questions(self, task: TaskName, scene: Scene | None, reasons: Counter[str]) -> Iterator[Question]:
        """Questions of a point, image or object task."""
        self.rejected = reasons
        rng = generator(self._seed, self.grounds.world.id, task, "grid")
        return self._objects(rng) if task == "object" else self._places(task, rng)

    def misfit(self, question: Question, reference: Reference) -> str:
        """Outside the window, or a success that nobody meant: with something between the end of the way and the goal."""
        stage, path = question.stages[0], resample(np.array(reference.path), self.grounds.space.cell_m)
        goal = predicate(stage, path[0], Ground(self.grounds.annotations, self.grounds.body))
        # A way may brush the success circle from behind something long before it ends.
        first = path[int(np.argmax(goal.holds(path)))]
        # Half way round the success circle leads to whatever stands free in it.
        limit = np.pi * success_radius_m(stage)
        rests = [self._rest_m(stage, first), self._rest_m(stage, path[-1])]
        if max(rests) > limit:
            return "success through a wall or a floor"
        return self._outside(reference.length_m + (rests[1] if stage.goal is not None else 0.0))

    def _rest_m(self, stage: StageSpec, end: Floats) -> float:
        """Length of the way from a success to what it should have come to; inf without one."""
        anchor = self._anchor(stage, end)
        way = None if anchor is None else self.grounds.space.path(end, anchor, mask=self.grounds.usable)
        return np.inf if way is None else way.length_m

    def finished(self, reference: Reference) -> Reference:
        """With points as dense as trajectories are recorded, so that warping compares like with like."""
        return dense(reference, _RECORDED_M)

    def worded(self, episode: Episode, question: Question) -> Episode | str:
        """As it is."""
        return episode

    def confirmed(self, episode: Episode, trajectory: Trajectory) -> Episode | str:
        """As it is."""
        return episode

    def chosen(self, accepted: Sequence[tuple[Episode, str]], count: int) -> list[Episode]:
        """The first ones drawn."""
        return [episode for episode, _ in accepted[:count]]

    @cached_property
    def points(self) -> Floats:
        """(K, 3) grid points on the ground where the body fits."""
        return grid_points(self.grounds, self.grid.spacing_m)

    def _outside(self, length_m: float) -> str:
        """Which end of the window a path length misses, "" within it, ends included."""
        if length_m < self.grid.shortest_m - _SLACK_M:
            return f"path shorter than {self.grid.shortest_m:g} m"
        return f"path longer than {self.grid.longest_m:g} m" if length_m > self.grid.longest_m + _SLACK_M else ""

    def _within(self, lengths_m: Floats, near: Mask) -> Mask:
        """(K,) lengths in the window that are not ``near`` the goal from the start; what falls out is counted."""
        short = lengths_m < self.grid.shortest_m - _SLACK_M
        long = lengths_m > self.grid.longest_m + _SLACK_M
        self._count("at the goal from the start", int((near & ~short & ~long).sum()))
        self._count(self._outside(0.0), int(short.sum()))
        self._count(self._outside(np.inf), int(long.sum()))
        within: Mask = ~(short | long | near)
        return within

    def _count(self, reason: str, number: int) -> None:
        if number:
            self.rejected[reason] += number

    def _places(self, task: TaskName, rng: np.random.Generator) -> Iterator[Question]:
        """Pairs of grid points."""
        points, make = self.points, _STAGES[task]
        if not len(points):
            self._count("no grid point where the body fits", 1)
        waiting: dict[int, np.ndarray] = {}
        todo = [int(a) for a in rng.permutation(len(points))]
        while todo:
            for a in todo:
                if a not in waiting:
                    goals = self._goals_of(points, a, DEFAULT_RADIUS_M[make(points[a], 0.0).kind])
                    waiting[a] = rng.permutation(goals)
                if len(waiting[a]):
                    b, waiting[a] = int(waiting[a][0]), waiting[a][1:]
                    stage = make(points[b], self._heading(rng))
                    yield Question(task, _xyz(points[a]), (stage,), "", self._heading(rng))
            todo = [a for a in todo if len(waiting[a])]

    def _goals_of(self, points: Floats, a: int, radius_m: float) -> np.ndarray:
        """Indices of the points that a start may have for a goal."""
        limit_m = self.grid.longest_m + self.grid.spacing_m
        lengths = self.grounds.space.distance_field(points[a : a + 1], mask=self.grounds.usable, limit_m=limit_m).at(points)
        near = np.linalg.norm(points[:, :2] - points[a, :2], axis=1) <= radius_m
        return np.flatnonzero(self._within(lengths, near))

    def _objects(self, rng: np.random.Generator) -> Iterator[Question]:
        """Grid points as starts, categories with a centre that can be reached taking turns."""
        semantics, points = self.grounds.annotations.semantics, self.points
        turns = []
        categories = sorted({o.category for o in semantics.objects})
        if not categories:
            self._count("no object in the world", 1)
        for n in rng.permutation(len(categories)):
            stage = StageSpec(kind="object", category=categories[n], rule="navarena", radius_m=DEFAULT_RADIUS_M["object"])
            if not self.grounds.stops_for(stage).any():
                self._count("category with no place to stand at any centre", 1)
                continue
            goal = predicate(stage, points[0] if len(points) else np.zeros(3), Ground(self.grounds.annotations, self.grounds.body))
            lengths = self.planner.distances_m(stage, points)
            starts = np.flatnonzero(self._within(lengths, goal.holds(points)))
            turns.append([(int(a), stage) for a in rng.permutation(starts)])
        for turn in chain.from_iterable(zip_longest(*turns)):
            if turn is not None:
                a, stage = turn
                yield Question("object", _xyz(points[a]), (stage,), stage.category or "", self._heading(rng))

    def _heading(self, rng: np.random.Generator) -> float:
        return heading_rad(int(rng.integers(self.grid.headings)), self.grid.headings)

    def _anchor(self, stage: StageSpec, end: Floats) -> Floats | None:
        """What a reference that ends at ``end`` should have come to: the goal, or the place to stand nearest to the object's centre on its floor."""
        if stage.goal is not None:
            return np.array(stage.goal)
        instances = self.grounds.annotations.instances(stage.category)
        centers = np.array([o.center for o in instances])
        item = instances[int(np.argmin(np.linalg.norm(centers[:, :2] - end[:2], axis=1)))]
        return place_beside(self.grounds, item, success_radius_m(stage))


def place_beside(grounds: Grounds, item: ObjectInstance, radius_m: float) -> Floats | None:
    """(3,) the place to stand nearest to an object's centre, on its floor and within a radius of the centre; None where there is none."""
    annotations, xyz = grounds.annotations, grounds.xyz
    floor = annotations.floor_of_object(item)
    base = item.center[2] - 0.5 * item.size[2]
    gaps = np.hypot(xyz[:, 0] - item.center[0], xyz[:, 1] - item.center[1])
    near = np.flatnonzero((gaps <= radius_m) & grounds.usable)
    level = grounds.floor[near] == floor if floor >= 0 else np.abs(xyz[near, 2] - base) <= _STANDING_M
    near = near[level]
    return xyz[near[np.argmin(gaps[near])]] if len(near) else None


def grid_points(grounds: Grounds, spacing_m: float) -> Floats:
    """(K, 3) whole multiples of a spacing, on the usable ground below them, where the body fits; a point per storey."""
    nodes = grounds.xyz[grounds.usable]
    xy = np.round(nodes[:, :2] / spacing_m) * spacing_m
    # A point on the border of cells belongs to one of them, which locating it tells.
    close = (np.abs(nodes[:, :2] - xy) <= 0.5 * grounds.space.cell_m + _SLACK_M).all(axis=1)
    candidates = np.column_stack([xy[close], nodes[close, 2]])
    carriers = grounds.space.locate(candidates)
    _, first = np.unique(carriers, return_index=True)
    found = np.sort(first[carriers[first] >= 0])
    candidates, carriers = candidates[found], carriers[found]
    candidates[:, 2] = grounds.xyz[carriers, 2]
    points: Floats = candidates[grounds.usable[carriers] & grounds.space.is_free(candidates)]
    return points


def _point_stage(goal: Floats, heading: float) -> StageSpec:
    return StageSpec(kind="point", goal=_xyz(goal), radius_m=DEFAULT_RADIUS_M["point"])


def _image_stage(goal: Floats, heading: float) -> StageSpec:
    return StageSpec(kind="image", goal=_xyz(goal), goal_yaw_rad=heading, radius_m=DEFAULT_RADIUS_M["image"])


_STAGES: dict[TaskName, Callable[[Floats, float], StageSpec]] = {"point": _point_stage, "image": _image_stage}


def _xyz(point: Floats) -> tuple[float, float, float]:
    x, y, z = (round(float(v), 6) for v in point)
    return (x, y, z)
