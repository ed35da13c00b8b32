"""What directions may name: doors on the way, and things and places beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely

from portico.episodes.navverse.waypoints import Leg
from portico.geometry import Floats, wrap_angle
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Side
from portico.tasks.release import article, noun_of
from portico.world.semantics import ObjectInstance, Place, Portal, Room

#: A landmark lies within this of the waypoint, on its level, and is not one of many alike around it [P].
_BESIDE_M, _LEVEL_M, _ALIKE_M = 3.5, 2.5, 6.0
_AHEAD_RAD, _BEHIND_RAD = float(np.deg2rad(30.0)), float(np.deg2rad(150.0))
#: A portal or a room belongs to the level of a point when their heights differ by no more.
_STOREY_M = 1.0


@dataclass(frozen=True)
class Landmark:
    """Something to name: what it is called with its article, and where it is, (3,)."""

    id: str
    noun: str
    center: Floats


@dataclass(frozen=True)
class Scenery:
    """Doors, things and places of a world, for directions.

    Attributes:
        portals: openings to pass. rooms: with the heights of their floors, metres. landmarks: what may be named beside the way; empty when directions keep to turns and distances.
        by_id: every object and place. floor_at: id of the floor that holds a point (3,), "" outdoors.
    """

    portals: tuple[Portal, ...] = ()
    landmarks: tuple[ObjectInstance | Place, ...] = ()
    rooms: tuple[tuple[Room, float], ...] = ()
    by_id: Mapping[str, ObjectInstance | Place] = field(default_factory=dict)
    floor_at: Callable[[Floats], str] = lambda point: ""

    @staticmethod
    def of(annotations: Annotations, *, landmarks: bool) -> Scenery:
        """Of a world; without ``landmarks`` neither doors, rooms nor things are named."""
        semantics = annotations.semantics
        if not landmarks:
            return Scenery(by_id=annotations.by_id)
        heights = {floor.id: floor.z_m for floor in annotations.floors}

        def floor_at(point: Floats) -> str:
            floor = annotations.floor_at(point)
            return "" if floor is None else floor.id

        return Scenery(
            portals=tuple(p for p in semantics.portals if p.state == "open"),
            landmarks=(*semantics.places, *semantics.objects),
            rooms=tuple((room, heights[room.floor]) for room in semantics.rooms if room.floor in heights),
            by_id=annotations.by_id,
            floor_at=floor_at,
        )

    def center(self, name: str) -> Floats | None:
        """(3,) middle of an object or place by id."""
        item = self.by_id.get(name)
        return None if item is None else np.array(item.center, dtype=np.float64)

    def noun(self, item: ObjectInstance | Place) -> str:
        """What people call it."""
        return noun_of(item.category)

    def landmark(self, leg: Leg, *, avoid: ObjectInstance | Place) -> Landmark | None:
        """The nearest thing beside the end of a leg, in sight of it, that nothing alike stands near; never the goal, nor its like."""
        if not self.landmarks:
            return None
        offsets = self._centers - leg.end
        gaps = np.hypot(offsets[:, 0], offsets[:, 1])
        level = np.abs(offsets[:, 2]) <= _LEVEL_M
        passed = {portal.id for portal in self._passed(leg)}
        for n in np.argsort(gaps, kind="stable"):
            item = self.landmarks[n]
            if gaps[n] > _BESIDE_M:
                return None
            if isinstance(item, Place) and item.entrance in passed:
                # One has just come out of it.
                continue
            if not level[n] or item.category == avoid.category or side_of(leg.end, leg.heading_rad, self._centers[n]) == "behind":
                continue
            if not self.in_sight(leg.end, item):
                continue
            alike = self._categories == item.category
            if int((alike & level & (np.linalg.norm(offsets, axis=1) <= _ALIKE_M)).sum()) == 1:
                noun = self.noun(item)
                return Landmark(item.id, f"{article(noun)} {noun}", self._centers[n])
        return None

    def in_sight(self, point: Floats, item: ObjectInstance | Place) -> bool:
        """Whether no wall is between a point (3,) and a thing: both in one room, on one floor where there are no rooms, or both outdoors."""
        if isinstance(item, Place):
            return self._enclosure(point) == ""
        x, y, z = item.center
        return self._enclosure(point) == self._enclosure(np.array([x, y, z - 0.5 * item.size[2]]))

    def _enclosure(self, point: Floats) -> str:
        """The room that holds a point (3,), its floor where it is in none, "" outdoors."""
        floor = self.floor_at(point)
        where = shapely.Point(float(point[0]), float(point[1]))
        rooms = (room.id for (room, _), outline in zip(self.rooms, self._outlines, strict=True) if room.floor == floor and outline.contains(where))
        return next(rooms, floor)

    def doors(self, leg: Leg) -> str:
        """`` through the door into the kitchen``, `` through two doors``, or nothing; a street door is called one."""
        passed = [portal for portal in self._passed(leg) if portal.kind == "door"]
        if not passed:
            return ""
        several = f"{_NUMBERS.get(len(passed), str(len(passed)))} doors"
        words = f" through {several if len(passed) > 1 else 'the street door' if passed[0].exterior else 'the door'}"
        room = self.room(leg.end)
        return words if room is None or room == self.room(leg.start) else f"{words} into the {room}"

    def room(self, point: Floats) -> str | None:
        """What people call the room that holds a point (3,), None outside of every room."""
        where = shapely.Point(float(point[0]), float(point[1]))
        for (room, z_m), outline in zip(self.rooms, self._outlines, strict=True):
            if abs(float(point[2]) - z_m) <= _STOREY_M and outline.contains(where):
                return noun_of(room.category)
        return None

    @cached_property
    def _outlines(self) -> list[shapely.Polygon]:
        return [shapely.Polygon(room.polygon) for room, _ in self.rooms]

    def _passed(self, leg: Leg) -> list[Portal]:
        """Openings that the way of a leg goes through, in order."""
        found: dict[str, Portal] = {}
        for a, b in pairwise(leg.way):
            step = shapely.LineString([a[:2], b[:2]])
            for n in np.flatnonzero(shapely.intersects(self._thresholds, step)):
                portal = self.portals[n]
                share = step.project(shapely.intersection(self._thresholds[n], step).centroid, normalized=True)
                if abs(float(a[2] + share * (b[2] - a[2])) - portal.z_m) <= _STOREY_M:
                    found[portal.id] = portal
        return list(found.values())

    @cached_property
    def _thresholds(self) -> np.ndarray:
        return np.array([shapely.LineString(portal.segment) for portal in self.portals] + [None], dtype=object)[:-1]

    @cached_property
    def _centers(self) -> Floats:
        return np.array([item.center for item in self.landmarks], dtype=np.float64)

    @cached_property
    def _categories(self) -> np.ndarray:
        return np.array([item.category for item in self.landmarks])


_NUMBERS = {2: "two", 3: "three", 4: "four"}


def side_of(point: Floats, heading_rad: float, thing: Floats) -> Side:
    """Where a thing lies for somebody at a point who looks along a heading."""
    bearing = wrap_angle(float(np.arctan2(thing[1] - point[1], thing[0] - point[0])) - heading_rad)
    if abs(bearing) <= _AHEAD_RAD:
        return "ahead"
    if abs(bearing) >= _BEHIND_RAD:
        return "behind"
    return "left" if bearing > 0.0 else "right"
