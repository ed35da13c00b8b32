"""What goes wrong besides kills while a storm blows: the disk fills up, a world cannot be loaded, the policy fails in every way it can."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from portico.evaluate.logbook import read_logs
from portico.evaluate.records import Key, scan

#: How many episodes each fault of the policy befalls.
VICTIMS = {"raise": 6, "garbage": 6, "hang": 2, "stuck": 1, "crash": 2}


class Faults:
    """Nothing is wrong until ``begin``, and nothing after ``end``.

    Args:
        chaos: the file that ``chaos_policies`` reads. world: folder of one of the run's worlds. disk: where a small file system is mounted, if any.
    """

    def __init__(self, chaos: Path, world: Path, disk: Path | None) -> None:
        self._chaos, self._disk, self.full = chaos, disk, 0
        self._usual = json.loads(chaos.read_text())
        self._arrays = next(path for path in sorted(world.iterdir()) if path.suffix == ".npz")
        self._whole = self._arrays.read_bytes()

    def begin(self, keys: Sequence[Key], moments: random.Random) -> None:
        """Choose the episodes that the policy fails in, and damage the world."""
        chosen = moments.sample([key.slug() for key in keys], sum(VICTIMS.values()))
        befallen = {fault: [chosen.pop() for _ in range(count)] for fault, count in VICTIMS.items()}
        self._chaos.write_text(json.dumps({**self._usual, **befallen}))
        self._arrays.write_bytes(self._whole[: len(self._whole) // 2])

    def mend_world(self) -> None:
        """It can be loaded again."""
        if self._arrays.stat().st_size != len(self._whole):
            self._arrays.write_bytes(self._whole)

    def enlarge(self) -> None:
        """Somebody frees space after a write was refused."""
        assert self._disk is not None
        self.full += 1
        resize(self._disk, "512m")

    def end(self) -> None:
        """All is well again."""
        self.mend_world()
        self._chaos.write_text(json.dumps(self._usual))
        if self._disk is not None:
            resize(self._disk, "512m")


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """A file system of so many bytes in memory, None where mounting is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False).returncode == 0
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


def told(run_folder: Path) -> str:
    """What a run's records and logs say has gone wrong in it."""
    errors = Counter(kind(line.record["error"]) for line in scan(run_folder) if line.record is not None and line.record["status"] == "error")
    events = Counter(str(entry["event"]) for _, entry in read_logs(run_folder))
    return f"errors recorded on the way: {dict(sorted(errors.items()))}; log: {dict(sorted(events.items()))}"


def kind(error: dict[str, str]) -> str:
    """A short name for what an error record says."""
    if error.get("kind") == "timeout":
        return "stuck" if "native" in error["message"] else "hang"
    names = {"fell over": "raise", "no action": "garbage", "SIGKILL": "killed", "ActorDied": "killed", "Unavailable": "killed"}
    return next((name for words, name in names.items() if words in error["message"]), "world" if error["where"] == "harness" else error["type"])
