"""How long a town block takes to build, survey and load again, and how much memory that needs.

``python benchmarks/building.py`` measures every step in a process of its own, because peak memory never goes down again.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEED = 7
STEPS = ("build", "survey", "load")


def step(name: str, folder: Path) -> dict[str, float]:
    """Seconds and peak memory of one step in this process, imports and cached kernels not counted."""
    from portico.build import RECIPES
    from portico.robots import embodiment
    from portico.space import build_space, cached_space
    from portico.world import load, save

    body = embodiment("spot")
    if name == "survey":
        world = load(folder)
        # The first survey of a process loads the compiled kernels; only the second tells what surveying costs.
        build_space(world, body, cell_m=0.3)
    began = time.perf_counter()
    if name == "build":
        save(RECIPES["composite"](SEED), folder, overwrite=True)
    elif name == "survey":
        cached_space(world, body, folder)
    else:
        cached_space(load(folder), body, folder)
    return {"seconds": time.perf_counter() - began, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "block"
        print(f"{'town block, seed ' + str(SEED):<28}{'seconds':>10}{'peak MiB':>10}")
        for name in STEPS:
            command = [sys.executable, __file__, name, str(folder)]
            result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            verdict = "within 1 GiB" if result["peak_mib"] <= 1024 else "OVER 1 GiB"
            print(f"{name:<28}{result['seconds']:>10.1f}{result['peak_mib']:>10.0f}  {verdict}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(step(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
