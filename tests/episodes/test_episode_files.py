import gzip
import json

import pytest

from portico.episodes.files import load_episodes, save_episodes
from portico.errors import EpisodeError
from portico.tasks.episode import Episode, EpisodeSet, StageSpec, Start


def episode(name="e1", **changes):
    stages = [StageSpec(kind="exit", building="b")]
    return Episode(
        **{"id": name, "world": "w", "task": "exit", "embodiment": "spot", "start": Start(position=(0, 0, 0), yaw_rad=0), "stages": stages} | changes
    )


def episode_set(*episodes):
    return EpisodeSet(suite="s", world="w", world_hash="h", episodes=list(episodes))


def test_a_set_comes_back_as_it_was(tmp_path):
    there = episode_set(episode("a"), episode("b"))
    save_episodes(there, tmp_path / "e.json")
    assert load_episodes(tmp_path / "e.json") == there


def test_gzip_is_sniffed_and_not_trusted_by_name(tmp_path):
    text = json.dumps(episode_set(episode()).model_dump(mode="json")).encode()
    (tmp_path / "plain.json.gz").write_bytes(text)
    (tmp_path / "zipped.json").write_bytes(gzip.compress(text))
    assert load_episodes(tmp_path / "plain.json.gz") == load_episodes(tmp_path / "zipped.json")


def broken(tmp_path, text):
    path = tmp_path / "e.json"
    path.write_text(text)
    with pytest.raises(EpisodeError) as error:
        load_episodes(path)
    return str(error.value)


def test_duplicate_ids_are_refused_with_both_positions(tmp_path):
    raw = episode_set(episode("a"), episode("b")).model_dump(mode="json")
    raw["episodes"][1]["id"] = "a"
    message = broken(tmp_path, json.dumps(raw))
    assert "duplicate episode id 'a'" in message
    assert "episodes[0] and episodes[1]" in message


def test_a_truncated_file_is_named(tmp_path):
    assert "truncated or damaged" in broken(tmp_path, '{"schema_version": "portico.epi')


def test_another_schema_is_refused(tmp_path):
    assert "portico.episodes/9" in broken(tmp_path, '{"schema_version": "portico.episodes/9"}')


def test_a_missing_file_says_how_to_make_one(tmp_path):
    with pytest.raises(EpisodeError, match="episodes generate"):
        load_episodes(tmp_path / "none.json")


def test_nan_in_a_start_is_refused_by_field(tmp_path):
    raw = json.dumps(episode_set(episode()).model_dump(mode="json")).replace('"position": [0.0, 0.0, 0.0]', '"position": [NaN, 0.0, 0.0]')
    assert "episodes.0.start.position.0" in broken(tmp_path, raw)


def test_a_half_written_gzip_is_named(tmp_path):
    path = tmp_path / "e.json.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}' * 100)[:-20])
    with pytest.raises(EpisodeError, match="truncated or damaged"):
        load_episodes(path)


def test_a_gzip_with_changed_bytes_is_damaged(tmp_path):
    path = tmp_path / "e.json.gz"
    whole = bytearray(gzip.compress(json.dumps({"episodes": list(range(2000))}).encode()))
    whole[40:60] = bytes(20)
    path.write_bytes(whole)
    with pytest.raises(EpisodeError, match="truncated or damaged") as error:
        load_episodes(path)
    assert error.value.where == str(path)


def test_satnavs_own_files_are_told_where_to_go(tmp_path):
    path = tmp_path / "all_episodes.json"
    path.write_text(json.dumps({"episodes": [{"episode_id": 1}]}))
    with pytest.raises(EpisodeError, match="schema not supported") as error:
        load_episodes(path)
    assert "--from satnav" in error.value.next_step
