"""Instructions from templates, in three styles that SatNav has: natural, formal and telegraphic."""

from __future__ import annotations

from math import degrees

import numpy as np

from portico.episodes.satnav.drafts import Draft, Leg
from portico.suites.suite import InstructionStyle

_ROUND_M = 10.0
#: A change of direction below this goes without saying.
LEAST_TURN_RAD = 0.35


def worded(draft: Draft, style: InstructionStyle, rng: np.random.Generator) -> str:
    """The instruction of a draft."""
    match draft.task:
        case "boundary":
            return _boundary(draft, style, rng)
        case "landmark":
            return _landmark(draft, style, rng)
        case _:
            return _route(draft, style, rng)


def _boundary(draft: Draft, style: InstructionStyle, rng: np.random.Generator) -> str:
    thing, side, last = draft.thing, draft.side, draft.legs[-1]
    around = metres(last.length_m)
    loop = draft.subtype == "loop"
    if style == "formal":
        to = f"Proceed straight for {metres(draft.legs[0].length_m)} m to the {thing}. " if draft.subtype == "extended" else ""
        what = f"Follow the complete outline of the {thing}" if loop else f"Follow the outline of the {thing} for {around} m"
        end = "Return to the starting point and stop there." if loop else "Stop at the end of this stretch."
        return f"{to}{what}, keeping it on the {side}-hand side. {end}"
    if style == "telegraphic":
        to = f"Ahead {metres(draft.legs[0].length_m)} m to {thing}. " if draft.subtype == "extended" else ""
        return f"{to}{'Once around' if loop else f'Along edge of {around} m:'} {thing}, {side} side. {'Stop at start' if loop else 'Stop'}."
    to = f"Go straight on to the {thing}, about {metres(draft.legs[0].length_m)} m from here. " if draft.subtype == "extended" else ""
    if loop:
        return to + str(
            rng.choice(
                [
                    f"Fly once around the {thing} with it on your {side}, and stop when you are back where you started.",
                    f"Keep the {thing} on your {side} and follow its edge all the way around until you are at the start again; stop there.",
                ]
            )
        )
    return to + str(
        rng.choice(
            [
                f"Follow the edge of the {thing} with it on your {side} for about {around} m, then stop.",
                f"Keep the {thing} on your {side} and stay close to its edge. Stop after about {around} m.",
            ]
        )
    )


def _landmark(draft: Draft, style: InstructionStyle, rng: np.random.Generator) -> str:
    legs = draft.legs
    if style == "formal":
        parts = [f"Start above the {draft.thing}. Proceed straight for {metres(legs[0].length_m)} m to {legs[0].to}."]
        parts += [
            f"Turn {side(leg)} by {round(degrees(abs(leg.turn_rad)) / 5) * 5} degrees and proceed {metres(leg.length_m)} m to {leg.to}." for leg in legs[1:]
        ]
        return " ".join([*parts, "Stop there."])
    if style == "telegraphic":
        return f"From {draft.thing} ahead to {bare(legs[0].to)}" + "".join(f", {side(leg)} to {bare(leg.to)}" for leg in legs[1:]) + ". Stop."
    first = rng.choice([f"Go from the {draft.thing} straight to {legs[0].to}", f"Leave the {draft.thing} and fly ahead until you come to {legs[0].to}"])
    return f"{first}" + "".join(f", {_turning(leg)} there and go on for about {metres(leg.length_m)} m to {leg.to}" for leg in legs[1:]) + ". Stop over it."


def _route(draft: Draft, style: InstructionStyle, rng: np.random.Generator) -> str:
    legs = draft.legs
    if style == "formal":
        parts = [f"Proceed along {legs[0].along} for {metres(legs[0].length_m)} m."]
        parts += [f"{_formal_turn(leg)} and proceed along it for {metres(leg.length_m)} m." for leg in legs[1:]]
        return " ".join([*parts, "Stop at this point."])
    if style == "telegraphic":
        parts = [f"{bare(legs[0].along).capitalize()} {metres(legs[0].length_m)} m"]
        parts += [f"{_short_turn(leg)} {bare(leg.along)} {metres(leg.length_m)} m" for leg in legs[1:]]
        return ", ".join([*parts, "stop."])
    first = rng.choice(
        [f"Follow {legs[0].along} ahead for about {metres(legs[0].length_m)} m", f"Stay on {legs[0].along} for about {metres(legs[0].length_m)} m"]
    )
    rest = [f"{_natural_turn(leg)} and follow {leg.along} for about {metres(leg.length_m)} m" for leg in legs[1:]]
    return f"{'. Then '.join([str(first), *rest])}. Stop there."


def _natural_turn(leg: Leg) -> str:
    return f"{_turning(leg)} onto {leg.along}" if abs(leg.turn_rad) >= LEAST_TURN_RAD else f"go straight over onto {leg.along}"


def _formal_turn(leg: Leg) -> str:
    if abs(leg.turn_rad) < LEAST_TURN_RAD:
        return f"Continue straight onto {leg.along}"
    return f"Turn {side(leg)} by {round(degrees(abs(leg.turn_rad)) / 5) * 5} degrees onto {leg.along}"


def _short_turn(leg: Leg) -> str:
    return side(leg) if abs(leg.turn_rad) >= LEAST_TURN_RAD else "straight onto"


def _turning(leg: Leg) -> str:
    angle = degrees(abs(leg.turn_rad))
    how = "bear" if angle < 50.0 else "turn" if angle <= 120.0 else "turn sharply"
    return f"{how} {side(leg)}"


def side(leg: Leg) -> str:
    """Which way a leg turns."""
    return "left" if leg.turn_rad > 0.0 else "right"


def metres(length_m: float) -> int:
    """A length as people say it: in tens."""
    return max(int(_ROUND_M), round(length_m / _ROUND_M) * int(_ROUND_M))


def bare(name: str) -> str:
    """A name without its article."""
    return name.removeprefix("the ")
