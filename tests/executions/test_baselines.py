"""Which arm each method is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.baselines import WrittenArm, baselines_of
from taketwo.executions.located_yaml import Problems, read_located_yaml
from taketwo.executions.study_file import ArmSection, BaselineSection


def _arm(
    name: str,
    *,
    role: str | None = None,
    baseline: dict[str, object] | None = None,
    **factors: str,
) -> WrittenArm:
    data = {"role": role, "baseline": baseline}
    return WrittenArm(
        name=name,
        place=("arms", name),
        section=ArmSection.model_validate(data),
        factors=factors,
    )


def _resolved(
    tmp_path: Path, *arms: WrittenArm, shared: dict[str, object] | None = None
) -> tuple[dict[str, str | None], str]:
    path = tmp_path / "study.yaml"
    path.write_text("arms: {}\n")
    problems = Problems(read_located_yaml(path))
    rule = None if shared is None else BaselineSection.model_validate(shared)
    found = baselines_of(arms, rule, problems)
    try:
        problems.raise_if_any()
    except RequestError as error:
        return found, str(error)
    return found, ""


_GRID = (
    _arm("s-small", agent="single_turn", orchestrator="small"),
    _arm("s-large", agent="single_turn", orchestrator="large"),
    _arm("r-small", agent="video_react", orchestrator="small"),
    _arm("r-large", agent="video_react", orchestrator="large"),
)


def test_the_only_baseline_is_that_of_all_others(tmp_path: Path) -> None:
    found, told = _resolved(
        tmp_path, _arm("a"), _arm("b", role="baseline"), _arm("c", role="method")
    )

    assert (found, told) == ({"b": None, "a": "b", "c": "b"}, "")


def test_an_arm_that_another_names_is_a_baseline(tmp_path: Path) -> None:
    found, told = _resolved(tmp_path, _arm("a"), _arm("b", baseline={"arm": "a"}))

    assert (found, told) == ({"a": None, "b": "a"}, "")


def test_in_a_grid_each_method_meets_the_baseline_with_the_same_other_factors(
    tmp_path: Path,
) -> None:
    found, told = _resolved(tmp_path, *_GRID, shared={"agent": "single_turn"})

    assert told == ""
    assert found == {"s-small": None, "s-large": None, "r-small": "s-small", "r-large": "s-large"}


def test_factors_that_must_agree_can_be_listed(tmp_path: Path) -> None:
    found, told = _resolved(
        tmp_path, *_GRID, shared={"same": ["orchestrator"], "agent": "single_turn"}
    )

    assert told == ""
    assert found["r-large"] == "s-large"


def test_two_baselines_are_refused_where_a_method_does_not_choose(tmp_path: Path) -> None:
    _, told = _resolved(tmp_path, _arm("a", role="baseline"), _arm("b", role="baseline"), _arm("c"))

    assert (
        "2 baselines: 'a', 'b'; keep one, or say in each method which it is compared with "
        "(baseline: NAME): 'c'"
    ) in told


def test_two_baselines_stand_where_every_method_chooses(tmp_path: Path) -> None:
    found, told = _resolved(
        tmp_path,
        _arm("a", role="baseline"),
        _arm("b", role="baseline"),
        _arm("c", baseline={"arm": "a"}),
        _arm("d", baseline={"arm": "b"}),
    )

    assert told == ""
    assert found == {"a": None, "b": None, "c": "a", "d": "b"}


@pytest.mark.parametrize(
    ("arms", "shared", "expected"),
    [
        ((_arm("a"), _arm("b")), None, "no baseline: give one arm `role: baseline`"),
        ((_arm("a", role="baseline"),), None, "no method: every arm is a baseline"),
        (
            (_arm("a"), _arm("b", baseline={"arm": "c"})),
            None,
            "arms.b.baseline: no arm is called 'c'; the arms are a, b",
        ),
        ((_arm("a", baseline={"arm": "a"}),), None, "'a' cannot be its own baseline"),
        (
            (_arm("a", role="baseline", baseline={"arm": "b"}), _arm("b")),
            None,
            "'a' is a baseline and names one; drop either",
        ),
        (
            (
                _arm("a", role="baseline"),
                _arm("b", baseline={"arm": "a"}),
                _arm("c", baseline={"arm": "b"}),
            ),
            None,
            "the baseline of 'c' is 'b', which is a method itself, compared with 'a'",
        ),
        (_GRID, {"agent": "sage"}, "no arm is"),
        (
            _GRID,
            {"same": [], "agent": "single_turn"},
            "must be the one arm with agent single_turn; 2 arms are: s-small, s-large",
        ),
        (
            _GRID,
            {"same": ["reasoning"], "agent": "single_turn"},
            "arm 'r-small' has no factor 'reasoning'; it has agent, orchestrator",
        ),
        (
            (_arm("a"), _arm("b", baseline={"arm": "a"}), _arm("c")),
            None,
            "arm 'c' is neither a baseline nor says what its baseline is",
        ),
    ],
)
def test_a_comparison_that_is_not_settled_is_refused(
    tmp_path: Path, arms: tuple[WrittenArm, ...], shared: dict[str, object] | None, expected: str
) -> None:
    _, told = _resolved(tmp_path, *arms, shared=shared)

    assert expected in told
