"""Runs that are cut, split, resumed and continued by others: nothing is dropped, doubled or mixed."""

import json
import shutil
from itertools import islice

import pytest
from hut_runs import outcome, read_json, request_for
from hypothesis import given
from hypothesis import strategies as st

from portico.errors import EpisodeError, StorageError, SuiteError
from portico.evaluate.executors import InProcess
from portico.evaluate.locks import at_work, locked
from portico.evaluate.plan import Shard, dealt, plan_of, question
from portico.evaluate.prepare import Prepared, prepare, select
from portico.evaluate.records import Key, RecordWriter, read_records
from portico.evaluate.run import RunRequest, execute
from portico.robots import robot_path
from portico.suites import load_suite


class Cut(InProcess):
    """Gives a run up after so many episodes, as a kill would."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def run(self, job, assignments):
        yield from islice(super().run(job, assignments), self.after)
        raise KeyboardInterrupt


@pytest.mark.parametrize("ranks", [1, 3, 7])
def test_any_number_of_ranks_gives_the_bytes_of_one(suite_file, prepared, whole, tmp_path, ranks):
    for rank in range(ranks):
        summary = execute(request_for(suite_file, prepared, tmp_path / "run", shard=Shard(rank, ranks)))
        assert summary["status"] == ("complete" if rank == ranks - 1 else "incomplete")
    assert outcome(tmp_path / "run") == outcome(whole)


def test_a_run_begun_by_three_ranks_is_finished_by_seven_and_by_none(suite_file, prepared, whole, tmp_path):
    for rank in (0, 2):
        with pytest.raises(KeyboardInterrupt):
            execute(request_for(suite_file, prepared, tmp_path, shard=Shard(rank, 3)), executor=Cut(2))
    assert len(read_records(tmp_path)) == 4
    execute(request_for(suite_file, prepared, tmp_path, shard=Shard(5, 7)))
    summary = execute(request_for(suite_file, prepared, tmp_path))
    assert summary["unfinished"] == {"missing": [], "error": []}
    assert outcome(tmp_path) == outcome(whole)
    lines = [line for file in (tmp_path / "records").iterdir() for line in file.read_text().splitlines()]
    assert len(lines) == 10, "nothing was run twice"


@given(count=st.integers(0, 40), world_size=st.integers(1, 9), seed=st.none() | st.integers(0, 99))
def test_ranks_share_every_episode_out_once(count, world_size, seed):
    keys = [Key("s", "eval", "w", str(i)) for i in range(count)]
    order = dealt(keys, seed)
    shares = [Shard(rank, world_size).of(order) for rank in range(world_size)]
    assert sorted(key for share in shares for key in share) == sorted(keys)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert order == dealt(keys, seed)


def test_a_shuffle_breaks_up_what_lies_together():
    keys = [Key("s", "eval", "w", str(i)) for i in range(60)]
    assert dealt(keys, None) == keys
    assert dealt(keys, 1) != keys
    assert dealt(keys, 1) != dealt(keys, 2)


@pytest.mark.parametrize("shuffle", [None, 4])
def test_parts_that_adjoin_hold_every_episode_once(prepared, shuffle):
    everything = [e.id for e in prepared[0].episodes.episodes]
    parts = [select(prepared, offset=k, limit=4, shuffle=shuffle)[0].episodes.episodes for k in (0, 4, 8)]
    assert sorted(e.id for part in parts for e in part) == sorted(everything)
    assert [len(part) for part in parts] == [4, 4, 2]
    with pytest.raises(SuiteError, match="no episode is left"):
        select(prepared, offset=10)


def test_a_rank_that_does_not_exist_is_refused():
    with pytest.raises(SuiteError, match="ranks count from 0 to 2"):
        Shard(3, 3)


def test_other_questions_under_the_same_count_are_refused(suite_file, prepared, tmp_path):
    ids = [e.id for e in prepared[0].episodes.episodes]
    execute(request_for(suite_file, select(prepared, only=ids[:2]), tmp_path))
    with pytest.raises(SuiteError, match="holds another run") as refused:
        execute(request_for(suite_file, select(prepared, only=ids[2:4]), tmp_path))
    assert "selection: other episodes are asked" in f"{refused.value.where}: {refused.value.why}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policy": "random"}, "policy"),
        ({"repeats": 2}, "repeats"),
        ({"timing": "charged:0.1"}, "timing"),
        ({"shuffle": 3}, "shuffle"),
    ],
)
def test_what_differs_is_named(suite_file, prepared, whole, change, said):
    with pytest.raises(SuiteError, match="holds another run") as refused:
        execute(request_for(suite_file, prepared, whole, **change))
    assert said in refused.value.where


def test_what_only_one_side_has_is_named_briefly(suite_file, prepared, whole):
    request = request_for(suite_file, prepared, whole)
    fewer = request.suite.model_copy(update={"measures": ["spl", "success"]})
    with pytest.raises(SuiteError, match="holds another run") as refused:
        execute(type(request)(fewer, request.policy, whole, prepared))
    assert "measures: only there: cls, collision, " in refused.value.why
    assert len(refused.value.why) < 300


def test_another_version_of_the_policy_is_another_run(suite_file, prepared, whole, tmp_path, monkeypatch):
    import chaos_policies

    shutil.copytree(whole, tmp_path / "run")
    monkeypatch.setattr(chaos_policies.Walker, "spec", type(chaos_policies.Walker.spec)("walker", version="2"))
    with pytest.raises(SuiteError, match="policy_version"):
        execute(request_for(suite_file, prepared, tmp_path / "run"))


def test_a_suite_that_lists_another_policy_is_the_same_run(suite_file, prepared, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    request = request_for(suite_file, prepared, tmp_path / "run")
    suite = request.suite.model_copy(update={"policies": ["stop"], "description": "now described"})
    execute(type(request)(suite, request.policy, request.folder, prepared))


def test_records_of_another_run_are_refused_and_never_counted(suite_file, prepared, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    stranger = json.loads((whole / "records" / "rank-00000.jsonl").read_text().splitlines()[0])
    stranger["key"]["episode"] = "somewhere-else"
    RecordWriter(tmp_path / "run", 9).append(stranger)
    with pytest.raises(SuiteError, match="not of this run"):
        execute(request_for(suite_file, prepared, tmp_path / "run"))


def test_an_answer_to_a_question_that_has_changed_is_refused(suite_file, prepared, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    header = read_json(tmp_path / "run" / "run.json")
    del header["selection"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(header))
    episodes = prepared[0].episodes
    turned = [e.model_copy(update={"start": e.start.model_copy(update={"yaw_rad": e.start.yaw_rad + 0.5})}) for e in episodes.episodes]
    assert question(turned[0]) != question(episodes.episodes[0])
    other = [Prepared(prepared[0].folder, prepared[0].world_hash, episodes.model_copy(update={"episodes": turned}))]
    with pytest.raises(SuiteError, match="answers to other questions"):
        execute(request_for(suite_file, other, tmp_path / "run"))


def test_two_episodes_of_one_identity_are_refused(suite_file, prepared):
    episodes = prepared[0].episodes
    twice = Prepared(prepared[0].folder, prepared[0].world_hash, episodes.model_copy(update={"episodes": [*episodes.episodes, episodes.episodes[0]]}))
    suite = request_for(suite_file, prepared, suite_file).suite
    with pytest.raises(EpisodeError, match="one identity"):
        plan_of(suite, [twice], 1)


@given(
    st.lists(st.tuples(st.text("ab-_/. é", min_size=1, max_size=6), st.text("ab-_/. é", min_size=1, max_size=6)), min_size=2, max_size=6, unique=True),
)
def test_no_two_episodes_share_a_file(names):
    slugs = [Key("s", "eval", world, episode).slug() for world, episode in names]
    assert len(set(slugs)) == len(slugs)
    assert not any("/" in slug for slug in slugs)


def test_errors_are_tried_again_once_and_then_named(suite_file, prepared, whole, tmp_path, monkeypatch):
    victim = next(key for key in read_records(whole) if key.episode.startswith("exit"))
    chaos = tmp_path / "chaos.json"
    chaos.write_text(json.dumps({"raise": [victim.slug()]}))
    monkeypatch.setenv("PORTICO_CHAOS", str(chaos))
    tried = []

    class Counting(InProcess):
        def run(self, job, assignments):
            tried.append(len(assignments))
            return super().run(job, assignments)

    for _ in range(3):
        summary = execute(request_for(suite_file, prepared, tmp_path / "run"), executor=Counting())
        assert summary["status"] == "complete_with_errors"
        assert summary["unfinished"]["error"] == [str(victim)]
    assert tried == [10, 1, 0]
    chaos.unlink()
    execute(request_for(suite_file, prepared, tmp_path / "run", retries=2))
    assert outcome(tmp_path / "run") == outcome(whole)


def test_an_episode_whose_trajectory_is_gone_is_run_again(suite_file, prepared, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    sorted((tmp_path / "run" / "trajectories").iterdir())[0].unlink()
    execute(request_for(suite_file, prepared, tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(whole)


def test_ranks_of_one_world_size_share_a_folder_and_nobody_else_does(tmp_path):
    with locked(tmp_path, 0, 3), locked(tmp_path, 1, 3):
        with pytest.raises(StorageError, match="rank 1 of 3 is already at work"), locked(tmp_path, 1, 3):
            pass
        with pytest.raises(StorageError, match="split into 3 ranks, this one into 7"), locked(tmp_path, 4, 7):
            pass
        with pytest.raises(StorageError, match="another run is writing"), locked(tmp_path):
            pass
    assert not at_work(tmp_path)
    with locked(tmp_path, 4, 7):
        assert at_work(tmp_path)
    assert not at_work(tmp_path / "nowhere")
    with locked(tmp_path):
        assert at_work(tmp_path)
    with locked(tmp_path), pytest.raises(StorageError, match="another run is writing"), locked(tmp_path, 0, 3):
        pass


def test_a_robot_file_that_was_changed_gets_questions_of_its_own_and_no_old_run_goes_on(suite_file, tmp_path):
    robot = tmp_path / "mine.yaml"
    text = robot_path("turtlebot").read_text()
    robot.write_text(text)
    shutil.copy(robot_path("turtlebot").parent / "turtlebot.xml", tmp_path)
    suite = load_suite(suite_file, embodiment=str(robot))
    before = prepare(suite, tmp_path / "cache", relative_to=suite_file.parent, announce=lambda _: None)
    execute(RunRequest(suite, "stop", tmp_path / "run", before))
    robot.write_text(text + "# changed\n")
    after = prepare(suite, tmp_path / "cache", relative_to=suite_file.parent, announce=lambda _: None)
    assert len(list((tmp_path / "cache" / "episodes").glob("*.json"))) == 2
    with pytest.raises(SuiteError, match=r"mine\.yaml: '[0-9a-f]{16}' there") as refused:
        execute(RunRequest(suite, "stop", tmp_path / "run", after))
    assert "robot" in refused.value.where
