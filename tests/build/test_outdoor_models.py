"""Things that stand outdoors: closed meshes, catalogues, signs, facades, and a furnisher that keeps its word."""

import numpy as np
import pytest
import shapely

from portico.build.facades import Shell, Unit, add_shell, edges
from portico.build.furnisher import BODY_HEIGHT_M, Furnisher, footprint
from portico.build.groups import CATALOGUE, GROUP_SPACING_M, GROUPS
from portico.build.models import box_of, place
from portico.build.scene import Scene
from portico.build.shapes import ball, cone, extruded, rod, wheel
from portico.build.signs import TRADES, add_sign, lettering
from portico.build.textures import DRAWINGS, draw
from portico.build.vegetation import CROWN_FOOT_M, TREES
from portico.build.vehicles import PAINTS, PARKED
from portico.seeding import generator
from portico.world import Provenance, Surface


def _volume(mesh) -> float:
    corners = mesh[0][mesh[1]].astype(float)
    return float((corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0)


def _closed(mesh) -> bool:
    edges_ = np.concatenate([mesh[1][:, [0, 1]], mesh[1][:, [1, 2]], mesh[1][:, [2, 0]]])
    there = {tuple(e) for e in edges_.tolist()}
    return len(there) == len(edges_) and all((b, a) in there for a, b in there)


SHAPES = {
    "wheel": (wheel((1, 2, 3), 0.5, 0.2, sides=64), np.pi * 0.25 * 0.2),
    "rod": (rod((0, 0, 0), (1, 2, 2), 0.1, sides=64), np.pi * 0.01 * 3.0),
    "extruded": (extruded(((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)), 0.5), 3 * 0.5),
    "ball": (ball((0, 0, 5), (1.0, 2.0, 0.5), levels=4), 4 / 3 * np.pi),
    "cone": (cone((0, 0, 0), 1.0, 3.0, sides=64), np.pi),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed_and_face_outwards(name):
    mesh, volume = SHAPES[name]
    assert _closed(mesh)
    assert _volume(mesh) == pytest.approx(volume, rel=0.05)


@pytest.mark.parametrize("category", CATALOGUE)
def test_catalogue_models_stand_on_the_ground_at_a_sensible_size(category):
    low, high = box_of(CATALOGUE[category]())
    assert -0.03 <= low[2] < 0.35
    assert 0.1 < (high - low).max() < 8.0
    assert all(_volume(part.mesh) > 0.0 for part in CATALOGUE[category]())


@pytest.mark.parametrize("kind", PARKED)
def test_vehicles_have_the_size_of_vehicles(kind):
    low, high = box_of(PARKED[kind][1](PAINTS[0]))
    assert 3.5 < high[0] - low[0] < 5.6
    assert 1.7 < high[1] - low[1] < 2.4
    assert 1.3 < high[2] < 2.4
    assert abs(low[2]) < 0.02


@pytest.mark.parametrize("kind", TREES)
def test_robots_pass_under_every_crown(kind):
    for seed in range(5):
        for part in TREES[kind](generator("test", kind, seed)):
            points = part.mesh[0]
            low = points[points[:, 2] < CROWN_FOOT_M - 0.15]
            assert len(low) == 0 or np.hypot(low[:, 0], low[:, 1]).max() < 0.3


def test_the_catalogue_is_rich():
    placed = {item.category for name in GROUPS for seed in range(4) for item in GROUPS[name](generator("test", name, seed))}
    placed |= {category for category, _ in PARKED.values()}
    assert len(placed) >= 55


@pytest.mark.parametrize("name", GROUPS)
def test_things_of_a_group_do_not_stand_in_one_another(name):
    items = GROUPS[name](generator("test", name))
    standing = [
        (i.category, footprint(i.model, i.x, i.y, i.yaw_rad).buffer(-0.06)) for i in items if i.z == 0.0 and i.category not in ("bus shelter", "bike rack")
    ]
    inside = {("bus shelter", "bench"), ("bench", "umbrella")}
    for k, (a, first) in enumerate(standing):
        for b, second in standing[k + 1 :]:
            assert (a, b) in inside or not first.intersects(second), f"{a} and {b}"


def test_the_furnisher_keeps_free_what_it_was_told_and_groups_apart():
    free, sight = shapely.box(0, 0, 10, 40), shapely.box(10, 0, 20, 40)
    furnisher = Furnisher(Scene(), free, sight)
    rng = generator("test", "furnisher")
    for x, y in rng.uniform(0.0, 40.0, (150, 2)):
        furnisher.put(str(rng.choice(list(GROUPS))), float(x), float(y), float(rng.uniform(0, 6.28)), rng)
    assert len(furnisher.anchors) > 4
    points = np.array(furnisher.anchors)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(len(points), 1)]
    assert gaps.min() >= GROUP_SPACING_M
    geometry = furnisher.scene.world("w", "outdoor", Provenance(source="test", licence="test")).geometry
    low = geometry.triangles[geometry.triangles[:, :, 2].max(axis=1) < BODY_HEIGHT_M].reshape(-1, 3)
    assert not shapely.contains_xy(free.buffer(-1e-4), low[:, 0], low[:, 1]).any()
    high = geometry.triangles[geometry.triangles[:, :, 2].max(axis=1) > 2.4]
    stems = high[high[:, :, 2].min(axis=1) < 1.5].reshape(-1, 3)
    assert not shapely.contains_xy(sight.buffer(-1e-4), stems[:, 0], stems[:, 1]).any()


def test_placing_records_the_box_that_the_triangles_fill():
    scene = Scene()
    found = place(scene, "bench", CATALOGUE["bench"](), 3.0, -2.0, 0.5, 0.7)
    geometry = scene.world("w", "outdoor", Provenance(source="test", licence="test")).geometry
    points = geometry.vertices.astype(float) - np.array(found.center)
    c, s = np.cos(0.7), np.sin(0.7)
    own = np.column_stack([c * points[:, 0] + s * points[:, 1], -s * points[:, 0] + c * points[:, 1], points[:, 2]])
    assert np.allclose(own.max(axis=0), np.array(found.size) / 2, atol=1e-4)
    assert np.allclose(own.min(axis=0), -np.array(found.size) / 2, atol=1e-4)


def test_textures_repeat_without_a_seam():
    for name in ("asphalt", "grass", "gravel", "water", "plaster", "leaves"):
        picture = draw(name).astype(float)
        inner = np.abs(np.diff(picture, axis=0)).mean()
        assert np.abs(picture[0] - picture[-1]).mean() < 2.0 * inner + 2.0
    assert all(max(draw(name).shape[:2]) <= 512 for name in DRAWINGS)


@pytest.mark.parametrize("category", TRADES)
def test_letters_of_signs_are_large_and_stand_out(category):
    trade = TRADES[category]
    for name in trade.names:
        picture, width = lettering(name, trade.letters, trade.board, longest_m=5.6)
        assert 1.0 < width <= 5.62
        assert picture.shape[0] == 95
        contrast = (np.array(trade.letters) - np.array(trade.board)) @ np.array([0.2126, 0.7152, 0.0722])
        assert abs(contrast) > 0.3
        ink = np.abs(picture.astype(float) - 255 * np.array(trade.letters)).sum(axis=2) < 40
        rows = np.flatnonzero(ink[12:-12, 30:-30].any(axis=1))
        assert np.ptp(rows) / 100.0 >= 0.5


def test_a_sign_faces_the_street_and_reads_from_left_to_right():
    scene = Scene()
    add_sign(scene, "CAFE", ((0.1, 0.1, 0.1), (1.0, 1.0, 1.0)), (4.0, 0.0, 3.2), (0.0, -1.0), longest_m=5.0)
    geometry = scene.world("w", "outdoor", Provenance(source="test", licence="test")).geometry
    face = np.flatnonzero(~geometry.collides)
    corners, uv = geometry.triangles[face].reshape(-1, 3), geometry.uv[face].reshape(-1, 2)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    assert normal[1] < 0
    assert np.corrcoef(corners[:, 0], uv[:, 0])[0, 1] > 0.99
    assert np.corrcoef(corners[:, 2], uv[:, 1])[0, 1] > 0.99


def test_a_shell_is_tight_at_any_footprint():
    scene = Scene()
    shape = shapely.Polygon([(0, 0), (20, 0), (20, 8), (12, 8), (12, 16), (0, 16)])
    shell = Shell(shape, 3, "brick-terrace", {0: [Unit(0.0, 6.0, "house:brick-terrace")]}, frozenset({2}))
    add_shell(scene, shell, instance=scene.instance("building"), rng=generator("test"))
    geometry = scene.world("w", "outdoor", Provenance(source="test", licence="test")).geometry
    walls = geometry.triangles[geometry.surface == Surface.WALL].astype(float)
    normals = np.cross(walls[:, 1] - walls[:, 0], walls[:, 2] - walls[:, 0]) / 2
    for p, q in edges(shape):
        outward = np.array([q[1] - p[1], p[0] - q[0]]) / np.linalg.norm(q - p)
        on_edge = np.abs((walls[:, :, :2] - p) @ outward).max(axis=1) < 1e-4
        facing = normals[:, :2] @ outward > 0
        assert np.linalg.norm(normals[on_edge & facing], axis=1).sum() == pytest.approx(np.linalg.norm(q - p) * shell.top_m, rel=1e-3)
