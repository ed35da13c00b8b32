"""Sentences for every way to fail, checked against what was walked on the street corner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_samples import WALKS, Walk, corner, episodes, failed, scored, trajectory

from portico.evaluate.records import Key
from portico.report.reasons import Evidence, explain, turning_actions
from portico.robots import embodiment
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Budget, Episode

WORLD = corner()
ANNOTATIONS = Annotations(WORLD.semantics)
EPISODES = {e.id: e for e in episodes()}
SPOT = embodiment("spot")

EXPECTED = {
    "exit-0": "done in 29 actions, 7.0 m where 7.0 m would do",
    "exit-1": "stopped inside: 2.3 m before the door",
    "exit-2": "never left the building: 120 actions spent, 120 of them turning",
    "exit-3": "stopped inside on level 1; the way out is on level 0",
    "outdoor-0": "never reached the goal, 11.2 m at its closest: 60 actions spent, 3 ended in contact",
    "entrance-0": "stopped outside Corner Cafe: 2.2 m before the door",
    "entrance-1": "stopped in the wrong building: Maple House instead of Corner Cafe",
    "ovon-0": "stopped 5.5 m from the nearest chair; 1.35 m would count",
    "ovon-1": "never reached a chair, 2.1 m at its closest: 40 actions spent, 30 of them turning",
    "i2o2i-0": "stopped outside Corner Cafe: 1.5 m before the door",
    "i2o2i-1": "error in the policy, not counted as a failure: ValueError: no depth",
}


def evidence_of(episode: Episode, walk: Walk | None) -> Evidence:
    key = Key("corner-suite", "eval", "corner", episode.id)
    if walk is None:
        return Evidence(failed(key, episode, "chain"), episode, SPOT, None, ANNOTATIONS)
    record, path = scored(key, episode, "chain", trajectory(walk, episode), WORLD, [])
    return Evidence(record, episode, SPOT, path, ANNOTATIONS)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_walk_has_its_sentence(name: str) -> None:
    assert explain(evidence_of(EPISODES[name], WALKS[name])) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "walk", "sentence"),
    [
        ("exit-0", Walk([(5.0, 5.0, 0.0), (4.6, 0.5, 0.0), (4.6, -6.0, 0.0)], stops=(2,)), "stopped outdoors on a vehicle lane: 2.0 m from where people may walk"),
        ("exit-0", Walk([(5.0, 5.0, 0.0), (4.6, 0.5, 0.0), (4.6, -2.0, 0.0), (24.6, -2.0, 0.0), (24.6, 3.0, 0.0)], stops=(4,)), "stopped inside Corner Cafe, another building: 3.0 m before the door"),
        ("exit-2", Walk([(5.0, 5.0, 0.0), (4.6, 0.5, 0.0), (4.6, -2.0, 0.0)], spins=91), "left the building but never declared it: 120 actions spent, 91 of them turning"),
        ("exit-2", Walk([(5.0, 5.0, 0.0), (4.6, 0.5, 0.0), (4.6, -2.0, 0.0), (40.0, -2.0, 0.0)], spins=0), "left the building but never declared it: 120 actions spent"),
        ("ovon-1", Walk([(24.6, 2.0, 0.0), (26.6, 5.4, 0.0), (27.0, 5.4, 0.0)], spins=24), "was next to a chair but never stopped there"),
        ("outdoor-0", Walk([(4.6, -2.0, 0.0)], spins=80), "never set off, 18.4 m from the goal: 60 actions spent, 60 of them turning"),
        ("entrance-0", Walk([(24.6, -1.5, 0.0), (24.6, 3.0, 0.0)]), "entered Corner Cafe but never declared it: the record stops early, 18 actions spent"),
        ("entrance-0", Walk([(24.6, -1.5, 0.0), (20.0, -1.5, 0.0)]), "never entered Corner Cafe, 1.5 m from its door at the closest: the record stops early, 19 actions spent"),
    ],
)  # fmt: skip
def test_other_ways_to_fail(name: str, walk: Walk, sentence: str) -> None:
    assert explain(evidence_of(EPISODES[name], walk)).startswith(sentence)


def test_wrong_floor_for_an_object() -> None:
    table = EPISODES["ovon-0"].model_copy(update={"stages": [EPISODES["ovon-0"].stages[0].model_copy(update={"category": "dining_table"})]})
    assert explain(evidence_of(table, Walk([(24.6, 2.0, 0.0), (24.6, 3.0, 0.0)], stops=(1,)))) == "stopped, but the world holds no dining table"
    outdoors = evidence_of(EPISODES["ovon-0"], Walk([(24.6, 2.0, 0.0), (24.6, -2.0, 0.0)], stops=(1,)))
    assert explain(outdoors) == "stopped outdoors, but every chair is on level 0 or 1"


def test_timeout_names_the_limit() -> None:
    episode = EPISODES["exit-2"].model_copy(update={"budget": Budget(max_actions=400, max_time_s=20.0)})
    assert explain(evidence_of(episode, Walk([(5.0, 5.0, 0.0)], spins=100))).startswith("never left the building: time ran out after 20 s")


@pytest.mark.parametrize("name", [n for n, w in WALKS.items() if w is not None])
@pytest.mark.parametrize("kept", ["trajectory", "annotations", "neither"])
def test_missing_evidence_leaves_distances_out(name: str, kept: str) -> None:
    full = evidence_of(EPISODES[name], WALKS[name])
    poor = replace(full, trajectory=full.trajectory if kept == "trajectory" else None, annotations=ANNOTATIONS if kept == "annotations" else None)
    sentence = explain(poor)
    assert sentence
    assert "nan" not in sentence
    assert "inf" not in sentence.replace("information", "")


@pytest.mark.parametrize(
    ("reason", "words"), [("fall", "fell over"), ("stuck", "got stuck and could not move on"), ("out_of_bounds", "left the world's ground")]
)
def test_ends_that_need_no_distance(reason: str, words: str) -> None:
    full = evidence_of(EPISODES["exit-1"], WALKS["exit-1"])
    assert explain(replace(full, record={**full.record, "reason": reason})) == words


def test_turning_counts_actions_not_states() -> None:
    walk = trajectory(Walk([(5.0, 5.0, 0.0), (6.0, 5.0, 0.0)], spins=7), EPISODES["exit-0"])
    assert turning_actions(walk) == (11, 7)
    twice = replace(walk, action=np.repeat(np.arange(len(walk)), 1).astype(np.int32) // 2)
    assert turning_actions(twice)[0] == 6
