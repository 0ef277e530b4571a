"""One lineage for all that only look at it: to make it takes seconds."""

import pytest

from tests.app.scripted import Project
from tests.cli.evolved import evolved


@pytest.fixture(scope="session")
def evolution(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return evolved(tmp_path_factory.mktemp("evolved"))
