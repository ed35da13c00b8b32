"""How fast the viewer opens a large run, answers for its table, and shows an episode of a block.

    python benchmarks/viewer.py [--records 10000] [--runs 1] [--world WORLD]

The run is written to a temporary folder: records as long as those of a real run (about 1.5 KB), 20 worlds, five tasks, three stages of
failure. ``open`` is from the folder to the first table, as a browser gets it over the wire; with the packages it is what the goal is about.
``reading with read_records`` is what it takes to hold all records in memory instead. Processor time is this process's, and counts however busy
the machine is. With ``--world`` (a folder of ``portico world build``; a small block is built by default) an episode in it
is opened too: its page, its first frame, further frames, its map.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from portico.build import build_composite
from portico.evaluate.records import Key, read_records, write_json
from portico.seeding import generator
from portico.tasks.trajectory import Trajectory
from portico.web import serve_runs
from portico.world import World, load, save

_GOAL_S = 2.0
_TASKS = {"exit": ["exit"], "outdoor": ["outdoor"], "i2o": ["exit", "outdoor"], "ovon": ["ovon"], "i2o2i": ["exit", "outdoor", "entrance", "ovon"]}
_MEASURES = [
    "success",
    "spl",
    "soft_success",
    "soft_spl",
    "oracle_success",
    "completion",
    "full_success",
    "navigation_error_m",
    "min_goal_distance_m",
    "stop_distance_m",
    "path_length_m",
    "steps",
    "duration_s",
    "route_completion",
    "dtw",
    "ndtw",
    "sdtw",
    "cls",
    "coverage_efficiency",
    "reached_outdoors",
    "distance_compliance",
    "collision",
    "collision_rate",
    "obstacle_distance_m",
]


def record(number: int, rng: np.random.Generator) -> dict[str, Any]:
    """A record as runs write them."""
    task = list(_TASKS)[number % len(_TASKS)]
    kinds = _TASKS[task]
    completed = int(rng.integers(0, len(kinds) + 1))
    success = completed == len(kinds)
    outcomes = ["success" if k < completed else "failure" if k == completed else "not_attempted" for k in range(len(kinds))]
    return {
        "key": Key("large", "eval", f"block-{number % 20:04d}", f"{task}-{number:05d}").as_dict(),
        "task": task,
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "scene": None,
        "policy": "made/for-measuring",
        "privileged": [],
        "status": "success" if success else "failure",
        "reason": "success" if success else ("budget_exhausted", "failed_declaration")[number % 2],
        "error": None,
        "stages": len(kinds),
        "completed": completed,
        "stage_outcomes": [
            {"kind": kind, "outcome": outcome, "start": 10 * k, "end": 10 * k + 10, "stop": None}
            for k, (kind, outcome) in enumerate(zip(kinds, outcomes, strict=True))
        ],
        "measures": {name: round(float(rng.random()), 9) for name in _MEASURES},
        "unscored": {"pose_success": "no_goal_view"},
        "labels": []
        if success
        else [{"label": "blocked_progress", "steps": [3, 40], "text": "turned on the spot from step 3 to 40: 16 actions moved it less than 0.5 m."}],
        "reference_length_m": 31.25,
        "timing": {"policy_s": 1.25, "simulator_s": 2.5, "wall_s": 4.0},
        "rank": number % 4,
    }


def write_run(folder: Path, count: int, world: World, world_folder: Path) -> None:
    """A run folder of so many records; one of its worlds exists, and its first episode was recorded."""
    rng = generator("viewer benchmark", count)
    worlds = {f"block-{n:04d}": {"hash": "", "folder": ""} for n in range(20)} | {world.id: {"hash": world.manifest.content_hash, "folder": str(world_folder)}}
    suite = {"name": "large", "split": "eval", "embodiment": "spot", "worlds": []}
    write_json(folder / "run.json", {"suite": suite, "policy": "made/for-measuring", "privileged": [], "worlds": worlds, "planned": count + 101, "repeats": 1})
    (folder / "records").mkdir()
    for rank in range(4):
        lines = [json.dumps(record(n, rng), sort_keys=True) for n in range(rank, count, 4)]
        (folder / "records" / f"rank-{rank:05d}.jsonl").write_text("\n".join(lines) + "\n")
    _record_walk(folder, world)


def _record_walk(folder: Path, world: World) -> None:
    """One recorded walk along a street of a world that can be looked at."""
    low, high = world.geometry.bounds()
    middle = 0.5 * (low + high)
    states = 400
    xy = middle[:2] + np.column_stack([np.linspace(-25.0, 25.0, states), np.zeros(states)])
    (folder / "trajectories").mkdir()
    key = Key("large", "eval", world.id, "walk")
    flags = np.zeros(states, np.bool_)
    Trajectory(
        position=np.column_stack([xy, np.zeros(states)]),
        yaw_rad=np.zeros(states),
        time_s=0.1 * np.arange(states),
        action=np.arange(states, dtype=np.int32),
        stage=np.zeros(states, np.int32),
        collided=flags,
        stop_steps=np.zeros(0, np.int32),
        moved=flags,
    ).save(folder / "trajectories" / f"{key.slug()}.npz")
    episode = {
        "id": "walk",
        "world": world.id,
        "task": "outdoor",
        "embodiment": "spot",
        "start": {"position": [*xy[0].tolist(), 0.0], "yaw_rad": 0.0},
        "stages": [{"kind": "outdoor", "goal": [*xy[-1].tolist(), 0.0], "radius_m": 3.0}],
    }
    write_json(folder / "episodes" / f"{world.id}.json", {"episodes": [episode]})
    line = {**record(1, generator("viewer benchmark walk")), "key": key.as_dict(), "task": "outdoor"}
    with open(folder / "records" / "rank-00000.jsonl", "a") as file:
        file.write(json.dumps(line) + "\n")


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds of wall clock, of this process's processor time, and the result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - processor, result


def got(url: str) -> bytes:
    """What an address answers."""
    with urllib.request.urlopen(url, timeout=300) as answer:
        data: bytes = answer.read()
    return data


def row(name: str, wall_s: float, processor_s: float, note: str = "") -> None:
    """One line of the table."""
    print(f"  {name:<34}{1e3 * wall_s:10.0f} ms{1e3 * processor_s:12.0f} ms   {note}", flush=True)


def measure_table(folders: list[Path]) -> float:
    """Open, look again, grow, filter; returns the seconds of opening."""
    began, processor = time.perf_counter(), time.process_time()
    importlib.import_module("uvicorn.server")
    importlib.import_module("portico.web.app")
    loaded = time.perf_counter() - began
    row("loading the packages of the viewer", loaded, time.process_time() - processor, "once, whatever is opened")
    processor = time.process_time()
    with serve_runs(folders) as server:
        text = got(server.url)
        opened = time.perf_counter() - began
        row("open, first table", opened - loaded, time.process_time() - processor, f"{len(text) / 1024:.0f} KiB of page")
        time.sleep(3.0)
        row("table again", *timed(lambda: got(server.url))[:2])
        row("one task, sorted by SPL", *timed(lambda: got(server.url + "?task=i2o2i&sort=-spl"))[:2])
        row("last page", *timed(lambda: got(server.url + "?page=100000"))[:2])
        rng = generator("viewer benchmark growth")
        with open(folders[0] / "records" / "rank-00001.jsonl", "a") as file:
            file.write("".join(json.dumps(record(1_000_000 + n, rng)) + "\n" for n in range(100)))
        row("table, 100 records later", *timed(lambda: got(server.url))[:2])
        row("reading with read_records", *timed(lambda: [read_records(folder) for folder in folders])[:2], "for comparison: all records in memory")
    return opened


def measure_episode(folder: Path, world_id: str) -> None:
    """Page, frames and map of the recorded walk, in a viewer that has drawn nothing yet."""
    slug = Key("large", "eval", world_id, "walk").slug()
    with serve_runs([folder]) as server:
        base, name = server.url.rstrip("/"), folder.name
        wall, processor, page = timed(lambda: got(f"{base}/e/{name}/{slug}").decode())
        row("episode page, world not loaded yet", wall, processor)
        frame = re.search(r'src="(/frame/[^"]+)"', page)
        ground = re.search(r'href="(/map/[^"]+)"', page)
        assert frame is not None
        assert ground is not None
        row("first frame, 640 x 480", *timed(lambda: got(base + frame.group(1)))[:2])
        row("map of the level", *timed(lambda: got(base + ground.group(1).replace("&amp;", "&")))[:2])
        row("episode page again", *timed(lambda: got(f"{base}/e/{name}/{slug}"))[:2])
        for said, tail in (("frame while scrubbing", "&draft=1"), ("frame when it rests", "")):
            times = [timed(lambda k=k, tail=tail: got(f"{base}/frame/{name}/{slug}/{k}.jpg?v=1{tail}"))[:2] for k in range(10, 50)]
            row(said, statistics.median(t[0] for t in times), statistics.median(t[1] for t in times), "median of 40")


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the viewer.")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--world", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        world_folder = options.world or Path(root) / "block"
        world = load(world_folder) if options.world else save(build_composite(7, size_m=130), world_folder)
        folders = [Path(root) / f"run-{n}" for n in range(options.runs)]
        for folder in folders:
            folder.mkdir()
            write_run(folder, options.records, world, world_folder)
        size = sum(path.stat().st_size for folder in folders for path in (folder / "records").glob("*"))
        print(f"{options.runs} x {options.records + 1:,} records, {size / 2**20:.1f} MiB{'wall':>24}{'processor':>16}")
        opened = measure_table(folders)
        print(f"an episode in {world.id}, {len(world.geometry.faces):,} triangles")
        measure_episode(folders[0], world.id)
    print(f"opening took {opened:.2f} s, the goal is under {_GOAL_S:.0f} s for 10,000 records: {'met' if opened < _GOAL_S else 'NOT MET'}")
    sys.exit(0 if opened < _GOAL_S or options.records * options.runs > 10_000 else 1)


if __name__ == "__main__":
    main()
