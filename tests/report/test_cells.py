"""Questions in full are chosen by rule and show what the cells saw."""

from __future__ import annotations

import polars as pl
from tests.report.small_study import Study

from taketwo.executions.trajectory import ModelCall, ToolCall, Trajectory
from taketwo.outcomes.table import Outcomes
from taketwo.report.cells import LookedAt, cases_of, choose_cases, evenly, frames_of


def test_the_first_changed_questions_by_id_are_chosen(study: Study) -> None:
    changed = sorted({
        key[1]
        for key, cells in study.outcomes.frame.group_by("arm", "question_id")
        if cells["accuracy"].drop_nulls().n_unique() > 1
    })

    choice = choose_cases(study.outcomes, limit=3)

    assert choice.question_ids == tuple(changed[:3])
    assert f"of the {len(changed)} questions whose correctness changed" in choice.how
    assert "the first 3 by id" in choice.how


def test_without_a_change_the_first_by_id_are_chosen_and_that_is_said(study: Study) -> None:
    constant = Outcomes(study.outcomes.frame.with_columns(accuracy=pl.lit(1.0)))

    choice = choose_cases(constant, limit=2)

    assert choice.question_ids == ("r000-counting", "r001-order")
    assert choice.how.startswith("Chosen by rule: no question changed its correctness")


def test_a_case_shows_every_cell_and_who_chose_which_option(study: Study) -> None:
    choice = choose_cases(study.outcomes)

    case = cases_of(choice, study.plan, study.outcomes, study.trajectories)[0]

    assert [(cell.arm, cell.execution) for cell in case.cells] == [
        ("single_turn", 1),
        ("single_turn", 2),
        ("video_react", 1),
        ("video_react", 2),
    ]
    answered = [cell for cell in case.cells if cell.answer != "no answer"]
    assert sum(len(option.chosen_by) for option in case.options) == len(answered)
    assert sum(option.is_true for option in case.options) == 1


def test_a_failed_cell_has_no_answer_and_is_neither_right_nor_wrong(study: Study) -> None:
    choice = choose_cases(study.outcomes)
    failed = choice.__class__(question_ids=("r011-multi-hop",), how="")

    case = cases_of(failed, study.plan, study.outcomes, study.trajectories)[0]

    cell = case.cells[3]
    assert (cell.answer, cell.is_right) == ("no answer", None)
    assert cell.status == "provider error, not judged"
    assert cell.failure == "RateLimit: 429 after 4 tries"


def test_frames_get_their_times_from_tools_and_requests_and_count_once() -> None:
    a, b, c = ("a" * 64, "b" * 64, "c" * 64)
    trajectory = Trajectory(
        arm="x",
        question_id="q",
        execution=1,
        run_status="answered",
        events=(
            ModelCall(role="observer", model="m", media_sha256=(a,), input_text="no times here"),
            ToolCall(call_id="1", name="t", arguments={}, frames=(b,), frame_times_s=(9.0,)),
            ModelCall(
                role="orchestrator",
                model="m",
                media_sha256=(a, b),
                input_text="[frame at 3.00 s]\n[frame at 9.00 s]",
            ),
            ModelCall(role="observer", model="m", media_sha256=(c,), input_text=""),
        ),
    )

    assert frames_of(trajectory) == (
        LookedAt(sha256=a, time_s=3.0),
        LookedAt(sha256=b, time_s=9.0),
        LookedAt(sha256=c, time_s=None),
    )


def test_a_choice_of_frames_covers_both_ends() -> None:
    frames = [LookedAt(sha256=str(n), time_s=float(n)) for n in range(100)]

    shown = evenly(frames, 8)

    assert len(shown) == 8
    assert (shown[0], shown[-1]) == (frames[0], frames[-1])
    assert evenly(frames[:3], 8) == tuple(frames[:3])
