"""Scoring a finished study: who is asked what, what is asked again, what never is, and what the table says."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.executions.written_logs import cell_event, sample_member, start_member, write_log
from tests.scored_study import (
    answer_reply,
    choice,
    finished,
    opened,
    says_option,
    says_text,
    trajectory_judge,
    trajectory_reply,
    unparsed,
)
from tests.scripted_model import Request, requests_of, script
from tests.unwritable import nothing_can_be_written

from taketwo.cli.score import command
from taketwo.errors import HarnessError, InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.outcomes.table import Outcomes
from taketwo.reporting import write_report
from taketwo.scores.judgement_pool import asking
from taketwo.scoring import Scored, score
from taketwo.study import compare


def _logs(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("K*/*.eval"))
    }


def _cell(scored: Scored, arm: str, execution: int, question: str) -> dict[str, object]:
    return scored.outcomes.frame.row(
        by_predicate=(pl.col("arm") == arm)
        & (pl.col("execution") == execution)
        & (pl.col("question_id") == question),
        named=True,
    )


def _by_trajectory(judge: str) -> ScoringSpec:
    return ScoringSpec(trajectories=TrajectoryScoring(judge=ModelSpec(name=judge)))


def test_a_judged_trajectory_has_its_axes_milestones_and_tags_in_the_table(tmp_path: Path) -> None:
    judge = trajectory_judge(tags=["counting_error"])
    finished(tmp_path, [choice(1), opened(1)], {}, scoring=_by_trajectory(judge))

    scored = score(tmp_path)
    cell = _cell(scored, "base", 1, "q1")

    # half the mean of 2, 1, 2 and 2; one milestone covered and one partial of two
    assert (cell["trajectory_score"], cell["mc_rate"]) == (0.875, 0.75)
    assert (cell["gt_evidence_coverage"], cell["evidence_completeness"]) == (1.0, None)
    assert cell["trajectory_status"] == "scored"
    assert json.loads(str(cell["milestones"])) == {
        "M1": {"kind": "temporal_localization", "status": "covered"},
        "M2": {"kind": "visual_recognition", "status": "partial"},
    }
    assert json.loads(str(cell["failure_tags"])) == ["counting_error"]
    without = _cell(scored, "base", 1, "o1")
    assert (without["trajectory_score"], without["trajectory_status"]) == (None, "not_judged")


def test_equal_trajectories_are_judged_once_and_the_curated_ones_beside_them(
    tmp_path: Path,
) -> None:
    judge = trajectory_judge()
    finished(
        tmp_path,
        [choice(1), choice(2)],
        {("method", 2, "q1"): says_option(1, "FINAL ANSWER: B")},
        scoring=_by_trajectory(judge),
    )

    scored = score(tmp_path)

    # q1 has two different texts, q2 one, and each question a curated trajectory
    assert len(requests_of(judge)) == 3 + 2
    assert [(item.what, item.asked, item.done) for item in scored.work] == [
        ("trajectories", 3, 3),
        ("references", 2, 2),
    ]
    assert scored.references is not None
    assert scored.references["question_id"].to_list() == ["q1", "q2"]
    assert scored.references["trajectory_score"].to_list() == [0.875, 0.875]
    assert len(requests_of(judge)) == 5
    assert score(tmp_path).work == ()
    assert len(requests_of(judge)) == 5


def test_changing_one_trajectory_judges_exactly_that_cell_again(tmp_path: Path) -> None:
    judge = trajectory_judge()
    questions = [choice(1), choice(2)]
    answers = {
        (arm, execution, question.question_id): says_option(
            0, f"{arm} {execution} {question.question_id}: FINAL ANSWER: A"
        )
        for arm in ("base", "method")
        for execution in (1, 2)
        for question in questions
    }
    plan = finished(tmp_path, questions, answers, scoring=_by_trajectory(judge))
    score(tmp_path)
    before = len(requests_of(judge))

    answers["method", 2, "q2"] = says_option(2, "now another: FINAL ANSWER: C")
    write_log(
        tmp_path / "K2" / "attempt-01.eval",
        start_member(plan_sha256=plan.sha256, execution=2),
        *(
            sample_member(
                arm,
                question.question_id,
                execution=2,
                events=[cell_event(**answers[arm, 2, question.question_id])],
            )
            for question in questions
            for arm in ("base", "method")
        ),
    )
    scored = score(tmp_path)

    assert [request.text.count("now another") for request in requests_of(judge)[before:]] == [1]
    assert [(item.what, item.asked) for item in scored.work] == [("trajectories", 1)]


def test_another_judge_runs_no_agent_and_touches_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = trajectory_judge(), trajectory_judge(grounding=0)
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory(first))
    primary = score(tmp_path).outcomes.frame
    logs = _logs(tmp_path)
    monkeypatch.setattr("taketwo.executions.run.run_study", None)

    again = score(tmp_path, trajectory_judges=[second])

    assert _logs(tmp_path) == logs
    assert [(item.judge, item.what, item.done) for item in again.work] == [
        (second, "trajectories", 1)
    ]
    # the plan's judge stays the one whose scores are in the table
    assert again.outcomes.frame.equals(primary)


def test_a_judge_that_the_plan_does_not_name_becomes_the_studys_and_is_remembered(
    tmp_path: Path,
) -> None:
    judge = trajectory_judge()
    finished(tmp_path, [choice(1)], {})
    assert _cell(score(tmp_path), "base", 1, "q1")["trajectory_score"] is None

    score(tmp_path, trajectory_judges=[judge])

    assert _cell(score(tmp_path, judge=False), "base", 1, "q1")["trajectory_score"] == 0.875


def test_a_judge_of_trajectories_needs_milestones(tmp_path: Path) -> None:
    finished(tmp_path, [opened(1)], {})

    with pytest.raises(RequestError, match="none of the 1 questions has any"):
        score(tmp_path, trajectory_judges=["mockllm/model"])


def test_another_judge_stands_in_for_a_planned_one_that_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judge = trajectory_judge()
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory("openai/gpt-4o"))
    with pytest.raises(RequestError, match="cannot be asked"):
        score(tmp_path)

    with pytest.raises(RequestError, match="cannot be asked"):
        score(tmp_path, trajectory_judges=[judge])
    again = score(tmp_path)

    assert _cell(again, "base", 1, "q1")["trajectory_score"] == 0.875
    (reason,) = [text for text in compare(tmp_path).not_as_planned if "trajectories" in text]
    assert f"{judge} instead of openai/gpt-4o, which gave no label" in reason


def test_a_judge_that_gave_no_label_does_not_become_the_studys(tmp_path: Path) -> None:
    broken, judge = script(["no"], repeat_last=True), trajectory_judge()
    finished(tmp_path, [choice(1)], {})

    failed = score(tmp_path, trajectory_judges=[broken])
    score(tmp_path, trajectory_judges=[judge])

    assert _cell(failed, "base", 1, "q1")["trajectory_status"] == "judge_error"
    assert _cell(score(tmp_path, judge=False), "base", 1, "q1")["trajectory_score"] == 0.875


def test_a_provider_that_nobody_brings_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    finished(tmp_path, [choice(1)], {})

    with pytest.raises(RequestError, match="no model provider is called 'opnai': did you mean"):
        score(tmp_path, trajectory_judges=["opnai/gpt-5"])


def test_a_judge_without_its_key_is_a_request_that_cannot_be_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answers = {("base", 1, "o1"): says_text("something round")}
    finished(tmp_path, [opened(1)], answers, judge="openai/gpt-4o")

    with pytest.raises(RequestError, match=r"the judge 'openai/gpt-4o' cannot be asked: .*API_KEY"):
        score(tmp_path)


def test_a_name_that_is_no_model_is_refused(tmp_path: Path) -> None:
    finished(tmp_path, [choice(1)], {})

    with pytest.raises(RequestError, match="'gpt-4o' is no model: write provider/model"):
        score(tmp_path, judges=["gpt-4o"])


def test_a_judge_that_breaks_its_rules_gives_an_error_and_no_score_and_is_asked_again(
    tmp_path: Path,
) -> None:
    judge = script(["no", "no", "no", "no", "no", "no", trajectory_reply], repeat_last=True)
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory(judge))

    failed = score(tmp_path)
    cell = _cell(failed, "base", 1, "q1")

    assert (cell["trajectory_status"], cell["trajectory_score"]) == ("judge_error", None)
    assert (cell["accuracy"], cell["score_status"]) == (1.0, "scored")
    assert _cell(score(tmp_path), "base", 1, "q1")["trajectory_score"] == 0.875


def test_published_scoring_asks_about_choices_too_and_keeps_what_the_option_says(
    tmp_path: Path,
) -> None:
    judge = script([lambda _: answer_reply("incorrect")], repeat_last=True)
    finished(
        tmp_path,
        [choice(1)],
        {("method", 1, "q1"): says_option(1, "FINAL ANSWER: B")},
        judge=judge,
        scoring=ScoringSpec(answers="published"),
    )

    scored = score(tmp_path)

    right, wrong = _cell(scored, "base", 1, "q1"), _cell(scored, "method", 1, "q1")
    assert (right["accuracy"], right["option_accuracy"]) == (0.0, 1.0)
    assert (wrong["accuracy"], wrong["option_accuracy"]) == (0.0, 0.0)
    assert len(requests_of(judge)) == 2


def test_what_nobody_can_grade_is_null_or_wrong_by_the_rule_and_says_so(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("ungradable")], repeat_last=True)
    answers = {("base", 1, "o1"): says_text("something round")}
    for name, rule in (("a", ScoringSpec()), ("b", ScoringSpec(ungradable="wrong"))):
        finished(tmp_path / name, [opened(1)], answers, judge=judge, scoring=rule)

    first = _cell(score(tmp_path / "a"), "base", 1, "o1")
    second = _cell(score(tmp_path / "b"), "base", 1, "o1")

    assert (first["accuracy"], first["score_status"]) == (None, "ungradable")
    assert (second["accuracy"], second["score_status"]) == (0.0, "ungradable")


def test_an_ambiguous_reply_is_read_by_the_extractor_and_only_that_one(tmp_path: Path) -> None:
    reader = script([json.dumps({"option": "A", "reason": "settled on it"})], repeat_last=True)
    finished(
        tmp_path,
        [choice(1)],
        {
            ("base", 1, "q1"): unparsed("It may be A, or B. Probably red over blue."),
            ("base", 2, "q1"): unparsed("I cannot tell."),
        },
        scoring=ScoringSpec(extractor=ModelSpec(name=reader)),
    )

    before = score(tmp_path, judge=False)
    scored = score(tmp_path)

    waiting, cell = _cell(before, "base", 1, "q1"), _cell(scored, "base", 1, "q1")
    assert (waiting["accuracy"], waiting["score_status"]) == (None, "not_judged")
    assert (cell["run_status"], cell["accuracy"], cell["answer_source"]) == (
        "unparsed",
        1.0,
        "extracted",
    )
    assert cell["answer_index"] == 0
    assert _cell(scored, "base", 2, "q1")["accuracy"] == 0.0
    assert [(item.what, item.asked) for item in scored.work] == [("options", 1)]
    assert len(requests_of(reader)) == 1


def test_studies_that_share_a_folder_judge_equal_content_once_and_stay_whole_without_it(
    tmp_path: Path,
) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    answers = {("base", 1, "o1"): says_text("something round")}
    for name in ("a", "b"):
        finished(tmp_path / name, [opened(1)], answers, judge=judge)

    score(tmp_path / "a", judgements=tmp_path / "shared")
    second = score(tmp_path / "b", judgements=tmp_path / "shared")

    assert len(requests_of(judge)) == 1
    assert second.work == ()
    for name in ("a", "b"):
        assert _cell(score(tmp_path / name, judge=False), "base", 1, "o1")["accuracy"] == 1.0


def test_labels_of_two_models_under_one_judges_name_are_refused(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    finished(
        tmp_path,
        [opened(1)],
        {("base", 1, "o1"): says_text("x"), ("base", 2, "o1"): says_text("y")},
        judge=judge,
    )
    score(tmp_path)
    (part,) = (tmp_path / "judgements").glob("part-*.parquet")
    frame = pl.read_parquet(part)
    served = pl.Series("served_model", ["gpt-4o-2024-05-13", "gpt-4o-2024-11-20"])
    frame.with_columns(served).write_parquet(part)

    with pytest.raises(InvalidResults, match="gpt-4o-2024-05-13"):
        score(tmp_path)


def test_trajectories_of_two_served_models_under_one_name_are_refused(tmp_path: Path) -> None:
    judge = trajectory_judge()
    finished(tmp_path, [choice(1), choice(2)], {}, scoring=_by_trajectory(judge))
    score(tmp_path)
    for part in (tmp_path / "judgements").glob("trajectories-*.parquet"):
        frame = pl.read_parquet(part)
        frame.with_columns(
            pl.Series("served_model", [f"model-{row}" for row in range(frame.height)])
        ).write_parquet(part)

    with pytest.raises(InvalidResults, match="come from 2 served models") as told:
        score(tmp_path)

    parts = (tmp_path / "judgements").glob("trajectories-*.parquet")
    assert any(str(part) in str(told.value) for part in parts)


def test_it_is_said_who_is_asked_how_much_before_anything_is_spent(tmp_path: Path) -> None:
    judge = trajectory_judge()
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory(judge))
    told: list[str] = []

    score(tmp_path, on_work=lambda text: told.append(f"{text} ({len(requests_of(judge))})"))

    assert told == [
        f"asking {judge} about 1 different trajectories (0)",
        f"asking {judge} about 1 different curated trajectories (1)",
    ]


def test_an_ungradable_answer_takes_its_question_out_and_both_readings_are_told(
    tmp_path: Path,
) -> None:
    judge = script([lambda _: answer_reply("ungradable")], repeat_last=True)
    questions = [opened(number) for number in range(1, 5)]
    answers = {("base", 1, "o1"): says_text("something round")}
    finished(tmp_path, questions, answers, judge=judge)
    score(tmp_path)

    comparison = compare(tmp_path)
    shown = CliRunner().invoke(command, [str(tmp_path)])
    report = write_report(tmp_path).html.read_text("utf-8")

    assert comparison.population.n_matched == 3
    assert (
        "base K1: 1 answers that nobody can grade; accuracy 100.0% without them, 75.0% with them as "
        "wrong" in shown.output
    )
    assert "nobody" in report.lower()
    assert "o1" in report


def test_what_a_judge_says_of_trajectories_is_compared_like_accuracy(tmp_path: Path) -> None:
    def reply(request: Request) -> str:
        return trajectory_reply(request, grounding=2 if "method" in request.text else 0)

    judge = script([reply], repeat_last=True)
    questions = [choice(number) for number in range(1, 9)]
    answers = {
        (arm, execution, question.question_id): says_option(0, f"{arm}: FINAL ANSWER: A")
        for arm in ("base", "method")
        for execution in (1, 2)
        for question in questions
    }
    finished(tmp_path, questions, answers, scoring=_by_trajectory(judge))
    score(tmp_path)

    (pair,) = compare(tmp_path).comparisons
    metric = pair.metrics["trajectory_score"]

    # grounding 2 against 0, of four axes: half of 2 / 4
    assert [effect.method_mean - effect.baseline_mean for effect in metric.executions] == [
        0.25,
        0.25,
    ]
    assert metric.verdict == "no_shift_detected"
    assert [effect.sign for effect in metric.executions] == [1, 1]
    assert "evidence_completeness" not in pair.metrics


def test_a_judge_that_failed_is_remembered_until_it_is_asked_again(tmp_path: Path) -> None:
    broken = script(["no"], repeat_last=True)
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory(broken))
    score(tmp_path)

    assert _cell(score(tmp_path, judge=False), "base", 1, "q1")["trajectory_status"] == (
        "judge_error"
    )


def test_an_unusable_folder_of_labels_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    finished(tmp_path / "study", [opened(1)], {("base", 1, "o1"): says_text("x")}, judge=judge)
    (tmp_path / "file").write_text("")

    with pytest.raises(RequestError, match="labels cannot be kept here"):
        score(tmp_path / "study", judgements=tmp_path / "file" / "sub")
    shutil.rmtree(tmp_path / "study" / "judgements")
    (tmp_path / "study" / "judgements").write_text("")
    with pytest.raises(RequestError, match="nothing was spent"):
        score(tmp_path / "study")

    assert requests_of(judge) == []


def test_a_disk_without_room_for_labels_is_found_before_anybody_is_asked(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    finished(tmp_path, [opened(1)], {("base", 1, "o1"): says_text("x")}, judge=judge)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # a lock fits in, labels do not
    try:
        with pytest.raises(RequestError, match=r"labels cannot be kept here .*; nothing was spent"):
            score(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert requests_of(judge) == []
    assert [path.name for path in (tmp_path / "judgements").iterdir()] == [".asking.lock"]
    assert score(tmp_path).judged == 1


def test_nobody_else_asks_judges_while_one_process_does(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    finished(tmp_path, [opened(1)], {("base", 1, "o1"): says_text("x")}, judge=judge)

    with (
        asking(tmp_path / "judgements"),
        pytest.raises(RequestError, match="another process is asking judges"),
    ):
        score(tmp_path)

    assert requests_of(judge) == []
    assert score(tmp_path).judged == 1


def test_labels_from_before_go_into_a_shared_folder_too(tmp_path: Path) -> None:
    judge = script([lambda _: answer_reply("correct")], repeat_last=True)
    answers = {("base", 1, "o1"): says_text("something round")}
    for name in ("a", "b"):
        finished(tmp_path / name, [opened(1)], answers, judge=judge)
    score(tmp_path / "a")

    score(tmp_path / "a", judgements=tmp_path / "shared")
    score(tmp_path / "b", judgements=tmp_path / "shared")

    assert len(requests_of(judge)) == 1


def test_a_further_judge_of_answers_needs_a_first_one(tmp_path: Path) -> None:
    finished(tmp_path, [choice(1)], {})

    with pytest.raises(RequestError, match="has no judge of answers, and further ones only stand"):
        score(tmp_path, judges=["mockllm/model"])


def test_a_study_that_has_not_run_asks_nobody_and_says_so(tmp_path: Path) -> None:
    judge = trajectory_judge()
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory(judge))
    for log in tmp_path.glob("K*/*.eval"):
        log.unlink()

    shown = CliRunner().invoke(command, [str(tmp_path)])

    assert "none of the 4 planned cells has run" in shown.output
    assert requests_of(judge) == []


def test_labels_of_a_second_served_model_never_mix_with_those_that_are_there(
    tmp_path: Path,
) -> None:
    scoring = _by_trajectory(trajectory_judge())
    finished(tmp_path, [choice(1), choice(2)], {}, scoring=scoring)
    score(tmp_path)
    for part in (tmp_path / "judgements").glob("trajectories-*.parquet"):
        frame = pl.read_parquet(part).filter(pl.col("question_id") == "q1")
        frame.with_columns(served_model=pl.lit("another-model")).write_parquet(part)

    scored = score(tmp_path)

    assert _cell(scored, "base", 1, "q1")["trajectory_score"] == 0.875
    assert _cell(scored, "base", 1, "q2")["trajectory_status"] == "judge_error"
    assert "while the labels so far are by another-model" in scored.work[0].failures[0]


@pytest.mark.parametrize("option", [["--ratings", "x.csv"], ["--design", "quick"]])
def test_what_is_for_an_audit_needs_one(tmp_path: Path, option: list[str]) -> None:
    finished(tmp_path, [choice(1)], {})

    shown = CliRunner().invoke(command, [str(tmp_path), *option])

    assert shown.exit_code == 2
    assert "is for an audit of the judges; add --audit" in shown.output


def test_a_label_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    judge = trajectory_judge()
    finished(tmp_path, [choice(1)], {}, scoring=_by_trajectory(judge))
    score(tmp_path)
    for part in (tmp_path / "judgements").glob("trajectories-*.parquet"):
        frame = pl.read_parquet(part)
        labels = [json.dumps(json.loads(text)[:1]) for text in frame["milestones"]]
        frame.with_columns(milestones=pl.Series(labels)).write_parquet(part)

    with pytest.raises(InvalidResults, match=r"is not one of .* the file was changed"):
        score(tmp_path)


def test_a_finished_study_on_a_disk_that_is_only_read_is_read_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = trajectory_judge()
    finished(tmp_path, [choice(1), choice(2)], {}, scoring=_by_trajectory(judge))
    before = score(tmp_path)

    def no_access(_path: object, _mode: int) -> bool:
        return False

    with nothing_can_be_written():
        scored = score(tmp_path, judge=False)
        monkeypatch.setattr(os, "access", no_access)
        compared = compare(tmp_path)

    assert scored.outcomes.frame.equals(before.outcomes.frame)
    assert compared.to_json() == compare(tmp_path).to_json()
    assert not (tmp_path / "comparison.json").exists()


def test_new_scores_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    finished(tmp_path, [choice(1), choice(2)], {})
    outcomes = score(tmp_path).outcomes
    Outcomes(frame=outcomes.frame.head(1)).write(tmp_path / "outcomes.parquet")

    with nothing_can_be_written(), pytest.raises(HarnessError, match=r"outcomes\.parquet: cannot"):
        score(tmp_path, judge=False)
