"""Levels of difficulty by rank, and the budgets that come with them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.episodes.difficulty import graded
from portico.suites import Difficulty
from portico.tasks.episode import LEVELS, Budget, Episode, Reference, StageSpec, Start


def episode(k, length_m):
    return Episode(
        id=str(k),
        world="w",
        task="point",
        embodiment="spot",
        start=Start(position=(0, 0, 0), yaw_rad=0),
        stages=[StageSpec(kind="point", goal=(1, 0, 0))],
        reference=Reference(path=[(0, 0, 0), (length_m, 0, 0)], length_m=length_m, stage_ends=[1]),
        budget=Budget(max_actions=800, max_time_s=60),
    )


@pytest.mark.parametrize(("count", "levels"), [(600, (180, 240, 180)), (60, (18, 24, 18)), (20, (6, 8, 6)), (10, (3, 4, 3)), (1, (0, 1, 0)), (0, (0, 0, 0))])
def test_shares_of_the_source(count, levels):
    found = Counter(e.difficulty for e in graded([episode(k, 1.0 + k) for k in range(count)], Difficulty()))
    assert tuple(found[level] for level in LEVELS) == levels


@given(st.lists(st.floats(1, 30), max_size=40))
def test_no_easier_one_is_longer_and_nothing_else_changes(lengths):
    before = [episode(k, length) for k, length in enumerate(lengths)]
    after = graded(before, Difficulty())
    ranks = [(LEVELS.index(e.difficulty), e.reference.length_m) for e in after]
    assert all(a[1] <= b[1] for a in ranks for b in ranks if a[0] < b[0])
    for old, new in zip(before, after, strict=True):
        assert new.budget == Budget(max_actions={"easy": 500, "medium": 1000, "hard": 1500}[new.difficulty], max_time_s=60)
        assert new.model_copy(update={"difficulty": None, "budget": old.budget}) == old
