"""The pages in a real Chromium: what people press, what they see, with and without scripts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest
from browser import CHROMIUM, Browser, browser
from conftest import Corner

from portico.web import ViewServer, serve_runs

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

ONE = "corner--outdoor-0--0"
_SEEN = "[...document.querySelectorAll('.screen')].every((s) => s.classList.contains('seen'))"

_ROBOT = "document.querySelector('.robot').getAttribute('transform').match(/-?[\\d.]+/g).map(Number)"


@pytest.fixture(scope="module")
def server(corner: Corner) -> Iterator[ViewServer]:
    with serve_runs([corner.runs]) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as tab:
        yield tab


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Browser]:
    chromium.size(1400, 900)
    chromium.scripts(True)
    chromium.errors.clear()
    chromium.requests.clear()
    yield chromium
    assert chromium.errors == []


def step(tab: Browser) -> int:
    return int(tab.run("document.getElementById('scrub').value"))


def test_choosing_a_filter_narrows_the_table_and_its_address(tab, server):
    tab.open(server.url)
    assert tab.run("document.querySelectorAll('#rows tbody tr').length") == 22
    tab.run("(() => { const s = document.querySelector('select[name=run]'); s.value = 'chain'; s.dispatchEvent(new Event('change', {bubbles: true})); })()")
    tab.until("location.search === '?run=chain' && document.readyState === 'complete'")
    assert tab.run("document.querySelectorAll('#rows tbody tr').length") == 11
    tab.run("document.querySelector('th.c-steps a').click()")
    tab.until("location.search === '?run=chain&sort=steps' && document.readyState === 'complete'")
    steps = tab.run("[...document.querySelectorAll('td.c-steps')].map((c) => c.textContent)")
    known = [int(text) for text in steps if text != "–"]
    assert known == sorted(known)
    assert steps[-1] == "–"


def test_keys_move_map_camera_and_address_together(tab, server):
    tab.open(f"{server.url}e/chain/{ONE}?step=10")
    tab.until(_SEEN)
    before = tab.run("[document.querySelector('.robot').getAttribute('transform'), document.querySelector('.screen img').src]")
    tab.press("ArrowRight")
    assert step(tab) == 11
    tab.press("ArrowRight", shift=True)
    assert step(tab) == 21
    tab.press("ArrowLeft")
    tab.until("location.search.includes('step=20')")
    tab.until("document.querySelector('.screen img').src.endsWith('/20.jpg?' + JSON.parse(document.getElementById('tracks').textContent).tracks[0].asked)")
    after = tab.run("[document.querySelector('.robot').getAttribute('transform'), document.querySelector('.screen img').src]")
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert tab.run("document.querySelector('.sight output').textContent").startswith("10.0 s · action 20 of")
    tab.press("End")
    last = step(tab)
    tab.press("Home")
    assert (step(tab), last) == (0, int(tab.run("document.getElementById('scrub').max")))
    tab.press("]")
    assert tab.run("[...document.querySelectorAll('.line [data-place]')].map((a) => Number(a.dataset.place))").count(step(tab)) > 0


def test_a_link_to_a_step_shows_what_the_script_shows_there(tab, server):
    tab.open(f"{server.url}e/chain/{ONE}?step=0")
    for _ in range(3):
        tab.press("ArrowRight", shift=True)
    moved, said = tab.run(_ROBOT), tab.run("document.querySelector('.sight output').textContent")
    tab.open(f"{server.url}e/chain/{ONE}?step=30")
    assert tab.run("document.querySelector('.sight output').textContent") == said
    assert tab.run(_ROBOT) == pytest.approx(moved, abs=0.2)


def test_space_plays_to_the_end_and_the_time_line_can_be_dragged(tab, server):
    tab.open(f"{server.url}e/chain/{ONE}")
    tab.run("document.getElementById('speed').value = '20'")
    tab.press(" ", code="Space")
    tab.until("document.getElementById('play').getAttribute('aria-label') === 'pause'")
    tab.until("document.getElementById('scrub').value === document.getElementById('scrub').max")
    tab.until("document.getElementById('play').getAttribute('aria-label') === 'play'")
    box = tab.run("(() => { const b = document.querySelector('.lines').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
    tab.click(box[0] + 0.25 * box[2], box[1] + 20)
    assert abs(step(tab) - 0.25 * int(tab.run("document.getElementById('scrub').max"))) <= 1


def test_several_policies_move_at_the_same_time(tab, server):
    tab.open(f"{server.url}e/chain/{ONE}?with=oracle&step=0")
    tab.until(_SEEN)
    tab.press("ArrowRight", shift=True)
    said = tab.run("[...document.querySelectorAll('.sight output')].map((o) => o.textContent.split(' · ')[0])")
    assert len(said) == 2
    assert len(set(said)) == 1
    assert tab.run("document.querySelectorAll('.ground .robot').length") == 2


def test_the_map_follows_the_robot_to_other_floors(tab, server):
    tab.open(f"{server.url}e/oracle/corner--exit-3--0?step=0")
    shown = "document.querySelector('.map:not([hidden])').dataset.level"
    assert tab.run(shown) == "1"
    tab.press("End")
    assert tab.run(shown) == "0"
    tab.run("document.querySelector('.levels a[data-level=\"1\"]').click()")
    assert tab.run(shown) == "1"


def test_n_and_p_turn_the_pages_of_the_filtered_table(tab, server):
    tab.open(f"{server.url}e/chain/corner--exit-0--0?run=chain&task=exit")
    tab.press("n")
    tab.until("location.pathname.endsWith('corner--exit-1--0') && location.search.includes('task=exit') && document.readyState === 'complete'")
    tab.press("p")
    tab.until("location.pathname.endsWith('corner--exit-0--0') && document.readyState === 'complete'")
    assert tab.run("document.getElementById('before')") is None


def test_everything_but_scrubbing_works_without_scripts(tab, server):
    tab.scripts(False)
    tab.open(f"{server.url}?run=chain")
    assert tab.run("getComputedStyle(document.querySelector('.filters button')).position") == "static"
    tab.open(f"{server.url}e/chain/{ONE}?step=7")
    assert "step 7 of" in tab.run("document.querySelector('.steps').innerText")
    tab.run("document.querySelector('.steps a:nth-of-type(4)').click()")
    tab.until("location.search.includes('step=8') && document.readyState === 'complete'")
    assert "8.jpg" in tab.run("document.querySelector('.screen img').src")
    tab.until("document.querySelector('.screen img').naturalWidth === 640")


@pytest.mark.parametrize("width", [480, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_and_name_what_can_be_pressed(tab, server, width, dark):
    tab.size(width, 900, dark=dark)
    for address in ("", "?by=question", f"e/chain/{ONE}", f"e/chain/{ONE}?with=oracle", "e/chain/corner--i2o2i-1--0"):
        tab.open(server.url + address)
        assert tab.run("document.documentElement.scrollWidth <= innerWidth"), address
        nameless = tab.run(
            "[...document.querySelectorAll('a, button, input:not([type=hidden]), select, img')].filter((e) => !(e.textContent.trim() || e.ariaLabel || e.alt || "
            "e.labels?.length)).map((e) => e.outerHTML)"
        )
        assert nameless == []
        assert _weakest_contrast(tab) >= 4.5
    assert all(url.startswith((server.url, "data:")) for url in tab.requests)


def _weakest_contrast(tab: Browser) -> float:
    """The least contrast between a text and the first ground behind it that has a colour, by WCAG's formula."""
    return float(
        tab.run("""(() => {
        const rgb = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
        const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
        let least = 99;
        for (const e of document.querySelectorAll('main *, header *')) {
          if (e.closest('svg, noscript, .skip, option') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
          if (!e.offsetParent) continue;
          const style = getComputedStyle(e);
          let under = e, ground = [];
          while (under && !(ground = rgb(getComputedStyle(under).backgroundColor), ground.length && (ground[3] ?? 1) > 0.8)) under = under.parentElement;
          if (!under) ground = rgb(getComputedStyle(document.body).backgroundColor);
          let ink = rgb(style.color);
          if (ink[3] === 0) continue;
          let faded = 1;
          for (let up = e; up; up = up.parentElement) faded *= Number(getComputedStyle(up).opacity);
          ink = ink.slice(0, 3).map((v, i) => v * faded + ground[i] * (1 - faded));
          const [a, b] = [light(ink), light(ground)];
          least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
        }
        return least;
      })()""")
    )


def test_a_run_that_is_being_written_grows_before_ones_eyes(tab, corner, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    file = run / "records" / "rank-00000.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]))
    with serve_runs([run]) as server:
        tab.open(server.url)
        assert tab.run("document.querySelectorAll('#rows tbody tr').length") == 3
        with open(file, "ab") as more:
            more.write(lines[3])
        tab.until("document.querySelectorAll('#rows tbody tr').length === 4")


def test_a_camera_that_cannot_be_drawn_says_so(tab, corner, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    header = json.loads((run / "run.json").read_text())
    header["worlds"]["corner"]["folder"] = str(tmp_path / "gone")
    (run / "run.json").write_text(json.dumps(header))
    with serve_runs([run]) as server:
        tab.open(f"{server.url}e/chain/{ONE}")
        assert "the world is not on disk" in tab.run("document.querySelector('.eyes').innerText")
        tab.press("ArrowRight")
        assert step(tab) == 1
