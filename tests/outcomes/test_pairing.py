from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from taketwo.errors import InvalidResults, UnpairedCells
from taketwo.executions.rule import Rule
from taketwo.outcomes.pairing import pair
from taketwo.outcomes.table import COLUMNS, Outcomes

Change = Callable[[str, int, int], dict[str, object]]
RULE = Rule(primary=("accuracy",))


def _table(change: Change = lambda arm, k, q: {}, *, n: int = 4, executions: int = 2) -> Outcomes:
    rows: list[dict[str, object]] = []
    for k in range(1, executions + 1):
        for arm in ("static", "dynamic"):
            for q in range(n):
                row: dict[str, object] = {
                    "arm": arm,
                    "baseline": "static" if arm == "dynamic" else None,
                    "execution": k,
                    "question_id": f"q{q}",
                    "video_id": f"v{q // 2}",
                    "availability": "available",
                    "run_status": "answered",
                    "score_status": "scored",
                    "accuracy": float(q % 2),
                    "turns": float(10 * k + q),
                    "attempts": 1,
                }
                rows.append({**row, **change(arm, k, q)})
    schema = {column.name: column.dtype for column in COLUMNS}
    cells = {name: [row.get(name) for row in rows] for name in schema}
    return Outcomes(pl.DataFrame(cells, schema=schema))


def _failing(arm: str, k: int, *questions: int, status: str = "provider_error") -> Change:
    gone: dict[str, object] = {"run_status": status, "score_status": "not_judged", "accuracy": None}
    return lambda a, e, q: gone if (a, e) == (arm, k) and q in questions else {}


def test_cells_land_where_their_names_say() -> None:
    paired = pair(_table(), RULE)

    assert paired.arms == ("dynamic", "static")
    assert paired.executions == (1, 2)
    assert paired.question_ids == ("q0", "q1", "q2", "q3")
    assert paired.video_ids == ("v0", "v0", "v1", "v1")
    assert paired.baselines == {"dynamic": "static"}
    assert paired.values["turns"][3].tolist() == [[13, 23], [13, 23]]
    assert paired.population.all()


def test_failed_cells_are_refused_with_counts_the_first_one_and_what_to_do() -> None:
    def change(arm: str, k: int, q: int) -> dict[str, object]:
        failed = _failing("dynamic", 2, 1, 3)(arm, k, q)
        if failed:
            return {**failed, "failure": "timeout after 60 s", "attempts": 3}
        return _failing("static", 2, 2, status="media_error")(arm, k, q)

    with pytest.raises(UnpairedCells) as caught:
        pair(_table(change), RULE)

    assert str(caught.value).splitlines() == [
        "cannot pair 'dynamic', 'static' in K2: 3 of 16 planned cells have no score "
        "(2 provider_error, 1 media_error).",
        "  first: question 'q1', arm 'dynamic', execution K2: provider_error after 3 attempts "
        "(timeout after 60 s)",
        "  either finish them:  taketwo run STUDY   (errors of agents and media: --retry-errors)",
        "  or see the bounds:  taketwo compare STUDY --exploratory-missing as-wrong",
        "                      (marked 'not as planned' on every page)",
    ]


def test_answers_that_were_not_judged_are_to_be_judged() -> None:
    def change(arm: str, k: int, q: int) -> dict[str, object]:
        return {"score_status": "not_judged", "accuracy": None} if (k, q) == (1, 0) else {}

    with pytest.raises(UnpairedCells, match="either judge them:  taketwo score STUDY"):
        pair(_table(change), RULE)


def test_a_study_that_nobody_judged_yet_has_no_accuracy_and_no_failure() -> None:
    paired = pair(_table(lambda a, k, q: {"score_status": "not_judged", "accuracy": None}), RULE)

    assert not paired.is_judged
    assert not paired.failed.any()
    assert np.isnan(paired.values["accuracy"]).all()
    assert np.isfinite(paired.values["turns"]).all()


def test_as_wrong_gives_a_failed_run_zero_and_no_resources() -> None:
    paired = pair(_table(_failing("dynamic", 2, 1)), RULE, missing="as-wrong")

    assert paired.values["accuracy"][1].tolist() == [[1, 0], [1, 1]]
    assert np.isnan(paired.values["turns"][1, 0, 1])
    assert np.isnan(paired.observed[1, 0, 1])
    assert paired.population.all()
    assert paired.missing == "as-wrong"


def test_as_wrong_does_not_call_an_unjudged_answer_wrong() -> None:
    def change(arm: str, k: int, q: int) -> dict[str, object]:
        lost = (arm, k, q) == ("static", 1, 2)
        return {"score_status": "judge_error", "accuracy": None} if lost else {}

    paired = pair(_table(change), RULE, missing="as-wrong")

    assert paired.population.all(axis=1).tolist() == [True, True, False, True]
    assert paired.steps[1].lost[0].cells == ("static in K1: judge_error",)


def test_drop_question_takes_it_out_of_every_cell() -> None:
    paired = pair(_table(_failing("dynamic", 2, 1)), RULE, missing="drop-question")

    assert paired.population.tolist() == [[True] * 2, [False] * 2, [True] * 2, [True] * 2]
    assert [(s.n_before, s.n_after) for s in paired.steps] == [(4, 4), (4, 3)]


def test_a_failure_on_a_question_whose_video_is_gone_elsewhere_is_no_reason_to_refuse() -> None:
    def change(arm: str, k: int, q: int) -> dict[str, object]:
        if (k, q) == (2, 1):
            return {"availability": "missing", "run_status": "not_run", "accuracy": None}
        return _failing("dynamic", 1, 1)(arm, k, q)

    paired = pair(_table(change), RULE)

    assert paired.population.all(axis=1).tolist() == [True, False, True, True]
    assert paired.steps[0].lost[0].video_id == "v0"


def test_a_question_without_a_row_somewhere_is_lost_and_says_so() -> None:
    outcomes = _table()
    gone = (
        (pl.col("question_id") == "q2") & (pl.col("arm") == "static") & (pl.col("execution") == 2)
    )

    paired = pair(Outcomes(outcomes.frame.filter(~gone)), RULE)

    assert paired.steps[0].lost[0].cells == ("static in K2: no row",)
    assert paired.population.all(axis=1).sum() == 3


def test_an_execution_without_one_arm_is_named() -> None:
    gone = (pl.col("arm") == "static") & (pl.col("execution") == 2)

    with pytest.raises(UnpairedCells, match="execution K2 has no cell of arm 'static'"):
        pair(Outcomes(_table().frame.filter(~gone)), RULE)


def test_nothing_run_and_nothing_left_are_told_apart() -> None:
    idle = _table(lambda a, k, q: {"run_status": "not_run", "accuracy": None})
    with pytest.raises(UnpairedCells, match="none of the 16 planned cells has run"):
        pair(idle, RULE)
    gone = _table(lambda a, k, q: {"availability": "missing", "accuracy": None} if k == 2 else {})
    with pytest.raises(
        UnpairedCells, match=r"no question is left .*first lost 'q0': dynamic in K2: missing"
    ):
        pair(gone, RULE)
    with pytest.raises(InvalidResults, match="has no rows"):
        pair(Outcomes(_table().frame.clear()), RULE)


def test_a_question_on_two_videos_and_one_without_a_video_are_refused() -> None:
    with pytest.raises(InvalidResults, match="1 questions stand on more than one video, first 'q1': other, v0"):  # fmt: skip
        pair(_table(lambda a, k, q: {"video_id": "other"} if (k, q) == (2, 1) else {}), RULE)
    with pytest.raises(InvalidResults, match="4 rows lack a question_id or a video_id, first question 'q3'"):  # fmt: skip
        pair(_table(lambda a, k, q: {"video_id": None} if q == 3 else {}), RULE)


def test_baselines_that_contradict_or_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidResults, match="arm 'dynamic' has more than one baseline"):
        pair(_table(lambda a, k, q: {"baseline": None} if q == 1 else {}), RULE)
    with pytest.raises(InvalidResults, match="has the baseline 'ghost', which is no other arm"):
        pair(_table(lambda a, k, q: {"baseline": "ghost"} if a == "dynamic" else {}), RULE)


def test_per_execution_keeps_what_each_execution_has() -> None:
    def change(arm: str, k: int, q: int) -> dict[str, object]:
        return {"availability": "unreadable", "accuracy": None} if (k, q) == (2, 0) else {}

    paired = pair(_table(change), Rule(primary=("accuracy",), population="per-execution"))

    assert paired.population.tolist() == [[True, False], [True, True], [True, True], [True, True]]


def test_what_an_early_stop_left_out_is_a_step_of_its_own_and_no_failure() -> None:
    def change(arm: str, k: int, q: int) -> dict[str, object]:
        if (arm, k, q) == ("static", 1, 0):
            return {**_failing(arm, k, q)(arm, k, q), "availability": "missing"}
        stopped = _failing(arm, 2, 2, 3, status="not_run")(arm, k, q)
        return {**stopped, "availability": "stopped"} if stopped else {}

    paired = pair(_table(change), RULE)

    assert [(s.step, s.n_before, s.n_after) for s in paired.steps] == [
        ("video there in every cell", 4, 3),
        ("not stopped early", 3, 1),
        ("no failed cell", 1, 1),
    ]
    assert [loss.question_id for loss in paired.steps[1].lost] == ["q2", "q3"]
    assert paired.steps[1].lost[0].cells == ("dynamic in K2: stopped", "static in K2: stopped")
    assert not paired.failed.any()
    by_execution = pair(_table(change), Rule(primary=("accuracy",), population="per-execution"))
    assert by_execution.population.sum(axis=0).tolist() == [3, 2]
