"""A grid of factors becomes arms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.located_yaml import Problems, read_located_yaml
from taketwo.executions.matrix import expand_matrix
from taketwo.executions.study_file import ArmSection


def _expanded(
    tmp_path: Path, text: str
) -> tuple[dict[str, tuple[ArmSection, dict[str, str]]], Problems]:
    path = tmp_path / "study.yaml"
    path.write_text("matrix:\n" + text)
    source = read_located_yaml(path)
    problems = Problems(source)
    matrix = source.data["matrix"]
    assert isinstance(matrix, dict)
    arms = {
        name: (section, dict(factors)) for name, section, factors in expand_matrix(matrix, problems)
    }
    return arms, problems


def _told(problems: Problems) -> str:
    with pytest.raises(RequestError) as error:
        problems.raise_if_any()
    return str(error.value)


def test_every_combination_is_an_arm_that_carries_its_factors(tmp_path: Path) -> None:
    arms, problems = _expanded(
        tmp_path,
        "  agent: [single_turn, video_react]\n"
        "  orchestrator: [openai/gpt-4o, taketwo/offline-orchestrator]\n"
        "  reasoning: [low]\n",
    )

    problems.raise_if_any()
    assert list(arms) == [
        "single_turn-gpt-4o",
        "single_turn-offline-orchestrator",
        "video_react-gpt-4o",
        "video_react-offline-orchestrator",
    ]
    section, factors = arms["video_react-gpt-4o"]
    assert factors == {"agent": "video_react", "orchestrator": "openai/gpt-4o", "reasoning": "low"}
    assert section.agent == "video_react"
    assert section.models.orchestrator is not None
    assert section.models.orchestrator.name == "openai/gpt-4o"
    assert section.generate.orchestrator is not None
    assert section.generate.orchestrator.reasoning_effort == "low"


def test_names_are_valid_arm_names_without_repetition(tmp_path: Path) -> None:
    arms, _ = _expanded(
        tmp_path,
        "  agent: [single_turn]\n"
        "  orchestrator: [a/GPT 4, b/gpt-4, c/gpt-4]\n"
        "  temperature: [0, 0.5, 1]\n"
        "  options.a_very_long_name: [one-long-level-of-a-factor, another-long-level-of-a-factor]\n",
    )

    assert len(arms) == 18
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", name) for name in arms)


def test_names_do_not_depend_on_the_other_levels_of_a_factor(tmp_path: Path) -> None:
    two, _ = _expanded(tmp_path, "  agent: [a, b]\n  temperature: [0, 1]\n")
    three, _ = _expanded(tmp_path, "  agent: [a, b]\n  temperature: [0, 1, 2]\n")

    assert list(two) == ["a-0", "a-1", "b-0", "b-1"]
    assert set(two) < set(three)


def test_a_name_begins_with_a_letter(tmp_path: Path) -> None:
    arms, _ = _expanded(tmp_path, "  agent: {5-turns: {agent: x}}\n  limits.turns: [5, 10]\n")

    assert list(arms) == ["a-5-turns-5", "a-5-turns-10"]
    assert arms["a-5-turns-10"][0].limits.turns == 10


def test_levels_may_say_themselves_what_they_set(tmp_path: Path) -> None:
    arms, problems = _expanded(
        tmp_path,
        "  agent:\n"
        "    single_turn: {options: {frames: 8}}\n"
        "    react: {agent: video_react, limits: {turns: 7}}\n"
        "  library:\n"
        "    without: {}\n"
        "    mined: {options: {library: mined.json}}\n",
    )

    problems.raise_if_any()
    assert list(arms) == [
        "single_turn-without",
        "single_turn-mined",
        "react-without",
        "react-mined",
    ]
    assert arms["single_turn-mined"][0].options == {"frames": 8, "library": "mined.json"}
    assert arms["single_turn-without"][0].options == {"frames": 8}
    assert arms["react-mined"][0].agent == "video_react"
    assert arms["react-mined"][1] == {"agent": "react", "library": "mined"}


def test_a_model_level_may_have_an_endpoint(tmp_path: Path) -> None:
    arms, problems = _expanded(
        tmp_path,
        "  agent: [x]\n"
        "  orchestrator: [openai/gpt-4o, {name: vllm/qwen, base_url: http://localhost/v1}]\n",
    )

    problems.raise_if_any()
    section, factors = arms["x-qwen"]
    assert factors["orchestrator"] == "vllm/qwen"
    assert section.models.orchestrator is not None
    assert section.models.orchestrator.base_url == "http://localhost/v1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  agent: [x]\n  colour: [red]\n", "study.yaml:3 matrix.colour: no setting is called so"),
        ("  agent: [x, y, x]\n", "study.yaml:2 matrix.agent: a level is given twice: x, y, x"),
        ("  agent: x\n", "matrix.agent: must be a list or a mapping of levels, found 'x'"),
        ("  agent: []\n", "matrix.agent: must be a list or a mapping of levels, found []"),
        ("  agent: {a: 1}\n", "matrix.agent.a: must be a part of an arm (a mapping), found 1"),
        ("  temperature: [0, 1]\n", "study.yaml:1 matrix: no agent; add a factor agent: [...]"),
        (
            "  agent: [x]\n  reasoning: [low]\n  generate.orchestrator.reasoning_effort: [high]\n",
            "another factor sets 'generate.orchestrator.reasoning_effort' as well; keep one",
        ),
        (
            "  agent: [x]\n  reasoning: [low, sky]\n",
            "matrix.generate.orchestrator.reasoning_effort: must be 'none', 'minimal'",
        ),
        (
            f"  agent: {[f'x{n}' for n in range(40)]}\n  limits.turns: {list(range(1, 41))}\n",
            "1600 arms; a matrix makes at most 1000",
        ),
    ],
)
def test_a_grid_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    _, problems = _expanded(tmp_path, text)

    assert expected in _told(problems)
