"""The chain: whose turn it is, and that everybody starts afresh."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portico.errors import UserError
from portico.interface import ActionSpace, Body, Brief, Camera, Move, Observation, PolicyFailure, StageBrief
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


class _Away(_Member):
    """Its server does not answer, and it samples."""

    def __init__(self) -> None:
        super().__init__("away", [])
        self.spec = replace(self.spec, name="away", needs=frozenset({"rgb"}), seedable=False)

    def ready(self) -> None:
        raise PolicyFailure("transport", "no policy server answers", where="ws://nowhere")


@pytest.mark.parametrize("team", ["chain", "agent", "chain?slips=both"])
@pytest.mark.parametrize("own_cameras", [(), (Camera("left", 32, 24),)])
def test_a_team_is_ready_when_every_member_is_and_repeats_itself_when_every_member_does(team: str, own_cameras: tuple[Camera, ...]):
    member = _Away()
    member.spec = replace(member.spec, cameras=own_cameras)
    made = create(team, entrance=member)
    assert not made.spec.seedable
    with pytest.raises(PolicyFailure, match="no policy server answers"):
        made.ready()
    fine = create(team)
    fine.ready()
    assert fine.spec.seedable


def test_options_of_an_executor_that_come_without_a_question_mark_are_said():
    with pytest.raises(UserError, match="cannot read the executor") as error:
        create("chain?exit=omninav&url=http://127.0.0.1:8000&camera_m=0.5")
    assert error.value.next_step == "write omninav?url=http://127.0.0.1:8000&camera_m=0.5"
    spec = create("chain?exit=omninav?url=http://127.0.0.1:8000&camera_m=0.5").spec
    assert {camera.z for camera in spec.cameras} == {0.5}


@pytest.mark.parametrize("team", ["chain", "agent"])
def test_a_team_brings_the_cameras_of_its_members_and_owns_up_to_their_shortcuts(team: str):
    member = _Member("seer", [])
    member.spec = replace(member.spec, name="seer", needs=frozenset({"rgb"}), cameras=(Camera("left", 32, 24),), privileges=frozenset({"true_pose"}))
    spec = create(team, exit=member).spec
    assert [camera.name for camera in spec.cameras] == ["seer/left"]
    assert spec.keeps_cameras
    assert spec.privileges == {"true_pose"}
    assert "true_pose" in spec.beyond("rgbd")
