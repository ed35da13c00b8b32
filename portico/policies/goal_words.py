"""What a stage asks for, whatever it is put into: a category, directions that end somewhere, or a wish."""

from __future__ import annotations

import re

from portico.interface import StageBrief
from portico.policies.directions import parse_directions
from portico.policies.place_words import category_of_noun, place_wished_for

_GO_TO = re.compile(
    r"^(?:please )?(?:go to|find|look for|take me to|walk to|navigate to) (?P<noun>(?:a|an|the) [a-z ]+?)(?: and [a-z ]+)?[.!]?$", re.IGNORECASE
)


def goal_of(stage: StageBrief) -> str:
    """The category to look for, "" when nothing tells."""
    if stage.category:
        return stage.category
    asked = _GO_TO.match(stage.instruction.strip())
    if asked is not None:
        return category_of_noun(asked["noun"])
    return parse_directions(stage.instruction).target or place_wished_for(stage.instruction) or ""
