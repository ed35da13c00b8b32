import json
import multiprocessing

import pytest

from portico.errors import StorageError
from portico.evaluate.locks import locked
from portico.evaluate.logbook import Logbook, read_logs
from portico.evaluate.records import Key, RecordWriter, read_records, without_timing, write_json


def record(episode, status="failure", **more):
    key = Key("s", "eval", "w", episode).as_dict()
    return {"key": key, "status": status, "timing": {"wall_s": 1.0}, "rank": 0} | more


def test_records_come_back_sorted_by_identity_whoever_wrote_them(tmp_path):
    RecordWriter(tmp_path, 1).append(record("b"))
    RecordWriter(tmp_path, 0).append(record("c"))
    RecordWriter(tmp_path, 1).append(record("a"))
    assert [k.episode for k in read_records(tmp_path)] == ["a", "b", "c"]


@pytest.mark.parametrize("cut", [2, 5, 40])
def test_a_torn_tail_costs_only_its_own_record(tmp_path, cut):
    writer = RecordWriter(tmp_path, 0)
    writer.append(record("a"))
    writer.append(record("b"))
    data = writer.path.read_bytes()
    writer.path.write_bytes(data[:-cut])
    assert [k.episode for k in read_records(tmp_path)] == ["a"]
    writer.append(record("c"))
    assert [k.episode for k in read_records(tmp_path)] == ["a", "c"]


def test_a_record_that_lacks_only_its_line_end_is_whole(tmp_path):
    writer = RecordWriter(tmp_path, 0)
    writer.append(record("a"))
    writer.path.write_bytes(writer.path.read_bytes()[:-1])
    writer.append(record("b"))
    assert [k.episode for k in read_records(tmp_path)] == ["a", "b"]


def test_a_later_outcome_replaces_an_error_and_nothing_else(tmp_path):
    writer = RecordWriter(tmp_path, 0)
    writer.append(record("a", "error"))
    writer.append(record("a", "success"))
    writer.append(record("a", "failure"))
    assert [r["status"] for r in read_records(tmp_path).values()] == ["success"]


def test_half_a_character_in_what_somebody_said_is_replaced_and_stops_no_run(tmp_path):
    RecordWriter(tmp_path, 0).append(record("a", "error", error={"message": "the server says \ud83d"}))
    Logbook(tmp_path, 0).note("episode", error="the server says \ud83d")
    write_json(tmp_path / "summary.json", {"said": "\ud83d"})
    (found,) = read_records(tmp_path).values()
    assert found["error"]["message"] == "the server says ?"
    assert [entry["error"] for _, entry in read_logs(tmp_path)] == ["the server says ?"]


def test_nan_never_reaches_the_disk(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        RecordWriter(tmp_path, 0).append(record("a", measures={"spl": float("nan")}))
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "summary.json", {"x": float("inf")})


def test_a_full_disk_stops_the_run_and_says_how_to_go_on(tmp_path):
    writer = RecordWriter(tmp_path, 0)
    writer.path.symlink_to("/dev/full")
    with pytest.raises(StorageError, match="the disk refused a write") as error:
        writer.append(record("a"))
    assert "No space left" in str(error.value)
    assert "run the same command again" in str(error.value)


def test_slugs_are_safe_file_names():
    slug = Key("s", "eval", "w/../x", "a b:c").slug()
    assert "/" not in slug
    assert ":" not in slug


def test_timing_is_all_that_may_differ():
    assert "timing" not in without_timing(record("a"))
    assert json.dumps(without_timing(record("a", rank=1))) == json.dumps(without_timing(record("a")))


def _holds(folder, ready, done):
    with locked(folder):
        ready.set()
        done.wait(300)


def test_two_runs_never_share_a_folder(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=_holds, args=(tmp_path, ready, done))
    other.start()
    assert ready.wait(300)
    with pytest.raises(StorageError, match="another run is writing"), locked(tmp_path):
        pass
    done.set()
    other.join()
    with locked(tmp_path):
        pass
