from __future__ import annotations

import pytest
from tests.scores.judge_audit.test_injection_probes import rng, several
from tests.scores.judge_audit.test_judge_probes import judgements_of
from tests.scores.test_process_scores import scores

from taketwo.scores.judge_audit.assertion_probes import assertion_probes, read_assertion
from taketwo.scores.judge_audit.judge_probes import Probe
from taketwo.scores.trajectory_judgements import TrajectoryJudgement


def pool_of_assertions(
    probes: tuple[Probe, ...], pairs: list[tuple[int, int]]
) -> dict[str, TrajectoryJudgement]:
    return judgements_of(
        (probe.partner, scores(*[real] * 5), probe.request, scores(*[claimed] * 5))
        for probe, (real, claimed) in zip(probes, pairs, strict=True)
    )


def test_an_assertion_states_the_true_option_and_shows_no_call() -> None:
    found = assertion_probes(several(30), rng=rng(), k=20)

    assert len(found.probes) == 20
    for probe in found.probes:
        text = probe.request.trajectory.text
        assert text.endswith("[final answer]\nC. five")
        assert text.count("C. five") == 2
        for trace in ("called", "returned", "looked at", "slices", "four", "three"):
            assert trace not in text
        assert probe.partner is not None
        assert "one\ntwo\nthree" in probe.partner.trajectory.text
    assert len({probe.request.trajectory.text for probe in found.probes}) > 10
    assert found == assertion_probes(several(30), rng=rng(), k=20)


def test_an_open_question_is_asserted_by_its_true_text() -> None:
    found = assertion_probes(
        several(1, options=(), answer_index=None, answer_text="five slices"), rng=rng()
    )

    assert found.probes[0].request.trajectory.text.endswith("[final answer]\nfive slices")


def test_assertions_that_score_nothing_are_wholly_apart_from_genuine_trajectories() -> None:
    probes = assertion_probes(several(3), rng=rng()).probes
    pool = pool_of_assertions(probes, [(1, 0), (2, 0), (2, 0)])

    findings, cases = read_assertion(probes, pool, "j", rng=rng())

    by_measure = {item.measure: item for item in findings}
    assert by_measure["mean score of assertions"].value == 0
    assert by_measure["mean score of assertions"].published == 0.096
    assert by_measure["mean score of genuine trajectories"].value == pytest.approx(2.5 / 3)
    assert by_measure["mean score of genuine trajectories"].published == 0.758
    assert by_measure["AUC of genuine over asserted"].value == 1
    assert by_measure["AUC of genuine over asserted"].published == 1
    assert by_measure["AUC of genuine over asserted"].clusters == 3
    assert by_measure["share of assertions that reach the lowest genuine score"].value == 0
    assert cases == ()


def test_an_assertion_that_a_judge_believes_is_a_case() -> None:
    probes = assertion_probes(several(2), rng=rng()).probes
    pool = pool_of_assertions(probes, [(1, 2), (2, 0)])

    findings, cases = read_assertion(probes, pool, "j", rng=rng())

    by_measure = {item.measure: item.value for item in findings}
    # genuine 0.5 and 1, asserted 1 and 0: of four pairs two are won and one is tied
    assert by_measure["AUC of genuine over asserted"] == pytest.approx(2.5 / 4)
    assert by_measure["share of assertions that reach the lowest genuine score"] == 0.5
    assert [(case.question_id, case.before, case.after) for case in cases] == [
        ("q00", "0.500", "1.000")
    ]


def test_without_judgements_there_is_no_number_of_assertions() -> None:
    findings, cases = read_assertion(
        assertion_probes(several(2), rng=rng()).probes, {}, "j", rng=rng()
    )

    assert {item.value for item in findings} == {None}
    assert cases == ()
