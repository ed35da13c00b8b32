"""A policy behind a wire gives the records that it gives in-process: the same actions, poses, measures and labels."""

import numpy as np
import pytest
import yaml
from hut import build

from portico.evaluate.prepare import prepare
from portico.evaluate.records import read_records, without_timing
from portico.evaluate.run import RunRequest, execute
from portico.policies import create
from portico.policies.serving import WIRES, serve
from portico.suites import load_suite


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    build(folder / "hut")
    tasks = {"exit": 1, "entrance": 1, "ovon": 1}
    (folder / "hut.yaml").write_text(yaml.safe_dump({"name": "hut", "worlds": [{"path": "hut"}], "tasks": tasks, "budget": {"max_actions": 40}}))
    chosen = load_suite(folder / "hut.yaml")
    return chosen, prepare(chosen, folder / "cache", relative_to=folder, announce=lambda _: None)


def outcome(suite, policy, folder):
    chosen, prepared = suite
    summary = execute(RunRequest(chosen, policy, folder, prepared))
    records = {key: {**without_timing(r), "policy": ""} for key, r in read_records(folder).items()}
    paths = {file.name: dict(np.load(file)) for file in sorted((folder / "trajectories").glob("*.npz"))}
    return summary["n"], records, paths


@pytest.fixture(scope="module")
def local(suite, tmp_path_factory):
    return outcome(suite, "frontier", tmp_path_factory.mktemp("local"))


@pytest.mark.parametrize("wire", WIRES)
def test_frontier_behind_a_wire_leaves_the_records_of_frontier(suite, local, tmp_path, wire):
    server = serve(lambda: create("frontier"), wire=wire)
    n, records, paths = outcome(suite, f"remote?url={server.url},wire={wire}", tmp_path)
    server.close()
    assert n == local[0] == {"planned": 3, "scored": 3, "error": 0, "missing": 0}
    assert records == local[1]
    assert paths.keys() == local[2].keys()
    for name, arrays in paths.items():
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, local[2][name][key], err_msg=f"{name}: {key}")


@pytest.mark.slow
def test_two_workers_behind_one_server_leave_the_records_of_one(suite, local, tmp_path):
    chosen, prepared = suite
    server = serve(lambda: create("frontier"))
    execute(RunRequest(chosen, f"remote?url={server.url}", tmp_path, prepared, workers=2))
    server.close()
    assert {key: {**without_timing(r), "policy": ""} for key, r in read_records(tmp_path).items()} == local[1]
