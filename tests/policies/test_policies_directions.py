"""Directions in English: everything that the generator says is understood, and so are other words for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.interface import StageBrief
from portico.policies.directions import Side, parse_directions
from portico.policies.distances import distance_in
from portico.policies.goal_words import goal_of

_ANGLE = 1e-6


def test_a_template_is_read_in_full():
    route = parse_directions(
        "Go straight 6 m through the door into the living room, until there is a tv stand on your right. Turn sharply left and go 12 m down the stairs "
        "through the street door. Turn slightly right and go 1 m, until there is a stop sign ahead of you. Stop at the electronics store on your left."
    )
    first, second, third = route.steps
    assert (first.doors, first.room, first.landmark, first.side) == (1, "living room", "tv stand", "right")
    assert first.distance_m == (5.5, 6.5)
    assert (second.doors, second.outside, second.stairs) == (1, True, "down")
    assert second.turn_rad == pytest.approx(np.deg2rad([135.0, 180.0]))
    assert third.turn_rad == pytest.approx(np.deg2rad([-60.0, -20.0]))
    assert third.distance_m == (0.0, 1.5)
    assert (third.landmark, third.side) == ("stop sign", "ahead")
    assert (route.target, route.side) == ("electronics", "left")


@st.composite
def _paths(draw: st.DrawFn) -> tuple[np.ndarray, float]:
    """A path of straight legs, some with stairs, and the heading before it."""
    legs = draw(st.lists(st.tuples(st.floats(-3.1, 3.1), st.floats(1.6, 30.0), st.sampled_from([0.0, 0.0, 0.0, 3.0, -3.0])), min_size=1, max_size=6))
    heading, points = draw(st.floats(-3.1, 3.1)), [np.zeros(3)]
    start = heading
    for turn, length, rise in legs:
        heading += turn
        points.append(points[-1] + [length * np.cos(heading), length * np.sin(heading), rise])
    return np.array(points), start


@settings(deadline=None, max_examples=150)
@given(_paths(), st.sampled_from(["bench", "cafe", "post office", "electronics", "suv", "tv", "apartments"]), st.floats(-np.pi, np.pi))
def test_directions_of_any_path_parse_back_to_its_turns_and_distances(path_and_yaw: tuple[np.ndarray, float], category: str, bearing: float):
    navverse = pytest.importorskip("portico.episodes.navverse")
    scenery, semantics = pytest.importorskip("portico.episodes.navverse.scenery"), pytest.importorskip("portico.world.semantics")
    path, yaw = path_and_yaw
    x, y = path[-1, :2] + [np.cos(bearing), np.sin(bearing)]
    goal = semantics.ObjectInstance(id="goal", category=category, center=(float(x), float(y), float(path[-1, 2])), size=(0.5, 0.5, 0.5))
    told = navverse.directions(path, yaw, goal, scenery.Scenery(by_id={"goal": goal}))
    route = parse_directions(" ".join(d.text for d in told))
    assert len(route.steps) == len(told) - 1
    for step, meant in zip(route.steps, told, strict=False):
        assert step.distance_m is not None
        assert step.turn_rad[0] - _ANGLE <= meant.turn_rad <= step.turn_rad[1] + _ANGLE or abs(abs(meant.turn_rad) - np.pi) < _ANGLE
        assert step.distance_m[0] - _ANGLE <= meant.distance_m <= step.distance_m[1] + _ANGLE
        assert (step.stairs is not None) == ("stairs" in meant.text)
    assert (route.target, route.side) == (category, told[-1].side)


@pytest.mark.parametrize(
    ("text", "turn_deg", "distance_m", "landmark", "side"),
    [
        ("Head straight for about ten metres.", (-20, 20), (7.5, 12.5), None, None),
        ("Take a slight left and walk a few metres past the bench on your right", (20, 60), (2, 6), "bench", "right"),
        ("Bear right and continue for 5 meters along the hedge.", (-60, -20), (4.5, 5.5), "hedge", None),
        ("Make a sharp right and follow the pavement a short way", (-180, -135), (1, 6), None, None),
        ("Turn around, then go 3.5 m until you see a couch to your left.", (150, 210), (3, 4), "sofa", "left"),
        ("Turn left. Walk twenty steps", (60, 135), (11.25, 18.75), None, None),
        ("Keep going until you reach the fountain in front of you", (-20, 20), None, "fountain", "ahead"),
    ],
)
def test_other_words_for_the_same(text: str, turn_deg: tuple[float, float], distance_m: tuple[float, float] | None, landmark: str | None, side: Side | None):
    (step,) = parse_directions(text).steps
    assert np.rad2deg(step.turn_rad) == pytest.approx(turn_deg)
    assert step.distance_m == (None if distance_m is None else pytest.approx(distance_m))
    assert (step.landmark, step.side) == (landmark, side)


@pytest.mark.parametrize(
    ("text", "target", "side"),
    [
        ("You will arrive at the coffee shop on your left.", "cafe", "left"),
        ("Finally, stop next to the bench.", "bench", None),
        ("Your destination is the sofa in front of you", "sofa", "ahead"),
        ("Halt at the barber shop behind you", "barber", "behind"),
    ],
)
def test_arrivals(text: str, target: str, side: Side | None):
    route = parse_directions(f"Go 5 m. {text}")
    assert (route.target, route.side, len(route.steps)) == (target, side, 1)


def test_doors_and_stairs_in_other_words():
    out = parse_directions("Leave the building and turn right. Go through two doors into the hall and climb the stairs.")
    assert out.steps[0].outside
    assert any(step.doors == 2 for step in out.steps)
    assert any(step.stairs == "up" for step in out.steps)


@pytest.mark.parametrize("text", ["", "...", "The weather is nice.", "Zxy!", "and then and then"])
def test_nonsense_gives_no_steps(text: str):
    assert parse_directions(text).steps == ()


@given(st.text(max_size=120))
def test_no_text_is_refused(text: str):
    parse_directions(text)


@given(st.integers(2, 60))
def test_rounded_distances_hold_what_was_rounded(metres: int):
    span = distance_in(f"go {metres} m through the door")
    assert span == (metres - 0.5, metres + 0.5)


@pytest.mark.parametrize(
    ("stage", "goal"),
    [
        (StageBrief("place", 0, 1, "Go to a cafe.", "cafe"), "cafe"),
        (StageBrief("place", 0, 1, "Go to an electronics store."), "electronics"),
        (StageBrief("place", 0, 1, "I would like a cup of coffee."), "cafe"),
        (StageBrief("vln", 0, 1, "Go straight 3 m. Stop at the bench on your left."), "bench"),
        (StageBrief("vln", 0, 1, "Just wander."), ""),
    ],
)
def test_goals_by_category_directions_or_wish(stage: StageBrief, goal: str):
    assert goal_of(stage) == goal
