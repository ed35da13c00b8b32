"""State and motion queries: Portico's space beside python-fcl, in one run, on one scene.

    python benchmarks/queries.py                     a furnished floor of about 11,500 triangles, made here
    python benchmarks/queries.py --world FOLDER      any world, indoor or a whole block

Both answer the same questions: does an upright cylinder, from the climb to the height of the body, touch the mesh at a state;
and how far does it get along a straight motion. python-fcl gets a bounding volume hierarchy that is built once and one
reused cylinder; motions are stepped every 2 cm up to the first contact, as a planner would (its continuous
mode crashes on a cylinder against a mesh, and finds no contact the other way round). Ground that the body walks over is left out of fcl's mesh, and motions keep to one height, so that both see
the same obstacles. What fcl cannot know (drops; things lower than the climb that stand on the floor) counts as a false positive
of ours, which is the harsher reading.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portico.build.primitives import box, cylinder, quad
from portico.build.scene import Scene
from portico.robots import Embodiment, embodiment
from portico.space import Space, build_space
from portico.world import WALKABLE, Provenance, Surface, World, load

STATES, MOTIONS, SINGLES = 5_000, 1_000, 2_000
STEP_M, MOTION_M = 0.02, 1.0


def furnished_floor() -> World:
    """Six rooms of 6 × 5 m with doors of 1 m, and tables, chairs, shelves and round things in them."""
    scene, rng = Scene(), np.random.default_rng(11)
    material, instance = scene.material("plain"), scene.instance("scene")

    def add(mesh: tuple, surface: Surface) -> None:
        scene.add_mesh(*mesh, surface=surface, material=material, instance=instance)

    add(quad((0, 0, 0), (18, 0, 0), (18, 10, 0), (0, 10, 0)), Surface.FLOOR)
    for y in (0.0, 10.0):
        add(box((9, y, 1.3), (18.1, 0.12, 2.6)), Surface.WALL)
    for x in (0.0, 18.0):
        add(box((x, 5, 1.3), (0.12, 10, 2.6)), Surface.WALL)
    for x in (6.0, 12.0):
        for low, high in ((0, 2), (3, 7), (8, 10)):
            add(box((x, (low + high) / 2, 1.3), (0.12, high - low, 2.6)), Surface.WALL)
    for low, high in ((0, 2.5), (3.5, 8.5), (9.5, 14.5), (15.5, 18)):
        add(box(((low + high) / 2, 5, 1.3), (high - low, 0.12, 2.6)), Surface.WALL)
    for column in range(3):
        for row in range(2):
            for _ in range(6):
                furniture(add, rng, column * 6 + rng.uniform(0.9, 5.1), row * 5 + rng.uniform(0.9, 4.1))
    return scene.world("furnished floor", "indoor", Provenance(source="benchmark", licence="CC0-1.0"), cell_m=0.05)


def furniture(add: Callable[[tuple, Surface], None], rng: np.random.Generator, x: float, y: float) -> None:
    """A table with chairs, a shelf with books, or a round stand, at a random angle."""
    yaw = rng.uniform(0, np.pi)
    c, s = np.cos(yaw), np.sin(yaw)

    def place(dx: float, dy: float, dz: float, size: tuple[float, float, float]) -> None:
        add(box((x + c * dx - s * dy, y + s * dx + c * dy, dz), size, yaw), Surface.FURNITURE)

    kind = rng.integers(3)
    if kind == 0:
        place(0, 0, 0.74, (1.2, 0.7, 0.04))
        for dx in (-0.55, 0.55):
            for dy in (-0.3, 0.3):
                add(cylinder((x + c * dx - s * dy, y + s * dx + c * dy, 0.0), 0.03, 0.72, sides=16), Surface.FURNITURE)
        place(0, 0.6, 0.45, (0.4, 0.4, 0.04))
        place(0, 0.78, 0.7, (0.4, 0.04, 0.5))
    elif kind == 1:
        for k in range(5):
            place(0, 0, 0.2 + 0.4 * k, (1.0, 0.3, 0.02))
            for book in range(9):
                place(-0.4 + 0.1 * book, 0.0, 0.33 + 0.4 * k, (0.04, 0.2, 0.24))
        for dx in (-0.5, 0.5):
            place(dx, 0, 0.9, (0.02, 0.3, 1.8))
    else:
        add(cylinder((x, y, 0), rng.uniform(0.15, 0.4), rng.uniform(0.6, 1.4), sides=48), Surface.FURNITURE)


class FclScene:
    """The obstacles of a world and one cylinder, in python-fcl."""

    def __init__(self, world: World, body: Embodiment) -> None:
        import fcl

        geometry = world.geometry
        kept = geometry.collides & ~np.isin(geometry.surface, sorted(WALKABLE))
        model = fcl.BVHModel()
        model.beginModel(len(geometry.vertices), int(kept.sum()))
        model.addSubModel(geometry.vertices.astype(np.float64), geometry.faces[kept])
        model.endModel()
        self._collide, self._result, self._request = fcl.collide, fcl.CollisionResult, fcl.CollisionRequest()
        self._mesh = fcl.CollisionObject(model)
        tall = body.height_m - body.climb_m
        self._cylinder = fcl.CollisionObject(fcl.Cylinder(body.radius_m, tall))
        self._lift = np.array([0.0, 0.0, body.climb_m + tall / 2])
        self.triangles = int(kept.sum())

    def free(self, point: np.ndarray) -> bool:
        self._cylinder.setTranslation(point + self._lift)
        return not self._collide(self._cylinder, self._mesh, self._request, self._result())

    def reaches(self, start: np.ndarray, end: np.ndarray) -> bool:
        steps = max(1, int(np.ceil(np.linalg.norm(end - start) / STEP_M)))
        return all(self.free(start + t * (end - start)) for t in np.linspace(0.0, 1.0, steps + 1))


@dataclass
class Line:
    name: str
    ours_us: float
    theirs_us: float
    goal: float

    def text(self) -> str:
        ratio = self.theirs_us / self.ours_us
        return f"{self.name:<28}{self.theirs_us:>12.2f}{self.ours_us:>12.3f}{1e6 / self.ours_us:>14,.0f}{ratio:>10,.0f}×   goal {self.goal:,.0f}×"


def best_us(call: Callable[[], object], count: int, repeats: int = 5) -> float:
    """Median of repeated runs, microseconds per item."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) / count * 1e6


def questions(space: Space, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States anywhere on the largest surface and beside it, and motions on one height between them."""
    wanted = np.isin(space.node_component, (-1, 0))
    nodes = rng.choice(np.flatnonzero(wanted), STATES)
    states = space.nodes_xyz[nodes].copy()
    states[:, :2] += rng.uniform(-0.5, 0.5, (STATES, 2)) * space.cell_m
    roomy = rng.choice(np.flatnonzero(space.node_component == 0), 4 * MOTIONS)
    starts = space.nodes_xyz[roomy]
    angle, length = rng.uniform(-np.pi, np.pi, len(roomy)), rng.uniform(0.1, 2 * MOTION_M, len(roomy))
    ends = starts + np.column_stack([length * np.cos(angle), length * np.sin(angle), np.zeros(len(roomy))])
    level = np.abs(space.sweep(starts, ends).end[:, 2] - starts[:, 2]) < 1e-6
    return states, starts[level][:MOTIONS], ends[level][:MOTIONS]


def compare(world: World, body: Embodiment) -> int:
    begin = time.perf_counter()
    space = build_space(world, body)
    built_s = time.perf_counter() - begin
    mesh = FclScene(world, body)
    states, starts, ends = questions(space, np.random.default_rng(7))
    print(
        f"{world.id}: {mesh.triangles:,} obstacle triangles, {len(space.nodes_xyz):,} cells of {space.cell_m:g} m, {body.name}, space built in {built_s:.1f} s"
    )

    begin = time.perf_counter()
    free_fcl = np.array([mesh.free(p) for p in states])
    state_fcl = (time.perf_counter() - begin) / len(states) * 1e6
    begin = time.perf_counter()
    reach_fcl = np.array([mesh.reaches(a, b) for a, b in zip(starts, ends, strict=True)])
    motion_fcl = (time.perf_counter() - begin) / len(starts) * 1e6

    many, many_a, many_b = np.tile(states, (20, 1)), np.tile(starts, (20, 1)), np.tile(ends, (20, 1))
    lines = [
        Line("states, in batches", best_us(lambda: space.is_free(many), len(many)), state_fcl, 500),
        Line("motions, in batches", best_us(lambda: space.sweep(many_a, many_b), len(many_a)), motion_fcl, 500),
        Line("states, one by one", best_us(lambda: [space.is_free_one(p) for p in states[:SINGLES]], SINGLES), state_fcl, 8),
        Line("motions, one by one", best_us(lambda: [space.sweep_one(a, b) for a, b in zip(starts, ends, strict=True)], len(starts)), motion_fcl, 8),
    ]
    print(f"\n{'microseconds per query':<28}{'python-fcl':>12}{'portico':>12}{'portico /s':>14}{'ratio':>11}")
    print("\n".join(line.text() for line in lines))

    free, reach = space.is_free(states), space.sweep(starts, ends).reached
    print(f"\n{'agreement':<28}{'queries':>12}{'fcl free':>12}{'false neg.':>14}{'false pos.':>11}")
    failures = 0
    for name, ours, theirs in (("states", free, free_fcl), ("motions", reach, reach_fcl)):
        missed, wrong = int((ours & ~theirs).sum()), int((~ours & theirs).sum())
        print(f"{name:<28}{len(ours):>12,}{theirs.mean():>12.1%}{missed:>14}{wrong / max(1, theirs.sum()):>11.1%}")
        failures += missed
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="State and motion queries per second, ours and python-fcl's.")
    parser.add_argument("--world", type=Path, help="folder of a world; a furnished floor made here by default")
    parser.add_argument("--robot", default="spot")
    options = parser.parse_args()
    try:
        import fcl  # noqa: F401
    except ImportError:
        print("skipped: python-fcl is not installed; pip install 'portico-nav[bench]'")
        return 0
    return 1 if compare(load(options.world) if options.world else furnished_floor(), embodiment(options.robot)) else 0


if __name__ == "__main__":
    sys.exit(main())
