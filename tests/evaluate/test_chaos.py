"""A small storm in every run of the slow tests; ``chaos.py`` beside this makes a large one."""

import random
from multiprocessing import get_context

import pytest
from chaos import Storm, changed, requests_of
from hut_runs import outcome

from portico.evaluate.inspection import inspect_run
from portico.evaluate.locks import alone
from portico.evaluate.run import execute


@pytest.mark.slow
def test_workers_and_parents_are_killed_and_nothing_is_lost_or_doubled(tmp_path, monkeypatch):
    monkeypatch.setenv("PORTICO_CHAOS", "")
    request = requests_of(tmp_path, 30, sleep_s=0.01, huts=("hut",))
    execute(request)
    storm = Storm([changed(request, folder=tmp_path / "storm", workers=2)], random.Random(1), worker_kills=2, parent_kills=1, beside=tmp_path)
    toll = storm.blow()
    assert toll.workers + toll.parents > 0
    assert outcome(tmp_path / "storm") == outcome(request.folder)
    assert not [f for f in inspect_run(tmp_path / "storm").findings if f.kind != "note"]


def _append(path, lock, name):
    for k in range(20):
        with alone(lock):
            text = path.read_text()
            path.write_text(f"{text}{name}{k}\n")


def test_one_at_a_time_reads_and_writes_what_others_write_too(tmp_path):
    path = tmp_path / "shared.txt"
    path.write_text("")
    context = get_context("fork")
    processes = [context.Process(target=_append, args=(path, tmp_path / "lock", name)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sorted(path.read_text().split()) == sorted(f"{name}{k}" for name in "abc" for k in range(20))
