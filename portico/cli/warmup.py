"""Compiles the kernels once per machine and version, and says so: later starts load them from the cache."""

from __future__ import annotations

import hashlib
import os
import platform
from multiprocessing import get_context
from pathlib import Path

import numba

from portico import __version__
from portico.cli.console import timed
from portico.errors import UserError


def warm_up() -> None:
    """Compile the kernels for this machine now, once; every command that needs them does it on its first start."""
    marker = _marker()
    if marker.is_file():
        return
    with timed("compiling kernels for this machine (once; later starts load them)"):
        _touch_all_kernels()
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:
        return


def _marker() -> Path:
    """One marker per package location, source state, numba and processor: what numba's own cache depends on."""
    root = Path(__file__).resolve().parents[1]
    newest = max(p.stat().st_mtime_ns for p in root.rglob("*.py"))
    text = f"{__version__} {numba.__version__} {platform.processor()} {root} {newest}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "portico" / f"kernels-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _touch_all_kernels() -> None:
    """Seeing and deciding in a process of their own, walking and scoring here: two cores are done in half of the time."""
    other = get_context("spawn").Process(target=_see_and_decide)
    other.start()
    _walk_and_score()
    other.join()
    if other.exitcode != 0:
        raise UserError(
            "the kernels could not be compiled",
            why=f"the process that draws and decides ended with exit code {other.exitcode}",
            next_step="check that the folder of the package or NUMBA_CACHE_DIR is writable, and that there are 2 GiB of free memory",
        )


def _see_and_decide() -> None:
    from portico.build import RECIPES
    from portico.geometry import camera_transform
    from portico.interface import Camera
    from portico.policies import create
    from portico.render import CHANNELS, Renderer, overview
    from portico.testing import check_policy

    world = RECIPES["indoor"](1)
    renderer = Renderer(world)
    camera, T_world_camera = Camera("front", 64, 48, 1.5), camera_transform(0.0, 0.0, 1.0, 0.0, 0.0)
    renderer.render(T_world_camera, camera, CHANNELS)
    renderer.photograph(T_world_camera, camera)
    overview(world, size_px=64)
    check_policy(lambda: create("chain"))


def _walk_and_score() -> None:
    from portico.build import RECIPES
    from portico.episodes import generate
    from portico.evaluate.episode import run_episode
    from portico.evaluate.records import Key
    from portico.evaluate.scoring import scored, scoring_context
    from portico.geometry import Pose
    from portico.interface import Move, Velocity
    from portico.policies import create
    from portico.robots import embodiment, make_robot
    from portico.sim import Simulator
    from portico.space import build_space
    from portico.suites import parse_suite

    world = RECIPES["indoor"](1)
    suite = parse_suite({"name": "warm-up", "worlds": [{"recipe": "indoor", "seed": 1}], "tasks": {"exit": 1, "ovon": 1}}, "warm-up")
    simulator = Simulator(world, embodiment(suite.embodiment))
    context = scoring_context(simulator.annotations, simulator.body, simulator.space)
    for episode in generate(world, suite, space=simulator.space).episodes:
        rollout = run_episode(simulator, create("forward"), episode, key="warm-up", seed=0)
        scored(Key("warm-up", "eval", world.id, episode.id, 0), "forward", [], episode, rollout.trajectory, context)
    for name in ("spot", "turtlebot"):
        space = build_space(world, embodiment(name))
        robot = make_robot(world, name, space, motion="physics")
        roomiest = space.nodes_xyz[space.node_clearance_m.argmax()]
        robot.reset(Pose(*roomiest))
        robot.execute(Velocity(0.2, 0.0, 0.3, 1.0))
        robot.execute(Move("forward"))
