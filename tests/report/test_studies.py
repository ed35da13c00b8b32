"""NavVerse's tables against figures counted by hand, and the runs that do not belong in one table."""

from __future__ import annotations

import pytest
import typer
from study_samples import QUESTIONS, study_run
from typer.testing import CliRunner

from portico.cli.tables import tables
from portico.errors import SuiteError, UnknownName
from portico.evaluate.intervals import wilson
from portico.report import write_report
from portico.report.studies import STUDIES
from portico.report.studies.cases import cases

WON = dict.fromkeys(QUESTIONS, ("success", 1.0, 1.0, 1.0))


@pytest.fixture
def run(tmp_path):
    return study_run(tmp_path / "mine", "mine")


def texts(table, row=0):
    return [cell.text for cell in table.grid.rows[row].cells]


def notes(table, row=0):
    return [cell.note for cell in table.grid.rows[row].cells]


def test_every_planned_episode_is_a_case(run):
    found = {case.key.episode: case for case in cases(run)}
    assert set(found) == set(QUESTIONS)
    assert [found[n].scored for n in ("place-out-0", "object-in-0", "object-in-1")] == [True, False, False]
    assert found["object-in-0"].scene == "indoor", "an error keeps its scene"


def test_success_by_scene_counts_what_is_missing(run):
    place, thing = sorted(STUDIES["scenes"].tables([run]), key=lambda t: "object" in t.title)
    assert place.grid.heads == ["outdoor", "indoor to outdoor", "all"]
    assert texts(place) == ["50 %", "25 %", "33 %"]
    assert notes(place) == ["SPL 40 %, n 2", "SPL 20 %, n 4", "SPL 27 %, n 6"]
    low, high = wilson(1, 4)
    assert (place.grid.rows[0].cells[1].low, place.grid.rows[0].cells[1].high) == (low, high)
    assert thing.grid.heads == ["indoor", "all"]
    assert texts(thing) == ["–", "–"]
    assert notes(thing)[0].endswith("0 of 2 scored, 1 error, 1 not run")


def test_the_way_out(run):
    (table,) = STUDIES["transition"].tables([run])
    assert table.grid.heads == ["task", "never out", "CE before", "CE after", "wrong goal", "fall", "timeout", "other"]
    assert texts(table) == ["place", "25 %", "1.20 1/m", "0.60 1/m", "50 %", "50 %", "0 %", "0 %"]
    assert notes(table)[1] == "1 of 4"
    assert notes(table)[4] == "1 of 2", "of the failures of those who got out"


def test_endings_are_shares_of_failures_by_scene(run):
    by_title = {table.title: table for table in STUDIES["terminations"].tables([run])}
    assert list(by_title) == [f"How episodes ended: {s}" for s in ("indoor", "outdoor", "indoor to outdoor")]
    hybrid = by_title["How episodes ended: indoor to outdoor"]
    assert texts(hybrid) == ["place", "25 %", "33 %", "33 %", "33 %", "0 %"]
    assert texts(by_title["How episodes ended: indoor"]) == ["object", "–", "–", "–", "–", "–"]


def test_other_reasons_are_named(tmp_path):
    odd = study_run(tmp_path / "odd", "odd", changed={"place-out-1": ("budget_exhausted", None, None, None)})
    outdoor = STUDIES["terminations"].tables([odd])[1]
    assert texts(outdoor)[-1] == "100 %"
    assert notes(outdoor)[-1] == "actions used up 1"


def test_thirds_of_length_are_of_the_questions_asked(run):
    place = next(table for table in STUDIES["difficulty"].tables([run]) if table.title.endswith("place"))
    # 8, 14, 20, 30, 40, 48: a third lies at 18, two thirds at 33.33.
    assert place.notes == ("easy up to 18.00 m, hard beyond 33.33 m, of 6 questions",)
    assert texts(place) == ["100 %", "0 %", "0 %"]
    assert [note.split(", ")[1] for note in notes(place)] == ["n 2", "n 2", "n 2"]


def test_safety(run):
    whole = STUDIES["safety"].tables([run])[0]
    assert texts(whole) == ["17 %", "1.50 m", "90 %", "1.10 1/m", "6 of 8 scored, 1 error, 1 not run"]


def test_feasibility_is_of_the_episodes_that_every_run_scored(tmp_path, run):
    goal = study_run(tmp_path / "goal", "privileged/oracle-goal", changed={"place-out-0": ("error", None, None, None), "place-out-1": WON["place-out-1"]})
    way = study_run(tmp_path / "way", "privileged/oracle-trajectory", changed=WON)
    place = next(t for t in STUDIES["feasibility"].tables([way, goal, run]) if t.title == "Feasibility: place")
    assert [row.title for row in place.grid.rows] == ["no oracle", "oracle goal", "oracle trajectory"]
    assert place.notes == ("5 of 6 planned episodes, those that every run scored",)
    assert [texts(place, k)[0] for k in range(3)] == ["0 %", "100 %", "100 %"]
    assert [texts(place, k)[-1] for k in range(3)] == ["20 %", "40 %", "100 %"]
    assert "privileged" in place.grid.rows[2].note


def test_a_feasibility_study_without_an_oracle_is_refused(run):
    with pytest.raises(SuiteError, match="needs an oracle"):
        STUDIES["feasibility"].tables([run])


def test_instructions(tmp_path, run):
    route = study_run(tmp_path / "route", "mine", suite={"instructions": "route"}, changed={"place-i2o-1": WON["place-i2o-1"]})
    (table,) = STUDIES["instructions"].tables([route, run])
    assert [texts(table, k)[0] for k in range(2)] == ["category", "route"]
    assert [texts(table, k)[2] for k in range(2)] == ["25 %", "50 %"]
    with pytest.raises(SuiteError, match="suite instructions: 'route' against 'category'"):
        STUDIES["scenes"].tables([route, run])


def test_bodies_and_ground(tmp_path):
    physics = {"motion": "physics", "asked_of": {"embodiment": "spot", "motion": "kinematic", "friction": 1.0}}
    runs = [
        study_run(tmp_path / "dry", "privileged/oracle-trajectory", changed=WON, suite={**physics, "friction": 1.0}),
        study_run(tmp_path / "wet", "privileged/oracle-trajectory", suite={**physics, "friction": 0.3}),
    ]
    (table,) = STUDIES["embodiment"].tables(runs)
    assert [texts(table, k)[:3] for k in range(2)] == [["physics", "1", "100 %"], ["physics", "0.3", "33 %"]]
    assert texts(table, 1)[4] == "17 %", "one fall of six"
    assert texts(table, 0)[7] == "0.50 m/s"
    assert [texts(table, k)[8] for k in range(2)] == ["–", "curb 1"], "the fall ended at a curb, the rest on no surface that is known"
    assert not any("do not ask the same" in note for note in table.notes)


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ({"seed": 9}, "suite seed: none against 9"),
        ({"budget": {"max_actions": 3}}, "budget max_actions"),
        ({"navverse": {"tolerance_m": 1.0}}, "suite navverse"),
    ],
)
def test_unlike_runs_are_refused_with_the_key(tmp_path, run, suite, words):
    other = study_run(tmp_path / "other", "other", suite=suite)
    for name in ("scenes", "transition", "terminations", "difficulty", "safety"):
        with pytest.raises(SuiteError, match=words):
            STUDIES[name].tables([run, other])


@pytest.fixture
def command():
    app = typer.Typer()
    app.command("tables")(tables)
    app.command("other")(lambda: None)
    return lambda *words: CliRunner().invoke(app, ["tables", *map(str, words)])


def test_the_command_prints_one_study_or_all_that_apply(run, command):
    one = command(run.folder, "--table", "difficulty")
    assert one.exit_code == 0
    assert "hard beyond 33.33 m" in one.output
    assert "never out" not in one.output
    every = command(run.folder.parent)
    for words in ("Success by scene: place", "never out", "How episodes ended: outdoor", "Safety and coverage: all tasks"):
        assert words in every.output
    assert "1 of 8 episodes not run yet" in every.output
    assert "1 error, in no mean" in every.output
    assert "Feasibility" not in every.output


def test_no_column_falls_off_the_page(tmp_path, command):
    physics = {"motion": "physics", "asked_of": {"embodiment": "spot", "motion": "kinematic", "friction": 1.0}}
    for name, friction in (("dry", 1.0), ("wet", 0.3)):
        study_run(tmp_path / name, "privileged/oracle-trajectory", suite={**physics, "friction": friction})
    said = command(tmp_path / "dry", tmp_path / "wet", "--table", "embodiment").output
    assert said.count("0.50 m/s") == 2
    way_out = command(tmp_path / "dry", "--table", "transition", "--table", "safety").output
    assert " other" in way_out
    assert "6 of 8 scored" in way_out


def test_a_misspelt_table_offers_the_closest(run, command):
    result = command(run.folder, "--table", "transitions")
    assert isinstance(result.exception, UnknownName)
    assert "transition" in str(result.exception)


def test_the_page_holds_the_same_tables(run, tmp_path):
    other = study_run(tmp_path / "other", "other", changed=WON, suite={"seed": 9})
    page = write_report([run.folder], tmp_path / "page.html").read_text(encoding="utf-8")
    for words in ("Success by scene: place", "How episodes ended: outdoor", "easy up to 18.00 m"):
        assert words in page
    both = write_report([run.folder, other.folder], tmp_path / "both.html").read_text(encoding="utf-8")
    assert "suite seed: none against 9" in both
