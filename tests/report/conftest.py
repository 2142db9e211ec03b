"""What the tests of the report share."""

from __future__ import annotations

import pytest
from tests.report.small_study import Study, make_study


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Return the study of 60 questions, two arms and two executions."""
    return make_study(tmp_path_factory.mktemp("study"))
