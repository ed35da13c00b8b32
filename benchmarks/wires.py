"""What a wire costs per step at 640 x 480 RGB-D, beside the same call in-process, and whether a policy behind it still leaves the same records.

    python benchmarks/wires.py                 milliseconds per step of every wire, servers in processes of their own on this machine
    python benchmarks/wires.py --same 50       so many episodes of frontier in-process and behind each of Portico's wires: are the records equal?

The served policy answers at once, so that what is measured is the wire: writing, sending and reading two megabytes and a short answer. The in-process
call of that policy takes next to nothing; the honest comparison is with a policy that does something, so ratios are given beside ``frontier`` as well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from portico.evaluate.prepare import prepare, select
from portico.evaluate.records import read_records, without_timing
from portico.evaluate.run import RunRequest, execute
from portico.geometry import Pose
from portico.interface import Action, ActionSpace, Body, Brief, Camera, Frame, Move, Observation, Policy, PolicySpec, StageBrief
from portico.policies import create
from portico.suites import load_suite

CAMERA = Camera("front", 640, 480, z=0.6)
STAGE = StageBrief("exit", 0, 1, "Leave the building.", goal=(5.0, 0.0, 0.0), goal_image=np.zeros((480, 640, 3), np.uint8))
BRIEF = Brief("bench", "exit", ("exit",), STAGE, Body("bench", 0.3, 0.8, 0.2, 1.0, 1.0), (CAMERA,), ActionSpace(), "rgbd", 10_000, 7)
WIRES = ("portico", "navarena", "navarena png", "navarena jpeg", "http")


class Instant:
    """Sees everything and answers at once."""

    spec = PolicySpec("instant", needs=frozenset({"rgb", "depth", "odometry"}))

    def reset(self, brief: Brief) -> None:
        """Nothing to forget."""

    def act(self, observation: Observation) -> Action:
        return Move("forward")

    def close(self) -> None:
        """Nothing to release."""


def observations(count: int) -> list[Observation]:
    """Noise over a slope, so that compression has something to do; every one another."""
    rng = np.random.default_rng(3)
    base = np.linspace(0, 200, 640, dtype=np.float64)[None, :, None] + np.zeros((480, 1, 3))
    made = []
    for i in range(count):
        rgb = (base + rng.integers(0, 40, (480, 640, 3))).astype(np.uint8)
        depth = rng.uniform(0.5, 9.0, (480, 640)).astype(np.float32)
        pose = Pose(0.01 * i, 0.0)
        made.append(Observation(i, 0.1 * i, {"front": Frame(CAMERA, rgb=rgb, depth=depth)}, STAGE, odometry=pose, pose=pose, number=i))
    return made


def step_times_ms(policy: Policy, steps: int) -> np.ndarray:
    seen = observations(20)
    policy.reset(BRIEF)
    times = []
    for i in range(steps + 5):
        shown = seen[i % len(seen)]
        shown = Observation(i, 0.1 * i, shown.frames, STAGE, odometry=shown.odometry, pose=shown.pose, number=i)
        began = time.perf_counter()
        policy.act(shown)
        times.append(1000.0 * (time.perf_counter() - began))
    policy.close()
    return np.array(times[5:])


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """This file as a server in a process of its own; yields its address."""
    process = subprocess.Popen([sys.executable, __file__, "--serve", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def serve(kind: str) -> None:
    if kind in ("lightnav", "navdp"):
        model_server(kind)
        return
    from portico.policies.serving import serve as listen

    server = listen((lambda: create("frontier")) if kind.startswith("frontier") else Instant, wire=kind.rsplit(":", maxsplit=1)[-1])
    print(server.url, flush=True)
    server.forever()


def model_server(kind: str) -> None:
    """Servers in the shapes of published models that answer at once."""
    if kind == "lightnav":
        from websockets.sync.server import serve as listen

        def talk(connection):  # type: ignore[no-untyped-def]
            for data in connection:
                message = json.loads(data)
                reply = {"rc": 200, "seq": message["data"].get("seq"), "actions": {"actions": [[0.3, 0.0, 0.0]] * 10}}
                connection.send(json.dumps({"action": message["action"], "data": reply}))

        with listen(talk, "127.0.0.1", 0, max_size=2**26, compression=None) as server:
            print(f"ws://127.0.0.1:{server.socket.getsockname()[1]}", flush=True)
            server.serve_forever()
        return

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            data = json.dumps({"trajectory": [[[0.1 * i, 0.0, 0.0] for i in range(1, 25)]]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Requests are nobody's news."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{http.server_address[1]}", flush=True)
    threading.Thread(target=http.serve_forever).start()


def remote(wire: str, url: str) -> Policy:
    plain, _, image_format = wire.partition(" ")
    return create(f"remote?url={url},wire={plain}" + (f",image_format={image_format}" if image_format else ""))


def overheads(steps: int) -> None:
    cases: list[tuple[str, str, Callable[[str], Policy]]] = [(wire, wire.split()[0], lambda url, w=wire: remote(w, url)) for wire in WIRES]  # type: ignore[misc]
    cases += [("navdp (JPEG + depth PNG)", "navdp", lambda url: create(f"navdp?url={url}"))]
    cases += [("lightnav (JPEG)", "lightnav", lambda url: create(f"lightnav?url={url}"))]
    bare = step_times_ms(Instant(), steps)
    working = step_times_ms(create("frontier"), steps)
    print(f"640 x 480 RGB-D, {steps} steps, milliseconds per step\n")
    print(f"{'':<28}{'median':>9}{'p99':>9}{'x bare call':>14}{'x frontier':>12}")
    row("in-process, answers at once", bare, bare, working)
    row("in-process, frontier", working, bare, working)
    for name, kind, connect in cases:
        with served(kind) as url:
            row(name, step_times_ms(connect(url), steps), bare, working)


def row(name: str, times: np.ndarray, bare: np.ndarray, working: np.ndarray) -> None:
    median = float(np.median(times))
    print(f"{name:<28}{median:>9.3f}{np.percentile(times, 99):>9.3f}{median / np.median(bare):>14,.0f}{median / np.median(working):>12.2f}", flush=True)


def same(episodes: int) -> None:
    """Records and trajectories of frontier in-process and behind each wire."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        each = -(-episodes // 4)
        # Short budgets: what is compared is the wire, and a policy that is lost would cost the same hour five times.
        suite = load_suite("i2o2i-demo", tasks=dict.fromkeys(("exit", "outdoor", "entrance", "ovon"), each), budget={"max_actions": 150})
        prepared = select(prepare(suite, folder / "worlds", announce=lambda text: print(text, flush=True)), limit=episodes)
        found = {"in-process": outcome(execute_in(suite, "frontier", folder / "local", prepared), folder / "local")}
        for wire in ("portico", "navarena", "http"):
            with served(f"frontier:{wire}") as url:
                place = folder / wire
                found[wire] = outcome(execute_in(suite, f"remote?url={url},wire={wire}", place, prepared), place)
    for wire, records in found.items():
        equal = sum(records[key] == found["in-process"][key] for key in records)
        print(f"{wire:<12} {len(records)} episodes, {equal} with the record and trajectory of the in-process run")


def execute_in(suite, policy, folder, prepared):  # type: ignore[no-untyped-def]
    began = time.perf_counter()
    summary = execute(RunRequest(suite, policy, folder, prepared, partial=True))
    print(f"{policy}: {summary['n']} in {time.perf_counter() - began:.0f} s", flush=True)
    return folder


def outcome(folder: Path, _: Path) -> dict[str, tuple[str, str]]:
    found = {}
    for key, record in read_records(folder).items():
        arrays = np.load(folder / "trajectories" / f"{key.slug()}.npz")
        path = {name: arrays[name].tobytes().hex() for name in sorted(arrays.files)}
        found[key.slug()] = (json.dumps({**without_timing(record), "policy": ""}, sort_keys=True), json.dumps(path))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--same", type=int, default=0, metavar="EPISODES", help="compare records instead")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.serve)
    elif chosen.same:
        same(chosen.same)
    else:
        overheads(chosen.steps)


if __name__ == "__main__":
    main()
