"""A storm over a Ray cluster of two nodes on this machine: a node, actors and the process that started the run are killed.

python tests/evaluate/chaos_ray.py --episodes 200 --workers 4 --worker-kills 6 --parent-kills 1
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from chaos import _FOLDERS, _HUTS, _TIMEOUT_S, Storm, changed, digest, done, requests_of, started
from chaos_faults import Faults, told
from hut_runs import outcome
from ray.cluster_utils import Cluster

from portico.evaluate.inspection import inspect_run
from portico.evaluate.records import read_records
from portico.evaluate.run import RunRequest, execute

_RUN = """
import pickle, sys
from portico.evaluate.ray_actors import RayActors
from portico.evaluate.run import execute
request = pickle.loads(open(sys.argv[1], 'rb').read())
execute(request, executor=RayActors(request.workers, address=sys.argv[2], patience_s=600.0))
"""


class RayStorm(Storm):
    """Besides, one of the two nodes is killed when a quarter of the run is done, and another one joins later.

    Args:
        cluster: its head and one node more. per_node: CPUs of a node, each room for an actor.
    """

    def __init__(self, cluster: Cluster, per_node: int, planned: int, *storm: Any, **more: Any) -> None:
        super().__init__(*storm, **more)
        self._cluster, self._per_node, self._planned = cluster, per_node, planned
        self.nodes = 0

    def start(self, request: RunRequest) -> subprocess.Popen[bytes]:
        """A run in a process of its own, on the cluster."""
        return started(request, self._beside, _RUN, self._cluster.address)

    def victims(self, process: subprocess.Popen[bytes]) -> list[int]:
        """Actors of this cluster; and now and then its node."""
        so_far = done(self._requests[0].folder)
        if self.nodes == 0 and so_far >= self._planned // 4:
            self._cluster.remove_node(next(iter(self._cluster.worker_nodes)), allow_graceful=False)
            self.nodes += 1
        elif self.nodes == 1 and not self._cluster.worker_nodes and so_far >= self._planned // 2:
            self._cluster.add_node(num_cpus=self._per_node, object_store_memory=80 * 2**20)
        return [pid for node in self._cluster.list_all_nodes() for pid in _actors_below(node)]


def _actors_below(node: Any) -> list[int]:
    found = []
    for about in node.all_processes.get("raylet", []):
        with suppress(OSError):
            children = Path(f"/proc/{about.process.pid}/task/{about.process.pid}/children").read_text().split()
            found += [int(p) for p in children if Path(f"/proc/{p}/cmdline").read_bytes().startswith(b"ray::_Holder")]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill a node of a Ray cluster, actors and the run itself, and compare what is left.")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--worker-kills", type=int, default=6)
    parser.add_argument("--parent-kills", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="damage a world and let the policy fail besides")
    parser.add_argument("--sleep", type=float, default=0.01, help="seconds of every decision")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return 0 if _stormed(Path(scratch), options) else 1


def _stormed(folder: Path, options: argparse.Namespace) -> bool:
    request = requests_of(folder, options.episodes, sleep_s=options.sleep)
    execute(request)
    expected, moments, began = outcome(request.folder), random.Random(options.seed), time.perf_counter()
    print(f"undisturbed, in one process: {len(expected[0])} episodes: {digest(expected)}", flush=True)
    # Nodes hand what they are started with on to their actors.
    os.environ["PYTHONPATH"] = os.pathsep.join([*_FOLDERS, os.environ.get("PYTHONPATH", "")])
    per_node = max(1, options.workers // 2)
    node = {"num_cpus": per_node, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    faults = Faults(folder / "chaos.json", folder / _HUTS[-1], None) if options.faults else None
    if faults:
        faults.begin(list(read_records(request.folder)), moments)
    target = changed(request, folder=folder / "ray", workers=options.workers, policy_timeout_s=_TIMEOUT_S if faults else None)
    try:
        storm = RayStorm(cluster, per_node, len(expected[0]), [target], moments, options.worker_kills, options.parent_kills, beside=folder, faults=faults)
        toll = storm.blow()
    finally:
        if ray.is_initialized():
            ray.shutdown()
        cluster.shutdown()
    found, sound = outcome(target.folder), not [f for f in inspect_run(target.folder).findings if f.kind != "note"]
    print(f"Ray, {options.workers} actors on 2 nodes, seed {options.seed}: {storm.nodes} node, {toll}, {time.perf_counter() - began:.0f} s")
    print(f"  {told(target.folder)}")
    print(f"  {digest(found)}, check: {'whole' if sound else 'NOT WHOLE'}: {'the same bytes' if found == expected else 'NOT THE SAME'}", flush=True)
    return sound and found == expected and storm.nodes == 1


if __name__ == "__main__":
    sys.exit(main())
