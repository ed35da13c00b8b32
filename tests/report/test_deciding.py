"""What deciding cost, and what was noted before the first episode."""

from __future__ import annotations

import json
import shutil

from portico.report import write_report
from portico.report.deciding import deciding, mode_in_words, notes
from portico.report.runs import load_run


def test_modes_are_told_in_words():
    assert mode_in_words("paused") == "waits"
    assert mode_in_words("charged") == "goes on for as long as it took"
    assert mode_in_words("charged:0.2") == "goes on for 0.2 s"
    assert mode_in_words("realtime") == "goes on by the clock"


def test_seconds_are_per_action_and_shares_of_both_clocks(corner_runs, tmp_path):
    folder = shutil.copytree(corner_runs.chain, tmp_path / "run")
    run = load_run(folder)
    for record in run.records.values():
        record["timing"] = {"policy_s": 3.0, "simulator_s": 1.0, "slowest_decision_s": 1.5}
        record["measures"]["steps"] = 100
    (row,) = deciding([run]).rows
    assert [cell.text for cell in row.cells] == ["waits", "30 ms", "1.5 s", "75 %"]


def test_a_run_without_clocks_has_dashes(corner_runs):
    run = load_run(corner_runs.chain)
    for record in run.records.values():
        record.pop("timing", None)
    (row,) = deciding([run]).rows
    assert [cell.text for cell in row.cells][1:] == ["–", "–", "–"]


def test_the_page_tells_what_did_not_quite_fit(corner_runs, tmp_path):
    folder = shutil.copytree(corner_runs.chain, tmp_path / "run")
    header = json.loads((folder / "run.json").read_text())
    header |= {"timing": "charged:0.2", "compatibility": [{"code": "body", "sentence": "it was made for a taller robot", "remedy": "choose --robot"}]}
    (folder / "run.json").write_text(json.dumps(header))
    assert notes([load_run(folder)])[0]["code"] == "body"
    page = write_report([folder]).read_text()
    for words in ("goes on for 0.2 s", "it was made for a taller robot", "choose --robot", "Noted before the first episode"):
        assert words in page
    assert "Noted before the first episode" not in write_report([corner_runs.chain], tmp_path / "plain.html").read_text()
