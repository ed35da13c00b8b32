"""What it costs that a run can be trusted: the evaluator beside the plain loop that a user would write, and a run of 10,000 records.

    python benchmarks/runs.py                     100 episodes, 10,000 records
    python benchmarks/runs.py --episodes 20       quicker

The plain loop resets, decides and steps with the same simulator and policy, and keeps nothing. Ours records, scores, labels, writes
trajectory and record to disk and waits until they are there. The peer of the summary parses the same lines and takes means with numpy.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from portico.evaluate.aggregate import summarise
from portico.evaluate.executors import InProcess
from portico.evaluate.inspection import inspect_run
from portico.evaluate.plan import plan_of, settled
from portico.evaluate.prepare import prepare
from portico.evaluate.records import Record, read_records
from portico.evaluate.run import RunRequest, execute
from portico.evaluate.worker import Assignment, Job, Worker, store
from portico.policies import create
from portico.robots import embodiment
from portico.seeding import derive_seed
from portico.sim import Simulator
from portico.space import cached_space
from portico.suites import Suite, parse_suite
from portico.world import load

RECORDS, WORLDS, EPISODES = 10_000, 20, 100
SUITE = {
    "name": "bench",
    "embodiment": "turtlebot",
    "budget": {"max_actions": 60},
    "worlds": [{"recipe": "indoor", "seed": 1, "params": {"program": "cafe", "floors": 1}}],
    "tasks": {"exit": 10},
    "policies": ["random"],
}


class Timed:
    """Seconds of processor and of the clock, by what they were spent on."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float]] = []

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        busy, wall = time.process_time(), time.perf_counter()
        result = call()
        self.rows.append((name, time.process_time() - busy, time.perf_counter() - wall))
        return result


def plain_loop(suite: Suite, folder: Path, assignments: list[Assignment]) -> int:
    """Every episode with nothing around it; returns the number of actions."""
    world, body = load(folder), embodiment(suite.embodiment)
    space = cached_space(world, body, folder)
    simulator = Simulator(world, body, space=space, track=suite.track, actions=suite.actions.space(), robot=suite.robot(world, space))
    policy, actions = create("random"), 0
    for a in assignments:
        seed = derive_seed(suite.seed, a.key.world, a.key.episode, a.key.repeat, "policy") % 2**63
        brief, observation = simulator.reset(a.episode, key=a.key.slug(), seed=seed)
        policy.reset(brief)
        while observation is not None:
            observation = simulator.step(policy.act(observation))
            actions += 1
    return actions


def in_parts(job: Job, assignments: list[Assignment]) -> tuple[float, float]:
    """Seconds of the clock for running and scoring, and for putting on disk."""
    worker, ran, stored = Worker(0), 0.0, 0.0
    for a in assignments:
        began = time.perf_counter()
        record, trajectory = worker.attempt(job, a)
        ended = time.perf_counter()
        store(job, record, trajectory)
        ran, stored = ran + ended - began, stored + time.perf_counter() - ended
    return ran, stored


def overhead(folder: Path, episodes: int) -> None:
    suite = parse_suite(SUITE, "benchmark")
    prepared = prepare(suite, folder / "worlds", announce=lambda _: None)
    request = RunRequest(suite, "random", folder / "run", prepared, repeats=max(1, episodes // len(prepared[0].episodes.episodes)))
    assignments = list(plan_of(suite, prepared, request.repeats).values())
    warm = RunRequest(suite, "random", folder / "warm", prepared)
    execute(warm)
    plain_loop(suite, prepared[0].folder, assignments[:2])
    timed, executor = Timed(), InProcess()
    actions = timed("the plain loop", lambda: plain_loop(suite, prepared[0].folder, assignments))
    timed("portico, to disk", lambda: execute(request, executor=executor))
    timed("portico, started again with nothing to do", lambda: execute(request, executor=executor))
    ran, stored = in_parts(Job(folder / "parts", suite, "random", {p.episodes.world: p.folder for p in prepared}), assignments)
    n = len(assignments)
    print(f"{n} episodes of {actions / n:.0f} actions, one process\n")
    print(f"{'per episode':<46}{'processor ms':>14}{'ms':>10}")
    for name, busy, wall in timed.rows:
        print(f"{name:<46}{1e3 * busy / n:>14.2f}{1e3 * wall / n:>10.2f}")
    (_, busy_plain, wall_plain), (_, busy_ours, wall_ours) = timed.rows[:2]
    print(f"{'overhead':<46}{1e3 * (busy_ours - busy_plain) / n:>14.2f}{1e3 * (wall_ours - wall_plain) / n:>10.2f}")
    print(f"{'of which on disk and synced':<46}{'':>14}{1e3 * stored / n:>10.2f}")
    print(f"{'run and scored, nothing written':<46}{'':>14}{1e3 * ran / n:>10.2f}\n")


def many(seed: Record, count: int) -> Iterator[Record]:
    """Records of a large run: one that was made, under other names and with other outcomes."""
    random = np.random.default_rng(0)
    for k in range(count):
        success = bool(random.integers(2))
        measures = {name: value if value in (None, 0.0, 1.0) else round(float(value) * random.uniform(0.5, 1.5), 9) for name, value in seed["measures"].items()}
        measures |= {"success": float(success), "spl": round(float(success * random.uniform()), 9)}
        key = {**seed["key"], "world": f"world-{k % WORLDS:02d}", "episode": f"exit-{k:05d}"}
        yield {**seed, "key": key, "status": "success" if success else "failure", "measures": measures}


def summary(folder: Path, count: int) -> None:
    seed = next(iter(read_records(folder / "run").values()))
    target = folder / "many" / "records"
    target.mkdir(parents=True)
    with open(target / "rank-00000.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, sort_keys=True) + "\n" for record in many(seed, count))
    header = json.loads((folder / "run" / "run.json").read_text())
    header["planned"] = count
    timed = Timed()
    records = timed("read", lambda: read_records(folder / "many"))
    result = timed("summarise: means, intervals, eight breakdowns", lambda: summarise(list(records.values()), header))
    (folder / "many" / "run.json").write_text(json.dumps(header))
    timed("which are done, for a resume", lambda: settled(folder / "many", {}, records, 1))
    timed("check, trajectories left out", lambda: inspect_run(folder / "many", trajectories=False))
    timed("the plain loop: json and numpy means", lambda: plain_means(target / "rank-00000.jsonl"))
    size = (target / "rank-00000.jsonl").stat().st_size / 2**20
    print(f"{count:,} records of {len(result['measures'])} measures in {WORLDS} worlds, {size:.0f} MB\n")
    print(f"{'':<46}{'processor s':>14}{'s':>10}")
    for name, busy, wall in timed.rows:
        print(f"{name:<46}{busy:>14.2f}{wall:>10.2f}")


def plain_means(path: Path) -> dict[str, float]:
    rows = [json.loads(line)["measures"] for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: float(np.nanmean([np.nan if row[name] is None else row[name] for row in rows])) for name in rows[0] if rows[0][name] is not None}


def main() -> int:
    parser = argparse.ArgumentParser(description="Overhead of the evaluator per episode, and the time that a large run takes to be summarised.")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--records", type=int, default=RECORDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        overhead(Path(scratch), options.episodes)
        summary(Path(scratch), options.records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
