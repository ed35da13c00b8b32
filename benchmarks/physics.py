"""How fast robots under physics are in a town block: simulated seconds per second of one core, beside MuJoCo stepping the bare robot.

``python benchmarks/physics.py`` walks each robot along shortest ways of the block, without and with a camera; the bare robot is the same model with
the same ground below it, stepped with constant controls: the floor of what is possible. Also the time to make a world ready, and verified
episodes per hour.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

from portico.build import RECIPES
from portico.episodes import generate
from portico.geometry import Pose
from portico.interface import Waypoints
from portico.render import Renderer
from portico.robots import embodiment
from portico.robots.physics import PhysicsRobot, physics_robot
from portico.robots.physics.nearby import Matter, Nearby
from portico.space import Space, build_space
from portico.suites import load_suite, parse_suite
from portico.world import World, load, save

SEED = 7
#: Robot -> goal of simulated seconds per second, without a camera.
ROBOTS = {"turtlebot": 50.0, "go2w": None, "spot": 20.0}
WITH_CAMERA = 5.0


def ways(space: Space, count: int) -> list[np.ndarray]:
    """Long walks over open ground: polylines (N, 3), the same for every run."""
    rng = np.random.default_rng(SEED)
    open_ground = np.flatnonzero(space.node_clearance_m > 0.8)
    found: list[np.ndarray] = []
    while len(found) < count:
        a, b = space.nodes_xyz[rng.choice(open_ground, 2)]
        path = space.path(a, b)
        if path is not None and 10.0 < path.length_m < 60.0:
            found.append(np.asarray(path.points))
    return found


def walk(robot: PhysicsRobot, paths: list[np.ndarray], seconds: float, renderer: Renderer | None) -> tuple[float, float]:
    """Simulated and wall seconds of streaming waypoints at 10 Hz, with RGB-D at 640 x 480 from the body's camera when a renderer is given."""
    camera = robot.embodiment.cameras[0]
    simulated = wall = 0.0
    for path in paths:
        robot.reset(Pose(*path[0], float(np.arctan2(*(path[1] - path[0])[1::-1]))))
        target = Waypoints(tuple(Pose(*p) for p in path[1:]), frame="world", duration_s=None if renderer is None else 0.1)
        began = time.perf_counter()
        spent = 0.0
        while spent < seconds:
            if renderer is not None:
                renderer.render(robot.base_matrix() @ camera.T_base_camera(), camera, ("rgb", "depth"))
            motion = robot.execute(target)
            spent += motion.duration_s
            if motion.fallen or renderer is None or motion.duration_s == 0.0:
                break
        simulated, wall = simulated + spent, wall + time.perf_counter() - began
    return simulated, wall


def bare(robot: PhysicsRobot, seconds: float) -> float:
    """Simulated seconds per second of MuJoCo alone: the robot stands where it was put, on its ground."""
    model, data = robot.machine.model, mujoco.MjData(robot.machine.model)
    mujoco.mj_copyData(data, model, robot._data)
    steps = round(seconds / model.opt.timestep)
    began = time.perf_counter()
    mujoco.mj_step(model, data, steps)
    return seconds / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ways", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=20.0, help="simulated seconds per way with a camera")
    parser.add_argument("--no-episodes", action="store_true", help="leave out the verification of episodes")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        save(RECIPES["composite"](SEED, size_m=130), Path(folder) / "block")
        world = load(Path(folder) / "block")
    speeds(world, chosen.ways, chosen.seconds)
    if not chosen.no_episodes:
        episodes(world)


def speeds(world: World, count: int, seconds: float) -> None:
    renderer = Renderer(world)
    Nearby(Matter.of(world))
    began = time.perf_counter()
    Nearby(Matter.of(world))
    print(f"town block, {len(world.geometry.faces):,} triangles; made ready for physics in {time.perf_counter() - began:.2f} s (goal 5 s)\n")
    print(f"{'simulated s per s of one core':<32}{'walking':>10}{'goal':>7}{'+ RGB-D 10 Hz':>16}{'goal':>7}{'bare MuJoCo':>14}{'share':>8}")
    for name, goal in ROBOTS.items():
        space = build_space(world, embodiment(name))
        robot = physics_robot(world, name, space)
        paths = ways(space, count)
        walk(robot, paths[:1], 1.0, renderer)
        simulated, wall = walk(robot, paths, np.inf, None)
        seen, seeing = walk(robot, paths, seconds, renderer)
        floor = bare(robot, 20.0)
        speed, with_camera = simulated / wall, seen / seeing
        wanted = "" if goal is None else f"{goal:.0f}"
        print(f"{name:<32}{speed:>10.1f}{wanted:>7}{with_camera:>16.1f}{WITH_CAMERA:>7.0f}{floor:>14.1f}{speed / floor:>8.0%}")


def episodes(world: World) -> None:
    base = load_suite("navverse-demo").model_dump(mode="json")
    suite = parse_suite(base | {"motion": "physics", "worlds": [{"recipe": "composite", "seed": SEED}]}, "navverse-demo")
    began = time.perf_counter()
    made = generate(world, suite, space=build_space(world, embodiment(suite.embodiment)))
    wall = time.perf_counter() - began
    refused = Counter({reason: n for reasons in made.rejected.values() for reason, n in reasons.items()})
    print(
        f"\nverified episodes per hour of one core: {3600.0 * len(made.episodes) / wall:.0f} ({len(made.episodes)} in {wall:.0f} s; refused: {dict(refused)})"
    )


if __name__ == "__main__":
    main()
