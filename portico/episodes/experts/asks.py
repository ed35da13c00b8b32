"""What experts are asked: starts, goals and shortest ways between them, in blocks that can be made in any order, one at a time.

``GridAsks`` draws by NavArena's rules [NA]: grid points a metre apart as starts and goals, six headings each, ways of 1 to 30 m. The
source does not say which pairs it takes and in which order [P]: goals come in a seeded order, each with a slice of its starts, group
after group of goals; when every pair has had its turn, all come again with other headings. Ways to one place share its field of
distances, and so do the ways back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from portico.episodes.grid import grid_points, place_beside
from portico.episodes.grounds import Grounds
from portico.episodes.navarena.rows import EpisodeRow
from portico.episodes.sampling import heading_rad
from portico.errors import EpisodeError
from portico.geometry import Floats, Pose
from portico.seeding import generator
from portico.space import DistanceField, GeodesicPath
from portico.suites.suite import Grid
from portico.tasks.episode import Episode, TaskName
from portico.tasks.predicates import DEFAULT_RADIUS_M
from portico.world import ObjectInstance

#: Starts of a block.
SLICE = 64
#: Bytes that the fields of one group of goals may take, and of each node in a field.
_FIELDS_BYTES, _NODE_BYTES, _MOST_GOALS = 2**28, 12, 1024
_SLACK_M = 1e-6
UNREACHABLE, AT_GOAL = "unreachable", "at the goal from the start"


@dataclass(frozen=True)
class Ask:
    """One question for an expert.

    Attributes:
        row: as it is written down. stop: where the expert is to end, ``turned`` whether with that heading. way: there.
    """

    row: EpisodeRow
    stop: Pose
    turned: bool
    way: GeodesicPath


class Asks(Protocol):
    """A source of questions.

    Attributes:
        task: point, image or object. blocks: how many blocks there are.
    """

    task: TaskName
    blocks: int

    def lane(self, block: int) -> int:
        """Blocks of one lane share work, and are best made by the same process."""

    def block(self, block: int) -> tuple[list[Ask], Counter[str]]:
        """The questions of a block, and how many fell out before they were any, by reason."""


class GridAsks:
    """Pairs of grid points, or grid points and the categories of a world's objects, drawn by NavArena's rules."""

    def __init__(self, grounds: Grounds, task: TaskName, seed: int, grid: Grid | None = None) -> None:
        self.task, self._grounds, self._seed, self._grid = task, grounds, seed, grid or Grid()
        self.points = grid_points(grounds, self._grid.spacing_m)
        self._goals: Sequence[_Goal] = _objects(grounds) if task == "object" else [_Goal(str(k), self.points[k : k + 1]) for k in range(len(self.points))]
        self._order = generator(seed, grounds.world.id, "experts", task).permutation(len(self._goals))
        self._rank = np.argsort(self._order)
        self._group = int(np.clip(_FIELDS_BYTES // (_NODE_BYTES * len(grounds.xyz)), 1, _MOST_GOALS))
        self._slices = -(-len(self.points) // SLICE)
        self._combos = self._grid.headings ** (2 if task == "image" else 1)
        self.blocks = self._combos * self._slices * len(self._goals)
        self._starts_of = lru_cache(maxsize=self._group)(self._find_starts)

    def lane(self, block: int) -> int:
        """See ``Asks``: the goal's number."""
        return self._place(block)[2]

    def block(self, block: int) -> tuple[list[Ask], Counter[str]]:
        """See ``Asks``."""
        lap, piece, number = self._place(block)
        goal, starts = self._goals[number], self._starts_of(number)
        reasons = Counter(starts.left_out) if lap == 0 and piece == 0 else Counter[str]()
        asks = []
        for k in range(piece * SLICE, min((piece + 1) * SLICE, len(starts.points))):
            combos = [int(starts.combos[(first + lap) % self._combos]) for first in starts.firsts[k]]
            way = starts.ways.path_from(starts.points[k])
            problem = UNREACHABLE if way is None else self._outside(way.length_m)
            if way is None or problem:
                reasons[problem] += len(combos)
                continue
            asks.append(self._ask(goal, way, combos[0]))
            if len(combos) == 2:
                back = GeodesicPath(np.ascontiguousarray(way.points[::-1]), way.length_m)
                asks.append(self._ask(goal, back, combos[1]))
        return asks, reasons

    def _place(self, block: int) -> tuple[int, int, int]:
        """Lap, slice and goal of a block."""
        goals = len(self._goals)
        lap, rest = divmod(block, self._slices * goals)
        group, rest = divmod(rest, self._slices * self._group)
        piece, k = divmod(rest, min(self._group, goals - group * self._group))
        return lap, piece, int(self._order[group * self._group + k])

    def _find_starts(self, number: int) -> _Starts:
        """Starts of a goal in a seeded order, and what draws their headings."""
        goal, grid = self._goals[number], self._grid
        rng = generator(self._seed, self._grounds.world.id, "experts", self.task, goal.name)
        # Of two places the one that comes first in the order serves both ways between them.
        points = self.points if goal.items else self.points[self._order[self._rank[number] + 1 :]]
        directions = 1 if goal.items else 2
        limit_m = grid.longest_m + grid.spacing_m
        ways = self._grounds.space.distance_field(goal.stops, mask=self._grounds.usable, limit_m=limit_m)
        outside = [self._outside(length) for length in ways.at(points).tolist()] if len(points) else []
        fits = np.array([reason == "" for reason in outside], bool) & ~goal.near(points)
        left_out = Counter(reason or AT_GOAL for reason, fit in zip(outside, fits.tolist(), strict=True) if not fit for _ in range(directions))
        chosen = points[rng.permutation(np.flatnonzero(fits))]
        return _Starts(ways, chosen, rng.permutation(self._combos), rng.integers(self._combos, size=(len(chosen), directions)), left_out)

    def _outside(self, length_m: float) -> str:
        if length_m < self._grid.shortest_m - _SLACK_M:
            return f"path shorter than {self._grid.shortest_m:g} m"
        return f"path longer than {self._grid.longest_m:g} m" if length_m > self._grid.longest_m + _SLACK_M else ""

    def _ask(self, goal: _Goal, way: GeodesicPath, combo: int) -> Ask:
        first, last = combo % self._grid.headings, combo // self._grid.headings
        x, y, z = (float(v) for v in way.points[0])
        return goal.ask(self.task, Pose(x, y, z, heading_rad(first, self._grid.headings)), way, heading_rad(last, self._grid.headings))


class FileAsks:
    """The point, image or object episodes of an episode set, all of one task.

    Raises:
        EpisodeError: the set holds none of that task, or is of another world.
    """

    def __init__(self, grounds: Grounds, episodes: Sequence[Episode], task: TaskName) -> None:
        self.task, self._grounds = task, grounds
        self._episodes = [e for e in episodes if e.task == task]
        if not self._episodes:
            raise EpisodeError(f"there are no {task} episodes", why=f"the set holds {', '.join(sorted({e.task for e in episodes})) or 'nothing'}")
        other = next((e for e in self._episodes if e.world != grounds.world.id), None)
        if other is not None:
            raise EpisodeError("the episodes are of another world", where=other.id, why=f"{other.world}, not {grounds.world.id}")
        self._objects = {goal.name: goal for goal in _objects(grounds)} if task == "object" else {}
        self._field_of = lru_cache(maxsize=None)(lambda category: grounds.space.distance_field(self._objects[category].stops, mask=grounds.usable))
        self.blocks = -(-len(self._episodes) // SLICE)

    def lane(self, block: int) -> int:
        """See ``Asks``."""
        return block

    def block(self, block: int) -> tuple[list[Ask], Counter[str]]:
        """See ``Asks``: nothing but what cannot be reached falls out."""
        found = [self._ask(e) for e in self._episodes[block * SLICE : (block + 1) * SLICE]]
        return [ask for ask in found if ask is not None], Counter(UNREACHABLE for ask in found if ask is None)

    def _ask(self, episode: Episode) -> Ask | None:
        stage, start = episode.stages[0], Pose(*episode.start.position, episode.start.yaw_rad)
        if self.task == "object":
            goal = self._objects.get(stage.category or "")
            way = None if goal is None else self._field_of(goal.name).path_from(start.position)
        else:
            goal = _Goal("", np.array([stage.goal]))
            way = self._grounds.space.path(start.position, np.array(stage.goal), mask=self._grounds.usable)
        if goal is None or way is None:
            return None
        return goal.ask(self.task, start, way, stage.goal_yaw_rad or 0.0, stage.instruction or None)


@dataclass(frozen=True)
class _Goal:
    """A place to come to, or all objects of a category.

    Attributes:
        name: of the category, else a number. stops: (K, 3) where experts may end. items: (K) the object at each of them, none for a place.
        centers: (I, 3) of all objects of the category, those that nobody can stand at too.
    """

    name: str
    stops: Floats
    items: tuple[ObjectInstance, ...] = ()
    centers: Floats = field(default_factory=lambda: np.zeros((0, 3)))

    def near(self, points: Floats) -> np.ndarray:
        """(P,) which of points (P, 3) are at one of the objects already; none is at a place that lies in the window."""
        found = np.zeros(len(points), bool)
        for x, y, _ in self.centers:
            found |= np.hypot(points[:, 0] - x, points[:, 1] - y) <= DEFAULT_RADIUS_M["object"]
        return found

    def ask(self, task: TaskName, start: Pose, way: GeodesicPath, heading: float, instruction: str | None = None) -> Ask:
        """The question that a way answers; ``heading`` is an image goal's, at objects an expert looks at them."""
        x, y, z = (float(v) for v in way.points[-1])
        if not self.items:
            goal = Pose(x, y, z, heading if task == "image" else 0.0)
            turned = task == "image"
            row = EpisodeRow(start, goal, "image" if turned else "position", way.length_m, goal_turned=turned, instruction=instruction)
            return Ask(row, goal, turned, way)
        item = self.items[int(np.argmin(np.linalg.norm(self.stops - way.points[-1], axis=1)))]
        aside = (item.center[0] - x, item.center[1] - y)
        stop = Pose(x, y, z, float(np.arctan2(aside[1], aside[0])))
        # The data's distance runs to the goal itself; what lies between it and where one can stand is no way but a straight line.
        length_m = way.length_m + float(np.hypot(*aside))
        row = EpisodeRow(start, Pose(*item.center), "object", length_m, instruction=instruction, object_category=item.category, object_id=item.id)
        return Ask(row, stop, True, way)


@dataclass(frozen=True)
class _Starts:
    """What belongs to a goal: its field, its starts (S, 3), headings in the order they come up, and which of them the ways of each start
    begin with: (S, 1), or (S, 2) where there is a way back too."""

    ways: DistanceField
    points: Floats
    combos: np.ndarray
    firsts: np.ndarray
    left_out: Counter[str]


def _objects(grounds: Grounds) -> list[_Goal]:
    """Categories of objects with a place to stand at one of them, by name."""
    goals = []
    for category in sorted({o.category for o in grounds.annotations.semantics.objects}):
        instances = grounds.annotations.instances(category)
        found = [(item, place_beside(grounds, item, DEFAULT_RADIUS_M["object"])) for item in instances]
        places = [(item, place) for item, place in found if place is not None]
        if places:
            stops, items = np.array([place for _, place in places]), tuple(item for item, _ in places)
            goals.append(_Goal(category, stops, items, np.array([o.center for o in instances])))
    return goals
