from __future__ import annotations

import numpy as np
import pytest
from tests.scores.judge_audit.test_judge_probes import genuine, judgements_of
from tests.scores.test_process_scores import scores
from tests.scores.test_trajectory_judge import question

from taketwo.scores.judge_audit.reference_probes import read_references, reference_probes


def test_a_question_without_an_explanation_is_skipped_with_the_reason() -> None:
    found = reference_probes([
        genuine("q1", question=question(question_id="q1")),
        genuine("q2", question=question(question_id="q2", explanation=None)),
    ])

    assert [probe.question_id for probe in found.probes] == ["q1"]
    assert [(case.question_id, case.what) for case in found.skipped] == [
        ("q2", "not probed: the question has no explanation")
    ]
    assert len(found.requests) == 2


def test_correlations_are_by_axis_and_completeness_counts_where_both_score_it() -> None:
    found = reference_probes([
        genuine(f"q{n}", question=question(question_id=f"q{n}", text=f"{n}?")) for n in range(4)
    ])
    before = [(2, 0, 0, 1, 2), (2, 1, 1, 1, 2), (2, 2, 2, None, 2), (2, 1, 1, 2, 2)]
    after = [(2, 0, 2, 1, 2), (2, 1, 1, 0, 2), (2, 2, 0, 1, 2), (2, 1, 1, None, 2)]
    pool = judgements_of(
        (probe.partner, scores(*one), probe.request, scores(*other))
        for probe, one, other in zip(found.probes, before, after, strict=True)
    )

    findings, cases = read_references(found.probes, pool, "j", rng=np.random.default_rng(1))

    by_axis = {item.subject: item for item in findings}
    assert by_axis["gt_evidence_coverage"].value == pytest.approx(1)
    assert by_axis["evidence_grounding"].value == pytest.approx(-1)
    assert by_axis["evidence_grounding"].published == 0.814
    assert by_axis["evidence_completeness"].n == 2
    assert by_axis["task_understanding"].value is None
    assert by_axis["task_understanding"].reason == "one side does not vary"
    mean = by_axis["j"]
    assert mean.measure == "mean Pearson r over 2 of 5 axes"
    assert mean.value == pytest.approx(0)
    assert mean.published is None
    assert mean.note == (
        "without task_understanding, evidence_completeness, reasoning_faithfulness"
    )
    # q0: (2+0+0+1+2)/10 = 0.5 to (2+0+2+1+2)/10 = 0.7; q2: 8/8 to 7/10 = 0.7, which is 0.3 less
    assert [(case.question_id, case.before, case.after) for case in cases] == [
        ("q2", "1.000", "0.700")
    ]


def test_without_any_judgement_no_number_exists() -> None:
    found = reference_probes([genuine("q1", question=question())])

    findings, _ = read_references(found.probes, {}, "j", rng=np.random.default_rng(1))

    assert {item.value for item in findings} == {None}
    assert findings[0].reason == "no probe of this kind has been judged"
    assert findings[0].note == "1 of 1 probes lack a judgement and are in no number"
    assert findings[-1].reason == "no axis has a correlation"


def test_the_mean_over_all_five_axes_stands_beside_the_published_one() -> None:
    found = reference_probes([
        genuine(f"q{n}", question=question(question_id=f"q{n}", text=f"{n}?")) for n in range(3)
    ])
    values = [(0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (2, 2, 2, 2, 2)]
    pool = judgements_of(
        (probe.partner, scores(*one), probe.request, scores(*one))
        for probe, one in zip(found.probes, values, strict=True)
    )

    findings, _ = read_references(found.probes, pool, "j", rng=np.random.default_rng(1))

    assert findings[-1].value == pytest.approx(1)
    assert findings[-1].published == 0.762
