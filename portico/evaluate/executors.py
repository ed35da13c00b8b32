"""How episodes are spread: in this process, or over local processes that may die without taking the run along."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pickle import UnpicklingError
from typing import Any, Protocol

from portico.errors import UserError
from portico.evaluate.deadline import has_hung, overdue
from portico.evaluate.logbook import Logbook
from portico.evaluate.records import Key, Record, RecordWriter
from portico.evaluate.worker import Assignment, Job, Worker, failed_record, store


class Executor(Protocol):
    """Carries out assignments in any order and yields every record once it is durable; may be used for one job after the other."""

    def run(self, job: Job, assignments: Sequence[Assignment]) -> Iterator[Record]:
        """Yield one record per assignment."""

    def close(self) -> None:
        """Release policies, worlds and processes."""


class InProcess:
    """One after the other, here: the executor to debug a policy with."""

    def __init__(self) -> None:
        self._worker = Worker(0)

    def run(self, job: Job, assignments: Sequence[Assignment]) -> Iterator[Record]:
        """Yield records in the order of the assignments."""
        for assignment in assignments:
            yield self._worker.run(job, assignment)

    def close(self) -> None:
        """Release the policy."""
        self._worker.close()


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of an episode."""


class LocalProcesses:
    """Spawned processes, each holding one world at a time; a dead one is replaced.

    The episode of a dead one is run once more; when it dies again, that is its record: an error. The processes start at once, so that they are
    ready when the worlds are.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self._pool = [_Remote(rank, workers) for rank in range(workers)]

    def run(self, job: Job, assignments: Sequence[Assignment]) -> Iterator[Record]:
        """Yield records as they are finished."""
        queue = WorldQueue(assignments)
        deaths: set[Key] = set()
        try:
            for remote in self._pool:
                remote.give(job, queue.next_for(remote))
            while busy := [r for r in self._pool if r.current is not None]:
                ready = wait([h for r in busy for h in (r.connection, r.process.sentinel)])
                for remote in busy:
                    if remote.connection in ready or remote.process.sentinel in ready:
                        try:
                            yield remote.finished(job)
                        except WorkerDied as death:
                            assert remote.current is not None
                            key = remote.current.key
                            Logbook(job.run_folder, job.rank).note("died", worker=remote.number, episode=str(key), why=str(death))
                            if key in deaths:
                                yield lost(job, remote.current, death, remote.number)
                            else:
                                deaths.add(key)
                                queue.put_back(remote.current)
                        remote.give(job, queue.next_for(remote))
        except BaseException:
            # Whoever is still at work must not go on writing into a run that was given up.
            self.close()
            raise

    def close(self) -> None:
        """End the processes."""
        for remote in self._pool:
            remote.stop()


def local(workers: int, *, killable: bool = False) -> Executor:
    """The executor for so many workers on this machine.

    Args:
        killable: even one worker gets a process of its own, so that a policy that hangs can be ended.
    """
    return InProcess() if workers == 1 and not killable else LocalProcesses(workers)


def lost(job: Job, assignment: Assignment, why: Exception, worker: int) -> Record:
    """Write and return the record of an episode that nobody could finish."""
    record = failed_record(assignment.key, assignment.episode, job.policy, why) | {"timing": {}, "rank": job.rank, "worker": worker}
    store(job, record, None)
    return record


class Holder(Protocol):
    """A worker, as far as the choice of its next episode goes: the world that it holds, "" for none."""

    world: str


class WorldQueue:
    """Hands a worker the world it already holds as long as there is work in it, else the one with most left.

    Missions of many stages come first: a long one begun last would keep one worker busy while the others wait.
    """

    def __init__(self, assignments: Sequence[Assignment]) -> None:
        self._by_world: dict[str, deque[Assignment]] = {}
        for assignment in sorted(assignments, key=lambda a: -len(a.episode.stages)):
            self._by_world.setdefault(assignment.key.world, deque()).append(assignment)

    def put_back(self, assignment: Assignment) -> None:
        """It comes next in its world."""
        self._by_world[assignment.key.world].appendleft(assignment)

    def next_for(self, remote: Holder) -> Assignment | None:
        """What a worker does next, None when nothing waits."""
        waiting = {world: work for world, work in self._by_world.items() if work}
        if not waiting:
            return None
        world = remote.world if remote.world in waiting else max(waiting, key=lambda w: len(waiting[w]))
        return waiting[world].popleft()


class _Remote:
    """The parent's end of one worker process."""

    def __init__(self, number: int, workers: int) -> None:
        self.number, self.workers = number, workers
        self.current: Assignment | None = None
        self.world = ""
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.number, self.workers, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, job: Job, assignment: Assignment | None) -> None:
        self.current = assignment
        if assignment is None:
            return
        self.world = assignment.key.world
        self._hung = has_hung(job.run_folder, job.rank, self.number)
        # One that is dead already is noticed when its answer is due.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send((job, assignment))

    def finished(self, job: Job) -> Record:
        """The record of the current assignment.

        Raises:
            WorkerDied: it ended without one, and is replaced.
            UserError: what the worker says must stop the run.
        """
        try:
            answer = self.connection.recv()
        except (EOFError, ConnectionResetError, UnpicklingError):
            return self._replaced(job)
        if isinstance(answer, BaseException):
            raise answer
        record: Record = answer
        return record

    def _replaced(self, job: Job) -> Record:
        assert self.current is not None
        self.connection.close()
        self.process.kill()
        self.process.join()
        code = self.process.exitcode or 0
        self._start()
        # It may have died between writing the record and saying so.
        written = RecordWriter(job.run_folder, job.rank, self.number).last()
        if written is not None and Key.of(written) == self.current.key and written["status"] != "error":
            return written
        if has_hung(job.run_folder, job.rank, self.number) > self._hung:
            return lost(job, self.current, overdue(job.policy_timeout_s or 0.0), self.number)
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise WorkerDied(f"worker {self.number} died ({cause}); out of memory and a crash in native code are the usual causes")

    def stop(self) -> None:
        self.connection.close()
        self.process.join(timeout=0.5)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()


def _serve(connection: Connection, number: int, workers: int, parent: int) -> None:
    """The worker process: one assignment in, one record out, until the parent hangs up."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import numba

    numba.set_num_threads(max(1, numba.get_num_threads() // workers))
    worker = Worker(number, killable=True)
    while True:
        try:
            job, assignment = connection.recv()
        except (EOFError, ConnectionResetError):
            break
        answer: Any
        try:
            answer = worker.run(job, assignment)
        except UserError as error:
            answer = error
        try:
            connection.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            break
    worker.close()


def die_with(parent: int) -> None:
    """A killed parent must not leave workers that write into a run somebody resumes."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
