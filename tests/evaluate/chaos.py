"""Kills everything that takes part in a run, again and again, and looks whether it ends like one that was left in peace.

    python tests/evaluate/chaos.py --episodes 200 --workers 4 --worker-kills 20 --parent-kills 4 --ranks 1 3 7 --faults

``--faults`` adds what ``chaos_faults`` does: a disk that fills up, a world that cannot be loaded, a policy that raises, hangs, returns garbage and
kills its process. Every line says what was done to a run and whether its records, summary and trajectories are those of the undisturbed one, byte
for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

_FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "worlds_for_tests")]
sys.path[:0] = _FOLDERS

from chaos_faults import Faults, small_disk, told  # noqa: E402
from hut_runs import outcome, prepared_for, request_for, suite_in  # noqa: E402

from portico.evaluate.inspection import inspect_run  # noqa: E402
from portico.evaluate.plan import Shard  # noqa: E402
from portico.evaluate.records import read_records  # noqa: E402
from portico.evaluate.run import RunRequest, execute  # noqa: E402

#: A process of its own that runs a pickled request; Ctrl-C and kills are for it, not for us.
_RUN = "import pickle, sys; from portico.evaluate.run import execute; execute(pickle.loads(open(sys.argv[1], 'rb').read()))"
_HUTS = ("hut", "annex")
#: A decision may take so long while faults are about; later starts try errors again as often as it takes.
_TIMEOUT_S, _OFTEN = 3.0, 1000
_PATIENCE_S = 3600.0


def requests_of(folder: Path, episodes: int, *, sleep_s: float, huts: Sequence[str] = _HUTS) -> RunRequest:
    """The run that everything is done to, and the file that makes its policy take time over decisions."""
    file = suite_in(folder, huts=huts)
    (folder / "chaos.json").write_text(json.dumps({"sleep_s": sleep_s}))
    os.environ["PORTICO_CHAOS"] = str(folder / "chaos.json")
    return request_for(file, prepared_for(file), folder / "undisturbed", repeats=max(1, episodes // (10 * len(huts))))


def changed(request: RunRequest, **changes: object) -> RunRequest:
    return replace(request, **changes)


def started(request: RunRequest, beside: Path, script: str = _RUN, *words: str) -> subprocess.Popen[bytes]:
    """A run in a process of its own; what it is told lies in a folder ``beside``, and in further words for the script."""
    file = beside / f"{request.folder.name}.{request.shard.rank}.pickle"
    file.write_bytes(pickle.dumps(request))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*_FOLDERS, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen([sys.executable, "-c", script, str(file), *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def workers_of(pid: int) -> list[int]:
    """Worker processes of a run."""
    try:
        children = [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return [p for p in children if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()]
    except OSError:
        return []


def done(folder: Path) -> int:
    """Records so far."""
    return sum(file.read_bytes().count(b"\n") for file in (folder / "records").glob("rank-*.jsonl")) if folder.is_dir() else 0


@dataclass
class Toll:
    """What a storm has done."""

    workers: int = 0
    parents: int = 0
    starts: int = 0

    def __str__(self) -> str:
        return f"{self.workers} workers and {self.parents} parents killed, {self.starts} starts"


class Storm:
    """Runs requests side by side and kills at random until the kills are used up; whoever died is started again until all have ended well.

    Args:
        worker_kills, parent_kills: how many of each at most; fewer when the runs end before.
        faults: what else goes wrong meanwhile. beside: a folder for what the processes are told.
    """

    def __init__(
        self,
        requests: Sequence[RunRequest],
        moments: random.Random,
        worker_kills: int,
        parent_kills: int,
        *,
        beside: Path,
        faults: Faults | None = None,
        pause_s: float = 0.3,
    ) -> None:
        self._requests, self._moments, self._pause_s = list(requests), moments, pause_s
        self._beside, self._faults = beside, faults
        self._left = [worker_kills, parent_kills]
        self.toll = Toll()

    def blow(self) -> Toll:
        """Until every run has ended, and once more for errors that are left."""
        running = {k: self._started(k) for k in range(len(self._requests))}
        deadline = time.monotonic() + _PATIENCE_S
        while running:
            assert time.monotonic() < deadline, "the storm does not end"
            time.sleep(self._moments.uniform(0.2, 1.8) * self._pause_s)
            self._strike(running)
            for k, process in list(running.items()):
                code = process.poll()
                if code == 0:
                    del running[k]
                elif code is not None:
                    self._excuse(process, code)
                    running[k] = self._started(k)
        if self._faults:
            self._faults.end()
        for request in self._requests:
            # What died twice under a worker is an error now: the next start tries it again.
            last = self.start(changed(request, retries=_OFTEN, policy_timeout_s=None))
            assert last.wait(timeout=_PATIENCE_S) == 0, (last.stderr.read() if last.stderr else b"").decode()[-2000:]
        return self.toll

    def start(self, request: RunRequest) -> subprocess.Popen[bytes]:
        """A run in a process of its own."""
        return started(request, self._beside)

    def victims(self, process: subprocess.Popen[bytes]) -> list[int]:
        """Worker processes of a run."""
        return workers_of(process.pid)

    def _started(self, k: int) -> subprocess.Popen[bytes]:
        self.toll.starts += 1
        return self.start(self._requests[k])

    def _strike(self, running: dict[int, subprocess.Popen[bytes]]) -> None:
        """Kill somebody who has something to lose."""
        k = self._moments.choice(sorted(running))
        process, so_far = running[k], done(self._requests[k].folder)
        if self._faults and so_far >= 60:
            self._faults.mend_world()
        if process.poll() is not None or so_far == 0:
            return
        victims = self.victims(process)
        if self._left[1] and self._moments.random() < self._left[1] / sum(self._left):
            process.send_signal(signal.SIGKILL)
            self._left[1] -= 1
            self.toll.parents += 1
        elif self._left[0] and victims:
            try:
                os.kill(self._moments.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                return
            self._left[0] -= 1
            self.toll.workers += 1

    def _excuse(self, process: subprocess.Popen[bytes], code: int) -> None:
        """Kills are ours, and a full disk is if we made it so; anything else is what the storm looks for."""
        if code == -signal.SIGKILL:
            return
        said = (process.stderr.read() if process.stderr else b"").decode()
        if self._faults is None or "the disk refused a write" not in said:
            raise RuntimeError(f"a run ended with {code}: {said[-2000:]}")
        self._faults.enlarge()


def digest(found: tuple[list[str], bytes, dict[str, bytes]]) -> str:
    """SHA-256 over records, summary and trajectories."""
    records, summary, files = found
    parts = hashlib.sha256()
    for part in (*(r.encode() for r in records), summary, *(x for name in sorted(files) for x in (name.encode(), files[name]))):
        parts.update(hashlib.sha256(part).digest())
    return parts.hexdigest()[:16]


def storm_over(request: RunRequest, folder: Path, ranks: int, options: argparse.Namespace) -> bool:
    """One storm over a run that is split into so many ranks; whether it came to the bytes of the undisturbed one."""
    expected, moments, began = outcome(request.folder), random.Random(options.seed), time.perf_counter()
    size = sum(path.stat().st_size for path in request.folder.rglob("*") if path.is_file())
    with small_disk(folder / f"disk-{ranks}", str(size // 2)) if options.faults else nullcontext(None) as disk:
        target = (disk or folder) / f"ranks-{ranks}"
        workers, limit = max(2, options.workers // ranks), _TIMEOUT_S if options.faults else None
        each = [changed(request, folder=target, workers=workers, policy_timeout_s=limit, shard=Shard(rank, ranks)) for rank in range(ranks)]
        faults = Faults(folder / "chaos.json", folder / _HUTS[-1], disk) if options.faults else None
        if faults:
            faults.begin(list(read_records(request.folder)), moments)
        toll = Storm(each, moments, options.worker_kills, options.parent_kills, beside=folder, faults=faults).blow()
        found, sound = outcome(target), not [f for f in inspect_run(target).findings if f.kind != "note"]
        print(f"{ranks} ranks, {workers} workers each, seed {options.seed}: {toll}, {time.perf_counter() - began:.0f} s", flush=True)
        print(f"  {told(target)}" + (f"; writes refused for want of space: {faults.full}" if faults else ""))
        print(f"  {digest(found)}, check: {'whole' if sound else 'NOT WHOLE'}: {'the same bytes' if found == expected else 'NOT THE SAME'}", flush=True)
    return sound and found == expected


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kill workers and parents of runs at random, and compare what is left with an undisturbed run.")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4, help="of a run that is not split; ranks share them, with two each at least")
    parser.add_argument("--worker-kills", type=int, default=20)
    parser.add_argument("--parent-kills", type=int, default=4)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 3, 7])
    parser.add_argument("--faults", action="store_true", help="fill the disk, damage a world and let the policy fail besides")
    parser.add_argument("--sleep", type=float, default=0.01, help="seconds of every decision")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where the runs stay; a temporary folder when left out")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        request = requests_of(folder, options.episodes, sleep_s=options.sleep)
        began = time.perf_counter()
        execute(changed(request, workers=options.workers))
        expected = outcome(request.folder)
        took = f"{len(expected[0])} episodes in {time.perf_counter() - began:.0f} s"
        print(f"undisturbed, {options.workers} workers: {took}: {digest(expected)}", flush=True)
        same = [storm_over(request, folder, ranks, options) for ranks in options.ranks]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
