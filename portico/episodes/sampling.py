"""Candidate points and their combination into questions, by I2O2I-Nav's rules [I2 C.2, C.3, C.5]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np

from portico.episodes.grounds import Grounds
from portico.geometry import Floats, wrap_angle
from portico.seeding import derive_seed, generator
from portico.tasks.episode import GoalInstance, Reference, Scene, StageSpec, TaskName
from portico.tasks.predicates import DEFAULT_RADIUS_M

#: Candidates are drawn at this multiple of the quota and thinned evenly [I2 C.5].
OVERSAMPLING = 3
OUTDOOR_POINTS = 15
#: Where a city is larger than the budget's reach, outdoor points lie about a quarter of the reach apart, up to this many.
MOST_OUTDOOR_POINTS = 400
OUTDOOR_MIN_PATH_M = 20.0
OVON_MIN_DISTANCE_M = 5.0
OUTDOOR_RADIUS_M = 3.0
POINT_RADIUS_M = DEFAULT_RADIUS_M["point"]
IMAGE_RADIUS_M = DEFAULT_RADIUS_M["image"]
#: Headings that a place may be looked from, evenly around the circle [NA].
HEADINGS = 6


@dataclass(frozen=True)
class Question:
    """A start and its stages, before it has a reference.

    Attributes:
        stratum: keeps thinning from favouring one place.
        yaw_rad: heading at the start; None to draw any.
        scene, goals, reference: where it takes place, what may be gone to and the way to the nearest, by NavVerse's rules.
    """

    task: TaskName
    start: tuple[float, float, float]
    stages: tuple[StageSpec, ...]
    stratum: str
    yaw_rad: float | None = None
    scene: Scene | None = None
    goals: tuple[GoalInstance, ...] = ()
    reference: Reference | None = None


@dataclass(frozen=True)
class Points:
    """Sampled points: per floor indoors, outdoors, and per building at its boundary; (K, 3) each."""

    indoor: dict[int, Floats]
    outdoor: Floats
    boundary: dict[int, Floats]


def sample_points(grounds: Grounds, quota: int, reach_m: float, *seed: str | int) -> Points:
    """FPS and Lloyd in all three groups; at least one point on every floor that can be walked.

    Args:
        quota: most episodes wanted of a task. reach_m: how far the budget lets a robot walk.
    """
    space, annotations = grounds.space, grounds.annotations
    wanted = OVERSAMPLING * max(1, quota)
    sizes = grounds.floor_sizes()
    indoor = {}
    for f in np.flatnonzero(sizes).tolist():
        count = max(1, round(wanted * sizes[f] / sizes.sum()))
        indoor[f] = space.sample(grounds.indoor_starts(f), count, generator(*seed, "indoor", annotations.floors[f].id))
    outdoor = grounds.outdoor_starts
    buildings = grounds.enterable()
    each = max(1, -(-wanted // max(1, len(buildings))))
    boundary = {}
    for b in buildings:
        around = grounds.boundary(b)
        if around.any():
            boundary[b] = space.sample(around, each, generator(*seed, "boundary", annotations.buildings[b].id))
    cells = int(outdoor.sum())
    dense = min(MOST_OUTDOOR_POINTS, round(cells * space.cell_m**2 / (0.25 * reach_m) ** 2))
    points = space.sample(outdoor, min(max(OUTDOOR_POINTS, quota, dense), cells), generator(*seed, "outdoor"))
    return Points(indoor, points, boundary)


def heading_rad(k: int, headings: int = HEADINGS) -> float:
    """The k-th of evenly spaced headings, in (-pi, pi]."""
    return round(wrap_angle(2.0 * np.pi * k / headings), 6)


def questions(grounds: Grounds, points: Points, task: TaskName, rng: np.random.Generator) -> Iterator[Question]:
    """Every question of a task that the sampled points allow, in a seeded order."""
    found = list(_MAKERS[task](grounds, points))
    for i in rng.permutation(len(found)):
        yield found[i]


def _exit(g: Grounds, p: Points) -> Iterator[Question]:
    for floor, starts in p.indoor.items():
        building = _building_of(g, floor)
        for start in starts:
            yield Question("exit", _xyz(start), (StageSpec(kind="exit", building=building),), building)


def _outdoor(g: Grounds, p: Points) -> Iterator[Question]:
    for a, b in combinations(p.outdoor, 2):
        yield Question("outdoor", _xyz(a), (_outdoor_stage(b),), "")


def _entrance(g: Grounds, p: Points) -> Iterator[Question]:
    for b, starts in p.boundary.items():
        building = g.annotations.buildings[b].id
        for start in starts:
            yield Question("entrance", _xyz(start), (StageSpec(kind="entrance", building=building),), building)


def _ovon(g: Grounds, p: Points) -> Iterator[Question]:
    for floor, starts in p.indoor.items():
        building = _building_of(g, floor)
        for category in _categories(g, building):
            for start in starts:
                if _far_from_all(g, start, category):
                    yield Question("ovon", _xyz(start), (_ovon_stage(building, category),), f"{building} {category}")


def _object(g: Grounds, p: Points) -> Iterator[Question]:
    for q in _ovon(g, p):
        stage = StageSpec(kind="object", category=q.stages[0].category, building=q.stages[0].building)
        yield Question("object", q.start, (stage,), q.stratum)


def _point(g: Grounds, p: Points) -> Iterator[Question]:
    groups = [p.outdoor, *p.indoor.values()]
    for points in groups:
        for a, b in combinations(points, 2):
            goal = StageSpec(kind="point", goal=_xyz(b), radius_m=POINT_RADIUS_M)
            yield Question("point", _xyz(a), (goal,), "")


def _image(g: Grounds, p: Points) -> Iterator[Question]:
    for q in _point(g, p):
        goal = q.stages[0].goal
        assert goal is not None
        heading = derive_seed("heading", *(str(v) for v in goal)) % HEADINGS
        stage = StageSpec(kind="image", goal=goal, goal_yaw_rad=heading_rad(heading), radius_m=IMAGE_RADIUS_M)
        yield Question("image", q.start, (stage,), "")


def _i2o(g: Grounds, p: Points) -> Iterator[Question]:
    for q in _exit(g, p):
        for goal in p.outdoor:
            yield Question("i2o", q.start, (*q.stages, _outdoor_stage(goal)), q.stratum)


def _o2i(g: Grounds, p: Points) -> Iterator[Question]:
    for start in p.outdoor:
        for b, goals in p.boundary.items():
            building = g.annotations.buildings[b].id
            for goal in goals:
                yield Question("o2i", _xyz(start), (_outdoor_stage(goal), StageSpec(kind="entrance", building=building)), building)


def _i2o2i(g: Grounds, p: Points) -> Iterator[Question]:
    for q in _exit(g, p):
        for b, goals in p.boundary.items():
            building = g.annotations.buildings[b].id
            if building == q.stages[0].building:
                continue
            for i, category in enumerate(_categories(g, building)):
                goal = goals[i % len(goals)]
                stages = (*q.stages, _outdoor_stage(goal), StageSpec(kind="entrance", building=building), _ovon_stage(building, category))
                yield Question("i2o2i", q.start, stages, f"{q.stratum} {building}")


#: Tasks that evenly spread points make questions of.
_MAKERS: dict[TaskName, Callable[[Grounds, Points], Iterator[Question]]] = {
    "exit": _exit,
    "outdoor": _outdoor,
    "entrance": _entrance,
    "ovon": _ovon,
    "object": _object,
    "point": _point,
    "image": _image,
    "i2o": _i2o,
    "o2i": _o2i,
    "i2o2i": _i2o2i,
}

_T = TypeVar("_T")


def thinned(items: Sequence[_T], count: int, *, length: Callable[[_T], float], stratum: Callable[[_T], str]) -> list[_T]:
    """``count`` items, even over strata and, within each, evenly spaced in distance order."""
    strata: dict[str, list[_T]] = {}
    for item in sorted(items, key=length):
        strata.setdefault(stratum(item), []).append(item)
    shares = dict.fromkeys(strata, 0)
    while sum(shares.values()) < min(count, len(items)):
        open_strata = [s for s in strata if shares[s] < len(strata[s])]
        shares[min(open_strata, key=lambda s: (shares[s], s))] += 1
    kept = []
    for name, members in strata.items():
        n = shares[name]
        kept += [members[int((i + 0.5) * len(members) / n)] for i in range(n)]
    return sorted(kept, key=length)


def _building_of(g: Grounds, floor: int) -> str:
    return g.annotations.buildings[int(g.annotations.floor_building[floor])].id


def _categories(g: Grounds, building: str) -> list[str]:
    return sorted({o.category for o in g.annotations.semantics.objects if o.building == building})


def _far_from_all(g: Grounds, start: Floats, category: str) -> bool:
    centers = np.array([o.center for o in g.annotations.instances(category)])
    return bool((np.linalg.norm(centers - start, axis=1) > OVON_MIN_DISTANCE_M).all())


def _outdoor_stage(goal: Floats) -> StageSpec:
    return StageSpec(kind="outdoor", goal=_xyz(goal), radius_m=OUTDOOR_RADIUS_M, termination="on_arrival")


def _ovon_stage(building: str, category: str) -> StageSpec:
    return StageSpec(kind="ovon", building=building, category=category)


def _xyz(point: Floats) -> tuple[float, float, float]:
    x, y, z = (round(float(v), 6) for v in point)
    return (x, y, z)
