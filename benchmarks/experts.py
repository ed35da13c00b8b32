"""Expert trajectories per second in one process, beside what a user would write: A* over cells in plain Python, then numpy.

    python benchmarks/experts.py                     one generated floor of apartments at 5 cm
    python benchmarks/experts.py --world FOLDER      any world

Ours plans, rounds corners, drives, checks and writes Parquet; all of it is counted, the fields of distances too. The peer gets the same free
cells and pairs: an 8-connected A* with heapq, corners cut where a line of cells is free, a stop at every corner left, the same limits, each
state looked up in the map; it writes nothing. Then some of the stored experts are driven again by velocity commands.
"""

from __future__ import annotations

import argparse
import heapq
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from math import hypot, pi, sqrt
from pathlib import Path

import numpy as np

from portico.build import build_indoor
from portico.episodes.experts import Limits, Source, Workshop, write_experts
from portico.episodes.experts.asks import GridAsks
from portico.episodes.grounds import Grounds
from portico.episodes.navarena import read_task, read_trajectory
from portico.geometry import Pose
from portico.interface import Velocity
from portico.robots import KinematicRobot, embodiment
from portico.world import load

EXPERTS, PEERS, REPLAYS, GOAL = 10000, 24, 40, 1000.0


class Peer:
    """Free cells as an image, and the usual steps from a pair to a trajectory."""

    def __init__(self, grounds: Grounds, limits: Limits) -> None:
        cells, space = grounds.space.lattice.cells[grounds.usable & grounds.space.roomy], grounds.space
        self.free = np.zeros(space.lattice.cells.max(axis=0)[::-1] + 2, bool)
        self.free[cells[:, 1], cells[:, 0]] = True
        self.corner, self.cell, self.limits = (space.ground.x0, space.ground.y0), space.cell_m, limits

    def drive(self, start: Pose, goal: Pose) -> float | None:
        """Seconds that the trajectory takes; None without one."""
        way = self._search(self._cell(start), self._cell(goal))
        if way is None:
            return None
        points = (np.array(self._cut(way))[:, ::-1] + 0.5) * self.cell + self.corner
        states, yaw = [np.array([[*points[0], start.yaw_rad]])], start.yaw_rad
        for a, b in pairwise(points):
            heading = float(np.arctan2(b[1] - a[1], b[0] - a[0]))
            turn = (heading - yaw + pi) % (2 * pi) - pi
            angles = yaw + np.sign(turn) * self._angles(abs(turn))
            states.append(np.column_stack([np.tile(a, (len(angles), 1)), angles]))
            shares = self._lengths(hypot(*(b - a))) / hypot(*(b - a))
            states.append(np.column_stack([a + shares[:, None] * (b - a), np.full(len(shares), heading)]))
            yaw = heading
        rollout = np.concatenate(states)
        cells = ((rollout[:, :2] - self.corner) / self.cell).astype(int)
        speed = np.hypot(*np.diff(rollout[:, :2], axis=0).T) / self.limits.dt_s
        if not self.free[cells[:, 1], cells[:, 0]].all() or speed.max(initial=0.0) > 1.01 * self.limits.speed_mps:
            return None
        return (len(rollout) - 1) * self.limits.dt_s

    def _cell(self, pose: Pose) -> tuple[int, int]:
        """The free cell nearest to a pose: row, column."""
        i, j = int((pose.y - self.corner[1]) / self.cell), int((pose.x - self.corner[0]) / self.cell)
        around = [(i + a, j + b) for a in range(-4, 5) for b in range(-4, 5) if self.free[i + a, j + b]]
        return min(around, key=lambda c: (c[0] - i) ** 2 + (c[1] - j) ** 2) if around else (i, j)

    def _search(self, start: tuple[int, int], goal: tuple[int, int]) -> list[tuple[int, int]] | None:
        steps = [(a, b, sqrt(a * a + b * b)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        costs, before, queue = {start: 0.0}, {start: start}, [(0.0, start)]
        while queue:
            _, here = heapq.heappop(queue)
            if here == goal:
                way = [here]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            for a, b, step in steps:
                there, cost = (here[0] + a, here[1] + b), costs[here] + step
                if self.free[there] and cost < costs.get(there, np.inf) - 1e-9:
                    costs[there], before[there] = cost, here
                    heapq.heappush(queue, (cost + hypot(there[0] - goal[0], there[1] - goal[1]), there))
        return None

    def _cut(self, way: list[tuple[int, int]]) -> list[tuple[int, int]]:
        kept, k = [way[0]], 0
        while k < len(way) - 1:
            far = len(way) - 1
            while far > k + 1 and not self._sees(way[k], way[far]):
                far = k + max(1, (far - k) // 2)
            kept.append(way[far])
            k = far
        return kept

    def _sees(self, a: tuple[int, int], b: tuple[int, int]) -> bool:
        count = 8 * max(abs(b[0] - a[0]), abs(b[1] - a[1])) + 1
        cells = np.rint(np.linspace(a, b, count)).astype(int)
        return bool(self.free[cells[:, 0], cells[:, 1]].all())

    def _lengths(self, length: float) -> np.ndarray:
        """A jerk-limited motion from rest to rest, at every step."""
        a, j = self.limits.acceleration_mps2, self.limits.jerk_mps3
        top = self.limits.speed_mps
        if self._ramp(top) * top > length:
            low, high = 0.0, top
            for _ in range(40):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self._ramp(middle) * middle <= length else (low, middle)
            top = low
        ramp = min(a / j, sqrt(top / j))
        hold, cruise = max(0.0, top / (j * ramp) - ramp), max(0.0, length / top - self._ramp(top))
        edges = np.cumsum([0.0, ramp, hold, ramp, cruise, ramp, hold, ramp])
        jerks = np.array([j, 0.0, -j, 0.0, -j, 0.0, j])
        t = np.arange(0.0, edges[-1] + self.limits.dt_s, self.limits.dt_s)
        spent = np.clip(t[:, None] - edges[:-1], 0.0, np.diff(edges))
        covered, speed, force = np.zeros(len(t)), np.zeros(len(t)), np.zeros(len(t))
        for k in range(7):
            d = spent[:, k]
            covered, speed, force = covered + d * (speed + d * (force / 2 + d * jerks[k] / 6)), speed + d * (force + d * jerks[k] / 2), force + d * jerks[k]
        return np.minimum(covered, length)

    def _ramp(self, top: float) -> float:
        a, j = self.limits.acceleration_mps2, self.limits.jerk_mps3
        return top / a + a / j if top > a * a / j else 2.0 * sqrt(top / j)

    def _angles(self, size: float) -> np.ndarray:
        rate = min(self.limits.turn_radps, sqrt(size * self.limits.turn_radps2))
        ramp = rate / self.limits.turn_radps2
        total = ramp + size / rate if size > 0.0 else 0.0
        t = np.arange(0.0, total + self.limits.dt_s, self.limits.dt_s)
        early, late = np.minimum(t, ramp), np.clip(t - (total - ramp), 0.0, ramp)
        return np.clip(0.5 * self.limits.turn_radps2 * early**2 + rate * np.maximum(t - ramp, 0.0) - 0.5 * self.limits.turn_radps2 * late**2, 0.0, size)


def spent(call: Callable[[], object]) -> tuple[object, float, float]:
    """What a call returns, the seconds of processor that it took, and those of the clock."""
    begin, wall = time.process_time(), time.perf_counter()
    result = call()
    return result, time.process_time() - begin, time.perf_counter() - wall


def replayed(workshop: Workshop, task: Path) -> None:
    """Drive stored experts again and say how far from their goals they end."""
    data, robot, off, hits = read_task(task), KinematicRobot(workshop.grounds.space, workshop.grounds.body), [], 0
    for row in data.rows[:: max(1, len(data.rows) // REPLAYS)]:
        trajectory = read_trajectory(data, row["episode_id"])
        assert trajectory is not None
        robot.reset(Pose(*trajectory.poses[0].tolist()))
        for v, _, w in trajectory.velocity[:-1].tolist():
            hits += robot.execute(Velocity(v, 0.0, w, workshop.limits.dt_s)).collided
        off.append(hypot(robot.pose.x - row["goal_position_x"], robot.pose.y - row["goal_position_y"]))
    print(f"\n{len(off)} of them driven again by stored velocities: {hits} contacts, farthest end {max(off) * 1e3:.3f} mm off the goal")


def main() -> int:
    parser = argparse.ArgumentParser(description="Expert trajectories per second, ours and those of A* in plain Python with numpy.")
    parser.add_argument("--world", type=Path, help="folder of a world; a floor of apartments made here by default")
    parser.add_argument("--robot", default="spot")
    parser.add_argument("--experts", type=int, default=EXPERTS)
    options = parser.parse_args()
    world, body = load(options.world) if options.world else build_indoor(7, "apartments", 1), embodiment(options.robot)
    grounds = Grounds.of(world, body)
    workshop, source = Workshop(grounds, GridAsks(grounds, "point", 0), Limits.of(body)), Source(Path(), body.name, "point")
    print(f"{world.id}: {int(grounds.usable.sum()):,} free cells of {grounds.space.cell_m:g} m, {len(workshop.asks.points)} grid points, {body.name}")
    workshop.make(0)
    fresh = Workshop(grounds, GridAsks(grounds, "point", 0), workshop.limits)
    with tempfile.TemporaryDirectory() as folder:
        summary, processor, wall = spent(lambda: write_experts(source, Path(folder), options.experts, workshop=fresh))
        rates = [("portico, to Parquet", summary.made / processor, summary.made / wall, 3600 * summary.hours / summary.total)]
        blocks = range(12)
        made, processor, wall = spent(lambda: [len(fresh.make(k).experts) for k in blocks])
        rates.append(("portico, driven and checked, fields of distances known", sum(made) / processor, sum(made) / wall, 3600 * summary.hours / summary.total))
        replayed(fresh, summary.folder)
    peer, rows = Peer(grounds, workshop.limits), [row for k in range(8) for row, _ in fresh.make(k * 7).experts][::8][:PEERS]
    durations, processor, wall = spent(lambda: [peer.drive(row.start, row.goal) for row in rows])
    done = [d for d in durations if d is not None]
    rates.append((f"A* in Python and numpy, {len(rows)} pairs, {len(rows) - len(done)} failed", len(rows) / processor, len(rows) / wall, float(np.mean(done))))
    print(f"\n{'':<56}{'per processor s':>16}{'per second':>12}{'ours is':>9}{'mean duration':>15}")
    for name, busy, clock, duration in rates:
        print(f"{name:<56}{busy:>16,.1f}{clock:>12,.1f}{rates[0][1] / busy:>8.1f}×{duration:>13.1f} s")
    return 0 if rates[1][1] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
