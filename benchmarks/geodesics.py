"""Shortest paths: Portico's any-angle search beside SciPy's Dijkstra and scikit-image's MCP_Geometric, in one run, on one grid.

    python benchmarks/geodesics.py                     the furnished floor of benchmarks/queries.py at 5 cm
    python benchmarks/geodesics.py --world FOLDER      any world, indoor or a whole block

All three see the same free cells. SciPy gets a ready sparse graph of 8-connected steps over the layered cells, built once and not
timed; scikit-image gets the lowest sheet as a cost image (it knows no floors), its cost object built inside the timing, as each
call needs it. Lengths are compared where all three have a way.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from queries import furnished_floor
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import dijkstra

from portico.robots import embodiment
from portico.space import Space, build_space
from portico.world import load

try:
    from skimage.graph import MCP_Geometric
except ImportError:
    MCP_Geometric = None

FIELDS, PATHS = 3, 20


def eight_connected(space: Space) -> csr_matrix:
    """Steps between free cells, metres."""
    links, diagonals, usable = space.lattice.links, space.lattice.diagonals, space.roomy
    nodes = np.arange(len(usable))
    rows, columns, costs = [], [], []
    for d in range(2):
        beside = links[:, d]
        slanted = np.where(diagonals >> d & 1, links[beside, d + 1], -1)
        for other, cost in ((beside, 1.0), (slanted, np.sqrt(2.0))):
            kept = (other >= 0) & usable & usable[other]
            rows.append(nodes[kept])
            columns.append(other[kept])
            costs.append(np.full(kept.sum(), cost * space.cell_m))
    shape = (len(usable), len(usable))
    return coo_matrix((np.concatenate(costs), (np.concatenate(rows), np.concatenate(columns))), shape).tocsr()


def cost_image(space: Space, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The free cells ``nodes``, at most one per column, as an image: costs (rows, columns), and where each cell lies in it (N, 2)."""
    cells = space.lattice.cells[:, ::-1]
    image = np.full(cells[nodes].max(axis=0) + 2, -1.0)
    image[tuple(cells[nodes].T)] = 1.0
    return image, cells


def timed(call: Callable[[], object]) -> tuple[float, object]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


class Course:
    """One world's free cells as each of the three wants them."""

    def __init__(self, space: Space) -> None:
        self.space, self.graph = space, eight_connected(space)
        main_part = np.flatnonzero(space.node_component == 0)
        self.sheet = main_part[np.unique(space.lattice.cells[main_part] @ [1, 1 << 20], return_index=True)[1]]
        self.image, self.cells = cost_image(space, self.sheet)

    def fields(self, goals: np.ndarray) -> int:
        """Distances from everywhere to one goal; the first round warms up. Returns how many of ours exceed the grid's."""
        times: dict[str, list[float]] = {"portico distance_field()": [], "scipy dijkstra": [], "skimage MCP_Geometric": []}
        ratios: dict[str, list[float]] = {name: [] for name in times}
        longer = 0
        for k, goal in enumerate(goals):
            runs = (
                timed(lambda goal=goal: self.space.distance_field(np.array([goal])).values),
                timed(lambda goal=goal: dijkstra(self.graph, directed=False, indices=goal)),
                timed(lambda goal=goal: MCP_Geometric(self.image).find_costs([tuple(self.cells[goal])])[0]),
            )
            ours, grid, image = runs[0][1][self.sheet], runs[1][1][self.sheet], runs[2][1][tuple(self.cells[self.sheet].T)] * self.space.cell_m
            far = np.isfinite(ours) & np.isfinite(image) & (ours > 2.0)
            longer += int((ours[far] > grid[far] + 1e-9).sum())
            for name, (seconds, _), lengths in zip(times, runs, (ours, grid, image), strict=True):
                if k > 0:
                    times[name].append(seconds)
                    ratios[name].append(float(np.mean(lengths[far] / ours[far])))
        report("distances to one goal", times, ratios)
        return longer

    def paths(self, pairs: np.ndarray) -> None:
        """Single paths; the others search until they reach the goal, or everything."""
        times: dict[str, list[float]] = {"portico path()": [], "scipy dijkstra": [], "skimage MCP_Geometric": []}
        ratios: dict[str, list[float]] = {name: [] for name in times}
        xyz = self.space.nodes_xyz
        for k, (a, b) in enumerate(pairs):
            ours_s, path = timed(lambda a=a, b=b: self.space.path(xyz[a], xyz[b]))
            grid_s, grid = timed(lambda a=a: dijkstra(self.graph, directed=False, indices=a, return_predecessors=True)[0])
            image_s, image = timed(lambda a=a, b=b: MCP_Geometric(self.image).find_costs([tuple(self.cells[a])], [tuple(self.cells[b])])[0])
            lengths = (path.length_m, grid[b], image[tuple(self.cells[b])] * self.space.cell_m)
            if k > 0 and np.isfinite(lengths).all():
                for name, seconds, length in zip(times, (ours_s, grid_s, image_s), lengths, strict=True):
                    times[name].append(seconds)
                    ratios[name].append(length / path.length_m)
        report("one path", times, ratios)


def report(title: str, times: dict[str, list[float]], ratios: dict[str, list[float]]) -> None:
    base = statistics.median(next(iter(times.values())))
    print(f"\n{title:<28}{'ms median':>11}{'ms worst':>10}{'time vs ours':>14}{'length vs ours':>16}")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:<28}{median * 1e3:>11.1f}{max(seconds) * 1e3:>10.1f}{median / base:>13.1f}×{statistics.mean(ratios[name]):>16.4f}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Geodesics per second and their lengths, ours, SciPy's and scikit-image's.")
    parser.add_argument("--world", type=Path, help="folder of a world; a furnished floor made here by default")
    parser.add_argument("--robot", default="spot")
    options = parser.parse_args()
    if MCP_Geometric is None:
        print("skipped: scikit-image is not installed; pip install 'portico-nav[bench]'")
        return 0
    world = load(options.world) if options.world else furnished_floor()
    course = Course(build_space(world, embodiment(options.robot)))
    print(f"{world.id}: {len(course.sheet):,} free cells of {course.space.cell_m:g} m, {options.robot}")
    rng = np.random.default_rng(5)
    longer = course.fields(rng.choice(course.sheet, FIELDS + 1))
    course.paths(rng.choice(course.sheet, (PATHS + 1, 2)))
    print(f"\nvalues longer than the 8-connected grid's: {longer}")
    return 1 if longer else 0


if __name__ == "__main__":
    sys.exit(main())
