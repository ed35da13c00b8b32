"""Furnishes every room of a building by what it is for, and enters each piece as an object of the scene."""

from __future__ import annotations

from collections import Counter

import numpy as np

from portico.build.indoor.arrange import Arrangement, Placed
from portico.build.indoor.lot import Lot
from portico.build.indoor.mason import Mason, Stuff
from portico.build.indoor.names import floor_id, object_id, room_id
from portico.build.indoor.plan import STOREY_M, BuildingPlan
from portico.build.indoor.rooms import GRAMMAR
from portico.geometry import rotation_z, wrap_angle
from portico.world import ObjectInstance


def furnish(mason: Mason, lot: Lot, plan: BuildingPlan, rng: np.random.Generator) -> None:
    """Arrange furniture in every room; rooms that no rule speaks of stay empty."""
    for floor in plan.floors:
        for room in floor.rooms:
            arrangement = Arrangement(floor, room, lot.program, rng)
            if room.category in GRAMMAR:
                GRAMMAR[room.category](arrangement)
            count: Counter[str] = Counter()
            for piece in arrangement.placed:
                name = object_id(lot, floor.level, room.index, piece.model.category, count[piece.model.category])
                count[piece.model.category] += 1
                _deliver(mason, lot, floor.level, room.index, name, piece)


def _deliver(mason: Mason, lot: Lot, level: int, room: int, name: str, piece: Placed) -> None:
    """Geometry to the mason, annotation to the scene."""
    model = piece.model
    instance = mason.scene.instance(model.category, name)
    base = level * STOREY_M + piece.bottom
    turn, shift = rotation_z(piece.yaw_rad), np.array([*piece.center, base])
    for finish, vertices, faces, uv in model.parts:
        mason.mesh(Stuff(model.surface, finish, instance, collides=model.collides), vertices @ turn.T + shift, faces, uv)
    x, y = mason.board.point(*piece.center)
    mason.scene.objects.append(
        ObjectInstance(
            id=name,
            category=model.category,
            center=(x, y, lot.z_m + base + model.size[2] / 2),
            size=model.size,
            yaw_rad=wrap_angle(piece.yaw_rad + mason.board.yaw_rad),
            building=lot.id,
            floor=floor_id(lot, level),
            room=room_id(lot, level, room),
        )
    )
