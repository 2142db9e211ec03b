"""The reconstructed paper, read and compared once."""

from __future__ import annotations

import pytest
from hypothesis import settings
from tests.analysis.outcome_tables import paper

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.executions.rule import Rule

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@pytest.fixture(scope="session")
def paper_comparison() -> Comparison:
    """Return the comparison of the reconstructed paper by the default rule."""
    return compare(paper(), Rule(), study="reconstruction", seed=20)
