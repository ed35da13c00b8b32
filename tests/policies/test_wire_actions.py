"""Actions as models return them: numbers of any kind that are numbers, and words about those that are none."""

import json
from dataclasses import astuple

import numpy as np
import pytest

from portico.evaluate.guard import PolicyFault, decide
from portico.geometry import Pose
from portico.interface import Move, PolicySpec, Stop, Velocity, Waypoints
from portico.policies.wires.actions import breach_of, in_floats
from portico.policies.wires.messages import action_data, action_of

FEW = np.float32(0.1)
OF_A_MODEL = [
    Stop(),
    Move("forward", FEW),
    Move("turn_left"),
    Velocity(FEW, np.float16(0.0), np.int64(1), FEW),
    Waypoints((Pose(FEW, np.float64(2.0), np.int32(0), FEW),), "base", FEW),
]


class Answering:
    spec = PolicySpec("answering")

    def __init__(self, action):
        self.action = action

    def act(self, observation):
        return self.action


def numbers_in(value):
    if isinstance(value, tuple):
        return [n for part in value for n in numbers_in(part)]
    return [] if value is None or isinstance(value, str) else [value]


@pytest.mark.parametrize("action", OF_A_MODEL, ids=lambda a: type(a).__name__)
def test_numbers_of_a_models_kind_are_carried_out_in_double_precision(action):
    decided = decide(Answering(action), None)
    assert decided == action
    assert all(isinstance(n, int | float) for n in numbers_in(astuple(decided)))
    assert action_of(json.loads(json.dumps(action_data(action)))) == in_floats(action)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Velocity(np.array([1.0]), 0.0, 0.0, 0.1), "holds array([1.]) of type ndarray, not a number"),
        (Velocity("fast", 0.0, 0.0, 0.1), "holds 'fast' of type str, not a number"),
        (Velocity(None, 0.0, 0.0, 0.1), "holds None of type NoneType, not a number"),
        (Velocity(np.float32("nan"), 0.0, 0.0, 0.1), "Velocity is not finite"),
        (Velocity(10**400, 0.0, 0.0, 0.1), "Velocity is not finite"),
        (Move("forward", np.float32(-1.0)), "not a number above zero"),
        (Waypoints((Pose(np.float32("inf"), 0.0),)), "a pose that is not finite: number 0"),
    ],
)
def test_what_is_no_number_or_has_no_end_is_named(action, said):
    assert said in breach_of(action)
    with pytest.raises(PolicyFault) as fault:
        decide(Answering(action), None)
    assert said in str(fault.value)
