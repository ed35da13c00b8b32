"""Episodes over a Ray cluster: actors that hold a simulator each, on whatever nodes have room.

Actors write nothing: what happened travels to the process that started the run, which alone writes the run folder. A node
that dies, or that comes back after it was given up, can therefore neither tear nor double a record. Worlds must lie at the same paths
on every node, as on a shared file system.
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from portico.errors import UserError
from portico.evaluate.executors import WorkerDied, WorldQueue, lost
from portico.evaluate.logbook import Logbook
from portico.evaluate.records import Key, Record
from portico.evaluate.worker import Assignment, Job, Worker, store

#: How long a cluster may have no worker at all before the run gives up.
PATIENCE_S = 120.0
_POLL_S = 1.0
_KNOCK_S = 20.0


class RayActors:
    """An executor over a Ray cluster; a dead actor is replaced and its episode run once more.

    Args:
        workers: how many actors; those that find no room wait, the others work.
        address: of the cluster; the one that runs on this machine, else a new one, when left out.
        memory_gb: what each actor reserves.
        patience_s: how long no actor may be alive.

    Raises:
        UserError: Ray is not installed, or no cluster answers.
    """

    def __init__(self, workers: int, *, address: str | None = None, memory_gb: float | None = None, patience_s: float = PATIENCE_S) -> None:
        self._ray = _imported()
        self._workers, self._patience_s = workers, patience_s
        self._options: dict[str, Any] = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0}
        if memory_gb is not None:
            self._options["memory"] = int(memory_gb * 2**30)
        self._mine = not self._ray.is_initialized()
        if self._mine:
            self._connect(address)
        self._actors: list[_Actor] = []

    def run(self, job: Job, assignments: Sequence[Assignment]) -> Iterator[Record]:
        """Yield records as they are finished."""
        queue, deaths = WorldQueue(assignments), set[Key]()
        left = len(assignments)
        shared = self._ray.put(job)
        log = Logbook(job.run_folder, job.rank)
        try:
            while len(self._actors) < min(self._workers, left):
                self._actors.append(self._started(len(self._actors)))
            for actor in self._actors:
                self._give(actor, shared, queue)
            alive = time.monotonic()
            while left:
                ready, _ = self._ray.wait([a.waits_for for a in self._actors if a.waits_for is not None], num_returns=1, timeout=_POLL_S)
                for actor in [a for a in self._actors if a.waits_for in ready]:
                    record = self._finished(actor, job, queue, deaths, log)
                    if record is not None:
                        left -= 1
                        yield record
                    self._give(actor, shared, queue)
                if any(a.here for a in self._actors):
                    alive = time.monotonic()
                elif time.monotonic() - alive > self._patience_s:
                    raise self._no_room()
        except BaseException:
            self._end_actors()
            raise

    def close(self) -> None:
        """End the actors, and the cluster where it was started for this run."""
        self._end_actors()
        if self._mine and self._ray.is_initialized():
            self._ray.shutdown()

    def _connect(self, address: str | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        _knock(address or "")
        with _own_sigterm():
            try:
                self._ray.init(address=address or "auto", **quiet)
            except (ConnectionError, TimeoutError, RuntimeError, ValueError) as error:
                if address is not None:
                    raise UserError("no Ray cluster answers", where=address, why=str(error), next_step="check --ray-address: `ray status` shows it") from error
                self._ray.init(num_cpus=self._workers, include_dashboard=False, **quiet)

    def _started(self, number: int) -> _Actor:
        handle = self._ray.remote(_Holder).options(**self._options).remote(number)
        return _Actor(number, handle, handle.ready.remote())

    def _give(self, actor: _Actor, job: Any, queue: WorldQueue) -> None:
        """The next episode to an actor that is there and idle; one that still waits for room gets none, or it would never be run."""
        if not actor.here or actor.current is not None:
            return
        actor.current = queue.next_for(actor)
        actor.waits_for = None
        if actor.current is not None:
            actor.world = actor.current.key.world
            actor.waits_for = actor.handle.run.remote(job, actor.current)

    def _finished(self, actor: _Actor, job: Job, queue: WorldQueue, deaths: set[Key], log: Logbook) -> Record | None:
        """The record that an actor has come back with, now on disk; None where it has only started, or died for the first time with its episode."""
        from ray.exceptions import RayError

        assignment = actor.current
        try:
            answer = self._ray.get(actor.waits_for)
        except RayError as error:
            why = WorkerDied(f"worker {actor.number} died ({type(error).__name__}): {' '.join(str(error).split())[:300]}")
            with suppress(Exception):
                self._ray.kill(actor.handle)
            actor.revive(self._started(actor.number))
            if assignment is None:
                return None
            log.note("died", worker=actor.number, episode=str(assignment.key), why=str(why))
            if assignment.key in deaths:
                return lost(job, assignment, why, actor.number)
            deaths.add(assignment.key)
            queue.put_back(assignment)
            self._wake(queue, job)
            return None
        if assignment is None:
            actor.here, actor.waits_for = True, None
            return None
        actor.current = actor.waits_for = None
        if isinstance(answer, BaseException):
            raise answer
        record, trajectory = answer
        store(job, record, trajectory)
        kept: Record = record
        return kept

    def _wake(self, queue: WorldQueue, job: Job) -> None:
        """An episode that was put back must not wait for the replacement of a dead actor while another has nothing to do."""
        shared = None
        for actor in self._actors:
            if actor.here and actor.current is None:
                shared = shared if shared is not None else self._ray.put(job)
                self._give(actor, shared, queue)

    def _no_room(self) -> UserError:
        has = self._ray.cluster_resources()
        asked = ", ".join(f"{name} {value}" for name, value in self._options.items() if name in ("num_cpus", "memory"))
        return UserError(
            "the cluster has no worker left",
            where="--executor ray",
            why=f"each asks for {asked}; the cluster has {has.get('CPU', 0):g} CPUs and {has.get('memory', 0) / 2**30:.1f} GB",
            next_step="start the same command again when it has room: finished episodes are kept; or ask for less with --worker-memory",
        )

    def _end_actors(self) -> None:
        for actor in self._actors:
            with suppress(Exception):
                self._ray.kill(actor.handle)
        self._actors = []


@dataclass(eq=False)
class _Actor:
    """The driver's end of one actor: what it waits for is first that it is there, then its episode."""

    number: int
    handle: Any
    waits_for: Any
    here: bool = False
    current: Assignment | None = None
    world: str = field(default="")

    def revive(self, other: _Actor) -> None:
        """Become a new actor under the old number."""
        self.handle, self.waits_for, self.here, self.current, self.world = other.handle, other.waits_for, False, None, ""


class _Holder:
    """What lives on a node: one worker with its simulator."""

    def __init__(self, number: int) -> None:
        import numba

        numba.set_num_threads(1)
        self._worker = Worker(number, killable=True)
        self._scratch = Path(tempfile.mkdtemp(prefix="portico-actor-"))

    def ready(self) -> bool:
        """It is there."""
        return True

    def run(self, job: Job, assignment: Assignment) -> Any:
        """(record, what happened), or what must stop the run."""
        try:
            return self._worker.attempt(replace(job, run_folder=self._scratch), assignment)
        except UserError as error:
            return error


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Ray puts its own end of the process in the place of ours, which keeps what is finished and says how to go on."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _knock(address: str) -> None:
    """Ray tries for minutes to reach a cluster where nobody listens.

    Args:
        address: ``host:port``, with ``ray://`` before it or not; others are left to Ray.

    Raises:
        UserError: nobody does.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()
    except (OSError, OverflowError) as error:
        raise UserError("no Ray cluster answers", where=address, why=str(error), next_step="check --ray-address: `ray status` shows it") from error


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UserError("Ray is not installed", where="--executor ray", next_step='pip install "portico-nav[ray]"') from error
    return ray
