"""Boundary questions: all the way around a building or a water, along a part of it, or to it and then along it, on a stated side [SN 1]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely
from shapely.ops import substring

from portico.episodes.satnav.drafts import Draft, Leg, Side
from portico.episodes.satnav.skies import Skies, turned_rad
from portico.geometry import Floats, wrap_angle
from portico.suites.suite import SatNav

#: Outlines shorter than this are flown over rather than along.
_LEAST_M = 70.0
#: Of what an outline has, an arc takes between these shares; ends keep so far apart that no arc is a loop.
_ARC_SHARES, _APART_M = (0.35, 0.75), 30.0
_APPROACH_M = (50.0, 140.0)
#: A loop must lead well beyond the 20 m that count as departure.
_DEPARTS_M = 26.0
#: Corners of outlines that change the line by less than this are left out.
_BEND_M = 2.0
_TRIES = 400


def loops(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """All the way around."""
    for ring, outline, thing, side in _rings(skies, rules, rng):
        line = _from(ring, float(rng.uniform(0.0, ring.length)), ring.length)
        if np.hypot(*(line - line[0]).T).max() > _DEPARTS_M and skies.holds(line):
            followed = _beside(outline, line)
            yield Draft("boundary", "loop", line, line, (Leg(0.0, ring.length, f"the {thing}"),), thing, side, followed, thing)


def arcs(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """Along a part of an outline."""
    for ring, outline, thing, side in _rings(skies, rules, rng):
        line = _part(ring, rng)
        if _open(line) and skies.holds(line):
            length = shapely.LineString(line).length
            yield Draft("boundary", "arc", line, line, (Leg(0.0, length, f"the {thing}"),), thing, side, _beside(outline, line), thing)


def extended(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """To an outline from afar, then along it."""
    for ring, outline, thing, side in _rings(skies, rules, rng):
        line = _part(ring, rng)
        ahead = np.arctan2(*(line[1] - line[0])[::-1])
        bearing = ahead + float(rng.uniform(-1.2, 1.2))
        away = float(rng.uniform(*_APPROACH_M))
        start = line[0] - away * np.array([np.cos(bearing), np.sin(bearing)])
        way = np.vstack([start, line])
        if not _open(line) or not skies.holds(way) or shapely.LineString([start, line[0]]).intersects(shapely.Polygon(outline)):
            continue
        length = shapely.LineString(line).length
        legs = (Leg(0.0, away, to=f"the {thing}"), Leg(wrap_angle(float(ahead - bearing)), length, f"the {thing}"))
        yield Draft("boundary", "extended", way, np.vstack([start, line]), legs, thing, side, _beside(outline, line), thing)


def things(skies: Skies) -> list[tuple[str, shapely.Polygon]]:
    """Buildings and waters with an outline that can be followed, and what people call them."""
    semantics = skies.world.semantics
    found = [(b.name or b.category.replace("_", " "), shapely.Polygon(b.footprint)) for b in semantics.buildings]
    found += [("pond" if r.id.startswith("pond") else "water", shapely.Polygon(r.polygon)) for r in semantics.regions if r.type == "water"]
    return [(name, shape) for name, shape in found if shape.length >= _LEAST_M and skies.airspace.contains(shape)]


def _rings(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[tuple[shapely.LineString, Floats, str, Side]]:
    """Lines around things in the direction that keeps them on a side: counter-clockwise for the left."""
    known = things(skies)
    for _ in range(_TRIES if known else 0):
        thing, shape = known[int(rng.integers(len(known)))]
        side: Side = "left" if rng.random() < 0.5 else "right"
        hull = shapely.Polygon(shape.exterior).simplify(_BEND_M)
        around = hull.buffer(rules.keep_off_m, join_style="round", quad_segs=2).simplify(1.0)
        if not isinstance(around, shapely.Polygon) or not rules.shortest_m <= around.exterior.length <= rules.longest_m:
            continue
        coords, outline = np.array(around.exterior.coords), np.array(shape.exterior.coords)
        ccw = around.exterior.is_ccw == (side == "left")
        yield shapely.LineString(coords if ccw else coords[::-1]), outline, thing, side


def _from(ring: shapely.LineString, start_m: float, length_m: float) -> Floats:
    """So much of a closed line, from so far along it on."""
    end = start_m + length_m
    if end <= ring.length:
        return np.array(substring(ring, start_m, end).coords)
    first, rest = np.array(substring(ring, start_m, ring.length).coords), np.array(substring(ring, 0.0, end - ring.length).coords)
    return np.vstack([first, rest[1:]])


def _part(ring: shapely.LineString, rng: np.random.Generator) -> Floats:
    return _from(ring, float(rng.uniform(0.0, ring.length)), ring.length * float(rng.uniform(*_ARC_SHARES)))


def _open(line: Floats) -> bool:
    """Whether a line ends elsewhere, and never turns straight back."""
    return float(np.hypot(*(line[-1] - line[0]))) >= _APART_M and bool((np.abs(turned_rad(line)) < 2.8).all())


def _beside(outline: Floats, line: Floats) -> Floats:
    """The stretch of an outline (closed, (M, 2)) that a line leads along, in the line's order: the outline's points nearest to the line's, a metre apart."""
    shape, edge = shapely.LineString(line), shapely.LinearRing(outline)
    along = np.arange(0.0, shape.length + 1e-6, 2.0)
    s = np.array([edge.project(p) for p in shapely.line_interpolate_point(shape, along)])
    s = np.unwrap(s, period=edge.length)
    points = [edge.interpolate(float(v) % edge.length) for v in s]
    return np.array([(p.x, p.y) for p in points])
