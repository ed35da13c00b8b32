"""A street corner on disk and two runs on it, as reports are tested on, behind a viewer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))

from report_samples import WALKS, oracle_walks, saved_corner, write_run

from portico.web import serve_runs

#: Names of the runs, in the order of the folder.
CHAIN, ORACLE = "chain", "oracle"


@dataclass(frozen=True)
class Corner:
    """The folder of the runs and that of the world; copy before changing anything."""

    runs: Path
    world: Path


@pytest.fixture(scope="session")
def corner(tmp_path_factory: pytest.TempPathFactory) -> Corner:
    root = tmp_path_factory.mktemp("viewer")
    folder = root / "worlds" / "corner"
    world = saved_corner(folder)
    write_run(root / "runs" / CHAIN, world, folder, "chain", WALKS)
    write_run(root / "runs" / ORACLE, world, folder, "privileged/oracle-trajectory", oracle_walks(), privileged=["oracle"])
    (root / "runs" / ORACLE / "report.html").write_text("<p>who got there</p>")
    return Corner(root / "runs", folder)


@pytest.fixture(scope="session")
def client_of() -> Iterator[Callable[..., httpx.Client]]:
    with ExitStack() as stack:

        def client(*folders: Path, worlds: Path | None = None) -> httpx.Client:
            server = stack.enter_context(serve_runs(folders, worlds=worlds))
            return stack.enter_context(httpx.Client(base_url=server.url, headers={"accept": "text/html"}, timeout=120.0))

        yield client


@pytest.fixture(scope="session")
def client(corner: Corner, client_of: Callable[..., httpx.Client]) -> httpx.Client:
    return client_of(corner.runs)
