from __future__ import annotations

import pytest
from tests.scores.judge_audit.test_judge_probes import called, course, judged
from tests.scores.judge_audit.test_milestone_ablation import asked, cell, judgement_of, rng
from tests.scores.test_process_scores import scores

from taketwo.executions.trajectory import Event
from taketwo.scores.judge_audit.ablation_outcome import read_ablation
from taketwo.scores.judge_audit.judge_probes import Genuine, Probe
from taketwo.scores.judge_audit.milestone_ablation import ablation_probes
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

OTHERS = "share of other milestones that kept their words and fell"
ALONE_OF_KEPT = "share whose removed milestone fell and no other that kept its words"


def three_probes() -> tuple[tuple[Probe, ...], dict[str, TrajectoryJudgement]]:
    items = [
        Genuine(
            question=asked(f"q{n}", text=f"Part {n}?"), trajectory=cell().trajectory, system="S"
        )
        for n in range(3)
    ]
    pool = {
        j.key: j for j in (judgement_of(i, ("covered", "missing", "partial", "missing")) for i in items)
    }  # fmt: skip
    return ablation_probes(items, pool, "j", rng=rng()).probes, pool


def test_the_drop_and_the_labels_that_fell_are_counted() -> None:
    probes, pool = three_probes()
    after = [
        (scores(2, 1, 1, 2, 2), ("missing", "incorrect", "partial", "missing")),
        (scores(2, 0, 2, 2, 2), ("partial", "missing", "missing", "missing")),
        (scores(2, 2, 2, 2, 2), ("covered", "missing", "partial", "missing")),
    ]
    for probe, (axes, statuses) in zip(probes, after, strict=True):
        found = judged(probe.request, axes, statuses)
        pool[found.key] = found

    findings, cases = read_ablation(probes, pool, "j", rng=rng())

    by_measure = {item.measure: item for item in findings}
    # drops 1 - 0.8, 1 - 0.8 and 0
    assert by_measure["mean drop of the trajectory score"].value == pytest.approx(0.4 / 3)
    assert by_measure["mean drop of the trajectory score"].published == 0.41
    assert by_measure["share whose removed milestone fell"].value == pytest.approx(2 / 3)
    # from missing to incorrect is no fall, from partial to missing is one
    assert by_measure["share whose removed milestone alone fell"].value == pytest.approx(1 / 3)
    assert by_measure["share whose removed milestone alone fell"].published == 0.73
    assert by_measure[ALONE_OF_KEPT].value == pytest.approx(1 / 3)
    # M3 was partial and kept its words in all three, and fell once
    assert by_measure[OTHERS].value == pytest.approx(1 / 3)
    assert {item.n for item in findings} == {3}
    assert [(case.question_id, case.subject, case.before, case.after) for case in cases] == [
        ("q1", "M3", "partial, 1.000", "missing, 0.800; kept its words"),
        ("q2", "M1", "covered, 1.000", "covered, 1.000; cites nothing"),
    ]


def one_probe(
    *events: Event, covered: tuple[str, ...]
) -> tuple[tuple[Probe, ...], dict[str, TrajectoryJudgement]]:
    item = cell(trajectory=course("q1", *events))
    clean = judgement_of(item, covered)
    pool = {clean.key: clean}
    return ablation_probes([item], pool, "j", rng=rng()).probes, pool


def test_a_label_that_lost_words_in_the_same_call_may_fall_too() -> None:
    both = "The overlay first reads 0:45 at 62s.\nCuts at 40s are on a green fruit."
    probes, pool = one_probe(
        called(1, both),
        called(2, "5 slices before the cutoff."),
        covered=("covered", "partial", "partial", "missing"),
    )
    after = judged(
        probes[0].request, scores(2, 1, 2, 2, 2), ("missing", "missing", "partial", "missing")
    )

    findings, cases = read_ablation(probes, {**pool, after.key: after}, "j", rng=rng())

    value = {item.measure: (item.value, item.n) for item in findings}
    assert probes[0].touched == ("M2",)
    assert probes[0].what == "M1 taken out: 1 of 2 calls, 0 sentences; words of M2 went along"
    assert value["share whose removed milestone alone fell"] == (0.0, 1)
    assert value[ALONE_OF_KEPT] == (1.0, 1)
    assert value[OTHERS] == (0.0, 1)  # M3; M2 is excused
    assert cases == ()


@pytest.mark.parametrize(
    ("cited", "on_words", "after"),
    [
        ("the display turns to a quarter before one", 1.0, "which is still there"),
        ("overlay first reads 0:45 at 62s", 0.0, "which is not there"),
        ("", 0.0, "cites nothing"),
    ],
)
def test_a_label_that_stayed_on_a_synonym_is_told_from_one_that_stayed_on_nothing(
    cited: str, on_words: float, after: str
) -> None:
    probes, pool = one_probe(
        called(1, "The overlay first reads 0:45 at 62s."),
        called(2, "The display turns to a quarter before one."),
        covered=("covered", "missing", "missing", "missing"),
    )
    found = judged(
        probes[0].request,
        scores(2, 2, 2, 2, 2),
        ("covered", "missing", "missing", "missing"),
        evidence=(cited, "", "", ""),
    )

    findings, cases = read_ablation(probes, {**pool, found.key: found}, "j", rng=rng())

    value = {item.measure: item.value for item in findings}
    assert value["share whose removed milestone fell"] == 0.0
    assert value["share whose removed milestone stayed on words that are still there"] == on_words
    assert value["share whose removed milestone stayed on nothing that is there"] == 1 - on_words
    assert cases[0].after.endswith(after)


def test_where_no_other_milestone_could_fall_there_is_no_share_of_them() -> None:
    probes, pool = one_probe(
        called(1, "The overlay first reads 0:45 at 62s."),
        called(2, "A lime."),
        covered=("covered", "missing", "incorrect", "missing"),
    )
    found = judged(probes[0].request, scores(2, 0, 2, 2, 2), ("missing",) * 4)

    findings, _ = read_ablation(probes, {**pool, found.key: found}, "j", rng=rng())

    (others,) = [item for item in findings if item.measure == OTHERS]
    assert (others.value, others.n) == (None, 0)
    assert others.reason == "no other milestone kept all its words"


def test_a_probe_that_was_not_judged_is_in_no_share() -> None:
    probes, pool = three_probes()
    found = judged(probes[0].request, scores(2, 2, 2, 2, 2), ("missing",) * 4)

    findings, _ = read_ablation(probes, {**pool, found.key: found}, "j", rng=rng())

    assert {item.n for item in findings} == {1}
    assert findings[0].note.startswith("2 of 3 probes lack a judgement")
