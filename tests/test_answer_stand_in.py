"""A judge of answers that cannot be asked any more: who may stand in for it, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.scored_study import answer_reply, finished, opened, says_text
from tests.scripted_model import HttpError, Request, requests_of, script

from taketwo.answer_judging import answer_judges
from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.report.judge_tables import AnswerJudges, robustness_table
from taketwo.reporting import write_report
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scoring import Scored, score
from taketwo.study import compare
from taketwo.study_folder import StudyFolder

QUESTIONS = [opened(number) for number in range(1, 5)]
ANSWERS: dict[tuple[str, int, str], dict[str, Any]] = {
    (arm, execution, question.question_id): says_text(
        f"{arm} said {question.question_id} in K{execution}"
    )
    for arm in ("base", "method")
    for execution in (1, 2)
    for question in QUESTIONS
}


def retired() -> HttpError:
    """Return a new error: one that is raised again and again grows by a traceback each time."""
    return HttpError(404, "the model was retired")


def always(label: str) -> str:
    return script([lambda _: answer_reply(label)], repeat_last=True)


def retired_before_k2() -> str:
    """Return a judge that finds the method right and the baseline wrong, and is gone when K2 is judged."""

    def reply(request: Request) -> str | Exception:
        if "in K2" in request.text:
            return retired()
        return answer_reply("correct" if "method said" in request.text else "incorrect")

    return script([reply], repeat_last=True)


def half_judged(folder: Path) -> str:
    """Score a study whose judge retires between its executions; returns the judge."""
    judge = retired_before_k2()
    finished(folder, QUESTIONS, ANSWERS, judge=judge)
    score(folder)
    return judge


def accuracies(scored: Scored) -> list[float | None]:
    return scored.outcomes.frame.sort("execution", "question_id", "arm")["accuracy"].to_list()


def known_of_judges(folder: Path, scored: Scored, judge: str) -> AnswerJudges:
    where = StudyFolder.locate(folder)
    plan, pool = where.plan(), JudgementPool(where.judgements)
    found = answer_judges(plan, pool, scored.trajectories, judge=ModelSpec(name=judge))
    assert found is not None
    return found


def test_it_labels_all_answers_anew_counts_from_then_on_and_mixes_with_nothing(
    tmp_path: Path,
) -> None:
    old, new = half_judged(tmp_path), always("correct")

    scored = score(tmp_path, stand_in=new)

    assert accuracies(scored) == [1.0] * 16
    assert len(requests_of(new)) == 16
    before = len(requests_of(old))
    assert accuracies(score(tmp_path)) == [1.0] * 16
    assert accuracies(score(tmp_path, judge=False)) == [1.0] * 16
    assert len(requests_of(old)) == before
    assert len(requests_of(new)) == 16
    kept = {item.judge for item in JudgementPool(tmp_path / "judgements").answers.values()}
    assert kept == {old, new}


def test_every_page_says_so_with_what_the_planned_judge_had_labelled(tmp_path: Path) -> None:
    old, new = half_judged(tmp_path), always("correct")
    score(tmp_path, stand_in=new)
    said = (
        f"answers are judged by {new}, which was chosen after the plan was frozen, instead of {old}, "
        "which labelled 8 of 16 and none when it was asked last; its labels are in no accuracy of the "
        "comparison, and stand beside it in the report"
    )

    assert said in compare(tmp_path).not_as_planned
    assert said in write_report(tmp_path).html.read_text("utf-8")
    for log in tmp_path.glob("K*/*.eval"):
        log.unlink()
    assert said in compare(tmp_path).not_as_planned
    record = json.loads((tmp_path / "added-scoring.json").read_bytes())
    assert "the model was retired" in record["answers"]["cause"]


def test_both_readings_stand_in_the_report_on_what_both_labelled(tmp_path: Path) -> None:
    old, new = half_judged(tmp_path), always("correct")

    found = known_of_judges(tmp_path, score(tmp_path, stand_in=new), new)

    assert [
        (
            part.judge,
            part.arm,
            part.execution,
            part.cells,
            part.right,
            part.primary_right,
            part.same,
        )
        for part in found.parts
    ] == [(old, "base", 1, 4, 0, 4, 0), (old, "method", 1, 4, 4, 4, 4)]
    page = write_report(tmp_path).html.read_text("utf-8")
    assert "Judges that labelled a part only" in page


def test_a_further_judge_that_labelled_a_part_leaves_the_others_comparable(tmp_path: Path) -> None:
    first, part, whole = always("correct"), retired_before_k2(), always("incorrect")
    finished(tmp_path, QUESTIONS, ANSWERS, judge=first)

    found = known_of_judges(tmp_path, score(tmp_path, judges=[part, whole]), first)

    (pair,) = found.pairs
    assert pair.table is not None
    assert [row.judge for row in pair.table.rows] == [first, whole]
    assert pair.left_out == {part: "it labelled no question in every cell"}
    table = robustness_table(pair)
    assert table is not None
    assert f"{part} is not in it: it labelled no question in every cell." in table.note


def test_a_judge_of_two_served_models_is_in_no_comparison(tmp_path: Path) -> None:
    first, mixed, third = (always("correct") for _ in range(3))
    finished(tmp_path, QUESTIONS, ANSWERS, judge=first)
    scored = score(tmp_path, judges=[mixed, third])
    for path in (tmp_path / "judgements").glob("part-*.parquet"):
        frame = pl.read_parquet(path)
        is_later = (pl.col("judge") == mixed) & pl.col("answer").str.contains("in K2")
        frame.with_columns(
            served_model=pl.when(is_later).then(pl.lit("v2")).otherwise("served_model")
        ).write_parquet(path)

    (pair,) = known_of_judges(tmp_path, scored, first).pairs

    assert pair.table is not None
    assert [row.judge for row in pair.table.rows] == [first, third]
    assert "come from 2 served models" in pair.left_out[mixed]


def test_without_a_label_of_the_judge_that_counts_no_other_is_called_the_primary(
    tmp_path: Path,
) -> None:
    dead, other, third = (
        script([lambda _: retired()], repeat_last=True),
        always("correct"),
        always("correct"),
    )
    finished(tmp_path, QUESTIONS, ANSWERS, judge=dead)

    assert known_of_judges(tmp_path, score(tmp_path, judges=[other, third]), dead).pairs == ()


def test_nobody_stands_in_for_a_judge_that_labelled_everything(tmp_path: Path) -> None:
    judge, other = always("incorrect"), always("correct")
    finished(tmp_path, QUESTIONS, ANSWERS, judge=judge)

    with pytest.raises(RequestError, match="has labelled all answers of this study"):
        score(tmp_path, stand_in=other)

    assert requests_of(other) == []
    assert accuracies(score(tmp_path)) == [0.0] * 16


def test_nobody_stands_in_for_a_judge_that_gives_labels(tmp_path: Path) -> None:
    judge, other = retired_before_k2(), always("correct")
    finished(tmp_path, QUESTIONS, ANSWERS, judge=judge)

    with pytest.raises(RequestError, match="can be asked: it gave 8 labels just now, and 8 are"):
        score(tmp_path, stand_in=other)

    assert requests_of(other) == []
    assert not (tmp_path / "added-scoring.json").exists()


def test_one_that_gives_no_label_either_does_not_stand_in(tmp_path: Path) -> None:
    half_judged(tmp_path)
    dead, new = script([lambda _: retired()], repeat_last=True), always("correct")

    with pytest.raises(RequestError, match=r"gave no label either.*the model was retired"):
        score(tmp_path, stand_in=dead)
    scored = score(tmp_path, stand_in=new)

    assert accuracies(scored) == [1.0] * 16


def test_a_lost_key_is_a_judge_that_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    new = always("correct")
    finished(tmp_path, QUESTIONS, ANSWERS, judge="openai/gpt-4o")

    scored = score(tmp_path, stand_in=new)

    assert accuracies(scored) == [1.0] * 16
    (said,) = [text for text in compare(tmp_path).not_as_planned if "answers" in text]
    assert said.endswith("instead of openai/gpt-4o, which gave no label")


def test_one_that_retires_too_is_replaced_and_both_are_named(tmp_path: Path) -> None:
    old, second, third = half_judged(tmp_path), retired_before_k2(), always("correct")
    score(tmp_path, stand_in=second)

    scored = score(tmp_path, stand_in=third)

    assert accuracies(scored) == [1.0] * 16
    (said,) = [text for text in compare(tmp_path).not_as_planned if "answers" in text]
    assert f"instead of {second} (which stood in for {old}), which labelled 8 of 16" in said


@pytest.mark.parametrize(("judge", "match"), [(False, "without --no-judge"), (True, "already")])
def test_what_cannot_be_meant_is_refused(tmp_path: Path, judge: bool, match: str) -> None:
    old = half_judged(tmp_path)

    with pytest.raises(RequestError, match=match):
        score(tmp_path, judge=judge, stand_in=old)


def test_a_record_that_was_changed_is_named(tmp_path: Path) -> None:
    half_judged(tmp_path)
    score(tmp_path, stand_in=always("correct"))
    path = tmp_path / "added-scoring.json"
    path.write_text(path.read_text().replace('"labelled"', '"labeled"'))

    with pytest.raises(Exception, match=r"added-scoring\.json: not what"):
        score(tmp_path)
