"""Kills everything that takes part in a run, again and again, and looks whether it ends like one that was left in peace.

    python tests/evaluate/chaos.py --episodes 200 --workers 4 --worker-kills 20 --parent-kills 4 --ranks 1 3 7

Every line says what was done to a run and whether its records, summary and trajectories are those of the undisturbed one, byte for byte.
"""

from __future__ import annotations

import argparse
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
from dataclasses import replace
from pathlib import Path

_FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "worlds_for_tests")]
sys.path[:0] = _FOLDERS

from hut_runs import outcome, prepared_for, request_for, suite_in  # noqa: E402

from portico.evaluate.plan import Shard  # noqa: E402
from portico.evaluate.run import RunRequest, execute  # noqa: E402

#: A process of its own that runs a pickled request; Ctrl-C and kills are for it, not for us.
_RUN = "import pickle, sys; from portico.evaluate.run import execute; execute(pickle.loads(open(sys.argv[1], 'rb').read()))"


def requests_of(folder: Path, episodes: int, *, sleep_s: float) -> RunRequest:
    """The run that everything is done to, and the file that makes its policy take time over decisions."""
    file = suite_in(folder)
    (folder / "chaos.json").write_text(json.dumps({"sleep_s": sleep_s}))
    os.environ["PORTICO_CHAOS"] = str(folder / "chaos.json")
    return request_for(file, prepared_for(file), folder / "undisturbed", repeats=max(1, episodes // 10))


def changed(request: RunRequest, **changes: object) -> RunRequest:
    return replace(request, **changes)


def started(request: RunRequest) -> subprocess.Popen[bytes]:
    """A run in a process of its own."""
    file = request.folder.with_suffix(f".{request.shard.rank}.pickle")
    file.write_bytes(pickle.dumps(request))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(_FOLDERS)}
    return subprocess.Popen([sys.executable, "-c", _RUN, str(file)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


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


def storm(requests: Sequence[RunRequest], moments: random.Random, worker_kills: int, parent_kills: int, pause_s: float = 0.3) -> tuple[int, int, int]:
    """Run requests side by side and kill at random until the kills are used up; whoever died is started again until all have ended well.

    Returns:
        Workers killed, parents killed, starts.
    """
    running = {k: started(request) for k, request in enumerate(requests)}
    killed = [0, 0]
    starts, deadline = len(running), time.monotonic() + 1800.0
    while running and time.monotonic() < deadline:
        time.sleep(moments.uniform(0.2, 1.8) * pause_s)
        k = moments.choice(sorted(running))
        process = running[k]
        if process.poll() is not None:
            victims, ripe = [], False
        else:
            # Nothing can be lost before there is something.
            victims, ripe = workers_of(process.pid), done(requests[k].folder) > 0
        if ripe and killed[1] < parent_kills and moments.random() < parent_kills / max(1, parent_kills + worker_kills):
            process.send_signal(signal.SIGKILL)
            killed[1] += 1
        elif ripe and killed[0] < worker_kills and victims:
            try:
                os.kill(moments.choice(victims), signal.SIGKILL)
                killed[0] += 1
            except ProcessLookupError:
                continue
        for k, process in list(running.items()):
            code = process.poll()
            if code == 0:
                del running[k]
            elif code is not None:
                if code != -signal.SIGKILL:
                    raise RuntimeError(f"a run ended with {code}: {(process.stderr.read() if process.stderr else b'').decode()[-2000:]}")
                running[k], starts = started(requests[k]), starts + 1
    for request in requests:
        # What died twice under a worker is an error now: the next start tries it again.
        assert started(request).wait(timeout=600) == 0
    return killed[0], killed[1], starts


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill workers and parents of runs at random, and compare what is left with an undisturbed run.")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--worker-kills", type=int, default=20)
    parser.add_argument("--parent-kills", type=int, default=4)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 3, 7])
    parser.add_argument("--sleep", type=float, default=0.01, help="seconds of every decision")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where the runs stay; a temporary folder when left out")
    options = parser.parse_args()
    moments, same = random.Random(options.seed), True
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        request = requests_of(folder, options.episodes, sleep_s=options.sleep)
        began = time.perf_counter()
        execute(changed(request, workers=options.workers))
        expected = outcome(request.folder)
        print(f"undisturbed, {options.workers} workers: {len(expected[0])} episodes in {time.perf_counter() - began:.0f} s", flush=True)
        for ranks in options.ranks:
            target = folder / f"ranks-{ranks}"
            each = [changed(request, folder=target, workers=max(1, options.workers // ranks), shard=Shard(rank, ranks)) for rank in range(ranks)]
            began = time.perf_counter()
            workers, parents, starts = storm(each, moments, options.worker_kills, options.parent_kills)
            equal = outcome(target) == expected
            same &= equal
            words = f"{workers} workers and {parents} parents killed, {starts} starts, {time.perf_counter() - began:.0f} s"
            print(f"{ranks} ranks, {each[0].workers} workers each: {words}: {'the same bytes' if equal else 'NOT THE SAME'}", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
