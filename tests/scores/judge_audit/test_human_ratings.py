"""Tables of raters are read strictly, and humans are compared with each other and the judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from taketwo.benchmarks.question import Sweep
from taketwo.errors import InvalidResults
from taketwo.scores.judge_audit.audit_findings import AuditFinding
from taketwo.scores.judge_audit.human_agreement import human_findings
from taketwo.scores.judge_audit.human_ratings import HumanRatings, read_ratings
from taketwo.scores.judge_audit.judge_agreement import JudgedCell
from taketwo.scores.judge_audit.rating_form import KeyEntry, RatingKey
from taketwo.scores.process_scores import AXES, ProcessScores
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

HEADING = ",".join(["item", *AXES, "note"])
JUDGE = "anthropic/claude-opus-4-7"


def key_of(sweeps: dict[str, Sweep], arms: tuple[str, ...] = ("x",)) -> RatingKey:
    """Items named by question and arm: `q1-x`."""
    return RatingKey(
        raters=("rater-1", "rater-2"),
        items={
            f"{question}-{arm}": KeyEntry(
                question_id=question, arm=arm, execution=1, text_sha256="s" * 64, sweep=sweep
            )
            for question, sweep in sweeps.items()
            for arm in arms
        },
    )


def table(folder: Path, name: str, *rows: str, heading: str = HEADING) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("\n".join([heading, *rows]) + "\n", "utf-8")
    return path


def judged(question: str, arm: str, axes: tuple[int | None, ...], sha: str = "s") -> JudgedCell:
    judgement = TrajectoryJudgement(
        key=question + arm,
        question_id=question,
        judge=JUDGE,
        protocol="blind",
        rubric="standard",
        prompt_sha256="0" * 64,
        created="2026-01-01T00:00:00+00:00",
        scores=ProcessScores(
            axes=dict(zip(AXES, axes, strict=True)),
            rationales={},
            milestones=(),
            failure_tags=(),
            summary="",
        ),
    )
    return JudgedCell(
        question_id=question,
        arm=arm,
        execution=1,
        accuracy=1,
        scores={JUDGE: judgement},
        text_sha256=sha * 64,
    )


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def finding(
    found: tuple[AuditFinding, ...], measure: str, subject: str = f"humans and {JUDGE}"
) -> AuditFinding:
    (one,) = [item for item in found if item.measure == measure and item.subject == subject]
    return one


def test_filled_rows_are_read_and_empty_ones_are_missing(tmp_path: Path) -> None:
    key = key_of({"q1": "yes", "q2": "no", "q3": "unknown", "q4": "yes"})
    one = table(
        tmp_path,
        "rater-1",
        "q1-x,2,1,0,1,2,fine",
        'q2-x,2,2,2,NA,2,"a, ""quoted"" note"',
        "q3-x,1,1,1,na,1,",
        "q4-x,,,,,,",
    )
    two = table(tmp_path, "rater-2", "q3-x,1,1,1,2,1,")

    found = read_ratings([one, two], key)

    assert [rating.item for rating in found.ratings] == ["q1-x", "q2-x", "q3-x", "q3-x"]
    assert found.ratings[0].trajectory_score == 0.6
    assert found.ratings[1].axes["evidence_completeness"] is None
    assert found.ratings[1].note == 'a, "quoted" note'
    assert found.missing == {"rater-1": 1, "rater-2": 3}


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_spreadsheets_separators_and_byte_order_mark_are_read(
    tmp_path: Path, separator: str
) -> None:
    text = f"\ufeff{HEADING}\r\nq1-x,2,2,2,2,2,\r\n".replace(",", separator)
    path = tmp_path / "rater-1.csv"
    path.write_bytes(text.encode("utf-8"))

    (rating,) = read_ratings([path], key_of({"q1": "yes"})).ratings

    assert rating.trajectory_score == 1


def test_every_broken_row_is_named_at_once_with_what_is_allowed(tmp_path: Path) -> None:
    key = key_of({"q1": "yes", "q2": "no", "q3": "unknown", "q4": "yes"})
    one = table(
        tmp_path,
        "rater-1",
        "q1-x,3,1,,na,2,",
        'q2-x,2,2,2,1,2,"two\nlines"',
        "q9-x,2,2,2,2,2,",
        "q4-x,2,2,2,2,2,one, two",
        "q4-x,2,2,2,2,2,",
    )
    two = table(tmp_path, "rater-2", "q3-x,2,2,1.0,x,2,")
    three = table(tmp_path, "rater-3", heading="item,score")

    with pytest.raises(InvalidResults) as caught:
        read_ratings([one, two, three, tmp_path / "none.csv"], key)

    message = str(caught.value)
    assert "ratings cannot be used, 11 problems" in message
    for part in (
        "rater-1.csv, line 2, task_understanding: '3'; allowed: 0, 1, 2",
        "rater-1.csv, line 2, evidence_grounding: empty; allowed: 0, 1, 2",
        "rater-1.csv, line 2, evidence_completeness: 'na'; allowed: 0, 1, 2 (the sweep is 'yes')",
        "rater-1.csv, line 3, evidence_completeness: '1'; allowed: na (the sweep is 'no')",
        "rater-1.csv, line 5, item: 'q9-x' is not in this form's key",
        "rater-1.csv, line 6: 8 fields for 7 columns; put a note that holds the separator into",
        "rater-1.csv, line 7: item 'q4-x' is in line 6 already",
        "rater-2.csv, line 2, evidence_grounding: '1.0'; allowed: 0, 1, 2",
        "rater-2.csv, line 2, evidence_completeness: 'x'; allowed: 0, 1, 2, na (the sweep is",
        "rater-3.csv, line 1: the columns are item, score; needed are item, task_understanding",
        "none.csv: cannot be read",
    ):
        assert part in message


def test_what_is_not_text_and_two_raters_of_one_name_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rater-1.csv"
    path.write_bytes(b"item\xff\xfe")
    other = tmp_path / "again"
    other.mkdir()
    twin = table(other, "rater-1", 'q1-x,2,2,2,2,2,"open')

    with pytest.raises(InvalidResults) as caught:
        read_ratings([path, twin], key_of({"q1": "yes"}))

    assert "two tables are named 'rater-1'" in str(caught.value)
    assert "cannot be read" in str(caught.value)
    assert "not CSV (unexpected end of data)" in str(caught.value)
    with pytest.raises(InvalidResults, match="no table of ratings was given"):
        read_ratings([], key_of({"q1": "yes"}))


def random_ratings(tmp_path: Path, n: int = 30) -> tuple[HumanRatings, list[JudgedCell]]:
    """Two raters and a judge on n questions of two arms; the raters are noisy copies of a truth."""
    generator = np.random.default_rng(8)
    key = key_of({f"q{at:02}": "yes" for at in range(n)}, arms=("x", "y"))
    truth = {item: generator.integers(3, size=5) for item in key.items}
    rows: list[list[str]] = [[], []]
    cells: list[JudgedCell] = []
    for item, axes in truth.items():
        for at in range(2):
            noisy = np.where(generator.random(5) < 0.3, generator.integers(3, size=5), axes)
            rows[at].append(f"{item},{','.join(map(str, noisy))},")
        noisy = np.where(generator.random(5) < 0.3, generator.integers(3, size=5), axes)
        question, arm = item.split("-")
        cells.append(judged(question, arm, tuple(noisy.tolist())))
    tables = [table(tmp_path, f"rater-{at + 1}", *rows[at]) for at in range(2)]
    return read_ratings(tables, key), cells


def test_raters_agreement_is_that_of_other_implementations(tmp_path: Path) -> None:
    ratings, cells = random_ratings(tmp_path)

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=200)

    subject = "rater-1 and rater-2"
    by_rater = [
        {r.item: r.axes["evidence_grounding"] for r in ratings.ratings if r.rater == name}
        for name in ratings.raters
    ]
    pairs = np.array([[by_rater[0][item], by_rater[1][item]] for item in ratings.key.items])
    counts, _ = to_table(pairs)
    for words, weights in (("plain", None), ("quadratic weights", "quadratic")):
        one = finding(found, f"Cohen's kappa, {words}, evidence grounding", subject)
        oracle = cohens_kappa(counts, wt=weights, return_results=False)
        assert one.value == pytest.approx(float(np.asarray(oracle)))
        assert (one.n, one.clusters) == (60, 30)
        assert one.low is not None
    assert finding(found, "Pearson r, evidence grounding", subject).value == pytest.approx(
        stats.pearsonr(pairs[:, 0], pairs[:, 1]).statistic
    )
    assert finding(
        found, "mean absolute difference, evidence grounding", subject
    ).value == pytest.approx(np.abs(pairs[:, 0] - pairs[:, 1]).mean())


def test_the_judge_stands_against_the_mean_of_the_raters(tmp_path: Path) -> None:
    ratings, cells = random_ratings(tmp_path)

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=200)

    humans = {
        item: np.mean([r.trajectory_score for r in ratings.ratings if r.item == item])
        for item in ratings.key.items
    }
    theirs = [humans[f"{cell.question_id}-{cell.arm}"] for cell in cells]
    judge = [cell.scores[JUDGE].trajectory_score for cell in cells]
    overall = finding(found, "Pearson r, trajectory score")
    assert overall.value == pytest.approx(stats.pearsonr(theirs, judge).statistic)
    assert overall.published == 0.77
    published = [
        item.published
        for item in found
        if item.measure.startswith("Pearson") and item.subject.startswith("humans")
    ]
    assert published == [0.39, 0.71, 0.75, 0.60, 0.58, 0.77]


def small(tmp_path: Path, *rows: str, sweep: Sweep = "unknown") -> HumanRatings:
    key = key_of({"q1": sweep, "q2": sweep, "q3": sweep}, arms=("x", "y"))
    return read_ratings([table(tmp_path, "rater-1", *rows)], key)


def test_completeness_is_compared_where_both_sides_scored_it(tmp_path: Path) -> None:
    ratings = small(
        tmp_path, "q1-x,2,2,2,2,2,", "q2-x,2,2,2,na,2,", "q3-x,1,1,1,0,1,", "q1-y,1,1,1,na,1,"
    )
    cells = [
        judged("q1", "x", (2, 2, 2, 1, 2)),
        judged("q2", "x", (2, 2, 2, 1, 2)),
        judged("q3", "x", (1, 1, 1, 0, 1)),
        judged("q1", "y", (1, 1, 1, None, 1)),
    ]

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=50)

    assert finding(found, "mean absolute difference, evidence completeness").value == 0.5
    r = finding(found, "Pearson r, evidence completeness")
    assert (r.n, r.value) == (2, pytest.approx(1))
    assert r.note == (
        "1 more items, to which only one side found that it applies; no interval: all draws give the "
        "same number"
    )
    assert finding(found, "Pearson r, trajectory score").n == 4


def test_missing_items_lower_the_share_and_not_the_scores(tmp_path: Path) -> None:
    ratings = small(tmp_path, "q1-x,2,2,2,2,2,", "q2-x,1,1,1,1,1,", "q3-x,,,,,,not now")

    found = human_findings(
        ratings,
        [judged("q1", "x", (2,) * 5), judged("q2", "x", (1,) * 5), judged("q3", "x", (0,) * 5)],
        JUDGE,
        rng=rng(),
        draws=50,
    )

    share = finding(found, "share of the items rated", "rater-1")
    assert (share.value, share.note) == (pytest.approx(2 / 6), "4 missing")
    assert finding(found, "mean absolute difference, trajectory score").value == 0
    assert finding(found, "Pearson r, trajectory score").n == 2
    alone = finding(found, "Pearson r, trajectory score", "raters")
    assert (alone.value, alone.reason) == (None, "1 rater only")


def test_items_without_judgement_or_with_another_trajectory_are_counted(tmp_path: Path) -> None:
    ratings = small(tmp_path, "q1-x,2,2,2,2,2,", "q2-x,1,1,1,1,1,", "q3-x,0,0,0,0,0,")
    cells = [
        judged("q1", "x", (2,) * 5),
        judged("q2", "x", (2,) * 5, sha="t"),
        replace(judged("q3", "x", (0,) * 5), scores={}),
    ]

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=50)

    overall = finding(found, "Pearson r, trajectory score")
    assert overall.n == 1
    assert "1 rated items have no judgement; 1 rated items have another trajectory by now" in (
        overall.note
    )


def test_a_ceiling_is_said_beside_the_correlation_it_weakens(tmp_path: Path) -> None:
    key = key_of({f"q{n}": "yes" for n in range(10)})
    rows = [f"q{n}-x,{1 if n == 0 else 2},1,{n % 3},1,1," for n in range(10)]
    ratings = read_ratings([table(tmp_path, "rater-1", *rows)], key)
    cells = [judged(f"q{n}", "x", (2, 1, n % 3, 1, n % 2)) for n in range(10)]

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=50)

    understanding = finding(found, "Pearson r, task understanding")
    assert understanding.value is None
    assert understanding.reason == "one side does not vary"
    assert "90 % of the humans' scores are 2" in understanding.note
    assert "all of the judge's scores are 2" in understanding.note
    assert " % of " not in finding(found, "Pearson r, evidence grounding").note


def test_arms_are_ranked_by_humans_and_judge(tmp_path: Path) -> None:
    ratings = small(
        tmp_path,
        *[f"{q}-x,2,2,2,2,2," for q in ("q1", "q2")],
        *[f"{q}-y,1,1,1,1,1," for q in ("q1", "q2")],
    )
    cells = [judged(q, arm, (1 if arm == "x" else 0,) * 5) for q in ("q1", "q2") for arm in "xy"]

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=50)

    order = finding(found, "Kendall's tau-b of the arms' means")
    assert (order.value, order.n, order.clusters) == (1, 4, 2)
    assert order.note == (
        "humans: x > y; judge: x > y; same order: yes; same first: yes; no interval: all draws give the "
        "same number"
    )


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_table_that_is_a_copy_of_another_ones_lines_is_remarked_on(
    tmp_path: Path, *, is_copy: bool
) -> None:
    rows = ["q1-x,2,1,0,1,2,", "q2-x,1,1,1,1,1,", "q3-x,0,0,0,0,0,"]
    tables = [
        table(tmp_path, "rater-1", *rows),
        table(tmp_path, "rater-2", *(rows if is_copy else rows[::-1])),
    ]
    key = key_of({"q1": "yes", "q2": "yes", "q3": "yes"})

    found = human_findings(read_ratings(tables, key), [], JUDGE, rng=rng())

    alike = finding(found, "Pearson r, trajectory score", "rater-1 and rater-2")
    assert ("is one a copy?" in alike.note) is is_copy


def test_an_agreement_without_any_difference_claims_no_interval(tmp_path: Path) -> None:
    rows = ["q1-x,2,1,0,1,2,", "q2-x,1,1,1,1,1,"]
    tables = [table(tmp_path, "rater-1", *rows), table(tmp_path, "rater-2", *rows[::-1])]
    key = key_of({"q1": "yes", "q2": "yes"})

    found = human_findings(read_ratings(tables, key), [], JUDGE, rng=rng())

    apart = finding(found, "mean absolute difference, trajectory score", "rater-1 and rater-2")
    assert (apart.value, apart.low, apart.high) == (0.0, None, None)
    assert apart.note == "no interval: all draws give the same number"


def test_arms_that_are_all_tied_on_one_side_have_no_same_order(tmp_path: Path) -> None:
    ratings = small(tmp_path, *[f"{q}-{arm},2,2,2,2,2," for q in ("q1", "q2") for arm in "xy"])
    cells = [judged(q, arm, (1 if arm == "x" else 0,) * 5) for q in ("q1", "q2") for arm in "xy"]

    found = human_findings(ratings, cells, JUDGE, rng=rng(), draws=50)

    order = finding(found, "Kendall's tau-b of the arms' means")
    assert (order.value, order.reason) == (None, "all arms have one mean on one side")
    assert order.note == "humans: x = y; judge: x > y"
