"""What a model is told: one system prompt, one user message with pictures, and everything that happened before as text.

Nothing here can hold a pose, a coordinate or a route: a situation is put into words from instructions, memories and pictures alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from portico.agent.contract import Assessment, Occasion, Situation, View
from portico.agent.vlm.pictures import pictures
from portico.interface import Observation, StageKind

Message = dict[str, Any]

_ROLE = (
    "You supervise a small walking robot on a mission through buildings and streets. Navigation policies drive it; you judge what they did. "
    "You see pictures from its camera at knee height. Judge by what is visible and by the events listed, never by what would be convenient. "
    "Answer with one JSON object and nothing else."
)
_RULES: Mapping[StageKind, str] = {
    "exit": "The workflow is complete only when the robot has crossed an exit with its whole body and stands outdoors where pedestrians may be: "
    "open sky or a canopy over open ground. Seeing a door or standing in a doorway is not enough.",
    "entrance": "The workflow is complete only when the robot has gone through the entrance of the building named and stands inside it, "
    "under a ceiling. Standing before a door is not enough.",
    "ovon": "The workflow is complete only when the object asked for is in view, is what was asked for, and is within about one metre of the robot.",
    "outdoor": "The workflow is complete when the robot has arrived at the end of its route.",
}
_OCCASIONS: Mapping[Occasion, str] = {
    "proposal": "The policy says that the step is complete. Verify it.",
    "attempt_end": "The policy used up its steps without saying that it is done. Verify whether the step is complete all the same.",
    "periodic": "This is a periodic check while the policy is under way.",
    "progress": "The robot has been turning without getting anywhere. Check whether the step is complete, or what blocks it.",
}
_LOCATION_KEYS = '{"location": "indoors" | "outdoors" | "unknown", "floor": "ground" | "upstairs" | "unknown", "confidence": 0..1, "reason": "..."}'
_PLAN_KEYS = '{"steps": [{"name": "...", "instruction": "...", "executor": "..."}]}'
_VERDICT_KEYS = (
    '{"step_completed": true | false, "step_confidence": 0..1, "step_reason": "...", "parent_completed": true | false, '
    '"parent_confidence": 0..1, "parent_reason": "...", "evidence": "...", "retry_guidance": "..."}'
)


def location_messages(situation: Situation) -> list[Message]:
    """Ask where the robot is."""
    lines = [*_mission(situation), "Where is the robot now?", f"Keys: {_LOCATION_KEYS}"]
    return _messages(lines, situation.views)


def plan_messages(situation: Situation, assessment: Assessment, executors: Iterable[str]) -> list[Message]:
    """Ask for the steps of the workflow; with a verdict, for steps that make up for what it found."""
    lines = [*_mission(situation), f"The robot seems to be {assessment.location}, floor: {assessment.floor}. {assessment.reason}".rstrip()]
    if situation.verdict is not None:
        lines += [f"The last attempt was not accepted: {situation.verdict.parent_reason}", f"Guidance: {situation.verdict.retry_guidance or 'none'}"]
        lines += ["Plan what the robot should do now instead, from where it is."]
    else:
        lines += ["Split the workflow into as few steps as it needs. One step is often enough."]
    lines += [f"Executors: {', '.join(executors)}. The last step completes the workflow.", f"Keys: {_PLAN_KEYS}"]
    return _messages(lines, situation.views)


def verification_messages(situation: Situation) -> list[Message]:
    """Ask for a verdict."""
    assert situation.step is not None
    assert situation.occasion is not None
    lines = [*_mission(situation), f"Step at work: {situation.step.name}. Told to the policy: {situation.step.instruction}"]
    lines += [_OCCASIONS[situation.occasion], _RULES.get(situation.stage.kind, "")]
    lines += [
        "step_completed is about the step, parent_completed about the whole workflow. Confidence is how sure you are of the boolean beside it.",
        f"Keys: {_VERDICT_KEYS}",
    ]
    return _messages(lines, situation.views)


def _mission(situation: Situation) -> list[str]:
    """Contract, sourced outcomes, hypotheses, and the events of this stage."""
    mission, memory, stage = situation.mission, situation.episode, situation.stage
    lines = [f"Mission, in this order: {', '.join(mission.contract)}. Now: stage {stage.index + 1}, {stage.kind}.", f"Instruction: {stage.instruction}"]
    lines += [f"Object asked for: {stage.category}"] if stage.category else []
    lines += [f"Stage {o.kind}: {o.outcome}, says the {o.source}." for o in mission.outcomes]
    lines += [f"Earlier difficulty: {text}" for text in mission.hypotheses[-4:]]
    lines += [f"Attempt {situation.attempt} of this workflow."]
    lines += [f"Done so far: {', '.join(memory.done)}."] if memory.done else []
    lines += [f"Where things are: {'; '.join(memory.directions)}."] if memory.directions else []
    lines += [f"Event: {event}" for event in memory.recent]
    return lines


def _messages(lines: list[str], views: Mapping[View, Observation]) -> list[Message]:
    shown = pictures(views)
    listing = [f"Picture {n}: {caption}." for n, (caption, _) in enumerate(shown, start=1)]
    content: list[Message] = [{"type": "text", "text": "\n".join(line for line in [*lines, *listing] if line)}]
    content += [{"type": "image_url", "image_url": {"url": url}} for _, url in shown]
    return [{"role": "system", "content": _ROLE}, {"role": "user", "content": content}]
