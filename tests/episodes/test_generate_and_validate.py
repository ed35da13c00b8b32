"""Making and checking episodes in the hut: a room, a door, a sidewalk, and an island nobody can reach."""

import numpy as np
import pytest
from hut import build

from portico.episodes import calibrate, generate, validate
from portico.episodes.grounds import Grounds
from portico.episodes.references import Planner
from portico.episodes.sampling import thinned
from portico.errors import EpisodeError
from portico.geometry import polyline_length
from portico.policies.privileged import OracleTrajectory
from portico.robots import embodiment
from portico.suites import parse_suite
from portico.tasks.episode import StageSpec, Start
from portico.world import load

TASKS = {"exit": 4, "entrance": 3, "ovon": 2, "point": 2, "image": 2, "object": 1}


@pytest.fixture(scope="module")
def suite():
    return parse_suite({"name": "hut", "worlds": [{"path": "hut"}], "tasks": TASKS}, "test")


@pytest.fixture(scope="module")
def grounds(tmp_path_factory):
    return Grounds.of(load(build(tmp_path_factory.mktemp("w") / "hut")), embodiment("spot"))


@pytest.fixture(scope="module")
def episodes(grounds, suite):
    return generate(grounds.world, suite, space=grounds.space)


def test_quotas_are_met_and_every_episode_is_sound(episodes, grounds):
    assert len(episodes.episodes) == sum(TASKS.values())
    assert validate(episodes, grounds) == []


def test_the_same_seed_gives_the_same_episodes_and_another_seed_others(episodes, grounds, suite):
    assert generate(grounds.world, suite, space=grounds.space) == episodes
    other = generate(grounds.world, suite.model_copy(update={"seed": 1}), space=grounds.space)
    assert other.episodes != episodes.episodes


def test_the_oracle_does_them_all_and_doing_nothing_does_none(episodes, suite, grounds):
    result = calibrate(episodes, suite, grounds)
    assert (result.oracle, result.stop_at_start) == (1.0, 0.0)
    assert result.passed


def test_references_pass_through_the_door_and_end_in_the_success_set(episodes, grounds):
    for episode in episodes.episodes:
        path = np.array(episode.reference.path)
        assert episode.reference.stage_ends[-1] == len(path) - 1
        assert grounds.space.sweep(path[:-1], path[1:]).reached.all()
        if episode.task in ("exit", "entrance"):
            crossing = path[np.argmax(path[:, 0] > 7.9) if episode.task == "exit" else np.argmax(path[:, 0] < 8.1)]
            assert 4.2 < crossing[1] < 5.8
        assert episode.reference.length_m == pytest.approx(polyline_length(path[:, : 3 if episode.task == "object" else 2]))


def test_candidates_keep_the_clearance_of_the_source(episodes, grounds):
    starts = np.array([e.start.position for e in episodes.episodes if e.task == "exit"])
    assert (grounds.space.clearance(starts) >= 0.6 - 1e-6).all()


def changed(episodes, index, **changes):
    broken = [e.model_copy(update=changes) if i == index else e for i, e in enumerate(episodes.episodes)]
    return episodes.model_copy(update={"episodes": broken})


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"start": Start(position=(7.9, 1.0, 0.0), yaw_rad=0)}, "start_blocked", "inside an obstacle"),
        ({"start": Start(position=(8.0, 40.0, 0.0), yaw_rad=0)}, "no_floor", "on no floor"),
        ({"start": Start(position=(4.0, 4.0, 7.0), yaw_rad=0)}, "no_floor", "on no floor"),
        ({"stages": [StageSpec(kind="point", goal=(30.0, 4.0, 0.0), radius_m=0.5)]}, "unreachable", "no path"),
        ({"stages": [StageSpec(kind="ovon", category="unicorn", building="a")]}, "unknown_category", "'unicorn'"),
        ({"stages": [StageSpec(kind="point")]}, "no_goal", "has no goal"),
        ({"stages": [StageSpec(kind="image", goal=(4.0, 4.0, 0.0))]}, "no_goal", "has no goal_yaw_rad"),
        ({"stages": [StageSpec(kind="entrance", building="zz")]}, "unknown_building", "'zz'"),
        (
            {"start": Start(position=(2.0, 2.0, 0.0), yaw_rad=0), "stages": [StageSpec(kind="ovon", category="chair", building="a")]},
            "trivial_at_start",
            "already satisfied",
        ),
        ({"reference": None}, "no_reference", "unscored"),
    ],
)
def test_an_episode_that_cannot_be_asked_is_named_with_the_reason(episodes, grounds, changes, code, words):
    problems = validate(changed(episodes, 1, **changes), grounds)
    assert code in [p.code for p in problems]
    assert {p.episode for p in problems} == {episodes.episodes[1].id}
    assert any(words in p.text for p in problems)


def test_duplicates_and_foreign_worlds_are_refused(episodes, grounds):
    with pytest.raises(EpisodeError, match="duplicate episode id"):
        validate(episodes.model_copy(update={"episodes": [episodes.episodes[0]] * 2}), grounds)
    with pytest.raises(EpisodeError, match="belong to another world"):
        validate(episodes.model_copy(update={"world_hash": "0" * 64}), grounds)


def test_a_body_that_fits_nowhere_gets_told_so(tmp_path):
    giant = embodiment("spot").__class__(**{**vars(embodiment("spot")), "radius_m": 30.0})
    with pytest.raises(Exception, match="30"):
        Grounds.of(load(build(tmp_path / "hut")), giant)


def test_the_oracle_needs_a_reference(episodes, grounds):
    from portico.errors import PolicyRefused

    with pytest.raises(PolicyRefused, match="needs a reference path"):
        OracleTrajectory().attach(None, episodes.episodes[0].model_copy(update={"reference": None}))


def test_unreachable_goals_have_no_reference(grounds):
    stage = StageSpec(kind="point", goal=(30.0, 4.0, 0.0), radius_m=0.5)
    assert Planner(grounds).reference(np.array([4.0, 4.0, 0.0]), [stage]) is None


def test_thinning_is_even_over_strata_and_lengths():
    items = [("a", float(i)) for i in range(100)] + [("b", 5.0)]
    kept = thinned(items, 6, length=lambda item: item[1], stratum=lambda item: item[0])
    assert sum(name == "b" for name, _ in kept) == 1
    lengths = [length for name, length in kept if name == "a"]
    assert np.diff(lengths) == pytest.approx(20.0)
