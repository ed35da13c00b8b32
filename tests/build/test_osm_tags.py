import pytest

from portico.build.osm.tags import at_street_level, is_underground, layer, levels, parse_count, parse_length_m


@pytest.mark.parametrize(
    ("text", "metres"),
    [
        ("18", 18.0),
        ("18.5", 18.5),
        ("18 m", 18.0),
        ("18m", 18.0),
        ("+3", 3.0),
        ("5,5", 5.5),
        ("12 metres", 12.0),
        ("250 cm", 2.5),
        ("0.2 km", 200.0),
        ("32 ft", 9.7536),
        ("32 feet", 9.7536),
        ("12'", 3.6576),
        ("12'6\"", 3.81),
        ("12' 6''", 3.81),
        ("3;4", 3.0),
        ("  7 ", 7.0),
        ("wide", None),
        ("", None),
        ("~10", None),
        ("-3", None),
        ("0", None),
        ("nan", None),
        ("inf", None),
        ("1e400", None),
        ("10 parsecs", None),
        ("2-3", None),
        ("99999999", None),
    ],
)
def test_lengths(text: str, metres: float | None) -> None:
    assert parse_length_m(text) == (None if metres is None else pytest.approx(metres))


@pytest.mark.parametrize(
    ("text", "count"),
    [("2", 2.0), ("2.5", 2.5), ("2,5", 2.5), ("4;5", 4.0), ("0", 0.0), ("two", None), ("ground+2", None), ("-1", None), ("nan", None), ("1000", None)],
)
def test_counts(text: str, count: float | None) -> None:
    assert parse_count(text) == count


def test_levels_and_layers() -> None:
    assert levels({"level": "0"}) == {0.0}
    assert levels({"level": "-1;0"}) == {-1.0, 0.0}
    assert levels({"level": "-1-2"}) == {-1.0, 0.0, 1.0, 2.0}
    assert levels({"level": "0.5"}) == {0.5}
    assert levels({"level": "upstairs"}) == set()
    assert layer({"layer": "-1"}) == -1
    assert layer({"layer": "odd"}) == 0


def test_what_lies_at_street_level() -> None:
    assert at_street_level({})
    assert at_street_level({"level": "-1;0"})
    assert not at_street_level({"level": "2"})
    assert is_underground({"tunnel": "yes"})
    assert is_underground({"layer": "-2"})
    assert is_underground({"level": "-1"})
    assert not is_underground({"tunnel": "building_passage", "layer": "-1"})
    assert not is_underground({"level": "-1;0"})
