from __future__ import annotations

import pytest
from tests.analysis.judged_outcomes import Row, outcomes_of

from taketwo.analysis.efficiency import efficiencies, token_efficiency


def run(arm: str, right: int, million_tokens: float, *, n: int = 100, k: int = 1) -> list[Row]:
    """Return a run of `n` questions that share the tokens evenly."""
    return [
        {
            "arm": arm,
            "execution": k,
            "question_id": f"q{i:03d}",
            "baseline": None,
            "accuracy": float(i < right),
            "tokens": million_tokens * 1e6 / n,
        }
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("right", "million_tokens", "printed"),
    [(51, 15.16, "3.36"), (56, 10.60, "5.28"), (58, 15.44, "3.76")],
)
def test_the_published_efficiencies_come_out(
    right: int, million_tokens: float, printed: str
) -> None:
    (found,) = efficiencies(outcomes_of(run("a", right, million_tokens)))

    assert found.efficiency is not None
    assert f"{found.efficiency:.2f}" == printed
    assert found.per_question == pytest.approx(million_tokens * 1e4)
    assert f"{token_efficiency(right / 100, million_tokens * 1e6):.2f}" == printed


def test_every_arm_and_execution_is_a_run_of_its_own() -> None:
    outcomes = outcomes_of([
        *run("a", 1, 1, n=2), *run("a", 2, 4, n=2, k=2), *run("b", 0, 1, n=2),
    ])  # fmt: skip

    found = {(e.arm, e.execution): e.efficiency for e in efficiencies(outcomes)}

    assert found == {
        ("a", 1): pytest.approx(50), ("a", 2): pytest.approx(25), ("b", 1): pytest.approx(0),
    }  # fmt: skip


def test_one_cell_of_unknown_tokens_leaves_the_run_without_efficiency() -> None:
    rows = run("a", 1, 1, n=3)
    rows[1] |= {"tokens": None, "run_status": "provider_error", "accuracy": None}

    (found,) = efficiencies(outcomes_of(rows))

    assert (found.efficiency, found.tokens, found.per_question) == (None, None, None)
    assert found.reason == (
        "the tokens of 1 of 3 cells are not known, first question 'q001' (provider error)"
    )
    assert (found.scored, found.accuracy) == (2, 0.5)


def test_cells_whose_video_is_missing_or_that_were_stopped_are_no_part_of_the_run() -> None:
    rows = run("a", 1, 3, n=3)
    rows[1] |= {"availability": "missing", "run_status": "not_run", "tokens": None}
    rows[2] |= {"availability": "stopped", "run_status": "not_run", "tokens": None}

    (found,) = efficiencies(outcomes_of(rows))

    assert (found.cells, found.tokens, found.efficiency) == (1, 1e6, 100.0)


def test_a_run_without_scores_or_tokens_says_why_it_has_no_efficiency() -> None:
    unscored = run("a", 0, 1, n=1)
    unscored[0] |= {"accuracy": None, "score_status": "judge_error"}

    (first,) = efficiencies(outcomes_of(unscored))
    (second,) = efficiencies(outcomes_of(run("a", 1, 0, n=1)))

    assert (first.efficiency, first.reason) == (None, "no answer has been scored")
    assert (second.efficiency, second.reason) == (None, "the run used no tokens")
    with pytest.raises(ValueError, match="an efficiency needs a run with tokens, got 0"):
        token_efficiency(0.5, 0)
