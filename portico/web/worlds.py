"""The worlds of the runs that are shown: loaded when they are looked at, the last few kept; and how to get one back that is gone."""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from portico.errors import UserError
from portico.render import WorldRenderer, renderer_of
from portico.report.runs import WorldShelf
from portico.tasks.annotations import Annotations
from portico.web.library import Shelved
from portico.world import World

T = TypeVar("T")
#: A town block with its renderer takes hundreds of megabytes.
_KEPT = 3
_TRIES = 4


class Recent(Generic[T]):
    """The last few things that were made, each made once however many ask for it at a time."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._things: OrderedDict[Any, T] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Any, threading.Lock] = {}

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """The thing of that key."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._things:
                    self._things.move_to_end(key)
                    return self._things[key]
            thing = _made(make)
            with self._lock:
                self._things[key] = thing
                while len(self._things) > self._kept:
                    old, _ = self._things.popitem(last=False)
                    self._making.pop(old, None)
            return thing

    def forget(self, key: Any) -> None:
        """Make it again when it is asked for next."""
        with self._lock:
            self._things.pop(key, None)


def _made(make: Callable[[], T]) -> T:
    """What ``make`` returns, tried again where Python lost count.

    Python before 3.11.8 and 3.12.2 may do so while two threads parse at once, and numpy parses a line for every array that it reads.
    """
    for _ in range(_TRIES):
        try:
            return make()
        except SystemError:
            continue
    return make()


@dataclass(frozen=True)
class Site:
    """A world that is looked at; ``note`` says why there is none."""

    world: World | None
    note: str = ""

    @cached_property
    def annotations(self) -> Annotations | None:
        """Buildings, floors and regions to ask about; None without a world."""
        return None if self.world is None else Annotations(self.world.semantics)

    @cached_property
    def renderer(self) -> WorldRenderer:
        """What draws its frames.

        Raises:
            UserError: it cannot be drawn on this machine.
        """
        assert self.world is not None
        return renderer_of(self.world)


class Atlas:
    """Worlds by run and id.

    Args:
        override: folder that holds the worlds, when they have moved since the runs.
    """

    def __init__(self, override: Path | None = None) -> None:
        self._override = override
        self._sites: Recent[Site] = Recent(_KEPT)

    def site(self, run: Shelved, world_id: str) -> Site:
        """The world of a run, or a site that says why it cannot be shown."""
        facts = run.header["worlds"].get(world_id) or {}
        key = (world_id, facts.get("hash"), facts.get("folder"))
        site = self._sites.get(key, lambda: self._found(run, world_id))
        if site.world is None:
            # It may be built again while somebody looks.
            self._sites.forget(key)
        return site

    def _found(self, run: Shelved, world_id: str) -> Site:
        shelf = WorldShelf(self._override)
        try:
            world = shelf.world(run.run(), world_id)
        except UserError as error:
            return Site(None, f"World {world_id} cannot be read: {error.what}.")
        return Site(world, " ".join(shelf.notes))


def way_back(run: Shelved, world_id: str) -> str:
    """The command that builds a world of a run again, "" when it was not built but given."""
    facts = run.header["worlds"].get(world_id) or {}
    folder = str(facts.get("folder") or f"worlds/{world_id}")
    suite = run.header["suite"]
    entries = [e for e in suite.get("worlds") or [] if e.get("split") in (None, suite.get("split"))]
    names = list(run.header["worlds"])
    if len(entries) != len(names) or world_id not in names:
        return ""
    entry = entries[names.index(world_id)]
    if entry.get("path") or not entry.get("recipe"):
        return ""
    command = ["portico", "world", "build", str(entry["recipe"]), "--seed", str(entry.get("seed") or 0)]
    for name, value in (entry.get("params") or {}).items():
        command += ["--set", f"{name}={value}"]
    return shlex.join([*command, "--out", folder])
