"""The chain: whose turn it is, and that everybody starts afresh."""

from __future__ import annotations

from portico.interface import ActionSpace, Body, Brief, Move, Observation, StageBrief
from portico.policies import create

BODY = Body("toy", radius_m=0.3, height_m=0.8, climb_m=0.25, max_speed_mps=1.0, max_turn_radps=1.0)


class _Member:
    """Writes down what happens to it."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.spec, self.name, self.log = create("stop").spec, name, log

    def reset(self, brief) -> None:
        self.log.append(f"{self.name} reset for {brief.stage.kind}")

    def act(self, observation):
        return Move("forward")

    def close(self) -> None:
        self.log.append(f"{self.name} closed")


def test_chain_hands_over_at_every_stage_and_resets_the_member():
    log: list[str] = []
    a, b = _Member("a", log), _Member("b", log)
    chain = create("chain", exit=a, outdoor=b, entrance=a, ovon="stop", object="stop", point="stop")
    first = StageBrief("exit", 0, 3, "")
    chain.reset(Brief("toy", "i2o2i", (first.kind,), first, BODY, (), ActionSpace(), "rgbd", 400, 0, {}))
    for index, kind in enumerate(("exit", "outdoor", "entrance")):
        stage = StageBrief(kind, index, 3, "")
        for step in range(2):
            chain.act(Observation(2 * index + step, 0.0, {}, stage, stage_changed=step == 0 and index > 0))
    chain.close()
    assert log == ["a reset for exit", "b reset for outdoor", "a reset for entrance", "a closed", "b closed"]
