"""Runs on a real Ray cluster of two nodes on this machine, one of which is killed."""

import json
import os
import signal
from pathlib import Path

import pytest
from hut_runs import outcome, request_for

from portico.errors import UserError
from portico.evaluate.ray_actors import RayActors, _knock, _own_sigterm
from portico.evaluate.records import read_records
from portico.evaluate.run import execute

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "portico-nav[ray]"')


@pytest.fixture(scope="module")
def chaos(tmp_path_factory):
    return tmp_path_factory.mktemp("chaos") / "chaos.json"


@pytest.fixture(scope="module")
def cluster(chaos):
    from ray.cluster_utils import Cluster

    # Nodes hand what they are started with on to their workers.
    os.environ |= {"PORTICO_CHAOS": str(chaos), "PYTHONPATH": str(Path(__file__).parent)}
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 * 2**20})
    found.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    ray.init(address=found.address, log_to_driver=False, logging_level="ERROR")
    yield found
    ray.shutdown()
    found.shutdown()
    del os.environ["PORTICO_CHAOS"], os.environ["PYTHONPATH"]


@pytest.fixture(scope="module")
def whole(suite_file, prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    execute(request_for(suite_file, prepared, folder, repeats=4))
    return folder


def test_a_policy_that_hangs_or_kills_its_actor_costs_errors_and_mended_nothing(cluster, chaos, suite_file, prepared, whole, tmp_path):
    keys = sorted(path.stem for path in (whole / "trajectories").iterdir())
    chaos.write_text(json.dumps({"hang": keys[:1], "crash": keys[1:2]}))
    actors = RayActors(2, patience_s=90.0)
    summary = execute(request_for(suite_file, prepared, tmp_path / "run", repeats=4, policy_timeout_s=2.0), executor=actors)
    assert summary["n"] == {"planned": 40, "scored": 38, "error": 2, "missing": 0}
    messages = sorted(r["error"]["message"] for r in read_records(tmp_path / "run").values() if r["status"] == "error")
    assert "did not answer within 2 s" in messages[0]
    assert "ActorDiedError" in messages[1]
    chaos.unlink()
    execute(request_for(suite_file, prepared, tmp_path / "run", repeats=4), executor=actors)
    actors.close()
    assert outcome(tmp_path / "run") == outcome(whole)


def test_a_node_that_is_killed_changes_nothing(cluster, chaos, suite_file, prepared, whole, tmp_path):
    chaos.write_text(json.dumps({"sleep_s": 0.05}))
    seen, at_work = [], set()

    def kill_a_node(progress):
        seen.append(progress.done)
        if progress.latest is None or len(at_work) == 2:
            return
        at_work.add(progress.latest["worker"])
        if len(at_work) == 2:
            cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)

    actors = RayActors(2, patience_s=90.0)
    summary = execute(request_for(suite_file, prepared, tmp_path / "run", repeats=4), executor=actors, watch=kill_a_node)
    actors.close()
    assert summary["status"] == "complete"
    assert seen == list(range(41))
    assert (tmp_path / "run" / "logs" / "rank-00000.jsonl").read_text().count('"died"') == 1
    assert outcome(tmp_path / "run") == outcome(whole)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999999"])
def test_an_address_where_nobody_listens_is_said_at_once(address):
    with pytest.raises(UserError, match="no Ray cluster answers") as refused:
        _knock(address)
    assert refused.value.where == address


def test_how_the_process_ends_is_not_for_ray_to_say():
    before = signal.getsignal(signal.SIGTERM)
    with _own_sigterm():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_cluster_without_room_is_said(cluster, suite_file, prepared, tmp_path):
    actors = RayActors(1, memory_gb=100000.0, patience_s=5.0)
    with pytest.raises(UserError, match="no worker left") as refused:
        execute(request_for(suite_file, prepared, tmp_path / "run"), executor=actors)
    assert "--worker-memory" in str(refused.value)
