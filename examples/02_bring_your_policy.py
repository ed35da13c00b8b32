"""A policy of your own: one class, evaluated by its import path, no registration.

Run with ``python examples/02_bring_your_policy.py``. The same from the command line:
``portico run i2o2i-demo --policy examples.02_bring_your_policy:OpenDirection`` (any importable ``module:Class``).
"""

import sys
from pathlib import Path

import numpy as np

from portico.evaluate.prepare import prepare, select
from portico.evaluate.run import RunRequest, execute
from portico.interface import Action, Brief, Move, Observation, PolicySpec, Stop
from portico.suites import load_suite


class OpenDirection:
    """Walks ahead while there is room, else turns to the deeper side; declares an exit once it sees mostly sky."""

    spec = PolicySpec("open-direction", needs=frozenset({"depth"}), image_size=(64, 48))

    def reset(self, brief: Brief) -> None:
        self.body = brief.body

    def act(self, observation: Observation) -> Action:
        depth = observation.frames["front"].depth
        assert depth is not None
        upper = depth[: depth.shape[0] // 3]
        if observation.stage.kind == "exit" and np.isinf(upper).mean() > 0.8:
            return Stop()
        band = np.minimum(depth[depth.shape[0] // 3 : depth.shape[0] // 2], 10.0)
        left, ahead, right = (part.min() for part in np.array_split(band, 3, axis=1))
        if ahead > self.body.radius_m + 0.5:
            return Move("forward")
        return Move("turn_left" if left > right else "turn_right")

    def close(self) -> None:
        """Nothing to release."""


def main(out: Path = Path("out")) -> None:
    suite = load_suite("i2o2i-demo", tasks={"exit": 3, "entrance": 2})
    episodes = select(prepare(suite, out / "worlds"), limit=5)
    sys.path.insert(0, str(Path(__file__).parent))
    summary = execute(RunRequest(suite, "02_bring_your_policy:OpenDirection", out / "open-direction", episodes, partial=True))
    print(f"{summary['n']['scored']} episodes, success {summary['measures']['success']['mean']:.0%}")


if __name__ == "__main__":
    main()
