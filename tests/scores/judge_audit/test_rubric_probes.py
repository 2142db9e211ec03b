from __future__ import annotations

import pytest
from tests.scores.judge_audit.test_judge_probes import genuine, judgements_of, rng
from tests.scores.test_process_scores import scores
from tests.scores.test_trajectory_judge import question

from taketwo.scores.judge_audit.rubric_probes import read_rubrics, rubric_probes


def test_each_trajectory_is_judged_by_the_other_wording_too() -> None:
    (probe,) = rubric_probes([genuine()]).probes

    assert probe.partner is not None
    assert (probe.partner.rubric, probe.request.rubric) == ("standard", "paraphrased")
    assert probe.partner.trajectory == probe.request.trajectory
    assert probe.partner.key("j") != probe.request.key("j")


def test_a_study_judged_by_the_paraphrase_is_probed_with_the_standard_wording() -> None:
    (probe,) = rubric_probes([genuine(rubric="paraphrased")]).probes

    assert probe.partner is not None
    assert (probe.partner.rubric, probe.request.rubric) == ("paraphrased", "standard")


def test_the_change_by_another_wording_is_counted_overall_and_by_axis() -> None:
    probes = rubric_probes([
        genuine(f"q{n}", question=question(question_id=f"q{n}", text=f"{n}?")) for n in range(3)
    ]).probes
    before = [(0, 0, 0, None, 0), (1, 1, 1, 1, 1), (2, 2, 2, 2, 2)]
    after = [(0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (2, 1, 0, 0, 2)]
    pool = judgements_of(
        (probe.partner, scores(*one), probe.request, scores(*other))
        for probe, one, other in zip(probes, before, after, strict=True)
    )

    findings, cases = read_rubrics(probes, pool, "j", rng=rng())

    by_name = {(item.subject, item.measure): item for item in findings}
    # scores 0, 0.5, 1 and 0, 0.5, 0.5: changes 0, 0, 0.5; r = 0.25 / sqrt(0.5 * 1/6) = 0.866
    assert by_name["j", "mean absolute change"].value == pytest.approx(0.5 / 3)
    assert by_name["j", "mean absolute change"].published == 0.036
    assert by_name["j", "Pearson r"].value == pytest.approx(0.8660254)
    assert by_name["j", "Pearson r"].published == 0.96
    assert by_name["task_understanding", "Pearson r"].value == pytest.approx(1)
    # coverage 0, 1, 2 against 0, 1, 1
    assert by_name["gt_evidence_coverage", "mean absolute change"].value == pytest.approx(1 / 3)
    assert by_name["evidence_completeness", "mean absolute change"].n == 2
    assert by_name["evidence_completeness", "mean absolute change"].value == pytest.approx(1)
    assert len(findings) == 12
    assert [(case.question_id, case.before, case.after) for case in cases] == [
        ("q2", "1.000", "0.500")
    ]


def test_an_axis_that_one_side_left_out_says_so_and_not_that_nothing_was_judged() -> None:
    (probe,) = rubric_probes([genuine()]).probes
    pool = judgements_of([
        (probe.partner, scores(2, 2, 2, None, 2), probe.request, scores(2, 2, 2, 1, 2))
    ])

    findings, _ = read_rubrics([probe], pool, "j", rng=rng())

    found = [item for item in findings if item.subject == "evidence_completeness"]
    assert [(item.value, item.n, item.reason) for item in found] == [
        (None, 0, "no trajectory in which both sides scored it")
    ] * 2
    assert {item.note for item in found} == {"1 more, to which only one side found that it applies"}
