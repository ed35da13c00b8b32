"""Landmark questions: from one thing that can be told apart from above to another, turning at the ones in between [SN 1]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely

from portico.episodes.satnav.drafts import Draft, Leg
from portico.episodes.satnav.skies import Skies, turned_rad
from portico.geometry import Floats
from portico.suites.suite import SatNav

#: A leg's length, and how far a turn is from going on or turning back.
_LEG_M, _TURN_RAD = (60.0, 320.0), (0.45, 2.6)
#: A name stands for one thing within this distance of it.
_ALONE_M = 150.0
#: Buildings without a name are landmarks from this size on.
_LARGE_M2 = 900.0
_TRIES = 6000


@dataclass(frozen=True)
class Landmark:
    """What people call it, and its middle (2,) in metres."""

    name: str
    at: Floats


def landmarks(skies: Skies) -> list[Landmark]:
    """Things that can be flown to and told apart by what they are called."""
    semantics = skies.world.semantics
    found = [Landmark(o.name or o.category.replace("_", " "), np.array(o.center[:2])) for o in semantics.objects]
    for b in semantics.buildings:
        shape = shapely.Polygon(b.footprint)
        if b.name or shape.area >= _LARGE_M2:
            found.append(Landmark(b.name or b.category.replace("_", " "), _middle(shape)))
    found += [Landmark("pond", _middle(shapely.Polygon(r.polygon))) for r in semantics.regions if r.type == "water" and r.id.startswith("pond")]
    # The words put an article before every name.
    found += [Landmark(p.name.removeprefix("The "), np.array(p.center[:2])) for p in semantics.places if p.name]
    inside = [item for item in found if skies.holds(item.at[None])]
    return [a for a in inside if not any(b is not a and b.name == a.name and np.hypot(*(a.at - b.at)) < _ALONE_M for b in inside)]


def one_turn(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """Three landmarks, a turn at the second."""
    return _chains(skies, rules, rng, 3, "one_turn")


def two_turn(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """Four landmarks, turns at the second and the third."""
    return _chains(skies, rules, rng, 4, "two_turn")


def _chains(skies: Skies, rules: SatNav, rng: np.random.Generator, count: int, subtype: str) -> Iterator[Draft]:
    known = landmarks(skies)
    for _ in range(_TRIES if len(known) >= count else 0):
        chosen = [known[int(k)] for k in rng.choice(len(known), size=count, replace=False)]
        line = np.array([item.at for item in chosen])
        lengths = np.hypot(*np.diff(line, axis=0).T)
        turns = turned_rad(line)
        if not ((lengths >= _LEG_M[0]) & (lengths <= _LEG_M[1])).all() or not ((np.abs(turns) >= _TURN_RAD[0]) & (np.abs(turns) <= _TURN_RAD[1])).all():
            continue
        # With a goal near the start SatNav's rule would ask to leave and return, which the words do not say.
        away = float(np.hypot(*(line[-1] - line[0])))
        if away < 40.0 or len({item.name for item in chosen}) < count or not rules.shortest_m <= lengths.sum() <= rules.longest_m:
            continue
        legs = tuple(Leg(0.0 if k == 0 else float(turns[k - 1]), float(lengths[k]), to=f"the {chosen[k + 1].name}") for k in range(count - 1))
        yield Draft("landmark", subtype, line, line, legs, chosen[0].name, stratum=chosen[-1].name)


def _middle(shape: shapely.Polygon) -> Floats:
    point = shape.centroid if shape.contains(shape.centroid) else shape.representative_point()
    return np.array([round(point.x, 2), round(point.y, 2)])
