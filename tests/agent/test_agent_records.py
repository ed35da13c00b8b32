"""What a run keeps of an agent: reports in records, the same from any number of workers; errors outside the denominator; tables and audit."""

from __future__ import annotations

import json

import pytest
import yaml
from hut import build
from model_server import Line, answers, serving, verdict
from rich.console import Console

from portico.errors import SuiteError
from portico.evaluate.prepare import prepare
from portico.evaluate.records import add_report, read_records, without_timing
from portico.evaluate.run import RunRequest, execute
from portico.report import write_report
from portico.report.audit import audits, deciding
from portico.report.runs import WorldShelf, load_run
from portico.report.studies import STUDIES
from portico.report.study_tables import print_study
from portico.suites import load_suite


@pytest.fixture(scope="module")
def suite_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    build(folder / "hut")
    suite = {"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 2, "entrance": 1}, "budget": {"max_actions": 80}}
    (folder / "hut.yaml").write_text(yaml.safe_dump(suite))
    return folder / "hut.yaml"


@pytest.fixture(scope="module")
def prepared(suite_file):
    return prepare(load_suite(suite_file), suite_file.parent / "cache", relative_to=suite_file.parent, announce=lambda _: None)


def run(suite_file, prepared, folder, policy, **more):
    execute(RunRequest(load_suite(suite_file), policy, folder, prepared, **more))
    return folder


@pytest.fixture(scope="module")
def runs(suite_file, prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    names = {
        "chain": "chain?slips=both",
        "agent": "agent?slips=both",
        "control": "agent?slips=both,control=continuation",
    }
    return {name: run(suite_file, prepared, folder / name, policy) for name, policy in names.items()}


def test_every_episode_of_an_agent_carries_its_report(runs):
    records = read_records(runs["agent"]).values()
    assert len(records) == 3
    for record in records:
        report = record["agent"]
        assert report["schema"] == "portico.agent/1"
        assert report["reasoner"] == "geometric"
        assert report["budgets"]["actions"] == 800
        assert report["counts"]["attempts"] >= 1
        assert report["events"][0]["event"] == "plan"
        assert set(record["timing"]["agent"]) == {"executor_s", "reasoner_s", "model_s"}
        assert all("valid" in event for event in report["events"] if event["event"] in ("verification", "declaration"))
    assert not any("agent" in record for record in read_records(runs["chain"]).values())


def test_a_report_of_another_episode_is_not_this_episodes(runs):
    class Late:
        def report(self):
            return {"episode": "hut--exit-000--0", "said": 1, "timing": {"s": 2.0}}

    records = [dict(r, agent=None, timing={}) for r in read_records(runs["chain"]).values() if r["task"] == "exit"]
    for record in records:
        record.pop("agent")
        add_report(record, Late())
    assert [r.get("agent") for r in records] == [{"said": 1}, None]
    assert [r["timing"] for r in records] == [{"agent": {"s": 2.0}}, {}]


def test_an_accepted_verdict_and_the_evaluator_agree_in_the_record(runs):
    for record in read_records(runs["agent"]).values():
        declared = [event for event in record["agent"]["events"] if event["event"] == "declaration"]
        assert [event["valid"] for event in declared] == ([True] if record["status"] == "success" else [False] * len(declared))


def test_two_workers_write_the_same_reports(suite_file, prepared, runs, tmp_path):
    two = run(suite_file, prepared, tmp_path / "two", "agent?slips=both", workers=2)
    records = [[json.dumps(without_timing(r), sort_keys=True) for r in read_records(folder).values()] for folder in (runs["agent"], two)]
    assert records[0] == records[1]


def test_a_failing_provider_is_an_error_with_its_requests_on_record(suite_file, prepared, tmp_path):
    with serving([Line(status=401)]) as server:
        profile = tmp_path / "p.yaml"
        profile.write_text(f"base_url: {server.base_url}\nmodel: m\n")
        folder = run(suite_file, prepared, tmp_path / "run", f"agent?reasoner=vlm,profile={profile}")
    records = list(read_records(folder).values())
    assert {r["status"] for r in records} == {"error"}
    assert all("401" in r["error"]["message"] for r in records)
    assert all(r["agent"]["counts"]["requests"] == 1 for r in records)
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["n"]["scored"], summary["n"]["error"]) == (0, 3)


def test_a_model_over_a_socket_runs_a_suite(suite_file, prepared, tmp_path):
    with serving(answers(Line(verdict(True)))) as server:
        profile = tmp_path / "p.yaml"
        profile.write_text(f"base_url: {server.base_url}\nmodel: m\n")
        folder = run(suite_file, prepared, tmp_path / "run", f"agent?reasoner=vlm,profile={profile}")
    records = list(read_records(folder).values())
    assert all(r["status"] in ("success", "failure") for r in records)
    assert all(r["agent"]["counts"]["tokens_in"] == 100 * r["agent"]["counts"]["requests"] > 0 for r in records)


def test_tables_show_missions_matches_verdicts_and_costs(runs):
    loaded = [load_run(folder) for folder in runs.values()]
    study = STUDIES["agent"]
    assert study.applies(loaded)
    assert not study.applies(loaded[:1])
    titles = [table.title for table in study.tables(loaded)]
    assert titles == ["Level 1", "Matched: exit", "Matched: entrance", "Verdicts of agent?slips=both", "What it took, per episode"]
    with pytest.raises(SuiteError, match="no run is an agent's"):
        study.tables(loaded[:1])
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    print_study(study, loaded, console)
    assert "McNemar" in console.export_text()


def test_agents_are_held_against_the_chain_of_the_same_executors(suite_file, prepared, runs, tmp_path):
    plain = run(suite_file, prepared, tmp_path / "plain", "chain")
    loaded = [load_run(folder) for folder in (plain, runs["chain"], runs["agent"])]
    matched = next(table for table in STUDIES["agent"].tables(loaded) if table.title == "Matched: exit")
    assert [r.title for r in matched.grid.rows] == ["agent?slips=both"]
    both = [load_run(folder).records for folder in (runs["chain"], runs["agent"])]
    wins = [sum(r["status"] == "success" and r["task"] == "exit" for r in records.values()) for records in both]
    expected = 100 * (wins[1] - wins[0]) / 2
    assert f"{abs(expected):.0f}" in matched.grid.rows[0].cells[0].text


def test_the_audit_draws_the_frames_that_a_verdict_turned_on(runs, tmp_path):
    loaded = [load_run(folder) for folder in runs.values()]
    failed = [r for r in loaded[1].records.values() if r["status"] == "failure"]
    found = audits(loaded, WorldShelf(), limit=3)
    assert len(found) == min(3, len(failed) + sum(r["status"] == "failure" for r in loaded[2].records.values() if deciding(r["agent"])))
    for case in found:
        assert case.sights
        assert all(sight.image.startswith("data:image/jpeg;base64,") for sight in case.sights)
    page = write_report(list(runs.values()), tmp_path / "report.html").read_text()
    assert "What the agent adds" in page
    assert ("What the agent's verifier decided on" in page) == bool(found)


def test_a_wrong_verdict_decides_before_a_right_one():
    def event(outcome, valid, action):
        return {"event": "verification", "stage": 0, "action": action, "outcome": outcome, "valid": valid}

    stages = [{"kind": "exit"}]
    wrong, right = event("REJECT", True, 50), event("REJECT", False, 100)
    assert deciding({"stages": stages, "events": [wrong, right]}) is wrong
    assert deciding({"stages": stages, "events": [right]}) is right
    assert deciding({"stages": stages, "events": []}) is None
