"""What a policy is told, and when."""

import dataclasses

import pytest
from little_town import SPECS, TOWN, episode

from portico.interface import StageBrief
from portico.tasks import TASK_STAGES, StageSpec, default_instruction, released, stage_brief


@pytest.mark.parametrize(
    ("task", "pose", "route"),
    [
        ("exit", [0], [0]),
        ("entrance", [0], [0]),
        ("ovon", [0], [0]),
        ("point", [1], [0]),
        ("image", [1], [0]),
        ("object", [1], [0]),
        ("outdoor", [1], [1]),
        ("i2o", [0, 1], [0, 1]),
        ("o2i", [1, 1], [1, 0]),
        ("i2o2i", [0, 1, 1, 1], [0, 1, 0, 0]),
    ],
)
def test_pose_and_route_wait_for_the_exit(task, pose, route):
    releases = [released(episode(task), k) for k in range(len(TASK_STAGES[task]))]
    assert [r.pose for r in releases] == [bool(p) for p in pose]
    assert [r.route for r in releases] == [bool(r) for r in route]


def test_a_brief_carries_the_goal_only_where_the_task_gives_it():
    briefs = [stage_brief(episode(), k) for k in range(4)]
    assert [b.goal for b in briefs] == [None, (38.5, 5, 0), None, None]
    assert [b.category for b in briefs] == ["", "", "", "counter"]
    assert [b.route is not None for b in briefs] == [False, True, False, False]
    assert briefs[1].route.shape == (4, 3)
    assert [(b.index, b.count) for b in briefs] == [(k, 4) for k in range(4)]


def test_no_brief_names_a_building_by_id():
    hidden = StageSpec(kind="entrance", building="secret-building-17")
    brief = stage_brief(episode("entrance", stages=[hidden]), 0)
    assert "secret" not in repr(brief)
    assert {f.name for f in dataclasses.fields(StageBrief)} == {"kind", "index", "count", "instruction", "category", "goal", "route", "goal_image"}


def test_where_a_goal_image_was_taken_stays_hidden():
    brief = stage_brief(episode("image"), 0)
    assert brief.goal is None
    assert "1.04" not in repr(brief)


@pytest.mark.parametrize("kind", ["point", "image", "object"])
def test_a_stop_is_asked_for_only_where_it_counts(kind):
    assert "stop" in default_instruction(SPECS[kind])
    assert "stop" not in default_instruction(SPECS[kind].model_copy(update={"termination": "on_arrival"}))


def test_an_episodes_own_instruction_wins():
    spec = SPECS["exit"].model_copy(update={"instruction": "Head out. Stay off the grass."})
    assert stage_brief(episode("exit", stages=[spec]), 0).instruction == "Head out. Stay off the grass."


def test_default_instructions_name_things_as_people_do():
    assert default_instruction(SPECS["entrance"], TOWN) == "Find the entrance of Cafe Lark, go in and stop inside."
    assert default_instruction(SPECS["exit"], TOWN) == "Leave Crumb through an exit and stop outdoors where people may walk."
    bare = TOWN.model_copy(update={"places": []})
    assert "the office" in default_instruction(SPECS["exit"], bare)
    assert default_instruction(StageSpec(kind="object", category="office_chair")) == "Find an office chair and stop next to it."
    assert all(
        default_instruction(StageSpec(kind=kind))
        for kind in ("exit", "outdoor", "entrance", "ovon", "point", "image", "object", "boundary", "landmark", "route")
    )


@pytest.mark.parametrize(
    ("task", "phrased", "category"),
    [
        ("place", None, "bakery"),
        ("place", "category", "bakery"),
        ("place", "route", ""),
        ("place", "intention", ""),
        ("vln", None, ""),
        ("object", None, "counter"),
    ],
)
def test_a_category_is_told_only_where_it_is_the_question(task, phrased, category):
    stages = {
        "place": StageSpec(kind="place", category="bakery"),
        "vln": StageSpec(kind="vln", category="bakery", instances=["p"]),
        "object": SPECS["object"],
    }
    asked = episode(task, stages=[stages[task]]).model_copy(update={"phrased": phrased})
    brief = stage_brief(asked, 0)
    assert (brief.category, brief.goal, brief.route) == (category, None, None)
    assert released(asked, 0).pose
    if task == "vln":
        assert "bakery" not in repr(brief), "the target is hidden"


def test_places_are_named_as_people_do():
    said = {c: default_instruction(StageSpec(kind="place", category=c)) for c in ("cafe", "office", "electronics", "post office")}
    assert list(said.values()) == ["Go to a cafe.", "Go to an office building.", "Go to an electronics store.", "Go to a post office."]
