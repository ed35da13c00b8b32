"""Captures against the meshes they were made from: do bodies get the same answers, how fast, and in how many bytes.

    python benchmarks/captures.py [--worlds 6] [--robot spot] [--workers 2]

Every world is a generated building of another program and seed. It is turned into Gaussians 4 cm apart, written as PLY,
imported as anybody's capture would be, and asked 5,000 states and 1,000 motions; python-fcl answers the same on the true mesh.
States lie anywhere on and beside the true ground, motions keep to one height (see queries.py). A false negative (FN) is a state
or motion that the capture calls free and the mesh does not; the command fails when there is one. False positives (FP) are
shown twice, as shares of what the mesh calls free: all of them, and those with footing, where the true mesh's own space calls the state
or motion free too. The rest stand over a drop, which python-fcl cannot see.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from queries import FclScene, best_us, questions

from portico.build import build_indoor
from portico.build.captures import gaussians_of, import_splat
from portico.build.rosmap import occupancy_of, write_rosmap
from portico.build.splats import write_ply
from portico.robots import embodiment
from portico.space import build_space

PROGRAMS = ("apartments", "cafe", "office", "clinic", "hotel", "school", "supermarket")


@dataclass(frozen=True)
class Agreement:
    """One world. Counts are of queries; ``free`` is what the mesh calls free, ``footed`` the wrong ones with footing; times are microseconds per query."""

    world: str
    gaussians: int
    states_free: int
    states_missed: int
    states_wrong: int
    states_footed: int
    motions_free: int
    motions_missed: int
    motions_wrong: int
    motions_footed: int
    state_us: float
    state_single_us: float
    state_fcl_us: float
    motion_us: float
    motion_single_us: float
    motion_fcl_us: float
    layer_kib: float
    map_kib: float
    png_kib: float
    import_s: float


def ask(number: int, robot: str) -> Agreement:
    """Build, splat, import and compare the world of that number."""
    body, program = embodiment(robot), PROGRAMS[number % len(PROGRAMS)]
    world = build_indoor(100 + number, program, 1 + number % 2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{world.id}.ply"
        write_ply(gaussians_of(world), file)
        begin = time.perf_counter()
        capture = import_splat(file, up="z", floor="keep").world
        import_s = time.perf_counter() - begin
        layers = Path(folder) / "layers.npz"
        np.savez_compressed(layers, vertices=capture.geometry.vertices, faces=capture.geometry.faces, boxes=capture.geometry.boxes)
        layer_kib = layers.stat().st_size / 1024
        write_rosmap(occupancy_of(capture, body), Path(folder) / "map")
        image = Path(folder) / "map" / "map.pgm"
        Image.open(image).save(image.with_suffix(".png"))
        map_kib, png_kib = (image.with_suffix(suffix).stat().st_size / 1024 for suffix in (".pgm", ".png"))
    true, mine, mesh = build_space(world, body), build_space(capture, body), FclScene(world, body)
    states, starts, ends = questions(true, np.random.default_rng(number))

    begin = time.perf_counter()
    free_fcl = np.array([mesh.free(p) for p in states])
    middle = time.perf_counter()
    reach_fcl = np.array([mesh.reaches(a, b) for a, b in zip(starts, ends, strict=True)])
    end = time.perf_counter()
    free, reach = mine.is_free(states), mine.sweep(starts, ends).reached
    return Agreement(
        world.id,
        len(capture.appearance.gaussians or ()),
        *(int(n.sum()) for n in (free_fcl, free & ~free_fcl, ~free & free_fcl, ~free & free_fcl & true.is_free(states))),
        *(int(n.sum()) for n in (reach_fcl, reach & ~reach_fcl, ~reach & reach_fcl, ~reach & reach_fcl & true.sweep(starts, ends).reached)),
        best_us(lambda: mine.is_free(states), len(states)),
        best_us(lambda: [mine.is_free_one(p) for p in states[:1000]], 1000, 3),
        (middle - begin) / len(states) * 1e6,
        best_us(lambda: mine.sweep(starts, ends), len(starts)),
        best_us(lambda: [mine.sweep_one(a, b) for a, b in zip(starts, ends, strict=True)], len(starts), 3),
        (end - middle) / len(starts) * 1e6,
        layer_kib,
        map_kib,
        png_kib,
        import_s,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Agreement of captures with the meshes they were made from.")
    parser.add_argument("--worlds", type=int, default=6)
    parser.add_argument("--robot", default="spot")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    try:
        import fcl  # noqa: F401
    except ImportError:
        print("skipped: python-fcl is not installed; pip install 'portico-nav[bench]'")
        return 0
    columns = f"{'free':>7}{'FN':>4}{'FP':>7}{'footed':>8}"
    print(f"{'':<39}{'states':^26}{'motions':^26}\n{'world':<28}{'Gaussians':>11}{columns}{columns}{'layer KiB':>11}{'map KiB':>9}{'import s':>10}")
    with ProcessPoolExecutor(options.workers) as pool:
        found = []
        for a in pool.map(ask, range(options.worlds), [options.robot] * options.worlds):
            found.append(a)
            states = _columns(a.states_free, a.states_missed, a.states_wrong, a.states_footed)
            motions = _columns(a.motions_free, a.motions_missed, a.motions_wrong, a.motions_footed)
            print(f"{a.world:<28}{a.gaussians:>11,}{states}{motions}{a.layer_kib:>11,.0f}{a.map_kib:>9,.0f}{a.import_s:>10.1f}", flush=True)
    table = {name: np.array([getattr(a, name) for a in found]) for name in vars(found[0]) if name != "world"}
    total = {name: int(values.sum()) for name, values in table.items()}
    print(f"\n{len(found)} worlds, {options.robot}")
    for kind in ("states", "motions"):
        free, missed, wrong, footed = (total[f"{kind}_{name}"] for name in ("free", "missed", "wrong", "footed"))
        print(f"{kind:<10}{missed} false negatives; false positives {wrong / free:.1%}, with footing {footed / free:.1%}")
    layer, flat, png, seconds = (np.median(table[name]) for name in ("layer_kib", "map_kib", "png_kib", "import_s"))
    print(
        f"medians: {layer:,.0f} KiB of all floors and boxes, {flat:,.0f} KiB of one floor's map at 0.05 m as PGM and {png:.1f} as PNG, {seconds:.1f} s to import"
    )
    print(f"\n{'microseconds per query':<26}{'python-fcl':>12}{'portico':>10}{'ratio':>9}")
    for name, ours in (
        ("states, in batches", "state"),
        ("states, one by one", "state_single"),
        ("motions, in batches", "motion"),
        ("motions, one by one", "motion_single"),
    ):
        mine, theirs = np.median(table[f"{ours}_us"]), np.median(table[f"{ours.split('_')[0]}_fcl_us"])
        print(f"{name:<26}{theirs:>12.2f}{mine:>10.3f}{theirs / mine:>8,.0f}×")
    return 1 if total["states_missed"] + total["motions_missed"] else 0


def _columns(free: int, missed: int, wrong: int, footed: int) -> str:
    return f"{free:>7,}{missed:>4}{wrong / free:>7.1%}{footed / free:>8.1%}"


if __name__ == "__main__":
    sys.exit(main())
