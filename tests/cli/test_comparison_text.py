"""What the terminal shows of a comparison, before the numbers."""

from __future__ import annotations

import numpy as np
from tests.analysis.outcome_tables import table

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.analysis.statements import ConfigurationStatement
from taketwo.cli.comparison_text import comparison_text
from taketwo.executions.rule import Rule


def _compared(configuration: ConfigurationStatement, executions: int = 2) -> Comparison:
    rng = np.random.default_rng(4)
    outcomes = table([
        {
            "arm": arm,
            "execution": execution,
            "question_id": f"q{number}",
            "accuracy": float(rng.integers(2)),
        }
        for execution in range(1, executions + 1)
        for arm in ("static", "dynamic")
        for number in range(8)
    ])
    rule = Rule(primary=("accuracy",))
    return compare(outcomes, rule, study="s", seed=1, draws=200, configuration=configuration)


def test_an_allowed_drift_is_said_above_the_numbers_once() -> None:
    drifted = ConfigurationStatement(value="drifted", reason="prompt of 'react' differs")

    text = comparison_text(_compared(drifted), allow_drift=True)

    told = "DRIFT ALLOWED: compared although executions differ: prompt of 'react' differs"
    assert text.count(told) == 1
    assert text.index(told) < text.index("dynamic against static")


def test_no_drift_is_said_where_nothing_differs_or_nobody_asked() -> None:
    same = ConfigurationStatement(value="same", reason="every recorded part is equal")
    drifted = ConfigurationStatement(value="drifted", reason="the served model changed")

    assert "DRIFT" not in comparison_text(_compared(same), allow_drift=True)
    assert "DRIFT" not in comparison_text(_compared(drifted))


def test_one_execution_is_counted_in_the_singular() -> None:
    same = ConfigurationStatement(value="same", reason="every recorded part is equal")

    assert comparison_text(_compared(same, executions=1)).splitlines()[0].endswith(", 1 execution")
