"""From surveyed elements to a scene: ground first, then buildings, then everything that stands on or hangs from them."""

from __future__ import annotations

from portico.build.osm.barriers import add_barriers
from portico.build.osm.facades import add_canopy, add_house
from portico.build.osm.frontages import Frontages
from portico.build.osm.furniture import add_furniture
from portico.build.osm.houses import House, canopy_height_m, raise_houses, simple_footprints
from portico.build.osm.layers import union
from portico.build.osm.markings import add_markings
from portico.build.osm.pavement import lay_pavement
from portico.build.osm.places import add_entrances, add_places
from portico.build.osm.report import Ledger
from portico.build.osm.routes import pedestrian_network
from portico.build.osm.survey import Survey
from portico.build.osm.terrain import add_terrain
from portico.build.scene import Scene
from portico.world import Building, Floor


def assemble(found: Survey, ledger: Ledger) -> tuple[Scene, dict[str, int]]:
    """The scene, and how many things of each kind are in it."""
    houses = raise_houses(found, ledger)
    built = union(h.footprint for h in houses)
    pavement = lay_pavement(found, built, ledger)
    scene = Scene()
    add_terrain(scene, pavement, found.extent, built)
    add_markings(scene, found.streets, pavement.of("road"), pavement.of("crosswalk"))
    instances = [add_house(scene, house) for house in houses]
    scene.buildings += [record for house in houses for record in _records(house)]
    for canopy in found.canopies:
        add_canopy(scene, canopy, canopy_height_m(canopy.tags))
    scene.routes = pedestrian_network(found, pavement)
    frontages = Frontages(houses, pavement.walkable, built)
    add_entrances(scene, found.entrances, frontages, ledger)
    singles = add_barriers(scene, found, built, pavement.road, ledger)
    add_furniture(scene, [*found.furniture, *singles], pavement.road, built, pavement.of("water"), ledger)
    signs = add_places(scene, found.places, frontages, instances, ledger)
    kept = {
        "buildings": len(houses),
        "streets and paths": len(found.streets),
        "crossings": len(pavement.crossings),
        "entrances": len(scene.portals),
        "places": len(scene.places),
        "signs": signs,
        "objects": len(scene.objects),
        "nodes of the pedestrian network": len(scene.routes.nodes),
    }
    return scene, kept


def _records(house: House) -> list[Building]:
    pieces = simple_footprints(house.footprint)
    records = []
    for i, piece in enumerate(pieces):
        identity = house.element.id if i == 0 else f"{house.element.id}/{i + 1}"
        floors = [Floor(id=f"{identity}/level{k}", level=k, z_m=round(k * house.storey_m, 3), height_m=round(house.storey_m, 3)) for k in range(house.levels)]
        outline = [(float(x), float(y)) for x, y in list(piece.exterior.coords)[:-1]]
        records.append(Building(id=identity, name=house.name, category=house.category, footprint=outline, floors=floors, enterable=False))
    return records
