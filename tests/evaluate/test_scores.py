"""What ``portico score`` leaves counts everywhere until the run goes on."""

import json
import shutil
import signal
import sys

import numpy as np
import pytest
from hut_runs import read_json, request_for

from portico.cli.main import main
from portico.errors import SuiteError
from portico.evaluate.inspection import inspect_run
from portico.evaluate.records import RecordWriter, read_records
from portico.evaluate.run import execute, write_summary
from portico.evaluate.scores import about_scores, read_scored, scored_header
from portico.evaluate.scoring import rescore
from portico.report.runs import load_run
from portico.web.index import FIGURES, RunIndex


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "run")


def moved(run):
    """Change what happened in one episode, as better measures would: its key."""
    key = next(iter(read_records(run)))
    path = run / "trajectories" / f"{key.slug()}.npz"
    arrays = dict(np.load(path))
    arrays["position"] = arrays["position"] * 1.5
    np.savez_compressed(path, **arrays)
    return key


def length(records, key):
    return records[key]["measures"]["path_length_m"]


def shown(run, key):
    index = RunIndex(run)
    index.refresh()
    row = index.find(key.slug())
    assert index.record(row)["measures"]["path_length_m"] == row.figures[FIGURES.index("path_length_m")]
    return row.figures[FIGURES.index("path_length_m")]


def test_scored_again_counts_in_tables_reports_comparison_and_viewer(run):
    key, before = moved(run), read_records(run)
    assert read_scored(run) == before
    assert len(rescore(run).changed) == 1
    again = read_scored(run)
    assert length(again, key) == pytest.approx(1.5 * length(before, key), rel=1e-6)
    assert read_records(run) == before, "the run's own records stay what they were"
    assert load_run(run).records == again
    assert shown(run, key) == length(again, key)
    summary = read_json(run / "summary.json")
    write_summary(run)
    assert read_json(run / "summary.json") == summary, "whoever starts the run again leaves the scores as they are"
    assert [(f.code, f.names) for f in inspect_run(run).findings if f.code == "scores"] == [("scores", (str(key),))]


def test_what_cannot_be_scored_again_is_kept(run):
    rescore(run)
    assert read_scored(run) == read_records(run), "times, ranks and workers are there too"
    assert not inspect_run(run).findings


def test_a_run_that_goes_on_counts_its_own_records_until_it_is_scored_again(suite_file, prepared, run):
    key = moved(run)
    before = read_records(run)
    rescore(run)
    RecordWriter(run, 5).append(before[key])
    assert about_scores(run) is None
    assert read_scored(run) == before
    assert shown(run, key) == length(before, key)
    assert "older" in next(f.sentence for f in inspect_run(run).findings if f.code == "scores")
    execute(request_for(suite_file, prepared, run))
    assert read_json(run / "summary.json")["measures"]["path_length_m"]["mean"] == pytest.approx(np.mean([length(before, k) for k in before]))
    rescore(run)
    assert length(read_scored(run), key) != length(before, key)


def test_an_open_viewer_changes_over_to_the_scores(run):
    key, index = moved(run), RunIndex(run)
    assert index.refresh()
    before = index.find(key.slug()).figures
    rescore(run)
    assert index.refresh()
    assert index.find(key.slug()).figures != before
    assert len(index.rows) == 10
    assert not index.refresh()


def test_runs_are_compared_under_the_versions_that_scored_them(run, whole):
    rescore(run)
    about = read_json(run / "scores.json")
    (run / "scores.json").write_text(json.dumps({**about, "measures": {**about["measures"], "spl": 99}}))
    assert scored_header(run, read_json(run / "run.json"))["measures"]["spl"] == 99
    assert load_run(run).header["measures"]["spl"] == 99
    assert load_run(whole).header["measures"]["spl"] != 99


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_trajectory_that_is_not_there_is_named_with_what_brings_it_back(suite_file, prepared, run, how):
    path = sorted((run / "trajectories").iterdir())[0]
    path.write_bytes(b"half a file")
    if how == "gone":
        path.unlink()
    with pytest.raises(SuiteError, match=f"trajectory is {how}") as refused:
        rescore(run)
    assert "start the run again" in str(refused.value)
    path.unlink(missing_ok=True)
    execute(request_for(suite_file, prepared, run))
    assert rescore(run).changed == []


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"records": {}}'])
def test_scores_that_do_not_say_what_they_are_of_are_left_out(run, damage):
    moved(run)
    rescore(run)
    (run / "scores.json").write_text(damage)
    assert read_scored(run) == read_records(run)


def test_the_command_leaves_no_handler_behind(suite_file, tmp_path, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGTERM)
    folder, cache = tmp_path / "run", suite_file.parent / "cache"
    monkeypatch.setattr(sys, "argv", ["portico", "run", str(suite_file), "--policy", "stop", "--limit", "1", "--out", str(folder), "--cache", str(cache)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0, capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before
