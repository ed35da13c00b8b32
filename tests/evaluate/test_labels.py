"""Failure labels: each on a walk that shows it, none where nothing does."""

from dataclasses import replace

import numpy as np
import pytest
from little_town import BODY, SPECS, TOWN, episode, full_mission, mission_reference, walk

from portico.evaluate.labels import label_episode
from portico.evaluate.measures import Context, Evaluation
from portico.tasks import Annotations, Budget, Episode, StageSpec, Start, Trajectory
from portico.world import SPHERE, Semantics

CONTEXT = Context(Annotations(TOWN), BODY)


def labels(task, record, **options):
    return label_episode(Evaluation(episode(task, start=tuple(record.position[0]), **options), record, CONTEXT))


def names(task, record, **options):
    return [label.label for label in labels(task, record, **options)]


def test_a_success_carries_no_label():
    assert labels("i2o2i", full_mission(), reference=mission_reference()) == []


def test_premature_stop_in_exit_and_entrance():
    (label,) = labels("exit", walk((5, 4, 0), (9.5, 4, 0), stops=(1,)))
    assert (label.label, label.stage, label.steps) == ("premature_stop", 0, (18,))
    assert label.text == "Stage 1 (exit): declared at step 18 while still inside the building."
    assert names("entrance", walk((38.5, 5, 0), (39.8, 5, 0), stops=(1,))) == ["premature_stop"]


def test_premature_stop_at_a_thing_says_how_far_it_was():
    (label,) = labels("ovon", walk((41, 6, 0), (45, 6, 0), stops=(1,)))
    assert label.label == "premature_stop"
    assert "4.5 m from the goal" in label.text


def test_a_valid_state_without_a_declaration_is_a_missed_stop():
    (label,) = labels("exit", walk((5, 4, 0), (11.5, 4, 0)))
    assert label.label == "missed_stop"
    assert label.steps == (20, 26), "the border itself is outdoors"


def test_no_missed_stop_in_the_outdoor_stage():
    assert names("outdoor", walk((12, 4, 0), (12, 12, 0))) == []


def test_a_declaration_after_the_valid_states():
    found = labels("exit", walk((5, 4, 0), (20, 4, 0), stops=(1,)))
    assert [label.label for label in found] == ["off_pedestrian_network", "missed_stop"]
    assert found[0].steps == (32, 60)
    assert "vehicle lane" in found[0].text
    assert found[1].steps == (20, 31, 60)


def test_the_wrong_building():
    found = labels("entrance", walk((20, 5, 0), (9, 5, 0), stops=(1,)), stages=[SPECS["entrance"]])
    assert [label.label for label in found] == ["wrong_building"]
    assert found[0].text == "Stage 1 (entrance): ended inside building A, where it was from step 41 to 44: not the building asked for."


def test_never_left_and_the_budget():
    assert names("exit", walk((5, 4, 0), (9, 4, 0)), max_actions=16) == ["never_left", "budget_exhausted"]
    assert names("exit", walk((5, 4, 0), (9, 4, 0)), max_time_s=5.0) == ["never_left", "budget_exhausted"]
    assert names("exit", walk((5, 4, 0), (9, 4, 0))) == ["never_left"]


def test_off_the_network_at_the_end_of_an_outdoor_stage():
    found = labels("outdoor", walk((12, 4, 0), (20, 4, 0)), max_actions=32)
    assert [label.label for label in found] == ["off_pedestrian_network", "budget_exhausted"]


def test_search_exhausted_names_what_was_not_found():
    found = labels("ovon", walk((41, 6, 0), (46, 6, 0)), max_actions=20)
    assert [label.label for label in found] == ["search_exhausted", "budget_exhausted"]
    assert "any counter, at best 3.5 m away" in found[0].text


@pytest.mark.parametrize(("step_m", "labels"), [(10.0, ["premature_stop"]), (0.01, ["premature_stop", "blocked_progress"])])
def test_degrees_are_no_metres(step_m, labels):
    """A flyer that goes ahead between turns is not blocked, however few degrees that is."""
    yaw = np.repeat(np.arange(20) * np.deg2rad(15.0), 2)
    ahead = np.tile([0.0, step_m], 20)[:, None] * np.stack([np.cos(yaw), np.sin(yaw)], axis=1) * [1.0, 3.0]
    where = np.column_stack([SPHERE.at_offset([8.0, 47.0], np.cumsum(ahead, axis=0)), np.full(40, 50.0)])
    question = Episode(
        id="x",
        world="w",
        task="route",
        embodiment="flyer",
        start=Start(position=tuple(where[0]), yaw_rad=0.0),
        stages=[StageSpec(kind="route", goal=(8.1, 47.0, 50.0))],
        budget=Budget(max_actions=500),
    )
    record = Trajectory(
        position=where,
        yaw_rad=yaw,
        time_s=np.arange(40.0),
        action=np.arange(40, dtype=np.int32),
        stage=np.zeros(40, np.int32),
        collided=np.zeros(40, bool),
        stop_steps=np.array([39], np.int32),
        moved=np.ones(40, bool),
    )
    found = label_episode(Evaluation(question, record, Context(Annotations(Semantics()), BODY)))
    assert [label.label for label in found] == labels


def test_turning_on_the_spot_is_blocked_progress():
    spin = walk((5, 4, 0), *[(5, 4, 0)] * 24)
    spin = replace(spin, yaw_rad=np.deg2rad(15.0) * np.arange(25))
    found = labels("exit", spin)
    assert [label.label for label in found] == ["never_left", "blocked_progress"]
    assert found[1].steps == (0, 24), "overlapping windows are one finding"
    still = replace(spin, yaw_rad=np.zeros(25))
    assert names("exit", still) == ["never_left"], "standing still is not turning"
    barely = replace(spin, yaw_rad=np.deg2rad(15.0) * np.minimum(np.arange(25), 5))
    assert names("exit", barely) == ["never_left"], "75 degrees are too few"


def test_labels_of_a_later_stage_point_at_the_episodes_states():
    record = walk((5, 4, 0), (11.5, 4, 0), (11.5, 12, 0), (38.5, 12, 0), (38.5, 5, 0), (39.8, 5, 0), stops=(1, 5))
    (label,) = labels("i2o2i", record)
    assert (label.label, label.stage, label.steps) == ("premature_stop", 2, (len(record) - 1,))
    assert label.as_dict() == {"label": "premature_stop", "stage": 2, "steps": [len(record) - 1], "text": label.text}


def test_a_building_with_braces_in_its_name_is_no_trouble():
    odd = TOWN.model_copy(update={"buildings": [b.model_copy(update={"name": "{0}"}) for b in TOWN.buildings]})
    record = walk((5, 4, 0), (6, 4, 0))
    found = label_episode(Evaluation(episode("exit", stages=[StageSpec(kind="exit")]), record, Context(Annotations(odd), BODY)))
    assert "{0}" in found[0].text
