"""Route questions: along roads, waterways, or from the one onto the other, turning where they meet [SN 1]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import shapely
from shapely.ops import substring

from portico.episodes.satnav.drafts import Draft, Leg
from portico.episodes.satnav.skies import Skies
from portico.geometry import Floats, polyline_length, wrap_angle
from portico.suites.suite import SatNav
from portico.world.semantics import Way

#: Ends of ways that lie this near to one another are one junction.
_SNAP_M = 2.5
#: A change of direction at a junction that is a turn in words, and one that is too sharp to be flown along.
_TURN_RAD, _SHARPEST_RAD = 0.6, 2.4
#: A bend of a way between junctions that is not worth a word turns by less than this at each corner.
_LOOK_M = 15.0
_TRIES = 1500


@dataclass(frozen=True)
class Edge:
    """A stretch of a way between two nodes, its line (N, 2) from ``a`` to ``b``."""

    a: int
    b: int
    way: Way
    line: Floats


@dataclass
class Network:
    """Ways cut at their junctions: edges, and those that begin at each node."""

    edges: list[Edge] = field(default_factory=list)
    leaving: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)

    def line(self, edge: int, forward: bool) -> Floats:
        """An edge's line in a direction."""
        line = self.edges[edge].line
        return line if forward else line[::-1]


def network(ways: list[Way], airspace: shapely.Polygon) -> Network:
    """The network of some ways, as far as they lie where one can fly."""
    lines = [(way, part) for way in ways for part in _parts(shapely.LineString(way.line).intersection(airspace))]
    ends = [np.array(part.coords)[k] for _, part in lines for k in (0, -1)]
    corners: dict[tuple[int, int], int] = {}
    for _, part in lines:
        for x, y in part.coords:
            corners[round(x * 10), round(y * 10)] = corners.get((round(x * 10), round(y * 10)), 0) + 1
    joints = [*ends, *(np.array(key) / 10.0 for key, n in corners.items() if n > 1)]
    nodes = _clustered(np.array(joints)) if joints else np.zeros((0, 2))
    found = Network()
    for way, part in lines:
        on = sorted((part.project(shapely.Point(p)), k) for k, p in enumerate(nodes.tolist()) if part.distance(shapely.Point(p)) <= _SNAP_M)
        for (s, a), (t, b) in pairwise(on):
            if t - s < _SNAP_M or a == b:
                continue
            line = np.array(substring(part, s, t).coords)
            line[0], line[-1] = nodes[a], nodes[b]
            found.edges.append(Edge(a, b, way, line))
            found.leaving.setdefault(a, []).append((len(found.edges) - 1, True))
            found.leaving.setdefault(b, []).append((len(found.edges) - 1, False))
    return found


def road(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """Along roads."""
    return _walks(skies, rules, rng, "road", frozenset({"road"}))


def waterway(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """Along waters."""
    return _walks(skies, rules, rng, "waterway", frozenset({"waterway"}))


def hybrid(skies: Skies, rules: SatNav, rng: np.random.Generator) -> Iterator[Draft]:
    """Along both."""
    return _walks(skies, rules, rng, "hybrid", frozenset({"road", "waterway"}))


def _walks(skies: Skies, rules: SatNav, rng: np.random.Generator, subtype: str, kinds: frozenset[str]) -> Iterator[Draft]:
    """Random walks over the network that never turn straight back and never come to a node twice."""
    net = network([w for w in skies.world.semantics.ways if w.kind in kinds], skies.airspace)
    nodes = sorted(net.leaving)
    for _ in range(_TRIES if nodes else 0):
        target_m = float(rng.uniform(rules.shortest_m, min(rules.longest_m, 700.0)))
        steps = _walk(net, nodes[int(rng.integers(len(nodes)))], target_m, rng)
        line = _joined([net.line(e, forward) for e, forward in steps])
        line, cut_short = _cut(line, target_m)
        if not rules.shortest_m <= polyline_length(line) <= rules.longest_m or np.hypot(*(line[-1] - line[0])) < 25.0:
            continue
        used = {net.edges[e].way.kind for e, _ in steps}
        legs = _legs(net, steps, line, cut_short)
        if (subtype == "hybrid") != (len(used) == 2) or not legs or not skies.holds(line):
            continue
        turns = sum(abs(leg.turn_rad) >= _TURN_RAD for leg in legs)
        nodes_on = np.vstack([_joined([net.line(e, f)[[0, -1]] for e, f in steps])[:-1], line[-1:]])
        yield Draft("route", subtype, line, nodes_on, tuple(legs), legs[0].along, stratum=f"{turns} turns")


def _walk(net: Network, node: int, target_m: float, rng: np.random.Generator) -> list[tuple[int, bool]]:
    steps: list[tuple[int, bool]] = []
    seen, length = {node}, 0.0
    while length < target_m:
        options = [(e, f) for e, f in net.leaving[node] if (net.edges[e].b if f else net.edges[e].a) not in seen]
        if steps:
            before = net.line(*steps[-1])
            options = [(e, f) for e, f in options if abs(_turn(before, net.line(e, f))) <= _SHARPEST_RAD]
        if not options:
            break
        step = options[int(rng.integers(len(options)))]
        steps.append(step)
        node = net.edges[step[0]].b if step[1] else net.edges[step[0]].a
        seen.add(node)
        length += polyline_length(net.edges[step[0]].line)
    return steps


def _legs(net: Network, steps: list[tuple[int, bool]], line: Floats, cut_short: float) -> list[Leg]:
    """Stretches between turns; what goes straight on at a junction is one leg."""
    legs: list[Leg] = []
    for k, (e, forward) in enumerate(steps):
        piece, along = net.line(e, forward), _called(net.edges[e].way)
        length = polyline_length(piece) - (cut_short if k + 1 == len(steps) else 0.0)
        if length <= 20.0 and k + 1 == len(steps) and cut_short > 0.0:
            # What is left after the last junction is too short to be a leg of its own.
            return []
        turn = _turn(net.line(*steps[k - 1]), piece) if k else 0.0
        if legs and abs(turn) < _TURN_RAD and along == legs[-1].along:
            legs[-1] = Leg(legs[-1].turn_rad, legs[-1].length_m + length, along)
        else:
            legs.append(Leg(turn, length, along))
    return legs


def _called(way: Way) -> str:
    if way.kind == "road":
        return "the road"
    return f"the {way.category}" if way.category in ("river", "canal", "stream", "ditch", "drain") else "the water"


def _turn(before: Floats, after: Floats) -> float:
    """Change of heading from the end of one line to the beginning of another, seen over a few metres."""
    into, out = _towards(before[::-1]), _towards(after)
    return wrap_angle(float(np.arctan2(out[1], out[0]) - np.arctan2(-into[1], -into[0])))


def _towards(line: Floats) -> Floats:
    shape = shapely.LineString(line)
    p = shape.interpolate(min(_LOOK_M, shape.length))
    ahead: Floats = np.array([p.x, p.y]) - line[0]
    return ahead


def _cut(line: Floats, length_m: float) -> tuple[Floats, float]:
    """A polyline no longer than that, and how much was cut off."""
    if len(line) < 2:
        return line, 0.0
    shape = shapely.LineString(line)
    if shape.length <= length_m:
        return line, 0.0
    return np.array(substring(shape, 0.0, length_m).coords), shape.length - length_m


def _joined(lines: list[Floats]) -> Floats:
    return np.vstack([lines[0], *(line[1:] for line in lines[1:])]) if lines else np.zeros((1, 2))


def _parts(shape: shapely.Geometry) -> list[shapely.LineString]:
    return [p for p in getattr(shape, "geoms", [shape]) if isinstance(p, shapely.LineString) and p.length > _SNAP_M]


def _clustered(points: Floats) -> Floats:
    """Points that lie together become one: (K, 2) means."""
    kept: list[list[Floats]] = []
    for p in points:
        near = next((group for group in kept if np.hypot(*(group[0] - p)) <= _SNAP_M), None)
        if near is None:
            kept.append([p])
        else:
            near.append(p)
    return np.array([np.mean(group, axis=0) for group in kept])
