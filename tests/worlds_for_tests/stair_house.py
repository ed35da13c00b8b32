"""A hand-made place: a 12 x 8 m floor with a wall, a table, a flight of stairs and an upper floor."""

from functools import cache

from portico.build.primitives import box
from portico.build.scene import Scene
from portico.world import Provenance, Surface

RISER, TREAD, STEPS = 0.17, 0.29, 18


@cache
def house():
    scene = Scene()
    plain = scene.material("plain")

    def add(category, surface, center, size):
        scene.add_mesh(*box(center, size), surface=surface, material=plain, instance=scene.instance(category), indoor=True)

    add("floor", Surface.FLOOR, (6, 4, -0.1), (12, 8, 0.2))
    for center, size in (((6, -0.1, 1.5), (12, 0.2, 3)), ((6, 8.1, 1.5), (12, 0.2, 3)), ((-0.1, 4, 1.5), (0.2, 8.4, 3)), ((12.1, 4, 3), (0.2, 8.4, 6))):
        add("wall", Surface.WALL, center, size)
    add("wall", Surface.WALL, (4, 2, 1.5), (0.1, 4, 3))
    for i in range(STEPS):
        height = RISER * (i + 1)
        add("stairs", Surface.STAIRS, (5 + TREAD * (i + 0.5), 7.25, height / 2), (TREAD, 1.5, height))
    add("floor", Surface.FLOOR, (5 + TREAD * STEPS + 0.7, 6.5, RISER * STEPS - 0.1), (1.4, 3, 0.2))
    return scene.world("house", "indoor", Provenance(source="test", licence="CC0-1.0"), cell_m=0.05)
