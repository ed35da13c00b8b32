"""Where things land on a map: golden pixels, windows, levels and marks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import WALKS, corner, episodes, oracle_walks, scored, trajectory

from portico.evaluate.records import Key
from portico.render import MapFrame
from portico.report.panels import Background, Visit, draw_background, draw_panel, joined, visited_levels, widened, window
from portico.tasks.annotations import Annotations

WORLD = corner()
ANNOTATIONS = Annotations(WORLD.semantics)
EPISODES = {e.id: e for e in episodes()}
#: 10 pixels a metre; column 0 at x = -10, row 0 at y = 12.
FRAME = MapFrame(-10.0, 12.0, 10.0, 500, 380, 0)
PAPER = Background("ground-0", FRAME, "data:")


def visit_of(name: str, walks=WALKS) -> Visit:
    episode = EPISODES[name]
    record, path = scored(Key("s", "eval", "corner", name), episode, "p", trajectory(walks[name], episode), WORLD, [])
    return Visit(episode, path, ANNOTATIONS, record["status"] == "success")


def points_of(data: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", data)]


def test_known_points_land_on_known_pixels() -> None:
    panel = draw_panel(visit_of("exit-1"), 0, PAPER)
    start = next(m for m in panel.marks if m.kind == "start")
    end = next(m for m in panel.marks if m.kind == "end-bad")
    assert (start.x, start.y) == (150.0, 70.0)
    assert (end.x, end.y) == (146.0, 97.0)
    assert start.turn_deg == pytest.approx(90.0, abs=0.1)
    way = next(line for line in panel.lines if line.style == "way exit")
    assert points_of(way.data)[0] == (150.0, 70.0)
    assert points_of(way.data)[-1] == (146.0, 97.0)
    door = next(m for m in panel.marks if m.kind == "goal exit")
    assert (door.x, door.y) == (146.0, 120.0)
    assert door.title == "way out of Maple House"


def test_a_way_is_coloured_by_stage_and_stays_whole() -> None:
    panel = draw_panel(visit_of("i2o2i-0"), 0, PAPER)
    ways = {line.style: points_of(line.data) for line in panel.lines if line.style.startswith("way")}
    assert list(ways) == ["way exit", "way outdoor", "way entrance"]
    assert ways["way exit"][-1] == ways["way outdoor"][0]
    assert ways["way outdoor"][-1] == ways["way entrance"][0]
    assert [m.kind for m in panel.marks if m.kind in ("declared", "end-bad", "end-good")] == ["declared", "end-bad"]


def test_two_floors_make_two_panels() -> None:
    visit = visit_of("exit-3", oracle_walks())
    assert visited_levels(visit) == [1, 0]
    upper, lower = (draw_panel(visit, level, PAPER) for level in (1, 0))
    assert [m.kind for m in upper.marks if m.kind == "start"] == ["start"]
    assert not [m for m in upper.marks if m.kind == "end-good"]
    assert [m.kind for m in lower.marks if m.kind == "end-good"] == ["end-good"]


def test_contacts_in_one_place_are_marked_once() -> None:
    panel = draw_panel(visit_of("outdoor-0"), 0, PAPER)
    contacts = [m for m in panel.marks if m.kind == "contact"]
    assert [m.title for m in contacts] == ["contact at action 20", "contact at action 34"]


def test_the_window_shows_everything_and_has_the_shape_of_a_card() -> None:
    visit = visit_of("outdoor-0")
    west, south, east, north = window(visit, 0)
    assert (east - west) / (north - south) == pytest.approx(4.0 / 3.0)
    inside = visit.trajectory.position[:, :2]
    assert (inside > [west, south]).all()
    assert (inside < [east, north]).all()
    assert west < 23.0 < east
    assert window(visit, 5) is None


def test_widened_windows_suit_a_card_with_one_panel() -> None:
    west, south, east, north = widened((0.0, 0.0, 4.0, 3.0))
    assert (east - west) / (north - south) == pytest.approx(2.4)
    assert widened((0.0, 0.0, 9.0, 3.0)) == (0.0, 0.0, 9.0, 3.0)
    assert joined([(0.0, 1.0, 2.0, 3.0), (-1.0, 2.0, 1.0, 4.0)]) == (-1.0, 1.0, 2.0, 4.0)


@given(st.floats(0.5, 300.0), st.floats(0.5, 300.0), st.floats(1e4, 5e6))
def test_a_background_keeps_its_pixel_budget(width: float, height: float, pixels: float) -> None:
    frame = draw_background(None, 0, (0.0, 0.0, width, height), pixels, "g").frame
    assert (frame.width - 1) * (frame.height - 1) <= max(pixels, 64 * 64)
    assert frame.to_pixels([[0.0, height]])[0] == pytest.approx([0.0, 0.0])


def test_a_background_is_drawn_where_there_is_a_world() -> None:
    ground = draw_background(WORLD, 0, (-2.0, -6.0, 14.0, 10.0), 40_000, "ground-3")
    assert ground.href.startswith("data:image/jpeg;base64,")
    assert ground.frame.bounds == pytest.approx((-2.0, -6.0, 14.0, 10.0), abs=0.2)


def test_without_a_trajectory_the_question_is_still_drawn() -> None:
    panel = draw_panel(Visit(EPISODES["exit-0"], None, None, False), 0, PAPER)
    assert [m.kind for m in panel.marks] == ["start"]
    assert {line.style for line in panel.lines} == {"under", "reference"}


def test_the_scale_bar_is_round_and_fits() -> None:
    panel = draw_panel(visit_of("i2o2i-0"), 0, PAPER)
    assert panel.bar_m in (1.0, 2.0, 5.0, 10.0)
    assert panel.bar_m * panel.metre <= panel.width / 4
    assert np.isfinite([panel.x, panel.y, panel.width, panel.height]).all()
