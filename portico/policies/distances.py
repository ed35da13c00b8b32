"""Distances in English: "6 m", "about ten metres", "a few steps", as least and most metres."""

from __future__ import annotations

import re

Range = tuple[float, float]

_WORDS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_NUMBERS = {word: n + 1 for n, word in enumerate(_WORDS)} | {"thirty": 30, "forty": 40, "fifty": 50}
_UNITS = {"m": 1.0, "metre": 1.0, "meter": 1.0, "step": 0.75, "pace": 0.75, "foot": 0.3048, "feet": 0.3048, "ft": 0.3048, "yard": 0.9144}
_EXACT = re.compile(
    rf"(?P<about>about|around|roughly|approximately|some|nearly|almost)? ?(?P<n>\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})[ -]?(?P<unit>m|metre|meter|step|pace|foot|feet|ft|yard)s?\b"
)
#: What people mean by words that name no number [P].
_VAGUE: tuple[tuple[str, Range], ...] = (
    (r"\ba couple of (?:metres|meters|steps|paces)\b", (1.0, 3.0)),
    (r"\ba few (?:metres|meters|steps|paces|yards)\b", (2.0, 6.0)),
    (r"\bseveral (?:metres|meters|steps|yards)\b", (4.0, 12.0)),
    (r"\ba short (?:way|distance|walk)\b|\ba little way\b", (1.0, 6.0)),
    (r"\ba long (?:way|distance|walk)\b|\bquite a way\b", (12.0, 45.0)),
)
_ABOUT, _ROUNDED_M, _SMALLEST_M = 0.25, 0.5, 1.0


def distance_in(words: str) -> Range | None:
    """Least and most metres that some words speak of, None when they speak of none. "1 m" may be less: nothing smaller is said."""
    found = _EXACT.search(words)
    if found is not None:
        number = float(found["n"]) if found["n"][0].isdigit() else float(_NUMBERS[found["n"]])
        metres = number * _UNITS[found["unit"]]
        slack = max(_ROUNDED_M, _ABOUT * metres) if found["about"] or _UNITS[found["unit"]] != 1.0 else _ROUNDED_M
        return (0.0 if metres <= _SMALLEST_M else metres - slack), metres + slack
    return next((span for pattern, span in _VAGUE if re.search(pattern, words)), None)
