"""The page: parses, stands alone, says what must be said, and survives what is missing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_samples import WALKS, saved_corner, write_run

from portico.errors import StorageError, SuiteError
from portico.report import ReportOptions, write_report
from portico.report.cards import choose
from portico.report.runs import find_runs, load_run

VOID = {"meta", "img", "br", "input", "link", "hr"}


class Page(HTMLParser):
    """Checks nesting and collects text, tags and links."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def cards(self) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == "article"]


def page_of(*folders: Path, out: Path, options: ReportOptions | None = None) -> Page:
    source = write_report(list(folders), out, options).read_text(encoding="utf-8")
    page = Page(source)
    for _, attrs in page.tags:
        for name in ("href", "src", "xlink:href", "action"):
            assert (attrs.get(name) or "#").startswith(("#", "data:")), attrs
    bare = re.sub(r"data:[a-z/]+;base64,[A-Za-z0-9+/=]+", "", source)
    assert "http://" not in bare
    assert "https://" not in bare
    assert "@import" not in bare
    assert not re.search(r"\b(nan|NaN|inf|Infinity|None|undefined)\b", page.text)
    assert not [a for _, attrs in page.tags for a in attrs.values() if re.search(r"\bnan\b", a or "") and not (a or "").startswith("data:")]
    ids = [attrs["id"] for _, attrs in page.tags if attrs.get("id")]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for t, a in page.tags if t == "use" and a.get("href")} <= set(ids)
    return page


@pytest.fixture(scope="module")
def both(corner_runs, tmp_path_factory) -> tuple[Page, Path]:
    out = tmp_path_factory.mktemp("page") / "report.html"
    return page_of(corner_runs.chain, corner_runs.oracle, out=out), out


def test_policies_stamps_and_counts(both) -> None:
    page, _ = both
    assert "chain 10 of 11 episodes scored 1 error, in no mean" in page.text
    assert "privileged/oracle-trajectory 11 of 11 episodes scored *privileged: oracle" in page.text
    assert "Questions at a street corner." in page.text
    assert "25 % [5, 70] n 4" in page.text


def test_failures_come_first_with_reasons(both) -> None:
    page, _ = both
    states = [card["data-status"] for card in page.cards()]
    assert states == sorted(states, key=["failure", "error", "success"].index)
    assert len(states) == 22
    for sentence in (
        "Stopped inside: 2.3 m before the door",
        "Never left the building: 120 actions spent, 120 of them turning",
        "Stopped in the wrong building: Maple House instead of Corner Cafe",
        "Error in the policy, not counted as a failure: ValueError: no depth",
    ):
        assert sentence in page.text


def test_backgrounds_are_shared(both) -> None:
    page, _ = both
    images = [attrs for tag, attrs in page.tags if tag == "image"]
    assert [attrs["id"] for attrs in images] == ["ground-0", "ground-1"]
    assert len([1 for tag, attrs in page.tags if tag == "use" and (attrs.get("href") or "").startswith("#ground-")]) >= 20


def test_the_last_sight_of_failures_is_drawn_again(both, corner_runs, tmp_path) -> None:
    page, _ = both
    frames = [attrs for tag, attrs in page.tags if tag == "img"]
    assert len(frames) == 10
    fewer = page_of(corner_runs.chain, out=tmp_path / "r.html", options=ReportOptions(frames=3))
    assert len([1 for tag, _ in fewer.tags if tag == "img"]) == 3


def test_definitions_worlds_and_versions(both, corner_runs) -> None:
    page, _ = both
    assert "spl@1" in page.text
    assert "made for tests, CC0-1.0, nobody" in page.text
    assert corner_runs.world.manifest.content_hash in page.text
    assert "numpy 2.4.0" in page.text


def test_small_and_the_same_every_time(both, corner_runs, tmp_path) -> None:
    _, out = both
    assert out.stat().st_size < 1_000_000
    again = write_report([corner_runs.chain, corner_runs.oracle], tmp_path / "again.html")
    assert again.read_bytes() == out.read_bytes()


def test_limited_cards_say_what_is_left_out(corner_runs, tmp_path) -> None:
    page = page_of(corner_runs.chain, corner_runs.oracle, out=tmp_path / "r.html", options=ReportOptions(maps=5, frames=0))
    assert len(page.cards()) == 5
    assert "5 of 22 episodes are shown; left out: 5 failures, 1 error, 11 successes. Show all: portico report RUN --maps 22" in page.text


def test_cards_take_turns_over_tasks_and_policies(corner_runs) -> None:
    runs = [load_run(corner_runs.chain), load_run(corner_runs.oracle)]
    chosen, _ = choose(runs, 6)
    assert [(c.record["task"], c.policy) for c in chosen] == [("exit", 0), ("outdoor", 0), ("outdoor", 1), ("entrance", 0), ("ovon", 0), ("i2o2i", 0)]


def test_default_place_and_read_only_target(corner_runs, tmp_path) -> None:
    run = shutil.copytree(corner_runs.oracle, tmp_path / "run")
    assert write_report([run]) == run / "report.html"
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="could not be written"):
        write_report([run], tmp_path / "file" / "report.html")
    assert not list(tmp_path.glob(".report*"))


def test_a_world_that_moved(corner_runs, tmp_path) -> None:
    run = shutil.copytree(corner_runs.chain, tmp_path / "run")
    moved = shutil.copytree(corner_runs.world_folder, tmp_path / "elsewhere" / "renamed")
    header = json.loads((run / "run.json").read_text())
    header["worlds"]["corner"]["folder"] = str(tmp_path / "gone")
    (run / "run.json").write_text(json.dumps(header))
    bare = page_of(run, out=tmp_path / "bare.html")
    assert "World corner is not shown" in bare.text
    assert "Point --worlds at its folder" in bare.text
    assert not [1 for tag, _ in bare.tags if tag in ("image", "img")]
    assert "Declared the exit, but was not outdoors where people may walk" in bare.text
    for override in (moved, moved.parent):
        full = page_of(run, out=tmp_path / "full.html", options=ReportOptions(worlds=override))
        assert "is not shown" not in full.text
        assert [1 for tag, _ in full.tags if tag == "image"]


def test_another_world_of_the_same_name_is_not_used(corner_runs, tmp_path) -> None:
    run = shutil.copytree(corner_runs.oracle, tmp_path / "run")
    header = json.loads((run / "run.json").read_text())
    header["worlds"]["corner"]["hash"] = "0" * 64
    (run / "run.json").write_text(json.dumps(header))
    page = page_of(run, out=tmp_path / "r.html")
    assert "has another hash than the one that was run" in page.text
    assert not [1 for tag, _ in page.tags if tag == "image"]


def test_lost_trajectories_and_episodes(corner_runs, tmp_path) -> None:
    run = shutil.copytree(corner_runs.oracle, tmp_path / "run")
    for path in (run / "trajectories").iterdir():
        path.write_bytes(b"torn")
    assert "the trajectory of this episode is gone" in page_of(run, out=tmp_path / "a.html").text
    (run / "episodes" / "corner.json").unlink()
    assert "the run's episode file is gone, so there is no map" in page_of(run, out=tmp_path / "b.html").text


@pytest.mark.parametrize("walks", [{}, {"exit-0": None, "i2o2i-1": None}], ids=["no records", "errors only"])
def test_runs_without_anything_scored(walks, tmp_path) -> None:
    world = saved_corner(tmp_path / "world")
    run = write_run(tmp_path / "run", world, tmp_path / "world", "stop", walks, partial=True)
    page = page_of(run, out=tmp_path / "r.html")
    assert "0 of 11 episodes scored" in page.text
    assert "partial: only some of the suite's episodes were asked" in page.text
    assert "Nothing was scored." in page.text


def test_unlike_runs_carry_a_warning(corner_runs, tmp_path) -> None:
    run = shutil.copytree(corner_runs.oracle, tmp_path / "run")
    header = json.loads((run / "run.json").read_text())
    header["suite"]["budget"]["max_actions"] = 100
    (run / "run.json").write_text(json.dumps(header))
    page = page_of(corner_runs.chain, run, out=tmp_path / "r.html")
    assert "were not asked the same: budget max_actions: 400 against 100. Do not compare their figures." in page.text


def test_the_head_says_how_the_robot_moved(corner_runs, tmp_path) -> None:
    assert "motion kinematic" in page_of(corner_runs.chain, out=tmp_path / "before.html").text
    run = shutil.copytree(corner_runs.chain, tmp_path / "wet")
    header = json.loads((run / "run.json").read_text())
    header["suite"] |= {"motion": "physics", "friction": 0.5}
    (run / "run.json").write_text(json.dumps(header))
    assert "motion physics, friction x 0.5" in page_of(run, out=tmp_path / "after.html").text


def test_markup_in_names_stays_text(tmp_path) -> None:
    world = saved_corner(tmp_path / "world")
    run = write_run(tmp_path / "run", world, tmp_path / "world", '<script>alert("x")</script>', {"exit-1": WALKS["exit-1"]})
    page = page_of(run, out=tmp_path / "r.html")
    assert '<script>alert("x")</script>' in page.text
    assert len([1 for tag, _ in page.tags if tag == "script"]) == 1


def test_missing_and_wrong_folders(corner_runs, tmp_path) -> None:
    with pytest.raises(SuiteError, match="no such run folder"):
        write_report([tmp_path / "nowhere"])
    with pytest.raises(SuiteError, match="holds no run"):
        load_run(tmp_path)
    with pytest.raises(SuiteError, match="it holds the runs chain, oracle"):
        load_run(corner_runs.chain.parent)
    with pytest.raises(SuiteError, match="no run to report on"):
        write_report([])
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(SuiteError, match="header is damaged"):
        load_run(tmp_path)
    (tmp_path / "run.json").write_text('{"policy": "x"}')
    with pytest.raises(SuiteError, match="it lacks planned, suite, worlds"):
        load_run(tmp_path)


def test_a_folder_of_runs_stands_for_them(corner_runs) -> None:
    assert find_runs([corner_runs.chain.parent]) == [corner_runs.chain, corner_runs.oracle]
    assert find_runs([corner_runs.chain, corner_runs.chain.parent]) == [corner_runs.chain, corner_runs.oracle]


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_filters_work_in_a_browser(both, tmp_path) -> None:
    _, out = both
    probe = tmp_path / "probe.html"
    script = (
        "<script>const pick=(n,v)=>{const s=document.querySelector(`[data-filter=${n}]`);s.value=v;s.dispatchEvent(new Event('change',{bubbles:true}))};"
        "pick('status','failure');pick('policy','0');document.title=document.querySelector('output').textContent</script></body>"
    )
    probe.write_text(out.read_text(encoding="utf-8").replace("</body>", script), encoding="utf-8")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    result = subprocess.run(
        ["chromium", *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"file://{probe}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "<title>9 of 22 shown</title>" in result.stdout
