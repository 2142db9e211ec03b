"""The accuracy of an arm never rests on fewer questions than were asked for without saying so."""

from __future__ import annotations

import pytest
from tests.analysis.outcome_tables import table

from taketwo.analysis.compare import compare
from taketwo.cli.comparison_text import comparison_text
from taketwo.executions.rule import Missing, Rule
from taketwo.outcomes.table import Outcomes
from taketwo.report.accounts import denominators_table

FAILED = {"score_status": "not_judged", "accuracy": None}
ENDS: tuple[dict[str, object], ...] = (
    *({"accuracy": 1.0},) * 4,
    {"accuracy": 0.0},
    {"run_status": "abstained", "accuracy": 0.0},
    {"run_status": "limit", "accuracy": 0.0},
    {"run_status": "provider_error", **FAILED},
    {"run_status": "agent_error", **FAILED},
    {"run_status": "not_run", **FAILED},
)
"""Ten cells: 4 right, 3 that count as wrong, 3 that nobody can call either."""


def outcomes() -> Outcomes:
    """Return ten questions of two arms in two executions; only `dynamic` in K2 fails."""
    return table([
        {
            "arm": arm,
            "execution": execution,
            "question_id": f"q{number}",
            **(end if (arm, execution) == ("dynamic", 2) else {"accuracy": 1.0}),
        }
        for execution in (1, 2)
        for arm in ("static", "dynamic")
        for number, end in enumerate(ENDS)
    ])


@pytest.mark.parametrize("missing", ["as-wrong", "drop-question"])
def test_scored_of_planned_is_printed_with_the_accuracy_as_if_the_failed_were_wrong(
    missing: Missing,
) -> None:
    rule = Rule(primary=("accuracy",), missing=missing)
    comparison = compare(outcomes(), rule, study="s", seed=1, draws=200)
    found = denominators_table(comparison)
    records = {(str(one["arm"]), one["execution"]): one for one in found.records}
    failing, whole = records["dynamic", 2], records["dynamic", 1]

    assert (failing["n_scored"], failing["n_planned"], failing["n_failed"]) == (7, 10, 3)
    assert failing["accuracy_if_failed_wrong"] == pytest.approx(4 / 10)
    assert failing["accuracy_if_failed_right"] == pytest.approx(7 / 10)
    assert (whole["n_scored"], whole["accuracy_if_failed_wrong"]) == (10, 1.0)
    row = next(row for row in found.rows if row[0].text == "K2 dynamic")
    headings = [column.heading for column in found.columns]
    shown = {heading: cell.text for heading, cell in zip(headings, row, strict=True)}
    assert shown["Scored / planned"] == "7 / 10"
    assert shown["Failed"] == "3"
    assert shown["Worst-case accuracy"] == "40.0 % to 70.0 %"
    assert (shown["abstained"], shown["limit"], shown["provider error"]) == ("1", "1", "1")
    (line,) = [
        line for line in comparison_text(comparison).splitlines() if line.startswith("dynamic K2")
    ]
    assert line.split()[2:4] == ["7/10", "3"]
