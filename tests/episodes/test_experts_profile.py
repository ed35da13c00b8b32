"""The time law: lengths exact, limits held, symmetric where the question is, for ways of a hair and of a street."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.episodes.experts.profile import STRETCH_PHASES, add_stretch, change_length, knot_speeds, peak_speed, sampled, turned

SPEED, ACCELERATION, JERK, DT = 0.45, 0.25, 0.4, 0.05
speeds = st.floats(0.0, SPEED)
lengths = st.floats(1e-4, 60.0)


def covered_by(before, after, length):
    """Lengths (N + 1,) at every step of a stretch."""
    phases = np.zeros((STRETCH_PHASES, 4))
    count = add_stretch(phases, 0, before, after, length, SPEED, ACCELERATION, JERK)
    return sampled(phases[:count], DT, length)


def slowly(before, after, length, dt=1e-4):
    """The twin: drive a stretch in tiny steps, looking up when to brake; returns its duration and length.

    Speed follows the rule "as hard as the limits allow towards the peak, then towards the end", where the peak is found by trying all.
    """

    def change(v, u):
        run, t, speed, a, way = abs(u - v), 0.0, v, 0.0, 0.0
        sign = np.sign(u - v)
        while run > 1e-12 and sign * (u - speed) > 1e-7:
            # What is left of the change once the acceleration is ramped down from here.
            rest = a * a / (2 * JERK)
            a = min(ACCELERATION, a + JERK * dt) if sign * (u - speed) > rest + a * dt else max(JERK * dt, a - JERK * dt)
            speed += sign * a * dt
            way += speed * dt
            t += dt
        return way, t

    peaks = np.linspace(max(before, after), SPEED, 400)
    fitting = [p for p in peaks if change_length(before, p, ACCELERATION, JERK) + change_length(p, after, ACCELERATION, JERK) <= length + 1e-12]
    peak = fitting[-1]
    (way_up, up), (way_down, down) = change(before, peak), change(peak, after)
    return up + down + max(0.0, length - way_up - way_down) / max(peak, 1e-9)


def derivatives(covered):
    """Speeds, accelerations and jerks of a motion from rest to rest, by finite differences."""
    speed = np.concatenate([[0, 0, 0], np.diff(covered) / DT, [0, 0, 0]])
    return speed, np.diff(speed) / DT, np.diff(speed, 2) / DT**2


@given(lengths)
def test_from_rest_to_rest_every_limit_holds_and_the_length_is_exact(length):
    covered = covered_by(0.0, 0.0, length)
    speed, acceleration, jerk = derivatives(covered)
    assert covered[0] == 0.0
    assert covered[-1] == length
    assert speed.min() >= -1e-9
    assert speed.max() <= SPEED + 1e-9
    assert np.abs(acceleration).max() <= ACCELERATION + 1e-9
    assert np.abs(jerk).max() <= JERK + 1e-8


@given(lengths)
def test_a_stretch_from_rest_to_rest_is_the_same_from_either_end(length):
    phases = np.zeros((STRETCH_PHASES, 4))
    count = add_stretch(phases, 0, 0.0, 0.0, length, SPEED, ACCELERATION, JERK)
    assert np.allclose(phases[:count, 0], phases[:count, 0][::-1], atol=1e-9)


@given(speeds, speeds)
def test_changing_back_takes_as_long_as_changing(a, b):
    assert change_length(a, b, ACCELERATION, JERK) == pytest.approx(change_length(b, a, ACCELERATION, JERK))


@given(st.lists(st.floats(0.01, 5.0), min_size=1, max_size=6), st.data())
def test_speeds_at_knots_can_be_driven_and_none_is_above_its_limit(stretches, data):
    most = np.array([0.0, *(data.draw(st.floats(0.01, SPEED)) for _ in stretches[1:]), 0.0])
    found = knot_speeds(np.array(stretches), most, ACCELERATION, JERK)
    assert (found <= most).all()
    for k, length in enumerate(stretches):
        assert change_length(found[k], found[k + 1], ACCELERATION, JERK) <= length + 1e-9
        assert peak_speed(found[k], found[k + 1], length, SPEED, ACCELERATION, JERK) >= max(found[k], found[k + 1]) - 1e-12


@pytest.mark.parametrize(
    ("length", "seconds"),
    [
        # The whole S-curve to 0.45 m/s takes 0.45 / 0.25 + 0.25 / 0.4 = 2.425 s and 0.545625 m: 10 m leave 8.90875 m at full speed.
        (10.0, 2 * 2.425 + 8.90875 / 0.45),
        # Just long enough for full speed.
        (2 * 0.545625, 2 * 2.425),
        # Too short for full acceleration: four ramps of the cube root of length / 2 / jerk each.
        (0.05, 4 * (0.05 / 2 / 0.4) ** (1 / 3)),
        (1e-4, 4 * (1e-4 / 2 / 0.4) ** (1 / 3)),
    ],
)
def test_golden_durations(length, seconds):
    phases = np.zeros((STRETCH_PHASES, 4))
    count = add_stretch(phases, 0, 0.0, 0.0, length, SPEED, ACCELERATION, JERK)
    assert phases[:count, 0].sum() == pytest.approx(seconds, rel=1e-6)
    assert len(covered_by(0.0, 0.0, length)) == int(np.ceil(seconds / DT - 1e-9)) + 1


@pytest.mark.parametrize(("before", "after", "length"), [(0.0, 0.0, 3.0), (0.0, 0.3, 1.0), (0.2, 0.1, 2.0), (0.45, 0.0, 0.6), (0.1, 0.1, 0.4)])
def test_the_slow_twin_needs_as_long(before, after, length):
    phases = np.zeros((STRETCH_PHASES, 4))
    count = add_stretch(phases, 0, before, after, length, SPEED, ACCELERATION, JERK)
    assert phases[:count, 0].sum() == pytest.approx(slowly(before, after, length), rel=0.02)


@given(st.floats(-np.pi, np.pi))
def test_turns_on_the_spot_hold_their_limits_and_end_at_the_angle(angle):
    angles = turned(angle, 0.8, 0.6, DT)
    rate = np.concatenate([[0.0], np.diff(angles) / DT, [0.0]])
    assert angles[-1] == pytest.approx(angle, abs=1e-12)
    assert np.abs(rate).max() <= 0.8 + 1e-9
    assert np.abs(np.diff(rate)).max() / DT <= 0.6 + 1e-9
    assert (np.sign(rate) * np.sign(angle) >= 0.0).all()


def test_no_turn_takes_no_time():
    assert len(turned(0.0, 0.8, 0.6, DT)) == 1
