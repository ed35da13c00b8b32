"""From a model's text to a verdict, a plan or an assessment: a ladder that finds JSON, and schemas that do not bend [I2 F.3]."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from portico.agent.contract import Assessment, SchemaFailure, Step, Verdict
from portico.interface import StageKind

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MOST_STEPS = 6
_FLAGS, _CONFIDENCES = ("step_completed", "parent_completed"), ("step_confidence", "parent_confidence")
_TEXTS = ("step_reason", "parent_reason", "evidence", "retry_guidance")


def object_in(text: str) -> dict[str, Any]:
    """The JSON object of a reply: the whole of it, else one in a code fence, else the first that stands in the text.

    Raises:
        SchemaFailure: there is none.
    """
    if not text.strip():
        raise SchemaFailure("the reply is empty")
    for candidate in _candidates(text):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            # A cut-off "\\ud83d" is half a character, which no file and no other server takes.
            whole: dict[str, Any] = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
            return whole
    raise SchemaFailure("the reply holds no JSON object", text.strip())


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    for match in _FENCE.finditer(text):
        yield match[1].strip()
    decoder = json.JSONDecoder()
    for start in (n for n, letter in enumerate(text) if letter == "{"):
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield text[start:end]


def verdict_in(text: str) -> Verdict:
    """A verdict: two JSON booleans, two finite confidences from 0 to 1, and sentences.

    Raises:
        SchemaFailure: anything else, naming the field.
    """
    found = object_in(text)
    for name in (*_FLAGS, *_CONFIDENCES):
        if name not in found:
            raise SchemaFailure(f"{name} is missing", json.dumps(found)[:120])
    for name in _CONFIDENCES:
        if isinstance(found[name], bool) or not isinstance(found[name], int | float):
            raise SchemaFailure(f"{name} is no number", repr(found[name]))
    texts = {name: _sentence(found, name) for name in _TEXTS}
    return Verdict(
        found["step_completed"],
        found["step_confidence"],
        texts["step_reason"],
        found["parent_completed"],
        found["parent_confidence"],
        texts["parent_reason"],
        texts["evidence"],
        texts["retry_guidance"],
    )


def _sentence(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name, "")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "; ".join(value)
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise SchemaFailure(f"{name} is no text", repr(value))
    return value


def plan_in(text: str, executors: Mapping[str, StageKind]) -> list[Step]:
    """Steps of a plan; the last one closes the workflow.

    Args:
        executors: what a step may name as its executor.

    Raises:
        SchemaFailure: no steps, too many, one without an instruction, or an executor that there is not.
    """
    found = object_in(text)
    steps = found.get("steps")
    if not isinstance(steps, list) or not 1 <= len(steps) <= _MOST_STEPS:
        raise SchemaFailure(f"steps is no list of 1 to {_MOST_STEPS} steps", repr(steps))
    made = []
    for n, step in enumerate(steps):
        if not isinstance(step, dict) or not isinstance(step.get("instruction"), str) or not step["instruction"].strip():
            raise SchemaFailure(f"step {n + 1} has no instruction", repr(step))
        executor = step.get("executor")
        if not isinstance(executor, str) or executor not in executors:
            raise SchemaFailure(f"step {n + 1} names no executor", repr(executor))
        name = step.get("name") if isinstance(step.get("name"), str) and step["name"].strip() else step["instruction"]
        made.append(Step(str(name).strip()[:80], step["instruction"].strip(), executors[executor], closes=n == len(steps) - 1))
    return made


def assessment_in(text: str) -> Assessment:
    """Where the robot is, by the model.

    Raises:
        SchemaFailure: a word or a confidence that is not known.
    """
    found = object_in(text)
    places: dict[Any, Literal["indoors", "outdoors", "unknown"]] = {"indoors": "indoors", "outdoors": "outdoors", "unknown": "unknown"}
    floors: dict[Any, Literal["ground", "upstairs", "unknown"]] = {"ground": "ground", "upstairs": "upstairs", "unknown": "unknown"}
    location, floor, confidence = found.get("location"), found.get("floor", "unknown"), found.get("confidence")
    if not isinstance(location, str) or not isinstance(floor, str) or location not in places or floor not in floors:
        raise SchemaFailure("location or floor is none of the words", repr((location, floor)))
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.0 <= confidence <= 1.0:
        raise SchemaFailure("confidence is no finite number from 0 to 1", repr(confidence))
    return Assessment(places[location], floors[floor], float(confidence), _sentence(found, "reason"))
