"""Any outdoor world from above: what drives through it can be followed."""

from dataclasses import replace

import pytest

pytest.importorskip("rasterio")

import shapely
from hut import build

from portico.build.aerial.from_world import aerial_view
from portico.episodes.satnav.routes import network
from portico.errors import UserError
from portico.world import Region, load


def staggered(world):
    """The world with a street of 9 m that two others leave, to the north and 14 m on to the south, parted by kerbs of centimetres."""
    lanes = [(-60.0, -4.5, 60.0, 4.5), (-4.5, 4.52, 4.5, 60.0), (9.5, -60.0, 18.5, -4.52)]
    regions = [
        Region(id=f"lane-{k}", type="vehicle_lane", access="prohibited", polygon=list(shapely.box(*b).exterior.coords)[:-1]) for k, b in enumerate(lanes)
    ]
    return replace(world, semantics=world.semantics.model_copy(update={"regions": regions}))


def test_streets_that_meet_are_one_network(tmp_path):
    build(tmp_path / "hut")
    view = aerial_view(staggered(load(tmp_path / "hut")), gsd_m=1.0, margin_m=0.0)
    assert {w.kind for w in view.semantics.ways} == {"road"}
    net = network(view.semantics.ways, shapely.box(-100, -100, 100, 100))
    junctions = [node for node, edges in net.leaving.items() if len(edges) == 3]
    assert len(junctions) == 2
    assert any({e.a, e.b} == set(junctions) for e in net.edges)


def test_what_is_seen_from_above_already_is_refused(tmp_path):
    build(tmp_path / "hut")
    hut = load(tmp_path / "hut")
    with pytest.raises(UserError, match="outdoors"):
        aerial_view(replace(hut, manifest=hut.manifest.model_copy(update={"kind": "indoor"})))
