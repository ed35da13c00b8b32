"""A policy that walks at random, always the same way, until a file in ``PORTICO_CHAOS`` says that an episode of it is to go wrong.

The file maps ``raise``, ``exit``, ``garbage``, ``hang``, ``stuck`` and ``crash`` to slugs of episodes, and ``sleep_s`` to the seconds of every decision.
"""

import itertools
import json
import os
import signal
import time
from pathlib import Path

import numpy as np

from portico.interface import Move, PolicySpec


class Walker:
    spec = PolicySpec("walker")

    def reset(self, brief):
        self.random = np.random.default_rng(brief.seed)
        path = os.environ.get("PORTICO_CHAOS", "")
        faults = json.loads(Path(path).read_text()) if path and os.path.exists(path) else {}
        self.sleep_s = faults.pop("sleep_s", 0.0)
        self.fault = next((fault for fault, keys in faults.items() if brief.episode_key in keys), "")
        self.steps = 0

    def act(self, observation):
        self.steps += 1
        time.sleep(self.sleep_s)
        if self.fault and self.steps == 5:
            return getattr(self, self.fault.replace("raise", "fail"))()
        return Move(("forward", "forward", "turn_left", "turn_right")[self.random.integers(4)])

    def fail(self):
        raise ValueError("the model fell over")

    def exit(self):
        raise SystemExit(0)

    def garbage(self):
        return {"linear": float("nan")}

    def hang(self):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    def stuck(self):
        """In native code that holds the interpreter and sees no signal."""
        return sum(itertools.repeat(0))

    def crash(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def close(self):
        pass


class Reporter(Walker):
    """Reports what no JSON can hold."""

    def reset(self, brief):
        super().reset(brief)
        self.said = {"episode": brief.episode_key, "seen": {1, 2}} if self.fault == "raise" else {"episode": brief.episode_key, "sure": float("nan")}
        self.fault = ""

    def report(self):
        return self.said
