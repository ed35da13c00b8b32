"""Every registered policy that is not privileged holds to the public contract, and the checker sees when one does not."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from portico.errors import UserError
from portico.interface import Action, Brief, Move, Observation, PolicySpec, Stop
from portico.policies import create, policy_names
from portico.policies.published_names import PUBLISHED
from portico.testing import NotConformant, check_policy

#: Clients are checked where they have a server: test_remote_conformance.py.
_FAIR = [n for n in policy_names() if not n.startswith("privileged/") and n not in {*PUBLISHED, "remote"}]
_SEARCHERS = ["frontier", "semantic-frontier", "instruction-follower"]
_READING = pytest.mark.skipif(find_spec("rapidocr") is None, reason="the extra ocr is not installed")


@pytest.mark.parametrize("name", [*_FAIR, "frontier?detector=semantic", "chain?detector=semantic"])
def test_registered_policies_conform(name: str):
    check_policy(lambda: create(name))


@pytest.mark.parametrize("name", ["semantic-frontier", "instruction-follower"])
def test_searchers_conform_with_sight(name: str):
    check_policy(lambda: create(f"{name}?detector=semantic"), steps=6)


@pytest.mark.slow
@_READING
@pytest.mark.parametrize("detector", ["text", "semantic+text"])
@pytest.mark.parametrize("name", _SEARCHERS)
def test_searchers_conform_with_every_detector(name: str, detector: str):
    check_policy(lambda: create(f"{name}?detector={detector}"), steps=4)


class _Watcher:
    """Needs the goal image and spoils it."""

    spec = PolicySpec("watcher", needs=frozenset({"rgb"}), stages=frozenset({"image"}))

    def reset(self, brief: Brief) -> None:
        assert brief.stage.goal_image is not None

    def act(self, observation: Observation) -> Action:
        if observation.frames["front"].rgb is None:
            raise UserError("no rgb")
        observation.stage.goal_image[0, 0] = observation.stage.goal_image[0, 0] + 1
        return Move("forward")

    def close(self) -> None:
        pass


def test_the_goal_image_is_shown_and_guarded():
    with pytest.raises(NotConformant, match="changed the arrays"):
        check_policy(_Watcher)


class _Base:
    spec = PolicySpec("test", needs=frozenset({"depth"}), stages=frozenset({"exit"}))

    def reset(self, brief: Brief) -> None:
        self.count = 0

    def act(self, observation: Observation) -> Action:
        if observation.frames["front"].depth is None:
            raise UserError("no depth")
        return Stop()

    def close(self) -> None:
        pass


class _Forgetful(_Base):
    total = 0

    def act(self, observation: Observation) -> Action:
        _Forgetful.total += 1
        if observation.frames["front"].depth is None:
            raise UserError("no depth")
        return Move("forward") if _Forgetful.total % 5 else Move("turn_left")


class _Scribbler(_Base):
    def act(self, observation: Observation) -> Action:
        depth = observation.frames["front"].depth
        if depth is None:
            raise UserError("no depth")
        depth[:] = 0.0
        return Stop()


class _Answerer(_Base):
    def act(self, observation: Observation) -> Action:
        return "stop"  # type: ignore[return-value]


class _Blind(_Base):
    def act(self, observation: Observation) -> Action:
        assert np.isfinite(observation.frames["front"].depth.sum())  # type: ignore[union-attr]
        return Stop()


class _Named(_Base):
    spec = replace(_Base.spec, needs=frozenset({"depth", "x-ray"}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("policy", "words"),
    [(_Forgetful, "acts differently"), (_Scribbler, "changed the arrays"), (_Answerer, "none of Stop"), (_Blind, "without depth"), (_Named, "x-ray")],
)
def test_breaches_are_named(policy: type[_Base], words: str):
    with pytest.raises(NotConformant, match=words):
        check_policy(policy)


def test_a_policy_that_opens_the_world_is_caught(tmp_path, monkeypatch):
    (tmp_path / "peeking_policy.py").write_text(
        "from portico.interface import *\nfrom portico.world import load\n\n\nclass Peek:\n    spec = PolicySpec('peek', stages=frozenset({'exit'}))\n"
        "    def reset(self, brief): pass\n    def act(self, observation): return Stop()\n    def close(self): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NotConformant, match=r"imports portico\.world"):
        check_policy(lambda: create("peeking_policy:Peek"))
