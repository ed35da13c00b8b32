"""What it costs to import a capture of about a million Gaussians: the whole command, in a process of its own.

    python benchmarks/importing.py [--millions 1] [--rounds 3]

The capture is a generated home (recipe ``capture``), written as PLY. Beside it stands what a user would otherwise do first: read the same
file with numpy and fill a voxel grid with the centres alone, which knows neither extent nor floors.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from portico.build.captures.generated import build_capture
from portico.build.splats import write_ply

_CENTRES = """
import sys, numpy as np
path, voxel = sys.argv[1], 0.05
with open(path, "rb") as file:
    names = []
    while (line := file.readline().split()) != [b"end_header"]:
        if line[0] == b"property":
            names.append(line[2].decode())
        if line[:2] == [b"element", b"vertex"]:
            count = int(line[2])
    rows = np.fromfile(file, np.dtype([(name, "<f4") for name in names]), count)
points = np.stack([rows["x"], rows["y"], rows["z"]], axis=1)
solid = points[rows["opacity"] > 0.0]
print(len(np.unique(np.floor(solid / voxel).astype(np.int64), axis=0)))
"""


def capture(millions: float, path: Path) -> int:
    """A capture of about that many Gaussians; a smaller spacing gives more."""
    spacing = 0.05 / millions**0.5
    world = build_capture(1, spacing_m=spacing)
    gaussians = world.appearance.gaussians
    assert gaussians is not None
    most = round(1e6 * millions)
    if len(gaussians) > most:
        gaussians = gaussians.chosen(np.sort(np.random.default_rng(0).permutation(len(gaussians))[:most]))
    write_ply(gaussians, path)
    return len(gaussians)


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds and peak GiB of a command."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - begin, usage.ru_maxrss / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description="Time and memory of importing a capture.")
    parser.add_argument("--millions", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "home.ply", Path(folder) / "world"
        # In a process of its own: children are charged with the memory of the process that starts them.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            count = pool.submit(capture, options.millions, file).result()
        print(f"{count:,} Gaussians, {file.stat().st_size / 2**20:.0f} MiB of PLY; goals at one million: 20 s, 2 GiB\n")
        commands = {
            "portico world import splat": [
                sys.executable,
                "-c",
                "from portico.cli.main import main; main()",
                "world",
                "import",
                "splat",
                str(file),
                "--out",
                str(out),
                "--overwrite",
            ],
            "numpy, centres to voxels": [sys.executable, "-c", _CENTRES, str(file)],
        }
        runs = {name: [measured(command) for _ in range(options.rounds)] for name, command in commands.items()}
    print(f"{'':<30}{'seconds':>10}{'worst':>8}{'peak GiB':>10}")
    for name, values in runs.items():
        seconds = [s for s, _ in values]
        print(f"{name:<30}{statistics.median(seconds):>10.1f}{max(seconds):>8.1f}{max(g for _, g in values):>10.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
