"""From Gaussians to what bodies touch: floors, stairs and platforms, obstacles, floaters, and the bad captures."""

from __future__ import annotations

import numpy as np
import pytest

from portico.build.captures import captured_world, gaussians_of, import_splat, solidify, voxelise
from portico.build.captures.ground import without_holes
from portico.build.primitives import box
from portico.build.scene import Scene
from portico.build.splats import write_ply
from portico.errors import ImportFailed, UserError
from portico.robots import embodiment
from portico.space import build_space
from portico.world import Gaussians, Provenance, Surface

ROBOT = embodiment("turtlebot")


def put(scene: Scene, low, high, surface: Surface) -> None:
    low, high = np.array(low, float), np.array(high, float)
    scene.add_mesh(*box(0.5 * (low + high), high - low), surface=surface, instance=scene.instance("thing"), material=scene.material("grey", (0.6, 0.6, 0.6)))


def room():
    """5 x 4 m between walls, a table on four legs, a low platform."""
    scene = Scene()
    put(scene, (-0.1, -0.1, -0.1), (5.1, 4.1, 0.0), Surface.FLOOR)
    for low, high in [((-0.1, -0.1, 0), (0, 4.1, 2.5)), ((5, -0.1, 0), (5.1, 4.1, 2.5)), ((0, -0.1, 0), (5, 0, 2.5)), ((0, 4, 0), (5, 4.1, 2.5))]:
        put(scene, low, high, Surface.WALL)
    put(scene, (2.0, 2.0, 0.68), (3.2, 2.8, 0.72), Surface.FURNITURE)
    for x in (2.0, 3.15):
        for y in (2.0, 2.75):
            put(scene, (x, y, 0.0), (x + 0.05, y + 0.05, 0.68), Surface.FURNITURE)
    put(scene, (4.0, 0.5, 0.0), (4.8, 1.3, 0.15), Surface.FURNITURE)
    return scene.world("room", "indoor", Provenance(source="test", licence="CC0-1.0"))


@pytest.fixture(scope="module")
def both():
    world = room()
    gaussians = gaussians_of(world, spacing_m=0.04)
    solid = solidify(voxelise(gaussians))
    return world, captured_world("room", gaussians, solid, source="test", recipe={}), solid


def test_nothing_solid_is_called_free(both):
    true, mine = (build_space(world, ROBOT, cell_m=0.05) for world in both[:2])
    rng = np.random.default_rng(5)
    poses = np.column_stack([rng.uniform(0.0, 5.0, 4000), rng.uniform(0.0, 4.0, 4000), np.zeros(4000), rng.uniform(-3, 3, 4000)])
    free, claimed = true.is_free(poses), mine.is_free(poses)
    assert not (claimed & ~free).any()
    assert (free & ~claimed).sum() < 0.12 * free.sum()


def test_a_table_is_no_ground_and_neither_is_a_platform(both):
    solid = both[2]
    assert np.abs(solid.z_m).max() <= 0.01
    at = (solid.column + 0.5) * solid.cell_m
    assert not ((at > [4.1, 0.6]) & (at < [4.7, 1.2])).all(axis=1).any()
    assert ((at > [2.2, 2.2]) & (at < [3.0, 2.6])).all(axis=1).any(), "there is floor under the table"
    assert 18.0 < solid.ground_m2 < 20.0


def test_a_floor_that_wavers_around_zero_is_one_floor_without_doubles():
    column = np.argwhere(np.ones((20, 20), bool) & (np.indices((20, 20)).sum(axis=0) % 7 > 0))
    heights = np.where(np.arange(len(column)) % 2, 0.005, -0.005)
    filled, z_m = without_holes(column, heights, 0.05)
    assert len(filled) == len(np.unique(filled, axis=0)) > len(column)
    assert np.abs(z_m).max() <= 0.005


def test_stairs_lead_to_another_floor():
    scene = Scene()
    put(scene, (0, 0, -0.1), (4, 2, 0.0), Surface.FLOOR)
    for n in range(10):
        put(scene, (4 + 0.28 * n, 0, 0.0), (4.28 + 0.28 * n, 2, 0.16 * (n + 1)), Surface.STAIRS)
    put(scene, (6.8, 0, 1.5), (10, 2, 1.6), Surface.FLOOR)
    solid = solidify(voxelise(gaussians_of(scene.world("stairs", "indoor", Provenance(source="test", licence="CC0-1.0")))))
    assert len({round(z, 1) for z in solid.z_m}) >= 9
    assert solid.z_m.max() == pytest.approx(1.6, abs=0.03)


def test_floaters_haze_and_giants_are_left_out(both):
    rng = np.random.default_rng(2)
    count = 30
    haze = Gaussians(
        rng.uniform(1.0, 2.0, (count, 3)).astype(np.float32),
        np.tile(np.float32([1, 0, 0, 0]), (count, 1)),
        np.full((count, 3), 0.01, np.float32),
        np.full(count, 0.9, np.float32),
        np.zeros((count, 1, 3), np.float32),
        np.zeros(count, np.int32),
    )
    thin = Gaussians(haze.means, haze.rotations_wxyz, haze.scales_m, haze.opacity * np.float32(0.2), haze.sh, haze.instance)
    giants = Gaussians(haze.means, haze.rotations_wxyz, haze.scales_m * np.float32(400), haze.opacity, haze.sh, haze.instance)
    real = gaussians_of(both[0])
    parts = [real, haze, thin, giants]
    names = ("means", "rotations_wxyz", "scales_m", "opacity", "sh", "instance")
    voxels = voxelise(Gaussians(*(np.concatenate([getattr(p, n) for p in parts]) for n in names)))
    assert voxels.dropped["too transparent"] == count
    assert voxels.dropped["larger than 3 m"] == count
    assert voxels.dropped["voxels of floaters"] >= count
    assert len(voxels) <= len(voxelise(real)) + 2 * count


def test_what_lies_beyond_the_keys_of_voxels_is_left_out(both):
    real = both[1].appearance.gaussians
    means = np.concatenate([real.means, np.float32([[3e7, 0, 0], [0, -6e4, 0]])])
    names = ("rotations_wxyz", "scales_m", "opacity", "sh", "instance")
    voxels = voxelise(Gaussians(means, *(np.concatenate([getattr(real, n), getattr(real, n)[:2]]) for n in names)))
    assert voxels.dropped["farther than 52.4 km"] == 2
    np.testing.assert_array_equal(voxels.index, voxelise(real).index)


def test_more_voxels_than_memory_are_refused(monkeypatch, both):
    monkeypatch.setattr("portico.build.captures.voxels._MOST_SLOTS", 1 << 16)
    with pytest.raises(ImportFailed, match="too large for its voxels"):
        voxelise(both[1].appearance.gaussians, size_m=0.02)


def test_a_written_capture_comes_back_as_a_world(both, tmp_path):
    write_ply(both[1].appearance.gaussians, tmp_path / "room.ply")
    imported = import_splat(tmp_path / "room.ply")
    assert imported.world.id == "room"
    assert len(imported.world.semantics.buildings[0].floors) == 1
    assert any("m² of ground" in line for line in imported.lines)
    assert build_space(imported.world, ROBOT).roomy.sum() * 0.05**2 > 10.0


@pytest.mark.parametrize("name", ["ok-room", "nan-5-percent", "zero-quaternions", "activated"])
def test_usable_captures_become_worlds(shared, name):
    imported = import_splat(shared / "bad" / "splat" / f"{name}.ply")
    assert 15.0 < build_space(imported.world, ROBOT).roomy.sum() * 0.05**2 < 30.0


@pytest.mark.parametrize(("name", "word"), [("no-floor", "floor"), ("closet", "radius")])
def test_captures_nobody_can_stand_in_are_refused(shared, name, word):
    with pytest.raises((ImportFailed, UserError), match=word):
        build_space(import_splat(shared / "bad" / "splat" / f"{name}.ply").world, embodiment("spot"))
