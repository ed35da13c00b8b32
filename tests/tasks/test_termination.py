"""One question under both protocols: what a STOP does, and what it is told to do."""

import pytest
from little_town import BODY, SPECS, episode

from portico.tasks import StageMachine, ends_by

GOALS = {
    "point": SPECS["point"],
    "image": SPECS["image"],
    "object": SPECS["object"].model_copy(update={"category": "bench", "rule": "navarena"}),
}
AT = {"point": (5, 4, 0), "image": (5, 4, 0), "object": (11.5, 20, 0)}


def machine(kind, termination, town):
    judge = StageMachine(ends_by(episode(kind, stages=[GOALS[kind]]), termination), town, BODY)
    judge.start((30, 30, 0))
    return judge


@pytest.mark.parametrize("kind", GOALS)
def test_on_arrival_a_stop_changes_nothing_and_entering_succeeds_at_once(kind, town):
    judge = machine(kind, "on_arrival", town)
    assert judge.declare_stop() is None
    assert not judge.done
    x, y, z = AT[kind]
    judge.update([(x - 3, y, z), (x - 0.4, y, z), (x + 5, y, z)])
    assert judge.outcome().success
    assert judge.outcome().end == 2


@pytest.mark.parametrize("kind", GOALS)
def test_under_explicit_stop_entering_is_not_enough_and_a_stop_outside_fails(kind, town):
    x, y, z = AT[kind]
    judge = machine(kind, "explicit_stop", town)
    judge.update([(x, y, z)])
    assert not judge.done
    judge.update([(x + 5, y, z)])
    judge.declare_stop()
    assert judge.outcome().reason == "failed_declaration"
    judge = machine(kind, "explicit_stop", town)
    judge.update([(x, y, z)])
    judge.declare_stop()
    assert judge.outcome().success


def test_going_there_and_back_is_the_same_episode():
    once = ends_by(episode("image"), "explicit_stop")
    assert ends_by(ends_by(once, "on_arrival"), "explicit_stop") == once


def test_an_instruction_follows_only_when_it_is_the_default_one():
    own = SPECS["point"].model_copy(update={"instruction": "Over there, please."})
    assert ends_by(episode("point", stages=[own]), "on_arrival").stages[0].instruction == "Over there, please."


def test_other_stages_know_one_way_to_end():
    assert ends_by(episode("i2o2i"), "on_arrival") == episode("i2o2i")
