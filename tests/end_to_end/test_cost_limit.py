"""A limit in dollars in a study that runs: cells end as `limit`, and their record says by what."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.end_to_end.small_study import PLUGIN, make_study

from taketwo.executions.run import run_study
from taketwo.outcomes.build import outcomes_of
from taketwo.tools.budget import Limits

PRICES = {
    name: {"input": 1000.0, "output": 1000.0} for name in ("playback/planner", "playback/observer")
}


def test_cells_end_at_their_limit_in_dollars(tmp_path: Path) -> None:
    limits = Limits(cost_usd=0.001)
    plan = make_study(tmp_path, questions=1, executions=1, prices=PRICES, limits=limits)

    result = run_study(tmp_path, plugins=[PLUGIN])

    cells = {cell.arm: cell for cell in result.trajectories}
    assert cells["base"].run_status == "answered"  # its one call reaches the limit and is paid
    assert (cells["react"].run_status, cells["react"].limit) == ("limit", "cost_usd")
    assert len(cells["react"].model_calls) == 1
    assert (cells["react"].limits or {})["cost_usd"] == 0.001
    costs = {
        row["arm"]: row["cost_usd"]
        for row in outcomes_of(plan, result.trajectories).frame.to_dicts()
    }
    (call,) = cells["react"].model_calls
    assert call.input_tokens is not None
    assert call.output_tokens is not None
    assert costs["react"] == pytest.approx((call.input_tokens + call.output_tokens) / 1000)
