"""Policies whose answers tell how many frames they were fed."""

from model_servers import stage

from portico.geometry import Pose
from portico.interface import PolicySpec, Waypoints

EXIT = stage("exit")


class Counting:
    """Moves ahead by as many centimetres as frames it has seen: every frame too many shows."""

    spec = PolicySpec("counting", needs=frozenset({"rgb"}), stages=frozenset({"exit"}))

    def __init__(self):
        self.frames = 0

    def reset(self, brief):
        self.frames = 0

    def act(self, observation):
        self.frames += 1
        return Waypoints((Pose(0.01 * self.frames, 0.0),))

    def observe(self, observation):
        self.frames += 1

    def close(self):
        pass


class Forgetful(Counting):
    """The same without a memory that can be fed."""

    observe = None
