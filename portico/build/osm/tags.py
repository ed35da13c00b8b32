"""Values of OSM tags: lengths in several units, storeys, yes and no."""

from __future__ import annotations

import re
from collections.abc import Mapping

Tags = Mapping[str, str]

_FOOT_M, _INCH_M = 0.3048, 0.0254
_UNITS_M = {
    "": 1.0,
    "m": 1.0,
    "metre": 1.0,
    "metres": 1.0,
    "meter": 1.0,
    "meters": 1.0,
    "cm": 0.01,
    "km": 1000.0,
    "ft": _FOOT_M,
    "feet": _FOOT_M,
    "foot": _FOOT_M,
}
_NUMBER = re.compile(r"^\+?(\d+(?:[.,]\d+)?)\s*([a-z]*)\.?$")
_FEET_INCHES = re.compile(r"^(\d+(?:\.\d+)?)\s*(?:'|ft|’)\s*(?:(\d+(?:\.\d+)?)\s*(?:\"|in|”|''))?$")

UNDERGROUND_LOCATIONS = {"underground", "underwater", "indoor"}


def parse_length_m(text: str) -> float | None:
    """Metres from a length as mappers write it: ``18``, ``18 m``, ``5,5``, ``32 ft``, ``12'6"``; None when it is none of these.

    Of several values (``3;4``) the first counts. Zero, negative and not finite lengths are no lengths.
    """
    text = text.split(";")[0].strip().lower()
    if match := _FEET_INCHES.match(text):
        value = float(match[1]) * _FOOT_M + float(match[2] or 0.0) * _INCH_M
    elif (match := _NUMBER.match(text)) and match[2] in _UNITS_M:
        value = float(match[1].replace(",", ".")) * _UNITS_M[match[2]]
    else:
        return None
    return value if 0.0 < value < 10_000.0 else None


def parse_count(text: str) -> float | None:
    """A number of storeys or lanes (``2``, ``2.5``); None when it is not a number from 0 to 300."""
    try:
        value = float(text.split(";")[0].strip().replace(",", "."))
    except ValueError:
        return None
    return value if 0.0 <= value <= 300.0 else None


def levels(tags: Tags) -> set[float]:
    """Storeys an element lies on: ``level=0;1`` and ranges ``-1-2``; empty when untagged or unreadable."""
    found: set[float] = set()
    for piece in tags.get("level", "").split(";"):
        if match := re.match(r"^\s*(-?\d+)\s*-\s*(-?\d+)\s*$", piece):
            low, high = sorted((int(match[1]), int(match[2])))
            found.update(float(n) for n in range(low, min(high, low + 200) + 1))
        elif match := re.match(r"^\s*(-?\d+(?:\.\d+)?)\s*$", piece):
            found.add(float(match[1]))
    return found


def layer(tags: Tags) -> int:
    """The ``layer`` tag, 0 when absent or unreadable."""
    try:
        return int(float(tags.get("layer", "0").split(";")[0]))
    except (ValueError, OverflowError):
        return 0


def is_underground(tags: Tags) -> bool:
    """True for tunnels, basements and whatever else is not under the open sky; a building passage is at street level."""
    if tags.get("tunnel", "no") not in ("no", "building_passage"):
        return True
    if layer(tags) < 0 and tags.get("tunnel") != "building_passage":
        return True
    found = levels(tags)
    return tags.get("location") in UNDERGROUND_LOCATIONS or (bool(found) and max(found) < 0.0)


def is_indoor(tags: Tags) -> bool:
    """True for rooms, corridors and ways inside buildings (Simple Indoor Tagging)."""
    return tags.get("indoor", "no") != "no" or tags.get("highway") in ("corridor", "elevator")


def at_street_level(tags: Tags) -> bool:
    """True unless a ``level`` tag says that the element is on other storeys only."""
    found = levels(tags)
    return not found or 0.0 in found
