"""A street corner on disk and two runs on it: a policy of mixed luck and an oracle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from report_samples import WALKS, oracle_walks, saved_corner, write_run

from portico.world import World


@dataclass(frozen=True)
class Corner:
    """The world and its runs; copy a run folder before changing it."""

    world: World
    world_folder: Path
    chain: Path
    oracle: Path


@pytest.fixture(scope="session")
def corner_runs(tmp_path_factory: pytest.TempPathFactory) -> Corner:
    root = tmp_path_factory.mktemp("corner")
    folder = root / "worlds" / "corner"
    world = saved_corner(folder)
    chain = write_run(root / "chain", world, folder, "chain", WALKS)
    oracle = write_run(root / "oracle", world, folder, "privileged/oracle-trajectory", oracle_walks(), privileged=["oracle"])
    return Corner(world, folder, chain, oracle)
