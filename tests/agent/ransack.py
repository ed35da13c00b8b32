"""What a policy in a process of its own can find there: everything on its heap and in every frame of its stack."""

from __future__ import annotations

import gc
import pickle
import sys

_ANSWERS = {"World", "Semantics", "Annotations", "Episode", "StageSpec", "StageMachine", "Simulator", "Space", "Trajectory"}
_ROOMS = ("portico.world", "portico.space", "portico.tasks", "portico.sim", "portico.episodes", "portico.evaluate")


def ransack(data: list[bytes]) -> list[str]:
    """Names of objects that know answers, after taking in what crossed the border."""
    kept = [pickle.loads(piece) for piece in data]
    gc.collect()
    found = [_name(thing) for thing in gc.get_objects() if _is_answer(thing)]
    frame = sys._getframe()
    while frame is not None:
        found += [f"{key} in a frame: {_name(value)}" for key, value in list(frame.f_locals.items()) if _is_answer(value)]
        frame = frame.f_back
    assert len(kept) == len(data)
    return found


def planted(data: list[bytes]) -> list[str]:
    """The same with an answer on the heap: the search would find one."""
    from portico.tasks.episode import StageSpec

    answer = StageSpec(kind="exit", building="a")
    return [*ransack(data), answer.kind]


def _is_answer(thing: object) -> bool:
    return type(thing).__name__ in _ANSWERS and type(thing).__module__.startswith(_ROOMS)


def _name(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"
