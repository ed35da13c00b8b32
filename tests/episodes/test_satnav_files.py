"""SatNav's episode files: nothing is lost, and every fault is named with its file and field."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.episodes import load_episodes, save_episodes
from portico.episodes.satnav.reader import from_satnav, list_episodes, outside
from portico.episodes.satnav.scan import EpisodeSlices
from portico.episodes.satnav.writer import to_satnav
from portico.errors import ImportFailed
from portico.world.geodesy import heading_deg


def raw(number=1, **changes):
    path = [[8.0, 47.0, 50], [8.001, 47.0, 50], [8.002, 47.0005, 50.5]]
    episode = {
        "episode_id": number,
        "trajectory_id": 6,
        "trajectory_type": "LandmarkSet",
        "trajectory_subtype": "one_turn",
        "scene_id": "Porto-3",
        "start_position": path[0],
        "start_rotation": 54.75,
        "goals": [{"position": path[-1], "radius": 30}],
        "instruction": {"instruction_text": 'Fly to the "red" court, ü {then} [left].', "instruction_type": "natural", "difficulty_level": 2},
        "waypoints": path[::2],
        "reference_path": path,
        "aux_info": {"episode_id": "no", "tile_id": "3_0"},
        "unknown": [1, {"scene_id": "no"}],
    }
    return {k: v for k, v in (episode | changes).items() if v is not ...}


@pytest.fixture
def file(tmp_path):
    def write(*episodes, name="episodes.json", **metadata):
        text = json.dumps({"instruction_vocab": {"word_list": ["a", "episodes", "]"]}, **metadata, "episodes": list(episodes), "tail": 1}, indent=1)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["episodes.json", "episodes.json.gz"])
def test_files_go_in_and_come_out_alike(file, tmp_path, name):
    source = file(raw(17), raw("x-2", scene_id="Porto-3", trajectory_type="Boundary"), raw(3, instruction="Plain words.", reference_path=None), name=name)
    (found,) = from_satnav(source)
    save_episodes(found, tmp_path / "own.json")
    assert to_satnav([load_episodes(tmp_path / "own.json")], tmp_path / f"out-{name}") == 3
    opened = gzip.open if name.endswith(".gz") else open
    before, after = (json.loads(opened(p, "rb").read()) for p in (source, tmp_path / f"out-{name}"))
    assert after == before
    to_satnav(from_satnav(tmp_path / f"out-{name}"), tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / f"out-{name}").read_bytes()


def test_what_an_episode_means(file):
    (found,) = from_satnav(file(raw(17)))
    (episode,) = found.episodes
    assert (episode.id, episode.world, episode.task, episode.budget.max_actions) == ("17", "Porto-3", "landmark", 500)
    assert heading_deg(episode.start.yaw_rad) == pytest.approx(54.75)
    assert episode.stages[0].goal == (8.002, 47.0005, 50.5)
    assert (episode.flight.subtype, episode.flight.style, episode.flight.route) == ("one_turn", "natural", "6")
    assert len(episode.reference.path) == 3


def test_scenes_become_sets_and_families_without_a_name_get_the_default_radius(file):
    sets = from_satnav(file(raw(1, scene_id="scenes/A-1.tif"), raw(1, scene_id="B-2"), raw(2, scene_id="B-2", trajectory_type=...)))
    assert [(s.world, len(s.episodes)) for s in sets] == [("A-1", 1), ("B-2", 2)]
    assert sets[1].episodes[1].task == "route"
    assert sets[1].episodes[1].stages[0].radius_m == 10.0
    assert [s.world for s in from_satnav(file(raw(1), raw(2, scene_id="B")), scene="B", world_id="mine")] == ["mine"]


@pytest.mark.parametrize(
    ("episode", "words", "field"),
    [
        (raw(goals=[]), "goals", "episodes[1].goals"),
        (raw(goals=...), "goals", "episodes[1].goals"),
        (raw(goals=[{"at": 1}]), "missing", "episodes[1].goals[0].position"),
        (raw(start_position=...), "missing", "episodes[1].start_position"),
        (raw(start_position=[8.0]), "two nor three", "episodes[1].start_position"),
        (raw(start_position=["8.0", 47.0, 50]), "no number", "episodes[1].start_position"),
        (raw(start_position=[True, 47.0, 50]), "no number", "episodes[1].start_position"),
        (raw(start_position=[float("nan"), 47.0, 50]), "not finite", "episodes[1].start_position"),
        (raw(start_position=[8.0, float("inf"), 50]), "not finite", "episodes[1].start_position"),
        (raw(start_position=[37.51, -121.99, 50]), "swapped", "episodes[1].start_position"),
        (raw(start_position=[200.0, 95.0, 50]), "nowhere on earth", "episodes[1].start_position"),
        (raw(start_rotation="north"), "no number", "episodes[1].start_rotation"),
        (raw(start_rotation=10**400), "not finite", "episodes[1].start_rotation"),
        (raw(reference_path=[[8, 47, 50], [8, None, 50]]), "no number", "episodes[1].reference_path[1]"),
        (raw(reference_path={"a": 1}), "no list", "episodes[1].reference_path"),
        (raw(waypoints=[[8, 470, 50]]), "nowhere", "episodes[1].waypoints[0]"),
        (raw(instruction={"text": "x"}), "instruction", "episodes[1].instruction.instruction_text"),
        (raw("0"), "duplicate", "episodes[0].episode_id and episodes[1].episode_id"),
        (raw(1.5), "neither text nor", "episodes[1].episode_id"),
        (raw(""), "empty", "episodes[1].episode_id"),
        (raw("a::b"), "'::'", "episodes[1].episode_id"),
        (raw(episode_id=...), "missing", "episodes[1].episode_id"),
        (raw(scene_id=None), "missing", "episodes[1].scene_id"),
    ],
)
def test_faults_are_named_with_file_and_field(file, episode, words, field):
    path = file(raw(0), episode)
    with pytest.raises(ImportFailed, match=words) as error:
        from_satnav(path)
    assert str(path) in error.value.where
    assert field in error.value.where
    assert error.value.next_step


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "no JSON"),
        (b"[]", "no SatNav episode file"),
        (b'{"episodes": 5}', "no SatNav episode file"),
        (b'{"episodes": {}}', "no SatNav episode file"),
        (b'{"episodes": []}', "no episodes"),
        (b'{"episodes": [5]}', "no object"),
        (b'{"episodes": ["a"]}', "no object"),
        (b'{"episodes": [{"episode_id": "a', "cut short"),
        (b'{"episodes": [{"episode_id": 1, "scene_id": "a", ,}]}', "no JSON"),
        (b'{"episodes": [] oops}', "no JSON"),
    ],
)
def test_damaged_files_say_what_is_wrong(tmp_path, text, words):
    path = tmp_path / "broken.json"
    path.write_bytes(text)
    with pytest.raises(ImportFailed, match=words) as error:
        from_satnav(path)
    assert "broken.json" in error.value.where


def test_a_list_without_its_end_is_cut_short(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({"episodes": [raw(1), raw(2)]})[:-2])
    with pytest.raises(ImportFailed, match="cut short"):
        from_satnav(path)


def test_half_a_gzip_is_one_and_plain_text_under_its_name_is_read(tmp_path, file):
    whole = file(*[raw(n) for n in range(50)], name="a.json.gz")
    half = tmp_path / "half.json.gz"
    half.write_bytes(whole.read_bytes()[: len(whole.read_bytes()) // 2])
    with pytest.raises(ImportFailed, match="gz"):
        list_episodes(half)
    plain = tmp_path / "plain.json.gz"
    plain.write_bytes(gzip.decompress(whole.read_bytes()))
    assert len(list_episodes(plain)) == 50
    with pytest.raises(ImportFailed, match="no such"):
        list_episodes(tmp_path / "none.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda kids: st.lists(kids, max_size=3) | st.dictionaries(st.text(max_size=9), kids, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["episode_id", "scene_id", "episodes", "x", 'q"{']), JSON, max_size=4), max_size=5),
    JSON,
    st.integers(3, 40),
    st.sampled_from([None, 1]),
)
def test_slices_are_what_json_says_wherever_chunks_end(tmp_path_factory, episodes, other, chunk, indent):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps({"before": other, "episodes": episodes, "after": [other, {"episodes": [1]}]}, indent=indent))
    slices = EpisodeSlices(path)
    read = EpisodeSlices._read
    try:
        EpisodeSlices._read = lambda self, file: file.read(chunk)
        found = list(slices)
    finally:
        EpisodeSlices._read = read
    assert [json.loads(s.text) for s in found] == episodes
    for piece, episode in zip(found, episodes, strict=True):
        for text, key in ((piece.id_text, "episode_id"), (piece.scene_text, "scene_id")):
            assert (json.loads(text) if text else ...) == episode.get(key, ...)
    assert slices.metadata == {"before": other, "after": [other, {"episodes": [1]}]}


def test_starts_outside_the_world_are_named(file):
    (found,) = from_satnav(file(raw(1), raw(2)))
    outside(found.episodes, lambda *_: "", file())
    with pytest.raises(ImportFailed, match="2 of 2") as error:
        outside(found.episodes, lambda *_: "too far", file())
    assert "episode 1, start_position" in error.value.where


def test_shared_files_answer_as_their_manifest_expects(shared):
    for entry in json.loads((shared / "bad" / "manifest.json").read_text()):
        if not entry["file"].startswith("satnav/"):
            continue
        path = shared / "bad" / entry["file"]
        if entry["expect"] == "error":
            with pytest.raises(ImportFailed) as error:
                from_satnav(path)
            assert all(word in str(error.value).lower() for word in entry["message_should_name"]), entry["file"]
        else:
            assert from_satnav(path)


def test_real_files_come_back_byte_for_byte_once_normalised(shared, tmp_path):
    for path in sorted((shared / "data" / "episode" / "satnav").glob("*.json")):
        to_satnav(from_satnav(path), tmp_path / path.name)
        normal = [json.dumps(json.loads(p.read_text()), sort_keys=True).encode() for p in (path, tmp_path / path.name)]
        assert normal[0] == normal[1]
