"""A building on a lot: plan, openings, shell, fittings, furniture and every annotation."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.fittings import CANOPY_M, hang_doors_and_windows
from portico.build.indoor.forecourt import lay_forecourt
from portico.build.indoor.furnish import furnish
from portico.build.indoor.layout import plan_building
from portico.build.indoor.lot import BuiltBuilding, DrawingBoard, Lot
from portico.build.indoor.mason import Mason
from portico.build.indoor.names import floor_id, room_id
from portico.build.indoor.openings import ENTRANCE_HEAD_M, place_openings
from portico.build.indoor.plan import STOREY_M, BuildingPlan, Door, number_rooms
from portico.build.indoor.programs import PROGRAMS, Program
from portico.build.indoor.shell import PARAPET_M, Style, build_shell
from portico.build.indoor.signs import hang_signs
from portico.build.scene import Scene
from portico.errors import UnknownName, WorldError
from portico.seeding import generator
from portico.world import Building, Floor, Light, Portal, Provenance, Room, World

# Front and depth of standalone worlds, metres, varied by the seed.
_LOT_SIZES: dict[str, tuple[float, float]] = {
    "office": (26.0, 19.0),
    "apartments": (26.0, 15.0),
    "school": (32.0, 18.0),
    "hotel": (28.0, 17.0),
    "clinic": (26.0, 18.0),
    "cafe": (13.0, 14.0),
    "supermarket": (26.0, 20.0),
}


def add_building(scene: Scene, lot: Lot, rng: np.random.Generator) -> BuiltBuilding:
    """Add an enterable building to a scene: geometry, building, floors, rooms, portals and objects.

    Nothing is laid under the footprint but the building's own floor, flush with ``lot.z_m``: leave the footprint out of
    the ground around it.

    Raises:
        UnknownName: no such program.
        WorldError: the lot is too small for the program, or has too many floors.
    """
    program = _checked(lot)
    board = DrawingBoard.of(lot)
    plan = plan_building(lot.width_m, lot.depth_m, program, lot.floors, rng)
    number_rooms(plan)
    place_openings(plan, rng, shopfront=program.shopfront)
    style = Style.choose(lot.program, rng)
    mason = Mason(scene, board)
    build_shell(mason, plan, style)
    hang_doors_and_windows(mason, plan, style)
    hang_signs(mason, lot, plan)
    furnish(mason, lot, plan, rng)
    mason.deliver()
    building = _annotate(scene, lot, board, plan)
    entrance = next(p for p in scene.portals if p.building == lot.id and p.exterior)
    return _built(lot, board, plan, program, building, entrance)


def _checked(lot: Lot) -> Program:
    if lot.program not in PROGRAMS:
        raise UnknownName("building program", lot.program, PROGRAMS, where=f"lot {lot.id!r}")
    program = PROGRAMS[lot.program]
    if lot.width_m < program.min_width_m or lot.depth_m < program.min_depth_m:
        raise WorldError(
            f"the lot is too small for {lot.program!r}",
            where=f"lot {lot.id!r}",
            why=f"{lot.width_m:.1f} x {lot.depth_m:.1f} m (front x depth), at least {program.min_width_m:.1f} x {program.min_depth_m:.1f} m needed",
            next_step="enlarge the lot or choose a smaller program",
        )
    if not 1 <= lot.floors <= 3:
        raise WorldError("a building has 1 to 3 floors", where=f"lot {lot.id!r}", why=f"{lot.floors} asked for", next_step="set floors to 1, 2 or 3")
    return program


def _annotate(scene: Scene, lot: Lot, board: DrawingBoard, plan: BuildingPlan) -> Building:
    """Building, floors, rooms and portals into the scene."""
    outline = [board.point(*p) for p in ((0.0, 0.0), (plan.width_m, 0.0), (plan.width_m, plan.depth_m), (0.0, plan.depth_m))]
    floors = []
    for floor in plan.floors:
        z = lot.z_m + floor.level * STOREY_M
        floors.append(Floor(id=floor_id(lot, floor.level), level=floor.level, z_m=z, height_m=STOREY_M, outline=outline))
        for room in floor.rooms:
            polygon = [board.point(u, v) for u, v in room.corners]
            scene.rooms.append(Room(id=room_id(lot, floor.level, room.index), building=lot.id, floor=floors[-1].id, category=room.category, polygon=polygon))
        for k, door in enumerate(floor.doors):
            scene.portals.append(_portal(lot, board, floor.level, k, door, z))
    building = Building(id=lot.id, name=lot.name, category=lot.program, footprint=outline, floors=floors, enterable=True)
    scene.buildings.append(building)
    return building


def _portal(lot: Lot, board: DrawingBoard, level: int, k: int, door: Door, z: float) -> Portal:
    """The segment runs across the opening in the middle of the wall; on the footprint's edge for the street door."""
    o = door.opening
    across = o.low if door.exterior else (o.low + o.high) / 2
    ends = [(o.start, across), (o.end, across)] if o.along == "u" else [(across, o.start), (across, o.end)]
    return Portal(
        id=f"{floor_id(lot, level)}/{'entrance' if door.exterior else door.kind}-{k}",
        building=lot.id,
        floor=floor_id(lot, level),
        kind=door.kind,
        segment=(board.point(*ends[0]), board.point(*ends[1])),
        z_m=z,
        state=door.state,
        exterior=door.exterior,
    )


def _built(lot: Lot, board: DrawingBoard, plan: BuildingPlan, program: Program, building: Building, entrance: Portal) -> BuiltBuilding:
    return BuiltBuilding(
        building=building,
        entrance=entrance,
        outward=board.direction(0.0, -1.0),
        front_segment=(board.point(0.0, 0.0), board.point(plan.width_m, 0.0)),
        front_window_z=(lot.z_m + (0.35 if program.shopfront else 0.9), lot.z_m + (2.5 if program.shopfront else 2.2)),
        sign_band_z=(lot.z_m + 2.75, lot.z_m + (STOREY_M + 0.8 if len(plan.floors) > 1 else STOREY_M + PARAPET_M - 0.2)),
        lintel_z=lot.z_m + ENTRANCE_HEAD_M,
        facade_top_z=lot.z_m + len(plan.floors) * STOREY_M + PARAPET_M,
        canopy_depth_m=CANOPY_M,
    )


def build_indoor(seed: int, program: str = "apartments", floors: int = 2) -> World:
    """A standalone indoor world: one building, a strip of sidewalk and a forecourt before its door.

    Raises:
        UnknownName: no such program.
        WorldError: more than 3 floors.
    """
    if program not in PROGRAMS:
        raise UnknownName("building program", program, PROGRAMS)
    rng = generator("indoor world", seed, program, floors)
    width, depth = _LOT_SIZES[program]
    width, depth = width * float(rng.uniform(0.9, 1.15)), depth * float(rng.uniform(0.9, 1.15))
    lot = Lot(program, f"{program} {seed}", program, 0.0, 0.0, round(width, 1), round(depth, 1), "south", floors)
    scene = Scene(light=Light(indoor=0.75))
    add_building(scene, lot, rng)
    lay_forecourt(scene, lot)
    provenance = Provenance(source="Portico indoor generator", licence="Apache-2.0", attribution="Portico")
    recipe = {"generator": "indoor", "program": program, "floors": floors}
    return scene.world(f"indoor-{program}-{floors}f-{seed}", "indoor", provenance, recipe=recipe, seed=seed, cell_m=0.05)
