"""Arms of a study: models, sampling, limits and options merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.arms import ArmDraft, resolve_arms
from taketwo.executions.plan import ModelSpec, Sampling
from taketwo.executions.study_file import read_study_file

_MODELS = (
    "models: {orchestrator: openai/gpt-4o, observer: openai/gpt-4o-mini, "
    "transcriber: taketwo/offline-transcriber, judge: openai/gpt-4o}\n"
)
_ARMS = """\
arms:
  static: {agent: single_turn, role: baseline}
  dynamic: {agent: video_react}
"""


def _resolved(tmp_path: Path, text: str) -> dict[str, ArmDraft]:
    path = tmp_path / "study.yaml"
    path.write_text("study: a\nbenchmark: local\n" + text)
    study = read_study_file(path)
    arms = resolve_arms(study)
    study.problems.raise_if_any()
    return {arm.name: arm for arm in arms}


def _told(tmp_path: Path, text: str) -> str:
    with pytest.raises(RequestError) as error:
        _resolved(tmp_path, text)
    return str(error.value)


def test_arms_have_a_model_for_each_role_of_their_agent_and_no_other(tmp_path: Path) -> None:
    arms = _resolved(tmp_path, _MODELS + _ARMS)

    assert dict(arms["static"].models) == {"orchestrator": ModelSpec(name="openai/gpt-4o")}
    assert dict(arms["dynamic"].models) == {
        "orchestrator": ModelSpec(name="openai/gpt-4o"),
        "observer": ModelSpec(name="openai/gpt-4o-mini"),
        "transcriber": ModelSpec(name="taketwo/offline-transcriber"),
    }
    assert [arm.baseline for arm in arms.values()] == [None, "static"]


def test_an_arm_may_name_its_own_model(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path,
        _MODELS + _ARMS + "  other: {agent: video_react, models: {observer: vllm/qwen}}\n",
    )

    assert arms["other"].models["observer"].name == "vllm/qwen"
    assert arms["other"].models["orchestrator"].name == "openai/gpt-4o"
    assert arms["dynamic"].models["observer"].name == "openai/gpt-4o-mini"


def test_roles_depend_on_the_options_of_the_agent(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path, _MODELS + _ARMS + "  heard: {agent: single_turn, options: {transcript: true}}\n"
    )

    assert list(arms["heard"].models) == ["orchestrator", "transcriber"]


def test_sampling_follows_arm_role_then_study_role_then_study(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path,
        _MODELS
        + "generate: {temperature: 0.7, max_tokens: 500, observer: {temperature: 0}}\n"
        + _ARMS
        + "  hot: {agent: video_react, generate: {temperature: 1.0, top_p: 0.9, "
        "observer: {max_tokens: 50}, orchestrator: {reasoning_effort: high}}}\n",
    )

    assert dict(arms["dynamic"].sampling) == {
        "orchestrator": Sampling(temperature=0.7, max_tokens=500),
        "observer": Sampling(temperature=0.0, max_tokens=500),
        "transcriber": Sampling(temperature=0.7, max_tokens=500),
    }
    assert arms["hot"].sampling["orchestrator"] == Sampling(
        temperature=1.0, top_p=0.9, max_tokens=500, reasoning_effort="high"
    )


def test_shared_sampling_of_an_arm_leaves_its_instruments_alone(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path,
        _MODELS
        + "generate: {temperature: 0.2}\n"
        + _ARMS
        + "  hot: {agent: video_react, generate: {temperature: 1.0}}\n",
    )

    assert arms["hot"].sampling["orchestrator"].temperature == 1.0
    assert arms["hot"].sampling["observer"] == arms["dynamic"].sampling["observer"]
    assert arms["hot"].sampling["transcriber"] == arms["dynamic"].sampling["transcriber"]


def test_the_smallest_limit_is_in_force(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path,
        _MODELS
        + "limits: {turns: 10, tokens: 5000, frames: 90}\n"
        + _ARMS
        + "  short: {agent: video_react, limits: {turns: 30, frames: 12}, options: {max_calls: 3}}\n",
    )

    # The agent's own are 20 turns and 15 visible calls.
    assert arms["dynamic"].limits.turns == 10
    assert arms["dynamic"].limits.visible_calls == 15
    short = arms["short"].limits
    assert (short.turns, short.visible_calls, short.tokens, short.frames) == (10, 3, 5000, 12)


def test_options_are_stored_with_their_defaults(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path, _MODELS + _ARMS.replace("role: baseline", "role: baseline, options: {frames: 8}")
    )

    assert arms["static"].options_json == {
        "frames": 8,
        "fps": None,
        "cap": None,
        "native_video": False,
        "resolution": "medium",
        "transcript": False,
    }


def test_factors_are_known_without_being_written(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path,
        _MODELS
        + "generate: {orchestrator: {reasoning_effort: low}}\n"
        + _ARMS
        + "  other: {agent: video_react, factors: {library: mined}}\n",
    )

    assert dict(arms["static"].factors) == {
        "agent": "single_turn",
        "orchestrator": "openai/gpt-4o",
        "reasoning": "low",
    }
    assert arms["other"].factors["library"] == "mined"


def test_a_backbone_by_framework_grid_is_one_study(tmp_path: Path) -> None:
    arms = _resolved(
        tmp_path,
        _MODELS + "matrix:\n"
        "  agent: [single_turn, video_react]\n"
        "  orchestrator: [openai/gpt-4o, taketwo/offline-orchestrator]\n"
        "  reasoning: [low, high]\n"
        "baseline: {same: [orchestrator, reasoning], agent: single_turn}\n",
    )

    assert len(arms) == 8
    methods = {arm.name: arm for arm in arms.values() if arm.baseline is not None}
    assert len(methods) == 4
    for arm in methods.values():
        assert arm.baseline is not None
        baseline = arms[arm.baseline]
        assert arm.factors["agent"] == "video_react"
        assert baseline.factors == {**arm.factors, "agent": "single_turn"}
        assert baseline.models["orchestrator"] == arm.models["orchestrator"]
        assert baseline.sampling["orchestrator"].reasoning_effort == arm.factors["reasoning"]
    assert {arm.models["observer"].name for arm in methods.values()} == {"openai/gpt-4o-mini"}


def test_an_unknown_agent_is_told_with_near_names_and_its_line(tmp_path: Path) -> None:
    told = _told(tmp_path, _MODELS + _ARMS.replace("video_react", "video_reakt"))

    assert (
        "study.yaml:6 arms.dynamic.agent: unknown agent 'video_reakt': did you mean 'video_react'?"
    ) in told


def test_two_baselines_and_other_faults_are_told_together(tmp_path: Path) -> None:
    told = _told(
        tmp_path,
        _MODELS.replace("observer: openai/gpt-4o-mini, ", "") + "arms:\n"
        "  a: {agent: single_turn, role: baseline}\n"
        "  b: {agent: single_turn, role: baseline, options: {frame: 3}}\n"
        "  c: {agent: video_react}\n"
        "  9d: {agent: nobody, limits: {turns: -1}}\n"
        "  e: {role: method}\n",
    )

    assert told.startswith(f"{tmp_path / 'study.yaml'}: 7 problems, nothing was frozen\n")
    for expected in (
        "study.yaml:3 models.observer: agent 'video_react' of arm 'c' needs a model for the role "
        "'observer'; name one under models: {observer: provider/model}",
        "study.yaml:6 arms.b.role: 2 baselines: 'a', 'b'; keep one",
        "study.yaml:6 arms.b.options.frame: agent 'single_turn' refuses it: Extra inputs are not "
        "permitted, found 3; its options are frames, fps, cap, native_video, resolution, transcript",
        "study.yaml:8 arms.9d: arm name '9d' must be 1 to 32 characters",
        "study.yaml:8 arms.9d.limits.turns: must be greater than or equal to 1; found -1",
        "study.yaml:8 arms.9d.agent: unknown agent 'nobody'",
        "study.yaml:9 arms.e: missing agent",
    ):
        assert expected in told


def test_a_model_for_a_role_that_the_agent_lacks_is_refused(tmp_path: Path) -> None:
    told = _told(
        tmp_path,
        _MODELS + _ARMS.replace("role: baseline", "models: {observer: a/b}, role: baseline"),
    )

    assert (
        "study.yaml:5 arms.static.models.observer: arm 'static' sets a model for the role "
        "'observer' of agent 'single_turn': it has none; its roles are orchestrator"
    ) in told


def test_the_judge_is_one_for_the_study(tmp_path: Path) -> None:
    told = _told(
        tmp_path, _MODELS + _ARMS.replace("role: baseline", "models: {judge: a/b}, role: baseline")
    )

    assert "arms.static.models.judge" in told
    assert "the judge is one for the study" in told


def test_a_model_without_a_name_is_refused(tmp_path: Path) -> None:
    told = _told(
        tmp_path,
        _MODELS.replace("orchestrator: openai/gpt-4o,", "orchestrator: {base_url: http://x},")
        + _ARMS,
    )

    assert "study.yaml:3 models.orchestrator: agent 'single_turn' of arm 'static' needs" in told


def test_a_level_that_contradicts_the_arm_is_refused(tmp_path: Path) -> None:
    told = _told(
        tmp_path, _MODELS + _ARMS + "  x: {agent: video_react, factors: {agent: single_turn}}\n"
    )

    assert "arms.x.factors.agent: the level of 'agent' is the arm's own: 'video_react'" in told


def test_a_written_arm_and_one_of_the_matrix_may_not_share_a_name(tmp_path: Path) -> None:
    told = _told(
        tmp_path,
        _MODELS
        + "arms: {video_react-0: {agent: video_react}, base: {agent: single_turn, role: baseline}}\n"
        "matrix: {agent: [video_react], temperature: [0, 1]}\n",
    )

    assert "study.yaml:4 arms.video_react-0: the matrix makes an arm of the same name" in told
