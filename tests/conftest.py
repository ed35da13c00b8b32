"""Fixtures that every room's tests share."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# First calls compile kernels, which takes as long as it takes. The same examples every time where others wait for the result.
settings.register_profile("portico", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("portico")

# Small hand-made worlds that several rooms' tests share.
sys.path.insert(0, str(Path(__file__).parent / "worlds_for_tests"))

_SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real files and metric vectors that lies beside the checkout."""
    if not _SHARED.is_dir():
        pytest.skip("the folder of shared test data does not lie beside this checkout")
    return _SHARED
