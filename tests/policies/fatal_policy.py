"""A policy that ends its process in the second step of the second episode, once: a file marks that it was done."""

import os
import signal
from pathlib import Path

from portico.interface import Move, PolicySpec


class Fatal:
    spec = PolicySpec("fatal")
    episodes = 0

    def reset(self, brief):
        Fatal.episodes += 1
        self.step = 0

    def act(self, observation):
        self.step += 1
        mark = Path(os.environ["FATAL_MARK"])
        if (Fatal.episodes, self.step) == (2, 2) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Move("forward")

    def close(self):
        pass
