import json
from pathlib import Path

import pytest
import yaml

from portico.errors import SuiteError, UnknownName
from portico.suites import available, check_disjoint, load_suite, parse_suite, placed

MINIMAL = {"name": "t", "worlds": [{"recipe": "composite", "seed": 1}], "tasks": {"exit": 2}}


@pytest.mark.parametrize("name", sorted(available()))
def test_every_bundled_suite_loads_under_its_own_name(name):
    assert load_suite(name).name == name


def test_overrides_replace_top_level_keys_and_none_leaves_them():
    suite = load_suite("i2o2i-demo", seed=5, track=None)
    assert (suite.seed, suite.track) == (5, "rgbd")


def test_a_file_is_read_by_its_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(MINIMAL))
    assert load_suite(path).tasks == {"exit": 2}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"buget": {}}, ["buget", "did you mean 'budget'"]),
        ({"track": "rgbdd"}, ["track", "known tracks: rgb, rgbd"]),
        ({"tasks": {"exot": 1}}, ["tasks.exot", "did you mean 'exit'"]),
        ({"tasks": {"exit": -1}}, ["tasks.exit", "greater than or equal to 0"]),
        ({"worlds": []}, ["worlds", "at least 1"]),
        ({"worlds": [{"seed": 1}]}, ["worlds.0", "either recipe"]),
        ({"worlds": [{"recipe": "composite", "sede": 1}]}, ["worlds.0.sede", "did you mean 'seed'"]),
        ({"actions": {"step_m": 0}}, ["actions.step_m", "greater than 0"]),
        ({"termination": "arrival"}, ["termination", "known ways to end: explicit_stop, on_arrival"]),
        ({"rules": "navarena"}, ["rules navarena know the tasks image, object, point, not exit"]),
        ({"grid": {"spacng_m": 1}}, ["grid.spacng_m", "did you mean 'spacing_m'"]),
        ({"grid": {"shortest_m": 9, "longest_m": 3}}, ["shortest_m is more than longest_m"]),
        ({"difficulty": {"shares": {"easy": 0.5, "medium": 0.4, "hard": 0.3}}}, ["shares must add up to 1, not 1.2"]),
        ({"difficulty": {"max_actions": {"easy": 500}}}, ["max_actions must name easy, medium, hard"]),
        ({"budget": {"max_action": 5}}, ["budget.max_action", "did you mean 'max_actions'"]),
    ],
)
def test_a_mistake_is_named_with_its_place_and_a_way_out(change, words):
    with pytest.raises(SuiteError) as error:
        parse_suite(MINIMAL | change, "suite t")
    for word in words:
        assert word in str(error.value)


def test_a_key_that_is_not_there_is_asked_for():
    with pytest.raises(SuiteError, match="Field required") as refused:
        parse_suite({key: value for key, value in MINIMAL.items() if key != "worlds"}, "t")
    assert refused.value.next_step == "add a line worlds: ..."


def test_an_unknown_embodiment_offers_the_closest():
    with pytest.raises(UnknownName, match="did you mean 'spot'"):
        parse_suite(MINIMAL | {"embodiment": "spott"}, "suite t")


def test_an_unknown_suite_offers_the_closest():
    with pytest.raises(UnknownName, match="i2o2i-demo"):
        load_suite("i2o2idemo")


def test_a_file_that_is_no_yaml_or_not_there_is_named(tmp_path):
    with pytest.raises(SuiteError, match="cannot be read"):
        load_suite(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [1, 2")
    with pytest.raises(SuiteError, match="not YAML"):
        load_suite(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(SuiteError, match="no mapping"):
        load_suite(tmp_path / "list.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(SuiteError, match="cannot be read"):
        load_suite(tmp_path / "bytes.yaml")


SCENIC = {"name": "t", "rules": "navverse", "worlds": [{"recipe": "indoor", "seed": 1}], "tasks": {"place": {"outdoor": 2, "indoor_to_outdoor": 3}, "vln": 4}}


def test_counts_by_scene():
    suite = parse_suite(SCENIC, "t")
    assert suite.quotas("place", ("outdoor",)) == {"outdoor": 2}
    assert suite.quotas("place", ("indoor", "outdoor")) == {"indoor": 0, "outdoor": 2}
    assert suite.quotas("vln", ("indoor", "outdoor")) == {"indoor": 4, "outdoor": 4}
    assert suite.wanted(("outdoor", "indoor_to_outdoor")) == 2 + 3 + 4 + 4
    assert [suite.asks(task) for task in ("place", "vln", "object")] == [True, True, False]
    assert not parse_suite(SCENIC | {"tasks": {"place": {"outdoor": 0}}}, "t").asks("place")
    plain = parse_suite(MINIMAL, "t")
    assert (plain.quotas("exit"), plain.wanted()) == ({None: 2}, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tasks": {"exit": 1}}, "rules navverse know the tasks object, place, vln, not exit"),
        ({"rules": "i2o2i"}, "not place, vln"),
        ({"rules": "navarena", "tasks": {"object": {"indoor": 1}}}, "counts by scene are for rules navverse"),
        ({"navverse": {"shortest_m": 9, "longest_m": 3}}, "the shortest is more than the longest"),
        ({"navverse": {"tolerance": 1}}, "did you mean 'tolerance_m'"),
        ({"instructions": "rout"}, "instructions"),
        ({"termination": "on_arrival"}, "end by STOP"),
        ({"worlds": [{"recipe": "indoor", "seed": 1, "scenes": ["indoors"]}]}, "scenes"),
        (
            {"worlds": [{"recipe": "indoor", "seed": 1, "split": "train"}, {"recipe": "indoor", "seed": 1, "params": {"floors": 1}, "split": "eval"}]},
            "indoor seed 1 is in eval and in train",
        ),
        ({"worlds": [{"recipe": "indoor", "seed": 1, "split": "train"}, {"recipe": "indoor", "seed": 1}]}, "in every split and in train"),
    ],
)
def test_navverses_rules_refuse_what_they_do_not_know(change, words):
    with pytest.raises(SuiteError, match=words):
        parse_suite(SCENIC | change, "t")


def test_a_suite_asks_in_the_worlds_of_its_split():
    worlds = [{"recipe": "indoor", "seed": 1, "split": "train"}, {"recipe": "indoor", "seed": 2, "split": "eval"}, {"recipe": "indoor", "seed": 3}]
    asked = {split: [entry.seed for entry in parse_suite(SCENIC | {"worlds": worlds, "split": split}, "t").entries] for split in ("train", "eval")}
    assert asked == {"train": [1, 3], "eval": [2, 3]}


def test_navverses_splits_share_no_world_with_each_other_nor_with_other_suites():
    check_disjoint([world for name in available() for world in placed(load_suite(name), Path())])
    assert {world.split for world in placed(load_suite("navverse"), Path())} == {"train", "eval"}


def test_one_world_in_two_splits_is_refused_whatever_it_is_called(tmp_path):
    for name, content in (("a", "f" * 64), ("b", "f" * 64), ("c", "0" * 64)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "world.json").write_text(
            json.dumps({"id": name, "content_hash": content, "recipe": {"generator": "indoor"}, "seed": 9 if name == "c" else None})
        )
    eval_suite = parse_suite(SCENIC | {"name": "test", "worlds": [{"path": "a"}]}, "t")
    for worlds, words in (([{"path": "a"}], "path a in eval of test"), ([{"path": "b"}], "content ffffffffffff")):
        train = parse_suite(SCENIC | {"name": "learn", "split": "train", "worlds": worlds}, "t")
        with pytest.raises(SuiteError, match=words):
            check_disjoint([*placed(eval_suite, tmp_path), *placed(train, tmp_path)])
    generated = parse_suite(SCENIC | {"name": "learn", "split": "train", "worlds": [{"recipe": "indoor", "seed": 9}]}, "t")
    on_disk = parse_suite(SCENIC | {"name": "test", "worlds": [{"path": "c"}]}, "t")
    with pytest.raises(SuiteError, match="indoor seed 9"):
        check_disjoint([*placed(generated, tmp_path), *placed(on_disk, tmp_path)])
    check_disjoint([*placed(eval_suite, tmp_path), *placed(generated, tmp_path)])
    with pytest.raises(SuiteError, match="cannot be read"):
        placed(parse_suite(SCENIC | {"worlds": [{"path": "nowhere"}]}, "t"), tmp_path)
