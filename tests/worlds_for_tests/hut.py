"""A small walled room with a door to a sidewalk: the cheapest world in which episodes can be run for real."""

from pathlib import Path

from portico.build.primitives import box
from portico.build.scene import Scene
from portico.world import Building, Floor, ObjectInstance, Portal, Provenance, Region, Surface, save

DOOR = (4.2, 5.8)


def build(folder: Path, name: str = "hut") -> Path:
    """A 8 x 8 m room, its door in the east wall, and 8 m of sidewalk in front; saved to ``folder``."""
    scene = Scene()
    plain = scene.material("plain")

    def add(category, surface, center, size, indoor=True, object_id=None):
        scene.add_mesh(*box(center, size), surface=surface, material=plain, instance=scene.instance(category, object_id), indoor=indoor)

    add("floor", Surface.FLOOR, (4, 4, -0.1), (8, 8, 0.2))
    add("sidewalk", Surface.SIDEWALK, (12, 4, -0.1), (8, 8, 0.2), indoor=False)
    for center, size in (
        ((4, 0.1, 1.5), (8, 0.2, 3)),
        ((4, 7.9, 1.5), (8, 0.2, 3)),
        ((0.1, 4, 1.5), (0.2, 8, 3)),
        ((7.9, DOOR[0] / 2, 1.5), (0.2, DOOR[0], 3)),
        ((7.9, (DOOR[1] + 8) / 2, 1.5), (0.2, 8 - DOOR[1], 3)),
        ((12, -0.1, 0.5), (8, 0.2, 1)),
        ((12, 8.1, 0.5), (8, 0.2, 1)),
        ((16.1, 4, 0.5), (0.2, 8, 1)),
    ):
        add("wall", Surface.WALL, center, size)
    add("island", Surface.FLOOR, (30, 4, -0.1), (4, 4, 0.2), indoor=False)
    add("ceiling", Surface.CEILING, (4, 4, 3.05), (8, 8, 0.1))
    add("chair", Surface.FURNITURE, (1.0, 1.0, 0.4), (0.5, 0.5, 0.8), object_id="chair-1")
    square = [(0, 0), (8, 0), (8, 8), (0, 8)]
    scene.buildings.append(Building(id="a", name="Hut", footprint=square, floors=[Floor(id="a-0", level=0, z_m=0, height_m=3)], enterable=True))
    scene.portals.append(Portal(id="door", building="a", floor="a-0", segment=((8, DOOR[0]), (8, DOOR[1])), z_m=0, exterior=True))
    scene.regions.append(Region(id="walk", type="sidewalk", access="allowed", polygon=[(8, 0), (16, 0), (16, 8), (8, 8)]))
    scene.objects.append(ObjectInstance(id="chair-1", category="chair", center=(1, 1, 0.4), size=(0.5, 0.5, 0.8), building="a", floor="a-0"))
    save(scene.world(name, "composite", Provenance(source="test", licence="CC0-1.0"), cell_m=0.1), folder)
    return folder
