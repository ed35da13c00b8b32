"""Questions over satellite maps: their geometry, their words, the expert that answers them, and its training data."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rasterio")

from PIL import Image
from sky import crossroads

from portico.episodes import calibrate, generate, validate
from portico.episodes.grounds import Grounds
from portico.episodes.satnav.agree import claims, kept_side, leg_disagreements, side_disagreements
from portico.episodes.satnav.along import route_disagreements
from portico.episodes.satnav.checks import FlightChecks
from portico.episodes.satnav.export import annotation, export_flights
from portico.episodes.satnav.reader import from_satnav
from portico.episodes.satnav.rollouts import Flown, flown
from portico.episodes.satnav.writer import to_satnav
from portico.errors import EpisodeError
from portico.interface import ActionSpace
from portico.policies.privileged.reference_follower import Follower, last_stretch
from portico.robots import Flyer, embodiment
from portico.suites import load_suite
from portico.suites.suite import parse_suite
from portico.tasks.sphere import measured_by
from portico.world import SPHERE, GeoPose

MOVES = ActionSpace(step_m=10.0)


def suite(**changes):
    base = load_suite("satnav-demo").model_dump(mode="json")
    return parse_suite(base | {"tasks": {"boundary": 9, "landmark": 6, "route": 6}, "worlds": [{"path": "w"}]} | changes, "test")


@pytest.fixture(scope="module")
def world():
    return crossroads()


@pytest.fixture(scope="module")
def asked(world):
    return generate(world, suite())


def of(asked, task, subtype=None):
    return [e for e in asked.episodes if e.task == task and (subtype is None or e.flight.subtype == subtype)]


def test_every_family_and_style_is_asked_and_the_same_again(world, asked):
    assert len(asked.episodes) == 21
    assert {e.flight.subtype for e in of(asked, "boundary")} == {"loop", "arc", "extended"}
    assert [e.flight.style for e in asked.episodes[:3]] == ["natural", "formal", "telegraphic"]
    assert len({(e.flight.route, tuple(e.start.position)) for e in asked.episodes[:3]}) == 1
    assert generate(world, suite()) == asked
    assert generate(world, suite(seed=1)) != asked


def test_boundaries_keep_their_outline_on_the_side_they_say(asked):
    for episode in of(asked, "boundary"):
        origin = np.array(episode.reference.path[0])
        line, outline = (SPHERE.offset_m(origin, np.array(p)) for p in (episode.reference.path, episode.flight.outline))
        assert kept_side(line, outline) == episode.flight.side
        assert episode.flight.side in episode.stages[0].instruction
        away = float(SPHERE.distance_m(origin, np.array(episode.reference.path[-1])))
        assert (away < 1e-3) == (episode.flight.subtype == "loop")


def test_landmarks_name_what_is_there(asked):
    for episode in of(asked, "landmark"):
        assert len(episode.flight.waypoints) == (3 if episode.flight.subtype == "one_turn" else 4)
        assert (
            len(
                {"white tank", "blue court", "red hall", "pond"}
                & {n for n in ("white tank", "blue court", "red hall", "pond") if n in episode.stages[0].instruction}
            )
            >= 3
        )


def test_routes_stay_on_their_roads(asked):
    for episode in of(asked, "route"):
        xy = SPHERE.offset_m(np.array([8.0, 47.0]), np.array(episode.reference.path))
        assert np.minimum(np.abs(xy[:, 0]), np.abs(xy[:, 1])).max() < 2.5


def test_sets_are_valid_and_calibrated(world, asked):
    grounds = Grounds.of(world, embodiment("flyer"))
    assert validate(asked, grounds) == []
    result = calibrate(asked, suite(), grounds)
    assert (result.oracle, result.stop_at_start, result.passed) == (1.0, 0.0, True)


def test_faults_of_episodes_are_found(world, asked):
    checks, good = FlightChecks(world), of(asked, "landmark", "one_turn")[0]

    def codes(**changes):
        return {code for code, _ in checks.problems(good.model_copy(update=changes))}

    stage = good.stages[0]
    assert codes() == set()
    assert codes(start=good.start.model_copy(update={"position": (8.02, 47.0, 50.0)})) == {"start_outside"}
    assert "goal_outside" in codes(stages=[stage.model_copy(update={"goal": (8.02, 47.0, 50.0)})])
    assert codes(stages=[stage.model_copy(update={"goal": None})]) == {"no_goal"}
    assert codes(reference=None) == {"no_reference"}
    far = good.reference.model_copy(update={"path": [(8.0035, 47.0, 50.0)]})
    assert "reference_elsewhere" in codes(reference=far)
    words = stage.instruction
    turned = words.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")
    assert codes(stages=[stage.model_copy(update={"instruction": turned})]) == {"text_disagrees"}
    near = stage.model_copy(update={"goal": (good.start.position[0] + 1e-4, *good.start.position[1:])})
    assert "silent_loop" in codes(stages=[near])
    high = stage.model_copy(update={"goal": (*stage.goal[:2], 90.0), "geodesy": "satnav"})
    assert "goal_height" in codes(stages=[high])


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("Go 100 m, turn left by 90 degrees, go 50 m.", 0),
        ("Go 120 m, turn left by 65 degrees, go 60 m.", 0),
        ("Go 100 m, turn right, go 50 m.", 1),
        ("Go 100 m, turn left by 130 degrees, go 50 m.", 1),
        ("Go 140 m, turn left, go 50 m.", 1),
        ("Go 100 m and 50 m.", 1),
        ("Go ahead, turn left there, stop.", 0),
    ],
)
def test_words_are_held_against_legs(text, problems):
    assert len(leg_disagreements(text, [np.pi / 2], [100.0, 50.0])) == problems


def test_angles_and_distances_are_read_however_they_are_written():
    assert claims("turn left by 40 degrees").turns == claims("a 40-degree left").turns == claims("turn left 40°").turns == (("left", 40.0),)
    assert claims("go 1,200 m, then 1.5 km, then 30 metres").distances_m == (1200.0, 1500.0, 30.0)


#: East for 100 m, left, north for 80 m, a bend of 20 degrees at a junction, 60 m on.
BENT = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 80.0], [100.0 - 60.0 * np.sin(0.35), 80.0 + 60.0 * np.cos(0.35)]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Follow the road for about 100 m. Then turn left onto the road and follow the road for about 140 m. Stop there.", ""),
        ("Road 100 m, left road 80 m, left canal 60 m, stop.", ""),
        ("Proceed along the road for 100 m. Turn left by 90 degrees onto it for 80 m. Continue straight onto the canal for 60 m.", ""),
        ("Road 100 m, left canal, stop.", ""),
        ("Road 100 m, right road 140 m, stop.", "goes left, the text says right"),
        ("Road 100 m, left road 280 m, stop.", "140 m is 280 m"),
        ("Road 50 m, left road 140 m, stop.", "100 m is 50 m"),
        ("Turn left by 30 degrees after 100 m and go 140 m.", "of 90°, the text says 30°"),
        ("Road 240 m, stop.", "90° to the left is not in the text"),
        ("Road 100 m, straight onto road 140 m, stop.", "the text says straight on"),
        ("Road 100 m, left road 80 m, right canal 60 m, stop.", "turn 2 goes left"),
        ("Left, left, left, stop.", "3 turns in the text, 2 junctions"),
    ],
)
def test_words_of_routes_are_held_against_the_line(text, problem):
    found = route_disagreements(text, BENT, BENT)
    assert len(found) == bool(problem)
    assert problem in "".join(found)


def swapped(text):
    return text.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")


def doubled(text):
    return re.sub(r"\d+(?= m\b)", lambda found: str(2 * int(found[0])), text)


@pytest.mark.parametrize("spoil", [swapped, doubled])
def test_no_family_or_style_gets_by_with_words_that_are_wrong(world, asked, spoil):
    checks, spoilt = FlightChecks(world), 0
    for episode in asked.episodes:
        stage = episode.stages[0]
        text = spoil(stage.instruction)
        if text != stage.instruction:
            spoilt += 1
            codes = {code for code, _ in checks.problems(episode.model_copy(update={"stages": [stage.model_copy(update={"instruction": text})]}))}
            assert codes == {"text_disagrees"}, text
    assert spoilt >= 12


def test_words_that_are_missing_are_found(world, asked):
    for episode in asked.episodes[::9]:
        silent = episode.model_copy(update={"stages": [episode.stages[0].model_copy(update={"instruction": " "})]})
        assert ("text_disagrees", "there are no words") in list(FlightChecks(world).problems(silent))


def test_nodes_of_routes_begin_and_end_where_they_do(asked):
    for episode in of(asked, "route"):
        assert episode.flight.waypoints[0] == episode.start.position
        assert episode.flight.waypoints[-1] == episode.stages[0].goal


def test_sides_are_read_apart_from_turns():
    said = claims("Turn right by 40 degrees and follow it with the pond on your left for 250 m, on the left-hand side")
    assert (said.kept, said.turns, said.distances_m) == ("left", (("right", 40.0),), (250.0,))
    line = np.array([[0.0, 0.0], [50.0, 0.0]])
    assert side_disagreements("keep it on your left", line, np.array([[10.0, 5.0], [40.0, 5.0]])) == []
    assert side_disagreements("keep it on your right", line, np.array([[10.0, 5.0], [40.0, 5.0]]))
    assert side_disagreements("go on", line, line)


def test_maps_too_small_to_fly_over_say_so(world):
    with pytest.raises(EpisodeError, match="too small"):
        generate(world, suite(satnav={"height_m": 240}))
    with pytest.raises(EpisodeError, match="flyer"):
        generate(world, suite(embodiment="spot"))


@given(st.lists(st.tuples(st.floats(25.0, 200.0), st.floats(-2.6, 2.6)), min_size=1, max_size=3), st.floats(-np.pi, np.pi))
def test_the_expert_is_never_stuck_within_three_metres(legs, yaw):
    """SatNav's own rule circles around two of three such points for ever."""
    at, bearing, points = np.zeros(2), yaw, []
    for length, turn in legs:
        bearing += turn
        at = at + length * np.array([np.cos(bearing), np.sin(bearing)])
        points.append(at)
    targets = SPHERE.at_offset([8.0, 47.0], np.array(points))
    follower, pose, moves = Follower(targets, 3.0, SPHERE, MOVES), GeoPose(8.0, 47.0, 50.0, yaw), 0
    while (move := follower.next(pose)) is not None:
        moves += 1
        assert moves < 250
        if move == "forward":
            pose = GeoPose(*SPHERE.moved(pose.x, pose.y, pose.yaw_rad, 10.0), 50.0, pose.yaw_rad)
        else:
            pose = GeoPose(pose.x, pose.y, 50.0, pose.yaw_rad + (1 if move == "turn_left" else -1) * MOVES.turn_rad)
    assert SPHERE.distance_m(pose.position[:2], targets[-1]) <= 3.0


@given(st.floats(0.0, 25.0), st.floats(-np.pi, np.pi))
def test_a_last_stretch_ends_where_it_should(distance, bearing):
    ahead, aside = distance * np.cos(bearing), distance * np.sin(bearing)
    x = y = yaw = 0.0
    for move in last_stretch(ahead, aside, 2.7, 10.0, MOVES.turn_rad):
        if move == "forward":
            x, y = x + 10.0 * np.cos(yaw), y + 10.0 * np.sin(yaw)
        else:
            yaw += (1 if move == "turn_left" else -1) * MOVES.turn_rad
    assert np.hypot(x - ahead, y - aside) <= 2.7


def test_satnavs_own_rule_gets_stuck_where_the_search_does_not():
    target = SPHERE.at_offset([8.0, 47.0], np.array([[34.0, 6.5]]))
    own = Follower(target, 3.0, SPHERE, MOVES, searches=False)
    pose, moves = GeoPose(8.0, 47.0, 50.0, 0.0), 0
    while (move := own.next(pose)) is not None and moves < 300:
        moves += 1
        lon, lat = SPHERE.moved(pose.x, pose.y, pose.yaw_rad, 10.0) if move == "forward" else (pose.x, pose.y)
        pose = GeoPose(lon, lat, 50.0, pose.yaw_rad + {"forward": 0, "turn_left": 1, "turn_right": -1}[move] * MOVES.turn_rad)
    assert moves == 300


def test_how_to_measure_belongs_to_a_run(world, asked):
    episode = of(asked, "route")[0]
    own = measured_by(episode, "satnav")
    assert own.stages[0].geodesy == "satnav"
    flyer = Flyer(world, embodiment("flyer"), MOVES)
    for asked_so, step_m in ((episode, 10.0), (own, 9.98881)):
        way = flown(asked_so, flyer).positions
        assert SPHERE.distance_m(way[1:], way[:-1]).max() == pytest.approx(step_m, abs=1e-3)


def test_30_annotations_pair_actions_with_frames(asked):
    flight = Flown(("forward", "turn_right"), np.zeros((3, 3)), np.zeros(3), "success", 0)
    made = annotation(0, "images/x", asked.episodes[0], flight)
    assert made["actions"] == [-1, 1, 3, 0]
    assert made["steps"] == 3


def test_training_data_is_written_once_and_whole(world, asked, tmp_path):
    few = asked.model_copy(update={"episodes": asked.episodes[::7]})
    first = export_flights(world, few, tmp_path, chunk_size=2)
    assert (first.made, first.total, first.rejected) == (3, 3, {})
    chunks = [json.loads(p.read_text()) for p in sorted((tmp_path / "annotations").glob("*.json"))]
    assert [len(c) for c in chunks] == [2, 1]
    for listed in (a for c in chunks for a in c):
        frames = sorted((tmp_path / listed["video"] / "rgb").glob("*.jpg"))
        assert len(frames) == len(listed["actions"]) == listed["steps"] + 1
        assert frames[0].name == "001.jpg"
        assert Image.open(frames[0]).size == (448, 448)
        assert frames[-1].read_bytes() == frames[-2].read_bytes()  # STOP shows what was seen before it
    assert first.frames == sum(len(a["actions"]) for c in chunks for a in c)
    (tmp_path / chunks[0][0]["video"] / ".done").unlink()
    again = export_flights(world, few, tmp_path, chunk_size=2)
    assert (again.made, again.total, again.frames) == (1, 3, first.frames)


def test_generated_episodes_go_to_satnav_and_come_back(asked, world, tmp_path):
    to_satnav([asked], tmp_path / "e.json.gz", scene="Town-1")
    (back,) = from_satnav(tmp_path / "e.json.gz", world_id=world.id, world_hash=world.manifest.content_hash)
    for before, after in zip(asked.episodes, back.episodes, strict=True):
        assert (after.id, after.task, after.stages[0].instruction) == (before.id, before.task, before.stages[0].instruction)
        assert after.start.position == before.start.position
        assert after.start.yaw_rad == pytest.approx(before.start.yaw_rad, abs=1e-6)
        assert after.reference.path == before.reference.path
        assert after.flight == before.flight
        assert flown(after, Flyer(world, embodiment("flyer"), MOVES)).success


def test_questions_across_the_antimeridian_stay_on_earth(tmp_path):
    """Its roads cross the date line; longitudes do not run on beyond it."""
    world = crossroads(longitude_deg=180.0)
    made = generate(world, suite())
    lon = np.array([p[0] for e in made.episodes for p in e.reference.path])
    assert (np.abs(lon) <= 180.0).all()
    assert lon.min() < -179.0
    assert lon.max() > 179.0
    assert validate(made, Grounds.of(world, embodiment("flyer"))) == []
    to_satnav([made], tmp_path / "e.json")
    (back,) = from_satnav(tmp_path / "e.json", world_id=world.id, world_hash=world.manifest.content_hash)
    assert [e.reference.path for e in back.episodes] == [e.reference.path for e in made.episodes]
