"""Numbers and names as people read them: the same in the terminal, on the page and in figures. Undefined is a dash, never NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

DASH = "–"
ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}
#: Measures without a unit whose values lie in 0..1 and read best as a percentage.
SHARES = frozenset(
    {
        "success",
        "pose_success",
        "spl",
        "soft_success",
        "soft_spl",
        "oracle_success",
        "completion",
        "full_success",
        "route_completion",
        "ndtw",
        "sdtw",
        "cls",
        "reached_outdoors",
        "distance_compliance",
        "collision",
        "collision_rate",
        "navigable_ratio",
    }
)
REASONS = {
    "success": "succeeded",
    "failed_declaration": "stopped in the wrong place",
    "wrong_goal": "stopped at a wrong goal",
    "budget_exhausted": "actions used up",
    "timeout": "time ran out",
    "fall": "fell over",
    "out_of_bounds": "left the ground",
    "stuck": "got stuck",
    "incomplete": "record stops early",
    "error": "error, not counted",
}
TERMINATIONS = {
    "on_arrival": "termination on_arrival: success is Distance SR, being there suffices and a STOP changes nothing",
    "explicit_stop": "termination explicit_stop: success is Stop SR, a STOP inside the success region",
}
LABELS = {
    "wrong_building": "wrong building",
    "premature_stop": "stopped too early",
    "missed_stop": "did not stop when it could",
    "off_pedestrian_network": "off the pedestrian network",
    "never_left": "never left the building",
    "blocked_progress": "turned on the spot, blocked",
    "search_exhausted": "searched without finding",
    "budget_exhausted": "budget used up",
}
STAGES = {
    "exit": "exit",
    "outdoor": "outdoor",
    "entrance": "entrance",
    "ovon": "find object",
    "point": "point",
    "image": "picture",
    "object": "object",
    "place": "place",
    "vln": "directions",
    "boundary": "boundary",
    "landmark": "landmark",
    "route": "route",
}
TASKS = {
    "exit": "leave a building",
    "outdoor": "walk along the street",
    "entrance": "enter a building",
    "ovon": "find an object inside",
    "i2o": "leave and walk",
    "o2i": "walk and enter",
    "i2o2i": "leave, walk, enter, find",
    "point": "reach a point",
    "image": "reach the place of a picture",
    "object": "reach an object",
    "place": "find a shop or another place",
    "vln": "follow directions",
}


def in_words(table: Mapping[str, str], name: str) -> str:
    """A name's words, or the name with spaces."""
    return table.get(name, name.replace("_", " "))


def is_share(measure: str) -> bool:
    """Whether a measure reads best in percent."""
    return measure in SHARES


def value(measure: str, amount: float | None, unit: str = "") -> str:
    """One value of a measure: ``62 %``, ``14.2 m``, a dash when undefined."""
    if amount is None or not isfinite(amount):
        return DASH
    if is_share(measure):
        return percent(amount)
    if float(amount).is_integer() and not unit:
        return f"{amount:,.0f}"
    return f"{decimals(amount)}{f' {unit}' if unit else ''}"


def difference(measure: str, amount: float | None, unit: str = "") -> str:
    """As ``value``, with its sign; shares differ by percentage points."""
    if amount is None or not isfinite(amount):
        return DASH
    text = f"{100 * abs(amount):.0f} pp" if is_share(measure) else value(measure, abs(amount), unit)
    return text if amount == 0.0 else f"{'+' if amount > 0.0 else '−'}{text}"


def sided(side: Mapping[str, Any]) -> str:
    """The policy of one side of a comparison, with the name of its run folder where that says more."""
    policy, name = str(side.get("policy")), str(side["name"])
    return policy if name == policy or not name else f"{policy} ({name})"


def interval(measure: str, low: float | None, high: float | None) -> str:
    """``[44, 77]`` in the measure's own scale, a dash when there is none."""
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return DASH
    return f"[{100 * low:.0f}, {100 * high:.0f}]" if is_share(measure) else f"[{decimals(low)}, {decimals(high)}]"


def percent(share: float | None) -> str:
    """``62 %``."""
    return DASH if share is None or not isfinite(share) else f"{100 * share:.0f} %"


def decimals(amount: float) -> str:
    """Three significant digits, without an exponent."""
    size = abs(amount)
    return f"{amount:,.0f}" if size >= 100 else f"{amount:.1f}" if size >= 10 else f"{amount:.2f}"


def privileged_stamp(needs: Sequence[str]) -> str:
    """``*privileged: oracle, semantic``, or nothing."""
    return f"*privileged: {', '.join(needs)}" if needs else ""


def counted(n: int, one: str, many: str = "") -> str:
    """``1 episode``, ``3 episodes``."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def unscored_words(reasons: Mapping[str, int]) -> str:
    """``no outdoor travel 3, no reference 1``."""
    return ", ".join(f"{reason.replace('_', ' ')} {n}" for reason, n in reasons.items())


def run_facts(summary: Mapping[str, Any]) -> list[str]:
    """What must be said about a run before its figures: privileges, partial runs, missing and failed episodes."""
    run, n = summary["run"], summary["n"]
    facts = [privileged_stamp(run["privileged"])] if run["privileged"] else []
    if run["partial"]:
        facts.append("partial: only some of the suite's episodes were asked")
    if n["missing"]:
        facts.append(f"{n['missing']} of {n['planned']} episodes not run yet")
    if n["error"]:
        facts.append(f"{counted(n['error'], 'error')}, in no mean")
    if run.get("termination"):
        facts.append(TERMINATIONS[run["termination"]])
    return facts
