"""Directions in English, understood: turns, distances, doors, stairs, landmarks, and where the goal is.

Made for sentences like "Turn slightly left and go 6 m through the door into the kitchen, until there is a bench on your right." and
"Stop at the cafe ahead of you."; other words for the same are understood as far as they are common ("take the second left" is not).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from portico.policies.distances import Range, distance_in
from portico.policies.place_words import category_of_noun

Side = Literal["left", "right", "ahead", "behind"]


@dataclass(frozen=True)
class Step:
    """A turn and a move.

    Attributes:
        text: its words. turn_rad: least and most change of heading, counter-clockwise. distance_m: least and most to go, None when the words do not say.
        doors: how many are gone through. outside: one of them leads out of the building. room: what it leads into, or None.
        stairs: ``up``, ``down`` or None. landmark: category of what is beside the end, or along the way; side: where it lies.
    """

    text: str
    turn_rad: Range
    distance_m: Range | None = None
    doors: int = 0
    outside: bool = False
    room: str | None = None
    stairs: Literal["up", "down"] | None = None
    landmark: str | None = None
    side: Side | None = None

    @property
    def turns_only(self) -> bool:
        """It says nothing but how to turn."""
        return self.distance_m is None and not self.doors and self.stairs is None and self.landmark is None


@dataclass(frozen=True)
class Route:
    """Steps in order, and the category of the goal with the side it is on; empty and None where the words do not say."""

    steps: tuple[Step, ...]
    target: str = ""
    side: Side | None = None


def _degrees(low: float, high: float) -> Range:
    return float(np.deg2rad(low)), float(np.deg2rad(high))


_STRAIGHT, _SLIGHT, _PLAIN, _SHARP, _AROUND = _degrees(-20, 20), _degrees(20, 60), _degrees(60, 135), _degrees(135, 180), _degrees(150, 210)

_SIDE_WORDS = r"(?:(?:on|to|at) (?:your|the) (?P<side>left|right)(?: hand)?(?: side)?|(?P<ahead>(?:straight |right )?ahead(?: of you)?|in front of you)|(?P<behind>behind you))"
_NOUN = r"(?:the |a |an |another |your )?(?P<noun>[a-z][a-z' -]*?)"
_ARRIVAL = re.compile(
    r"^(?:finally,? )?(?:(?:and )?(?:then )?(?:stop|halt|end|finish|wait|arrive|you(?: will|'ll)? (?:arrive|find|see|reach)|you(?:r destination| have arrived| are)|the (?:goal|destination|target)|your (?:goal|target)))\b"
    rf"(?: (?:will be|is|lies|when you (?:reach|see|get to)|once you (?:reach|see)|at|by|beside|next to|near|close to|in front of|before|to))*(?: {_NOUN})?(?: (?:is |lies |which is |that is )?{_SIDE_WORDS})?$"
)
_LANDMARK = re.compile(
    rf"(?:until|till|past|passing|along|towards?|to where|keeping)(?: (?:there (?:is|are)|you (?:see|reach|pass|come to|get to|find|have)|seeing|reaching))? {_NOUN}"
    rf"(?: (?:is |lies |appears )?{_SIDE_WORDS})?(?=$|,| and )"
)
_DOORS = re.compile(
    r"(?:through|out of|via|leave through|exit through|enter through|pass) (?:the |a |an )?(?P<many>two |three |four |\d+ )?(?P<kind>street |front |main |entrance |exit |next |open |glass )*"
    r"(?P<what>doors?|doorways?|doorway|exit|entrance)(?: (?:in)?to (?:the |a )?(?P<room>[a-z][a-z -]*?)(?=$|,| and | until))?"
)
_OUT = re.compile(r"\b(?:leave|exit|out of) (?:the |this )?(?:building|house|shop|store)\b|\b(?:go|step|walk) outside\b")
_STAIRS = re.compile(
    r"\b(?P<way>up|down|climb|descend|ascend)\b(?: (?:the|a|some))?(?: [a-z]+)? (?:stairs|staircase|stairway|steps|flight of stairs)\b|\b(?P<to>up|down)stairs\b"
)
_TURN = re.compile(
    r"\b(?P<around>turn (?:around|back)|make a u-turn|u-turn)\b"
    r"|\b(?:(?P<how>slightly|slight|gently|a little|a bit|half|sharply|sharp|hard)(?: to (?:the|your))? )?(?P<side>left|right)\b(?: (?P<after>slightly|a little|a bit|sharply|hard))?"
    r"|\b(?P<mild>bear|veer) "
)
_MOTION = re.compile(
    r"\b(?:go|walk|head|continue|keep|move|proceed|follow|turn|bear|veer|take|make|climb|descend|leave|exit|pass|cross|straight|forward|enter|up|down|through)\b"
)
_SLIGHTLY = ("slightly", "slight", "gently", "a little", "a bit", "half")
_NUMBERS = {"two": 2, "three": 3, "four": 4}


def parse_directions(text: str) -> Route:
    """Steps and goal of an instruction. What cannot be understood is left out."""
    steps: list[Step] = []
    target, side = "", None
    for sentence in _sentences(text):
        arrival = _ARRIVAL.match(sentence)
        if arrival is not None:
            target, side = category_of_noun(arrival["noun"] or ""), _side(arrival)
            continue
        step = _step(sentence)
        if step is None:
            continue
        # "Turn left. Go 5 m." is one step.
        if steps and steps[-1].turns_only and step.turn_rad == _STRAIGHT:
            steps[-1] = replace(step, text=f"{steps[-1].text}, {step.text}", turn_rad=steps[-1].turn_rad)
        else:
            steps.append(step)
    return Route(tuple(steps), target, side)


def _sentences(text: str) -> list[str]:
    """Clauses with one turn each, in lower case and without the stop."""
    plain = re.sub(r"\s+", " ", text.lower().replace("’", "'")).strip()
    plain = re.sub(r"(\d)\.(\d)", r"\1<point>\2", plain)
    parts = re.split(
        r"[.;!]+\s*|,? (?:and )?then,? |,? (?:and )?(?=(?:turn|bear|veer|take a|make a) (?:a )?(?:slight|sharp|left|right|half|around|back|hard|gently))", plain
    )
    return [part.replace("<point>", ".").strip(" ,") for part in parts if part.strip(" ,")]


def _step(sentence: str) -> Step | None:
    if not _MOTION.search(sentence):
        return None
    rest, landmark, side = sentence, None, None
    mark = _LANDMARK.search(sentence)
    if mark is not None and not _is_passage(mark["noun"]):
        landmark, side = category_of_noun(mark["noun"]), _side(mark)
        rest = sentence[: mark.start()] + sentence[mark.end() :]
    door, stairs, outside = _DOORS.search(rest), _STAIRS.search(rest), _OUT.search(rest) is not None
    doors = 0 if door is None else _how_many(door)
    street = door is not None and any(word in door[0] for word in ("street", "front", "main", "entrance", "exit"))
    way: Literal["up", "down"] | None = None
    if stairs is not None:
        way = "up" if (stairs["way"] or stairs["to"]) in ("up", "climb", "ascend") else "down"
    spoken = re.sub(r"\b(?:on|at|to) (?:your|the) (?:left|right) side\b", "", rest)
    room = category_of_noun(door["room"]) if door is not None and door["room"] else None
    return Step(sentence, _turn(spoken), distance_in(rest), max(doors, int(outside)), outside or street, room, way, landmark, side)


def _turn(words: str) -> Range:
    found = _TURN.search(words)
    if found is None:
        return _STRAIGHT
    if found["around"]:
        return _AROUND
    if found["mild"]:
        side = re.search(r"\b(left|right)\b", words)
        return _STRAIGHT if side is None else _towards(_SLIGHT, side[1])
    how = found["how"] or found["after"]
    size = _PLAIN if how is None else _SLIGHT if how in _SLIGHTLY else _SHARP
    return _towards(size, found["side"])


def _towards(size: Range, side: str) -> Range:
    return size if side == "left" else (-size[1], -size[0])


def _is_passage(noun: str) -> bool:
    return noun.split()[-1] in ("door", "doors", "doorway", "stairs", "steps")


def _how_many(door: re.Match[str]) -> int:
    many = (door["many"] or "").strip()
    return int(many) if many.isdigit() else _NUMBERS.get(many, 1)


def _side(found: re.Match[str]) -> Side | None:
    if found["ahead"]:
        return "ahead"
    if found["behind"]:
        return "behind"
    return "left" if found["side"] == "left" else "right" if found["side"] == "right" else None
