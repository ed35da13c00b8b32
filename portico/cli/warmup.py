"""Compiles the kernels once per machine and version, and says so: later starts load them from the cache."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

import numba

from portico import __version__
from portico.cli.console import timed
from portico.errors import UserError


def warm_up(*, announce: bool) -> None:
    """Walk a policy through a tiny world so that every kernel is compiled and cached before workers start."""
    marker = _marker()
    if marker.is_file():
        return
    if announce:
        with timed("compiling kernels for this machine (once; later starts load them)"):
            _touch_all_kernels()
    else:
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
    from portico.build import RECIPES
    from portico.episodes import generate
    from portico.evaluate.episode import run_episode
    from portico.interface import Need
    from portico.policies import create
    from portico.robots import embodiment
    from portico.sim import Simulator
    from portico.suites import parse_suite
    from portico.world import World

    world: World = RECIPES["indoor"](1)
    tasks = {"exit": 1, "ovon": 1}
    suite = parse_suite({"name": "warm-up", "worlds": [{"recipe": "indoor", "seed": 1}], "tasks": tasks, "budget": {"max_actions": 12}}, "warm-up")
    try:
        episodes = generate(world, suite).episodes
    except UserError:
        episodes = []
    policy = create("chain")
    needs: set[Need] = {*policy.spec.needs, "rgb"}
    simulator = Simulator(world, embodiment(suite.embodiment), needs=needs, image_size=policy.spec.image_size)
    for episode in episodes:
        run_episode(simulator, policy, episode, key="warm-up", seed=0)
    policy.close()
