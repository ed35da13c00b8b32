"""Where experts are made: block by block, in this process or in several, always in the order of the blocks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portico.episodes.experts.asks import Asks, FileAsks, GridAsks
from portico.episodes.experts.checks import flaw
from portico.episodes.experts.limits import Limits
from portico.episodes.experts.rollout import Rollout, roll_out
from portico.episodes.files import load_episodes
from portico.episodes.grounds import Grounds
from portico.episodes.navarena.rows import EpisodeRow, Trajectory
from portico.errors import UserError
from portico.robots import embodiment
from portico.space import cached_space
from portico.tasks.episode import TaskName
from portico.world import load

#: Blocks that each process may be ahead of what is written.
_AHEAD = 4


@dataclass(frozen=True)
class Source:
    """What experts are made of.

    Attributes:
        world: folder of the world. robot: embodiment. episodes: file to take questions from; None to draw them from a grid by ``seed``.
    """

    world: Path
    robot: str
    task: TaskName
    seed: int = 0
    episodes: Path | None = None


@dataclass(frozen=True)
class Block:
    """Experts that passed every check, in order, and how many questions fell out, by reason."""

    experts: list[tuple[EpisodeRow, Trajectory]]
    rejected: Counter[str]


@dataclass(frozen=True)
class Workshop:
    """An opened source."""

    grounds: Grounds
    asks: Asks
    limits: Limits

    @staticmethod
    def open(source: Source) -> Workshop:
        """Load the world, survey it and find out what may be asked.

        Raises:
            UserError: the world or the episodes cannot be used.
        """
        body, world = embodiment(source.robot), load(source.world)
        grounds = Grounds.of(world, body, cached_space(world, body, source.world))
        asks: Asks
        if source.episodes is None:
            asks = GridAsks(grounds, source.task, source.seed)
        else:
            asks = FileAsks(grounds, load_episodes(source.episodes).episodes, source.task)
        return Workshop(grounds, asks, Limits.of(body))

    def make(self, block: int) -> Block:
        """The experts of a block."""
        asks, rejected = self.asks.block(block)
        kept = []
        for ask in asks:
            rollout = roll_out(self.grounds.space, ask.way, ask.row.start.yaw_rad, ask.stop.yaw_rad if ask.turned else None, self.limits)
            reason = flaw(rollout, ask.stop, ask.turned, self.limits)
            if reason:
                rejected[reason] += 1
            else:
                kept.append((ask.row, as_trajectory(rollout)))
        return Block(kept, rejected)


def as_trajectory(rollout: Rollout) -> Trajectory:
    """As it is written down: each state with the control that leads on from it, at rest in the last."""
    velocity = np.zeros((len(rollout.states), 3))
    velocity[:-1, 0], velocity[:-1, 2] = rollout.velocities.T
    return Trajectory(np.arange(len(rollout.states), dtype=np.float64) * rollout.dt_s, rollout.states, velocity)


def blocks_from(first: int, workshop: Workshop, source: Source, workers: int) -> Generator[Block, None, None]:
    """All blocks from one on, in order.

    Raises:
        UserError: a process died.
    """
    if workers == 1:
        yield from (workshop.make(block) for block in range(first, workshop.asks.blocks))
        return
    crew = [ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _begin, (source,)) for _ in range(workers)]
    waiting: deque[Future[Block]] = deque()
    try:
        for block in range(first, workshop.asks.blocks):
            waiting.append(crew[workshop.asks.lane(block) % workers].submit(_make, block))
            if len(waiting) >= workers * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        hint = "run the same command again: it goes on where it was; use fewer --workers if memory is short"
        raise UserError("a worker process died", why="out of memory and a crash in native code are the usual causes", next_step=hint) from error
    finally:
        for pool in crew:
            pool.shutdown(cancel_futures=True)


_opened: list[Workshop] = []


def _begin(source: Source) -> None:
    """In a worker process: leave interruptions to the parent, and end with it whatever ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _opened.append(Workshop.open(source))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make(block: int) -> Block:
    return _opened[0].make(block)
