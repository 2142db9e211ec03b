from __future__ import annotations

from dataclasses import replace

import pytest

from taketwo.errors import RequestError, UnknownName
from taketwo.scores.judge_audit.audit_presets import (
    DESIGNS,
    AuditDesign,
    AuditScope,
    audit_design,
    expected_calls,
)
from taketwo.scores.judge_audit.injection_probes import ATTACKS
from taketwo.scores.judge_audit.time_notations import STYLES

PUBLISHED = DESIGNS["published"]
QUICK = DESIGNS["quick"]


def test_the_published_design_has_the_publications_numbers() -> None:
    assert (PUBLISHED.trajectories, PUBLISHED.judges) == (600, 3)
    assert (PUBLISHED.assertion, PUBLISHED.milestones) == (50, 1)
    assert (PUBLISHED.human_questions, PUBLISHED.human_arms, PUBLISHED.raters) == (20, 5, 2)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_a_design_counts_the_probes_that_there_are(design: AuditDesign) -> None:
    assert (design.attacks, design.notations) == (len(ATTACKS), len(STYLES))


def test_an_unknown_design_names_its_neighbours() -> None:
    with pytest.raises(UnknownName, match=r"unknown design of an audit 'publisched'.*'published'"):
        audit_design("publisched")


def test_the_calls_of_a_design_are_counted_by_hand() -> None:
    scope = AuditScope(trajectories=600, questions=100, explained=600)

    found = expected_calls(PUBLISHED, scope, ["a", "b", "c"])

    # 3 x 600 trajectories; the probed judge has 300 + 50 + 50 + 50, 10 x 12 and 50 x 3 probes more
    assert found.total == 3 * 600 + 720
    assert found.by_judge["b"] == {"separation": 600}
    assert found.by_judge["a"]["rubrics"] == 300
    assert found.most == 3 * 2520


def test_a_small_study_costs_what_it_has() -> None:
    scope = AuditScope(trajectories=8, questions=4, explained=2)

    found = expected_calls(PUBLISHED, scope, ["a"])

    assert found.by_judge["a"] == {
        "separation": 8,
        "rubrics": 8,
        "assertion": 4,
        "ablation": 8,
        "injection": 96,
        "references": 2,
        "formats": 24,
    }


def test_what_a_judge_has_done_already_costs_nothing() -> None:
    scope = AuditScope(trajectories=60, questions=20, judged={"a": 60, "b": 25})

    found = expected_calls(QUICK, scope, ["a", "b"], probed=())

    assert found.by_judge == {"a": {"separation": 0}, "b": {"separation": 35}}
    done = expected_calls(QUICK, replace(scope, judged={"a": 60, "b": 60}), ["a", "b"], probed=())
    assert done.sentence() == "No call of a judge is needed: all judgements are there."


def test_judgements_that_may_lie_outside_the_draw_make_it_no_cheaper() -> None:
    scope = AuditScope(trajectories=1000, questions=500, judged={"a": 500, "b": 990})

    found = expected_calls(QUICK, scope, ["a", "b"], probed=())

    assert found.by_judge == {"a": {"separation": 60}, "b": {"separation": 10}}


def test_the_genuine_partner_of_a_probe_is_counted_where_the_draw_may_miss_it() -> None:
    scope = AuditScope(trajectories=1000, questions=100)

    found = expected_calls(QUICK, scope, ["a"])

    # 60 drawn, and at most 20 + 10 + 10 + 3 + 10 partners outside of them
    assert found.by_judge["a"]["separation"] == 113


def test_attacks_milestones_and_notations_multiply() -> None:
    design = replace(QUICK, milestones=2, attacks=3, notations=4)
    scope = AuditScope(trajectories=60, questions=20, explained=60, rubric="paraphrased")

    checks = expected_calls(design, scope, ["a"]).by_judge["a"]

    assert (checks["ablation"], checks["injection"], checks["formats"]) == (20, 9, 40)
    assert checks["references"] == 20  # under another wording the partner is judged anew


def test_the_cost_is_said_in_words() -> None:
    scope = AuditScope(trajectories=60, questions=20)

    text = expected_calls(QUICK, scope, ["a", "b"]).sentence()

    assert text == (
        "Up to 226 judgements, 678 calls if every reply has to be mended twice: a 166 (separation 60, "
        "rubrics 20, assertion 10, ablation 10, injection 36, formats 30); b 60 (separation 60)."
    )


def test_judges_are_named_once_and_probed_ones_are_among_them() -> None:
    scope = AuditScope(trajectories=1, questions=1)

    with pytest.raises(RequestError, match="each named once, found a, a"):
        expected_calls(QUICK, scope, ["a", "a"])
    with pytest.raises(RequestError, match="found none"):
        expected_calls(QUICK, scope, [])
    with pytest.raises(RequestError, match="to probe: b; add them with --audit-judge MODEL"):
        expected_calls(QUICK, scope, ["a"], probed=["b"])
