"""Shortest paths: Portico's any-angle search beside SciPy's Dijkstra and scikit-image's MCP_Geometric, in one run, on one grid.

    python benchmarks/geodesics.py                     the furnished floor of benchmarks/queries.py at 5 cm
    python benchmarks/geodesics.py --world FOLDER      any world, indoor or a whole block

All three see the same free cells. SciPy gets a ready sparse graph of 8-connected steps over the layered cells, built once and not
timed; scikit-image gets the street-level sheet as a cost image (it knows no floors) with its cost object built inside the
timing, as each call needs it. Lengths are compared where all three have a way; the straight distance is the lower bound.
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

from portico.robots.embodiment import embodiment
from portico.space import Space, build_space
from portico.world import load

FIELDS, PATHS = 3, 20


def eight_connected(space: Space) -> csr_matrix:
    """Steps between free cells, metres."""
    links, diagonals, usable = space.lattice.links, space.lattice.diagonals, space.roomy
    nodes = np.arange(len(usable))
    rows, columns, costs = [], [], []
    for d in range(2):
        beside = links[:, d]
        slanted = [np.where(diagonals >> k & 1, links[links[:, k], (k + 1) % 4], -1) for k in (d,)]
        for other, cost in ((beside, 1.0), (slanted[0], np.sqrt(2.0))):
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


def main() -> int:
    parser = argparse.ArgumentParser(description="Geodesics per second and their lengths, ours, SciPy's and scikit-image's.")
    parser.add_argument("--world", type=Path, help="folder of a world; a furnished floor made here by default")
    parser.add_argument("--robot", default="spot")
    options = parser.parse_args()
    try:
        from skimage.graph import MCP_Geometric
    except ImportError:
        print("skipped: scikit-image is not installed; pip install 'portico-nav[bench]'")
        return 0
    world = load(options.world) if options.world else furnished_floor()
    space = build_space(world, embodiment(options.robot))
    main_part = np.flatnonzero(space.node_component == 0)
    sheet = main_part[np.unique(space.lattice.cells[main_part] @ [1, 1 << 20], return_index=True)[1]]
    graph, (image, cells) = eight_connected(space), cost_image(space, sheet)
    print(f"{world.id}: {len(main_part):,} free cells of {space.cell_m:g} m, {options.robot}\n")

    rng = np.random.default_rng(5)
    goals = rng.choice(sheet, FIELDS + 1)
    times: dict[str, list[float]] = {"portico": [], "scipy dijkstra": [], "skimage MCP": []}
    ratios: dict[str, list[float]] = {name: [] for name in times}
    for k, goal in enumerate(goals):
        ours_s, field = timed(lambda goal=goal: space.distance_field(np.array([goal])).values)
        scipy_s, grid = timed(lambda goal=goal: dijkstra(graph, directed=False, indices=goal))
        mcp_s, mcp = timed(lambda goal=goal: MCP_Geometric(image).find_costs([tuple(cells[goal])])[0])
        if k == 0:
            continue
        for name, seconds in zip(times, (ours_s, scipy_s, mcp_s), strict=True):
            times[name].append(seconds)
        lengths = {"portico": field[sheet], "scipy dijkstra": grid[sheet], "skimage MCP": mcp[tuple(cells[sheet].T)] * space.cell_m}
        far = np.logical_and.reduce([np.isfinite(v) & (v > 2.0) for v in lengths.values()])
        for name, values in lengths.items():
            ratios[name].append(float(np.mean(values[far] / field[sheet][far])))
        longer = field[sheet][far] > grid[sheet][far] + 1e-9
        if longer.any():
            print(f"{longer.sum()} values exceed the 8-connected grid's")
            return 1

    print(f"{'distances to one goal':<24}{'seconds':>10}{'ratio':>9}{'length vs ours':>17}")
    ours = statistics.median(times["portico"])
    for name in times:
        print(f"{name:<24}{statistics.median(times[name]):>10.3f}{statistics.median(times[name]) / ours:>8.1f}×{statistics.mean(ratios[name]):>16.4f}")

    pairs = rng.choice(sheet, (PATHS + 1, 2))
    single: dict[str, list[float]] = {"portico path()": [], "scipy dijkstra": [], "skimage MCP": []}
    excess: list[tuple[float, float]] = []
    for k, (a, b) in enumerate(pairs):
        ours_s, path = timed(lambda a=a, b=b: space.path(space.nodes_xyz[a], space.nodes_xyz[b]))
        scipy_s, grid = timed(lambda a=a: dijkstra(graph, directed=False, indices=a, return_predecessors=True)[0])
        mcp_s, found = timed(lambda a=a, b=b: MCP_Geometric(image).find_costs([tuple(cells[a])], [tuple(cells[b])])[0])
        if k == 0 or path is None or not np.isfinite(grid[b]):
            continue
        for name, seconds in zip(single, (ours_s, scipy_s, mcp_s), strict=True):
            single[name].append(seconds)
        excess.append((grid[b] / max(path.length_m, 1e-9), found[tuple(cells[b])] * space.cell_m / max(path.length_m, 1e-9)))
    print(f"\n{'one path':<24}{'ms median':>10}{'ms worst':>10}{'ratio':>9}{'length vs ours':>17}")
    base = statistics.median(single["portico path()"])
    lengths_vs = (1.0, float(np.mean([e[0] for e in excess])), float(np.mean([e[1] for e in excess if np.isfinite(e[1])] or [np.nan])))
    for (name, seconds), length in zip(single.items(), lengths_vs, strict=True):
        median = statistics.median(seconds)
        print(f"{name:<24}{median * 1e3:>10.2f}{max(seconds) * 1e3:>10.1f}{median / base:>8.1f}×{length:>16.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
