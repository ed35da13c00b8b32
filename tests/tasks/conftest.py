"""The little town's ground truth."""

import pytest
from little_town import TOWN

from portico.tasks import Annotations


@pytest.fixture(scope="session")
def town():
    return Annotations(TOWN)
