"""The learned walker: what it sees and does, and that it walks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from walking import Arena, along_x, mean_velocity, stairs

from portico.errors import UserError
from portico.robots.physics.legs import LearnedWalker, Walker, load_network
from portico.robots.physics.legs.learned import ACTIONS, OBSERVED, Network, Reflexes
from portico.robots.robot_file import LEARNED_WEIGHTS


def silent_network() -> Network:
    return Network(
        np.zeros(OBSERVED, np.float32), np.ones(OBSERVED, np.float32), (np.zeros((OBSERVED, ACTIONS), np.float32),), (np.zeros(ACTIONS, np.float32),)
    )


@pytest.fixture(scope="module")
def flat() -> Arena:
    return Arena(length_m=14.0, width_m=8.0, begin_m=-4.0)


def test_without_corrections_it_is_the_walker(flat: Arena) -> None:
    tracks = []
    for controller in (Walker(flat.model), LearnedWalker(flat.model, silent_network())):
        flat.place()
        tracks.append(flat.walk(controller, (0.5, 0.0, 0.3), 1.0))
    np.testing.assert_array_equal(tracks[0], tracks[1])


def test_it_sees_the_same_wherever_it_stands_and_looks() -> None:
    arena = Arena(lambda x, y: 0.0 * x + 0.7)
    seen = []
    for x, y, yaw in ((0.0, 0.0, 0.0), (1.0, -0.5, 2.0)):
        arena.place(x, y, yaw)
        reflexes = Reflexes(Walker(arena.model))
        reflexes.reset(arena.data)
        out = np.empty(OBSERVED, np.float32)
        reflexes.observe(arena.data, np.array([0.3, 0.1, 0.2]), arena.heights, out)
        seen.append(out)
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-5)
    assert np.isfinite(seen[0]).all()


def test_weights_survive_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    shapes = ((OBSERVED, 8), (8, ACTIONS))
    network = Network(
        rng.normal(size=OBSERVED).astype(np.float32),
        rng.random(OBSERVED).astype(np.float32),
        tuple(rng.normal(size=s).astype(np.float32) for s in shapes),
        tuple(rng.normal(size=s[1]).astype(np.float32) for s in shapes),
    )
    network.save(tmp_path / "weights.npz")
    observed = rng.normal(size=(3, OBSERVED)).astype(np.float32)
    np.testing.assert_array_equal(load_network(tmp_path / "weights.npz")(observed), network(observed))


def test_missing_and_foreign_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no weights"):
        load_network(tmp_path / "none.npz")
    silent_network()._replace(mean=np.zeros(3, np.float32), scale=np.ones(3, np.float32), weights=(np.zeros((3, ACTIONS), np.float32),)).save(
        tmp_path / "other.npz"
    )
    with pytest.raises(UserError, match="do not fit"):
        load_network(tmp_path / "other.npz")
    silent_network()._replace(weights=(np.zeros((OBSERVED, 4), np.float32),)).save(tmp_path / "torn.npz")
    (tmp_path / "text.npz").write_text("no weights")
    np.savez(tmp_path / "foreign.npz", layers=np.zeros(3))
    for name in ("torn", "text", "foreign"):
        with pytest.raises(UserError, match="cannot be read"):
            load_network(tmp_path / f"{name}.npz")


@pytest.mark.skipif(not LEARNED_WEIGHTS.is_file(), reason="no trained weights in this checkout")
class TestTrained:
    """With the weights that come with Portico."""

    def test_they_are_small(self) -> None:
        assert LEARNED_WEIGHTS.stat().st_size < 500_000

    @pytest.mark.parametrize("command", [(0.5, 0, 0), (0, 0.2, 0), (0, 0, 1.0)])
    def test_it_follows_velocities(self, flat: Arena, command) -> None:
        flat.place()
        velocity = mean_velocity(flat.walk(LearnedWalker(flat.model), command, 4.0))
        np.testing.assert_allclose(velocity, command, atol=0.15 * np.linalg.norm(command))

    @pytest.mark.slow
    @pytest.mark.parametrize("rise_m", [0.17, -0.17])
    def test_it_takes_stairs(self, rise_m: float) -> None:
        arena = Arena(stairs(rise_m))
        arena.walk(LearnedWalker(arena.model), along_x(0.5, 5.0), 22.0)
        assert arena.upright > 0.7
        assert arena.data.qpos[0] > 4.8
