"""A town of two buildings and a street, small enough to reason about by hand; walks in it to judge."""

from dataclasses import dataclass

import numpy as np

from portico.tasks import TASK_STAGES, Budget, Episode, Reference, StageSpec, Start, Trajectory
from portico.world.semantics import Building, Floor, ObjectInstance, Place, Region, Semantics


@dataclass(frozen=True)
class Disc:
    radius_m: float = 0.3
    climb_m: float = 0.3


BODY = Disc()


def box(x0, y0, x1, y1):
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def floor(building, level, z_m):
    return Floor(id=f"{building}:{level}", level=level, z_m=z_m, height_m=3.0)


#: The office A (two floors), the cafe B; between them sidewalk, lane, sidewalk, with a crosswalk listed over the lane.
TOWN = Semantics(
    buildings=[
        Building(id="A", category="office", footprint=box(0, 0, 10, 8), floors=[floor("A", 0, 0.0), floor("A", 1, 3.2)]),
        Building(id="B", name="Cafe Lark", footprint=box(40, 0, 55, 12), floors=[floor("B", 0, 0.0)]),
    ],
    regions=[
        Region(id="lane", type="vehicle_lane", access="prohibited", polygon=box(10, -20, 40, 30)),
        Region(id="west walk", type="sidewalk", access="allowed", polygon=box(10, -20, 13, 30)),
        Region(id="east walk", type="sidewalk", access="allowed", polygon=box(37, -20, 40, 30)),
        Region(id="crossing", type="crosswalk", access="allowed", polygon=box(13, 10, 37, 14)),
        Region(id="grass", type="vegetated", access="prohibited", polygon=box(-10, -20, 0, 30)),
    ],
    objects=[
        ObjectInstance(id="counter", category="counter", center=(50, 6, 0.5), size=(1, 1, 1), building="B", floor="B:0"),
        ObjectInstance(id="desk", category="desk", center=(2, 2, 3.7), size=(2, 1, 1), yaw_rad=np.pi / 2, building="A", floor="A:1"),
        ObjectInstance(id="bench", category="bench", center=(11.5, 20, 0.25), size=(1.5, 0.5, 0.5)),
    ],
    places=[Place(id="p", category="bakery", name="Crumb", building="A", center=(5, 0, 0))],
)

ROUTE = [(11.5, 4, 0), (11.5, 12, 0), (38.5, 12, 0), (38.5, 5, 0)]
#: What each stage kind asks for in this town.
SPECS = {
    "exit": StageSpec(kind="exit", building="A"),
    "outdoor": StageSpec(kind="outdoor", goal=(38.5, 5, 0), route=ROUTE),
    "entrance": StageSpec(kind="entrance", building="B"),
    "ovon": StageSpec(kind="ovon", building="B", category="counter"),
    "point": StageSpec(kind="point", goal=(5, 4, 0), radius_m=0.5),
    "image": StageSpec(kind="image", goal=(5, 4, 0), goal_yaw_rad=np.pi / 3),
    "object": StageSpec(kind="object", category="counter"),
    "place": StageSpec(kind="place", category="bakery"),
    "vln": StageSpec(kind="vln", instances=["p"]),
}
MISSION = [(5, 4, 0), *ROUTE, (41, 5, 0), (48.4, 6, 0)]


def episode(task="i2o2i", start=(5.0, 4.0, 0.0), stages=None, reference=None, **budget):
    return Episode(
        id="e",
        world="town",
        task=task,
        embodiment="disc",
        start=Start(position=start, yaw_rad=0.0),
        stages=stages or [SPECS[kind] for kind in TASK_STAGES[task]],
        reference=reference,
        budget=Budget(**budget),
    )


def mission_reference():
    length = float(np.linalg.norm(np.diff(np.array(MISSION, dtype=float), axis=0), axis=1).sum())
    return Reference(path=MISSION, length_m=length, stage_ends=[1, 4, 5, 6])


def walk(*points, stops=(), spacing=0.25, **columns):
    """A trajectory along a polyline, one action per state; ``stops`` are indices into ``points``."""
    states, at = [np.asarray(points[0], dtype=float)], [0]
    for target in np.asarray(points[1:], dtype=float).reshape(-1, len(points[0])):
        count = max(1, int(np.ceil(np.linalg.norm(target - states[-1]) / spacing)))
        states += list(np.linspace(states[-1], target, count + 1)[1:])
        at.append(len(states) - 1)
    position = np.array(states)
    n = len(position)
    table = {
        "yaw_rad": np.zeros(n),
        "time_s": np.arange(n) * 0.5,
        "action": np.arange(n, dtype=np.int32),
        "stage": np.zeros(n, np.int32),
        "collided": np.zeros(n, bool),
        "moved": np.arange(n) > 0,
    }
    return Trajectory(position=position, stop_steps=np.array([at[s] for s in stops], np.int32), **(table | columns))


def full_mission():
    """The mission done right: out, over the crosswalk, in, and up to the counter."""
    return walk(*MISSION, stops=(1, 5, 6))
