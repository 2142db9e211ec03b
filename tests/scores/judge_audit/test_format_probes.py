from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.scores.judge_audit.test_judge_probes import called, course, genuine, judged
from tests.scores.test_process_scores import scores
from tests.scores.test_trajectory_judge import question

from taketwo.scores.judge_audit.format_probes import (
    format_contrast,
    format_findings,
    format_probes,
    read_formats,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_each_trajectory_with_times_gives_three_probes_and_keeps_what_the_question_writes() -> None:
    asked = question(
        text="What happens when the overlay is at 0:45?", options=("at 12 s", "b", "c")
    )
    items = [
        genuine("q1", question=asked, trajectory=course("q1", called(1, "0:45 at 62 s, not 12 s"))),
        genuine("q2", trajectory=course("q2", called(1, "five slices"))),
    ]

    found = format_probes(items, rng=rng(), fps=2)

    assert [probe.subject for probe in found.probes] == ["frames", "seconds", "clock"]
    results = [probe.request.trajectory.text.split("\n")[2] for probe in found.probes]
    assert results == ["0:45 at frame 124, not 12 s", "0:45 at 62 s, not 12 s", "0:45 at 1:02, not 12 s"]  # fmt: skip
    assert found.probes[0].what == "all times written as frames at 2 frames a second"
    assert [(case.question_id, case.what) for case in found.skipped] == [
        ("q2", "not probed: the trajectory writes no time")
    ]


def test_the_largest_change_between_notations_is_counted_per_trajectory() -> None:
    items = [
        genuine(
            f"q{n}",
            question=question(question_id=f"q{n}", text=f"{n}?"),
            trajectory=course(f"q{n}", called(1, "at 62 s")),
        )
        for n in range(3)
    ]
    probes = format_probes(items, rng=rng()).probes
    totals = [5, 10, 7, 4, 4, 4, 8, 8]  # of the nine, the last one was not judged
    pool: dict[str, Any] = {}
    for probe, total in zip(probes, totals, strict=False):
        axes = [min(2, max(0, total - 2 * place)) for place in range(5)]
        found = judged(probe.request, scores(*axes))
        pool[found.key] = found

    findings, cases = read_formats(probes, pool, "j", rng=rng())

    by_measure = {item.measure: item for item in findings}
    assert by_measure["mean of the largest change between notations"].value == pytest.approx(0.25)
    assert by_measure["share whose score changes"].value == 0.5
    assert by_measure["share whose score changes"].n == 2
    assert findings[0].note == "1 of 3 trajectories lack a judgement and are in no number"
    assert [(case.question_id, case.before, case.after) for case in cases] == [
        ("q0", "seconds: 1.000", "frames: 0.500")
    ]


def test_without_scores_there_is_no_number_of_notations() -> None:
    findings, cases = format_findings(["q1"], {}, "j", rng=rng())

    assert {item.value for item in findings} == {None}
    assert cases == ()


def scores_of(**by_question: tuple[float, float, float]) -> dict[tuple[str, str], float]:
    """Scores as frames, seconds and clock by question."""
    return {
        (name, style): value
        for name, values in by_question.items()
        for style, value in zip(("frames", "seconds", "clock"), values, strict=True)
    }


def test_which_notation_costs_score_is_said_with_its_sign() -> None:
    given = scores_of(q1=(0.2, 0.5, 0.6), q2=(0.4, 0.5, 0.4))

    findings, _ = format_findings(["q1", "q2"], given, "j", rng=rng())

    value = {item.measure: item.value for item in findings}
    assert value["mean score, times as frames"] == pytest.approx(0.3)
    assert value["mean score, times as clock"] == pytest.approx(0.5)
    assert value["mean change from clock to frames"] == pytest.approx(-0.2)


def test_two_judges_are_compared_on_the_trajectories_that_both_judged_in_all_notations() -> None:
    ours = scores_of(q1=(0.5, 0.5, 0.5), q2=(0.5, 0.5, 0.6), q3=(0.0, 1.0, 1.0))
    theirs = scores_of(q1=(0.1, 0.5, 0.5), q2=(0.3, 0.6, 0.6))

    found = format_contrast(ours, theirs, "j", rng=rng())

    # q1: 0.4 - 0, q2: 0.3 - 0.1; q3 has no partner
    assert (found.value, found.n) == (pytest.approx(0.3), 2)
    nothing = format_contrast(ours, {}, "j", rng=rng())
    assert (nothing.value, nothing.reason) == (
        None,
        "no trajectory was judged by both in all notations",
    )
