import pytest
import yaml

from portico.errors import SuiteError, UnknownName
from portico.suites import available, load_suite, parse_suite

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
