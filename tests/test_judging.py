"""Asking judges a batch at a time: what is kept of it, of whom, and what it took."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.scored_study import (
    answer_reply,
    choice,
    finished,
    opened,
    says_option,
    says_text,
    trajectory_judge,
    trajectory_reply,
)
from tests.scripted_model import Request, malformed, requests_of, says, script

from taketwo.added_scoring import study_scoring
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.judge_costs import judge_costs
from taketwo.report.judge_use_tables import JudgeCost
from taketwo.reporting import write_report
from taketwo.scores.grading import Grader
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.judgements import judge_noise
from taketwo.scoring import Scored, score
from taketwo.study_folder import StudyFolder

ANSWERS = {
    (arm, execution, f"o{number}"): says_text(f"{arm} {execution} says {number}")
    for arm in ("base", "method")
    for execution in (1, 2)
    for number in (1, 2)
}


def interrupted_at(asked: int, reply: str | None = None) -> str:
    """Return a judge during whose reply of that number the user presses Ctrl-C."""
    seen: list[int] = []

    def answer(request: Request) -> str:
        seen.append(1)
        if len(seen) == asked:
            os.kill(os.getpid(), signal.SIGINT)
        return answer_reply("correct") if reply is None else trajectory_reply(request)

    return script([answer], repeat_last=True)


def test_what_came_back_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    judge = interrupted_at(7)
    finished(tmp_path, [opened(1), opened(2)], ANSWERS, judge=judge)

    with pytest.raises(KeyboardInterrupt):
        score(tmp_path)

    # batches of 4; of the second one 2 replies had come back before
    assert len(JudgementPool(tmp_path / "judgements").answers) >= 6
    asked = len(requests_of(judge))
    kept = len(JudgementPool(tmp_path / "judgements").answers)
    score(tmp_path)
    assert len(requests_of(judge)) == asked + 8 - kept


def test_trajectories_that_came_back_before_an_interrupt_are_kept(tmp_path: Path) -> None:
    judge = interrupted_at(3, "trajectory")
    answers = {
        (arm, execution, "q1"): says_option(0, f"{arm} {execution}: FINAL ANSWER: A")
        for arm in ("base", "method")
        for execution in (1, 2)
    }
    scoring = ScoringSpec(trajectories=TrajectoryScoring(judge=ModelSpec(name=judge)))
    finished(tmp_path, [choice(1)], answers, scoring=scoring)

    with pytest.raises(KeyboardInterrupt):
        score(tmp_path)

    assert len(JudgementPool(tmp_path / "judgements").trajectories) >= 2


def test_another_model_behind_the_name_is_not_paid_for_to_the_end(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    finished(tmp_path, [opened(1), opened(2)], ANSWERS, judge=judge)
    score(tmp_path)
    for path in (tmp_path / "judgements").glob("part-*.parquet"):
        frame = pl.read_parquet(path).filter(pl.col("answer") == "base 1 says 1")
        frame.with_columns(served_model=pl.lit("an-older-one")).write_parquet(path)
    before = len(requests_of(judge))

    scored = score(tmp_path)

    assert len(requests_of(judge)) == before + 4  # one batch of the 7 that are lacking
    assert scored.judged == 0
    assert sum("not asked: the last batch was served by" in text for text in scored.failures) == 3


def test_labels_of_other_questions_in_a_shared_folder_bind_no_study(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    shared = tmp_path / "shared"
    finished(tmp_path / "a", [opened(1)], {("base", 1, "o1"): says_text("x")}, judge=judge)
    finished(tmp_path / "b", [opened(2)], {("base", 1, "o2"): says_text("x")}, judge=judge)
    score(tmp_path / "a", judgements=shared)
    for path in shared.glob("part-*.parquet"):
        pl.read_parquet(path).with_columns(served_model=pl.lit("last-years")).write_parquet(path)

    assert score(tmp_path / "b", judgements=shared).judged == 1


def test_labels_say_what_they_took_with_all_replies_and_the_report_adds_them_up(
    tmp_path: Path,
) -> None:
    label = says(answer_reply("correct"), input_tokens=200, output_tokens=30)
    judge = script([says("no", input_tokens=100, output_tokens=5), label, label], repeat_last=True)
    answers = {("base", 1, "o1"): says_text("x"), ("base", 2, "o1"): says_text("y")}
    prices = {judge: {"input": 10.0, "output": 100.0}}
    finished(tmp_path, [opened(1)], answers, judge=judge, prices=prices, connections=1)

    scored = score(tmp_path)

    (work,) = scored.work
    assert (work.input_tokens, work.output_tokens) == (500, 65)
    assert work.cost_usd == pytest.approx((500 * 10 + 65 * 100) / 1e6)
    (cost,) = costs(tmp_path, scored)
    assert (cost.judge, cost.what, cost.labels) == (judge, "answers", 2)
    assert (cost.input_tokens, cost.output_tokens, cost.usd) == (500, 65, work.cost_usd)
    assert "What judging took" in write_report(tmp_path).html.read_text("utf-8")


def test_what_judges_of_trajectories_took_is_told_apart_by_what_they_judged(tmp_path: Path) -> None:
    judge, other = trajectory_judge(), trajectory_judge()
    scoring = ScoringSpec(trajectories=TrajectoryScoring(judge=ModelSpec(name=judge)))
    finished(tmp_path, [choice(1)], {}, scoring=scoring)
    scored = score(tmp_path, trajectory_judges=[other])

    assert [
        (cost.judge, cost.what, cost.labels, cost.input_tokens, cost.output_tokens, cost.usd)
        for cost in costs(tmp_path, scored)
    ] == [
        (judge, "trajectories", 1, 10, 5, None),
        (other, "trajectories", 1, 10, 5, None),
        (judge, "curated trajectories", 1, 10, 5, None),
    ]


def test_tokens_that_a_reply_does_not_tell_are_unknown_and_not_0(tmp_path: Path) -> None:
    unknown = says(answer_reply("correct")).model_copy(update={"usage": None})
    judge = script([malformed(), unknown], repeat_last=True)
    finished(tmp_path, [opened(1)], {("base", 1, "o1"): says_text("x")}, judge=judge)

    (work,) = score(tmp_path).work

    assert (work.done, work.input_tokens, work.output_tokens, work.cost_usd) == (
        1,
        None,
        None,
        None,
    )


def test_noise_counts_all_repeats_of_an_answer_whichever_study_had_them(tmp_path: Path) -> None:
    labels = iter(["correct", "incorrect", "incorrect"])
    judge = script([lambda _: answer_reply(next(labels))], repeat_last=True)
    shared = tmp_path / "shared"
    finished(tmp_path / "a", [opened(1)], {("base", 1, "o1"): says_text("x")}, judge=judge)
    elsewhere = replace(opened(1), question_id="another-id")
    finished(
        tmp_path / "b",
        [elsewhere],
        {("base", 1, "another-id"): says_text("x")},
        judge=judge,
        scoring=ScoringSpec(repeats=3),
    )

    score(tmp_path / "a", judgements=shared)
    scored = score(tmp_path / "b", judgements=shared)

    where = StudyFolder.locate(tmp_path / "b")
    grader = Grader(where.plan(), JudgementPool(where.judgements).answers)
    used = grader.judgements_in_use(scored.trajectories)
    noise = judge_noise(used)
    assert (len(used), noise.n, noise.split) == (3, 1, 1)


def costs(folder: Path, scored: Scored) -> tuple[JudgeCost, ...]:
    where = StudyFolder.locate(folder)
    plan = where.plan()
    process = study_scoring(folder, plan)
    return judge_costs(plan, JudgementPool(where.judgements), scored.trajectories, process)
