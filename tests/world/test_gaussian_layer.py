"""The capture layer of a world: kept, hashed, checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_bundle import small_world

from portico.errors import WorldError
from portico.world import Gaussians, content_hash, load, save


def some(count: int = 7) -> Gaussians:
    rng = np.random.default_rng(3)
    f = lambda *shape: rng.random(shape).astype(np.float32)  # noqa: E731
    turns = f(count, 4) - 0.5
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return Gaussians(f(count, 3), turns, 0.01 + f(count, 3), f(count), f(count, 9, 3), np.zeros(count, np.int32))


def captured(gaussians: Gaussians):
    world = small_world()
    return replace(world, appearance=replace(world.appearance, gaussians=gaussians))


def test_gaussians_survive_the_disk(tmp_path):
    world = save(captured(some()), tmp_path / "w")
    again = load(tmp_path / "w")
    assert again.manifest.counts["gaussians"] == 7
    assert again.appearance.gaussians.degree == 2
    for name in ("means", "rotations_wxyz", "scales_m", "opacity", "sh", "instance"):
        assert np.array_equal(getattr(again.appearance.gaussians, name), getattr(world.appearance.gaussians, name))


def test_every_array_counts_in_the_hash():
    first = some()
    hashes = {content_hash(captured(first)), content_hash(small_world())}
    for name in ("means", "rotations_wxyz", "scales_m", "opacity", "sh"):
        hashes.add(content_hash(captured(replace(first, **{name: getattr(first, name) * np.float32(0.5)}))))
    assert len(hashes) == 7


def test_some_are_chosen_by_mask_or_index():
    gaussians = some()
    assert np.array_equal(gaussians.chosen(np.array([2, 0])).means, gaussians.means[[2, 0]])
    assert len(gaussians.chosen(gaussians.means[:, 0] > 2.0)) == 0


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda g: replace(g, means=np.where(np.arange(21).reshape(7, 3) == 4, np.nan, g.means).astype(np.float32)), r"not finite.*means\[1\]"),
        (lambda g: replace(g, opacity=g.opacity[:-1]), "different lengths.*opacity"),
        (lambda g: replace(g, sh=g.sh[:, :5]), "wrong shape.*sh"),
        (lambda g: replace(g, scales_m=g.scales_m.astype(np.float64)), "wrong type.*scales_m"),
        (lambda g: replace(g, instance=np.full(7, 99, np.int32)), "Gaussian refers to an instance"),
    ],
)
def test_a_damaged_capture_is_named(tmp_path, harm, words):
    save(captured(harm(some())), tmp_path / "w")
    with pytest.raises(WorldError, match="(?s)" + words):
        load(tmp_path / "w", verify_hash=False)


def test_a_missing_layer_is_named(tmp_path):
    save(captured(some()), tmp_path / "w")
    (tmp_path / "w" / "gaussians.npz").unlink()
    with pytest.raises(WorldError, match=r"missing[\s\S]*gaussians.npz"):
        load(tmp_path / "w")
