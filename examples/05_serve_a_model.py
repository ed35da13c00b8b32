"""A model of your own behind a wire: serve it in one process, evaluate it from another, see that the records are the same.

Run with ``python examples/05_serve_a_model.py``. The same from the command line, in two terminals:
``portico serve examples.05_serve_a_model:Wanderer`` and ``portico run i2o2i-demo --policy "remote?url=ws://127.0.0.1:8765"``.
"""

from math import pi
from pathlib import Path

from portico.declarations import Emits, StopRule
from portico.evaluate.prepare import prepare, select
from portico.evaluate.records import read_records
from portico.evaluate.run import RunRequest, execute
from portico.interface import Action, Brief, Move, Observation, PolicySpec, Stop
from portico.policies.serving import serve
from portico.suites import load_suite


class Wanderer:
    """Stands in for a model: walks 0.4 m at a time, turns 45 degrees after a contact, declares once its camera sees much sky."""

    spec = PolicySpec(
        "wanderer",
        needs=frozenset({"rgb"}),
        image_size=(64, 48),
        actions=(Emits("move", step_m=0.4, turn_rad=pi / 4), Emits("stop")),
        stop=StopRule(True, "more than a third of the upper half is bright blue"),
    )

    def reset(self, brief: Brief) -> None:
        self.kind = brief.stage.kind

    def act(self, observation: Observation) -> Action:
        rgb = observation.frames["front"].rgb
        assert rgb is not None
        upper = rgb[: rgb.shape[0] // 2].astype(float)
        sky = (upper[..., 2] > 150) & (upper[..., 2] > upper[..., 0] + 15)
        if observation.stage.kind == "exit" and sky.mean() > 1 / 3:
            return Stop()
        return Move("turn_left", pi / 4) if observation.collided else Move("forward", 0.4)

    def close(self) -> None:
        """Nothing to release."""


def main(out: Path = Path("out")) -> None:
    suite = load_suite("i2o2i-demo", tasks={"exit": 3}, budget={"max_actions": 150})
    episodes = select(prepare(suite, out / "worlds"), limit=3)
    server = serve(Wanderer)
    print(f"serving at {server.url}")
    try:
        summary = execute(RunRequest(suite, f"remote?url={server.url}", out / "wanderer", episodes, partial=True))
    finally:
        server.close()
    for key, record in read_records(out / "wanderer").items():
        print(f"{key.episode}: {record['status']} ({record['reason']}) after {record['measures']['steps']:.0f} actions")
    print(f"{summary['n']['scored']} episodes, success {summary['measures']['success']['mean']:.0%}")


if __name__ == "__main__":
    main()
