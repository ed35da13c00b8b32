"""The axis that tracks share, and what the time line says of each."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.tasks.trajectory import Trajectory
from portico.web.scene import Site, Track, spans
from portico.web.timeline import Axis, events, stretches

FAILED = {"status": "failure", "reason": "fall", "stage_outcomes": [], "labels": []}


def way(times: list[float], **more) -> Trajectory:
    n = len(times)
    columns = {
        "position": np.zeros((n, 3)),
        "yaw_rad": np.zeros(n),
        "time_s": np.array(times),
        "action": np.arange(n, dtype=np.int32),
        "stage": np.zeros(n, np.int32),
        "collided": np.zeros(n, bool),
        "stop_steps": np.zeros(0, np.int32),
        "moved": np.ones(n, bool),
    }
    return Trajectory(**{**columns, **more})


def track(trajectory: Trajectory | None, record: dict | None = None) -> Track:
    return Track(None, record or FAILED, Site(None), None, trajectory, None)  # type: ignore[arg-type]


_TIMES = st.lists(st.floats(0.0, 30.0), min_size=1, max_size=40).map(lambda t: sorted(round(v, 2) for v in t))


@given(st.lists(_TIMES, min_size=1, max_size=4))
def test_going_to_the_place_of_a_state_leads_to_its_moment(all_times):
    tracks = [track(way(times)) for times in all_times]
    axis = Axis.of(tracks)
    for one, times in zip(tracks, all_times, strict=True):
        found = [axis.state(one, place) for place in range(axis.count)]
        assert found == (axis.states(one) or list(range(len(times))))
        assert found == sorted(found)
        for state in range(len(times)):
            reached = axis.state(one, axis.place(one, state))
            assert times[reached] == pytest.approx(times[state])
            assert reached >= state


def test_one_track_is_stepped_state_by_state_even_when_no_time_passes():
    one = track(way([0.0, 0.0, 0.5, 0.5]))
    axis = Axis.of([one])
    assert (axis.count, axis.moments_s) == (4, None)
    assert [axis.state(one, p) for p in range(4)] == [0, 1, 2, 3]


def test_a_track_that_is_over_stays_where_it_ended():
    short, long = track(way([0.0, 1.0])), track(way([0.0, 1.0, 2.0, 3.0]))
    axis = Axis.of([short, long])
    assert axis.states(short) == [0, 1, 1, 1]


def test_very_long_tracks_are_thinned_but_reach_both_ends():
    long, other = track(way(list(np.arange(9000) * 0.1))), track(way([0.0, 5.0]))
    axis = Axis.of([long, other])
    assert axis.count <= 4000
    assert (axis.state(long, 0), axis.state(long, axis.count - 1)) == (0, 8999)


def test_nothing_recorded_is_an_axis_of_one_place():
    assert Axis.of([track(None)]).count == 1
    assert events(track(None)) == []
    assert [Axis.of([track(way([0.0, 1.0]))]).clipped(text) for text in ("1", "-3", "99", "x", "")] == [1, 0, 1, 0, 0]


def test_events_come_in_order_and_in_words():
    contacts = np.zeros(12, bool)
    contacts[[2, 3, 8]] = True
    fallen = np.zeros(12, bool)
    fallen[10:] = True
    record = {
        **FAILED,
        "stage_outcomes": [
            {"kind": "exit", "outcome": "success", "start": 0, "end": 5, "stop": 5},
            {"kind": "outdoor", "outcome": "failure", "start": 5, "end": 11, "stop": None},
            {"kind": "entrance", "outcome": "not_attempted", "start": None, "end": None, "stop": None},
        ],
        "labels": [{"label": "blocked_progress", "steps": [6, 9], "text": ""}],
    }
    one = track(
        way([0.5 * k for k in range(12)], collided=contacts, fallen=fallen, stop_steps=np.array([5], np.int32), tilt_rad=np.full((12, 2), np.deg2rad(36.0))),
        record,
    )
    said = [(e.kind, e.first, e.words) for e in events(one)]
    assert said == [
        ("contact", 2, "contact for 1.0 s"),
        ("stop", 5, "STOP declared: exit confirmed"),
        ("stage", 5, "outdoor begins"),
        ("label", 6, "turned on the spot, blocked"),
        ("contact", 8, "contact"),
        ("fall", 10, "fell over, leaning 49°"),
        ("end", 11, "end: fell over"),
    ]
    assert [(s.kind, s.first, s.last) for s in stretches(one)] == [("exit", 0, 5), ("outdoor", 5, 11)]


def test_a_stop_that_did_not_count_says_so():
    record = {**FAILED, "stage_outcomes": [{"kind": "exit", "outcome": "failure", "start": 0, "end": 1, "stop": 1}]}
    said = [e for e in events(track(way([0.0, 1.0], stop_steps=np.array([1], np.int32)), record)) if e.kind == "stop"]
    assert [(e.words, e.style) for e in said] == [("STOP declared: exit not confirmed", "bad")]


@given(st.lists(st.booleans(), max_size=30), st.integers(0, 3))
def test_stretches_cover_what_is_true_and_begin_and_end_with_it(mask, gap):
    found = list(spans(np.array(mask, bool), gap))
    covered = {k for first, last in found for k in range(first, last + 1)}
    assert {k for k, true in enumerate(mask) if true} <= covered
    assert all(mask[first] and mask[last] for first, last in found)
    assert all(b[0] - a[1] > gap + 1 for a, b in pairwise(found))


def test_labels_beyond_the_recorded_states_end_with_them():
    record = {**FAILED, "labels": [{"label": "never_left", "steps": [0, 500], "text": ""}]}
    one = track(way([0.0, 1.0]), record)
    assert [(e.first, e.last) for e in events(one) if e.kind == "label"] == [(0, 1)]
    assert replace(one, record={**record, "labels": [{"label": "never_left"}]}).record["labels"]
    assert [e.kind for e in events(replace(one, record={**record, "labels": [{"label": "never_left"}]}))] == ["end"]
