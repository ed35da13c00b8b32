"""Who may write a run folder: one whole run, or the ranks of one job array side by side, each of them once."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from portico.errors import StorageError

_TRIES, _PAUSE_S = 20, 0.05


@contextmanager
def locked(run_folder: Path, rank: int = 0, world_size: int = 1) -> Iterator[None]:
    """Hold a run folder so that no episode is run twice at once.

    Ranks of one world size share it; ranks of another, and runs that are not split into ranks, wait for nobody and are refused.

    Raises:
        StorageError: another run or the same rank holds it, or the folder cannot be written or locked.
    """
    folder = _opened(run_folder / ".lock")
    try:
        _take(folder, run_folder, world_size)
        if world_size == 1:
            yield
            return
        mine = _opened(run_folder / f".lock-rank-{rank:05d}")
        try:
            if not _try(mine, fcntl.LOCK_EX, run_folder):
                raise StorageError(
                    f"rank {rank} of {world_size} is already at work here", where=str(run_folder), next_step="wait for it, or give another --rank"
                )
            yield
        finally:
            os.close(mine)
    finally:
        os.close(folder)


def at_work(run_folder: Path) -> bool:
    """Whether somebody holds a run folder now; False where that cannot be told."""
    try:
        handle = os.open(run_folder / ".lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try(handle, fcntl.LOCK_EX, run_folder)
    except StorageError:
        return False
    finally:
        os.close(handle)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait for a lock file and hold it: for the short moments in which one process reads and writes what others write too.

    Raises:
        StorageError: the folder cannot be written or locked.
    """
    handle = _opened(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            raise _cannot_lock(path.parent, error) from error
        yield
    finally:
        os.close(handle)


def _take(handle: int, run_folder: Path, world_size: int) -> None:
    """Lock the folder for a whole run, or together with ranks that say the same world size in the lock file."""
    for _ in range(_TRIES):
        if _try(handle, fcntl.LOCK_EX, run_folder):
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(world_size).encode(), 0)
            # Somebody may come between while an exclusive lock becomes a shared one: the text tells.
            if world_size == 1 or (_try(handle, fcntl.LOCK_SH, run_folder) and _said(handle) == str(world_size)):
                return
        elif world_size > 1 and _try(handle, fcntl.LOCK_SH, run_folder):
            there = _said(handle)
            if there == str(world_size):
                return
            raise StorageError(
                "another run is writing this folder",
                where=str(run_folder),
                why=f"it is split into {there} ranks, this one into {world_size}",
                next_step="wait for it, or use its --world-size",
            )
        time.sleep(_PAUSE_S)
    raise StorageError("another run is writing this folder", where=str(run_folder), next_step="wait for it, or choose another --out")


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StorageError("the run folder cannot be written", where=str(path.parent), why=str(error), next_step="choose another --out") from error


def _try(handle: int, kind: int, run_folder: Path) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _cannot_lock(run_folder, error) from error
    return True


def _said(handle: int) -> str:
    return os.pread(handle, 32, 0).decode(errors="replace")


def _cannot_lock(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        "the file system cannot lock",
        where=str(folder),
        why=str(error),
        next_step="choose an --out on a file system with flock; Lustre has it when mounted with -o flock",
    )
