"""The same questions under other conditions: another robot, physics instead of kinematics, wet ground."""

from __future__ import annotations

from typing import Any

from portico.robots import has_model
from portico.suites.suite import AskedOf, Suite, parse_suite


def under(suite: Suite, *, motion: str | None = None, friction: float | None = None, robot: str | None = None, same_questions: bool = False) -> Suite:
    """A suite whose robot moves differently.

    Motion and friction change the run and not the questions, so that runs can be compared episode by episode. Another robot gets
    questions of its own, unless ``same_questions`` asks it those of the suite's robot; one that has no physical model and is to move without
    physics gets questions that are verified without.

    Raises:
        SuiteError: a value that the schema does not know.
    """
    changes: dict[str, Any] = {key: value for key, value in (("motion", motion), ("friction", friction), ("embodiment", robot)) if value is not None}
    if not changes:
        return suite
    made_for = suite.asked_of or AskedOf(embodiment=suite.embodiment, motion=suite.motion, friction=suite.friction)
    if robot is not None and not same_questions:
        made_for = made_for.model_copy(update={"embodiment": robot} | ({"motion": motion} if motion == "kinematic" and not has_model(robot) else {}))
    changed = parse_suite(suite.model_dump(mode="json") | changes, f"suite {suite.name}")
    own = AskedOf(embodiment=changed.embodiment, motion=changed.motion, friction=changed.friction)
    return changed.model_copy(update={"asked_of": None if made_for == own else made_for})
