"""Which cells of a large study all judges of an audit score."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.plans import make_trajectory

from taketwo.audit_input import AuditedCell, drawn_cells


def cells(questions: int, arms: int = 3, executions: int = 2) -> list[AuditedCell]:
    return [
        AuditedCell(
            trajectory=make_trajectory(f"q{number:02d}", arm=f"arm{arm}", execution=execution),
            accuracy=1.0,
            text="",
        )
        for number in range(questions)
        for arm in range(arms)
        for execution in range(1, executions + 1)
    ]


def drawn(found: list[AuditedCell], most: int, seed: int = 1) -> tuple[AuditedCell, ...]:
    return drawn_cells(found, most, rng=np.random.default_rng(seed))


def test_a_study_that_is_small_enough_is_taken_whole() -> None:
    found = cells(4)

    assert drawn(found, 24) == tuple(found)


@pytest.mark.parametrize("seed", range(5))
def test_every_drawn_question_has_a_run_of_every_arm_so_that_arms_can_be_ranked(seed: int) -> None:
    taken = drawn(cells(20), 31, seed)

    names = [cell.name for cell in taken]
    assert names == sorted(set(names))
    assert len(names) == 30
    assert set(Counter(question for question, _, _ in names).values()) == {3}
    assert {execution for _, _, execution in names} == {1, 2}


def test_further_executions_follow_once_every_question_is_in() -> None:
    taken = drawn(cells(4), 19)

    names = [cell.name for cell in taken]
    assert sorted(Counter(question for question, _, _ in names).values()) == [3, 3, 6, 6]
    assert len(set(names)) == 18


def test_more_arms_than_the_design_has_trajectories_are_cut_not_left_out() -> None:
    assert len(drawn(cells(2, arms=5), 3)) == 3


def test_the_draw_does_not_depend_on_the_order_of_the_cells() -> None:
    found = cells(9)

    assert drawn(found, 12) == drawn(found[::-1], 12)
    assert drawn(found, 12) != drawn(found, 12, seed=2)
