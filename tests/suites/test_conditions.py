"""The same questions under other conditions."""

import pytest

from portico.errors import SuiteError
from portico.suites import AskedOf, parse_suite, under

RAW = {"name": "s", "worlds": [{"recipe": "indoor"}], "tasks": {"exit": 1}}


def suite(**more):
    return parse_suite(RAW | more, "s")


def test_motion_and_friction_keep_the_questions():
    changed = under(suite(), motion="physics", friction=0.5)
    assert (changed.motion, changed.friction, changed.embodiment) == ("physics", 0.5, "spot")
    assert changed.asked() == suite()


def test_another_robot_gets_its_own_questions_unless_told_otherwise():
    assert under(suite(), robot="turtlebot").asked().embodiment == "turtlebot"
    changed = under(suite(motion="physics"), robot="turtlebot", same_questions=True)
    assert changed.embodiment == "turtlebot"
    assert changed.asked() == suite(motion="physics")


def test_a_robot_without_a_model_that_moves_without_physics_is_asked_what_was_verified_without():
    changed = under(suite(motion="physics"), robot="m20", motion="kinematic")
    assert (changed.embodiment, changed.motion) == ("m20", "kinematic")
    assert (changed.asked().embodiment, changed.asked().motion) == ("m20", "kinematic")
    modelled = under(suite(motion="physics"), robot="turtlebot", motion="kinematic")
    assert (modelled.asked().embodiment, modelled.asked().motion) == ("turtlebot", "physics"), "the questions of the run under physics"


def test_going_back_is_where_one_started():
    assert under(under(suite(), motion="physics"), motion="kinematic") == suite()
    assert under(suite()) == suite()


def test_a_second_change_keeps_the_first_questions():
    twice = under(under(suite(), motion="physics"), robot="turtlebot", same_questions=True)
    assert twice.asked_of == AskedOf(embodiment="spot", motion="kinematic", friction=1.0)


@pytest.mark.parametrize(("change", "message"), [({"motion": "levitation"}, "motion"), ({"friction": -1.0}, "friction")])
def test_values_that_make_no_sense_are_refused(change, message):
    with pytest.raises(SuiteError, match=message):
        under(suite(), **change)
