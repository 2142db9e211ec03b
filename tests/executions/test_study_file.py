"""What a study file may say, and what is told about one that says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.plan import ModelSpec, Sampling
from taketwo.executions.rule import Rule
from taketwo.executions.study_file import SamplingSection, StudyFile, read_study_file
from taketwo.tools.budget import Limits

_VALID = """\
study: march
benchmark: {name: local, path: questions.jsonl}
arms:
  static: {agent: single_turn, role: baseline}
  dynamic: {agent: video_react, limits: {turns: 5, latency_s: 60}}
models: {orchestrator: openai/gpt-4o, observer: {name: vllm/qwen, base_url: "http://localhost:8000/v1"}}
generate: {temperature: 0.5, observer: {temperature: 0}}
"""


def _read(tmp_path: Path, text: str) -> StudyFile:
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return read_study_file(path)


def _problems(tmp_path: Path, text: str) -> list[str]:
    study = _read(tmp_path, text)
    with pytest.raises(RequestError) as error:
        study.problems.raise_if_any()
    return [line.strip() for line in str(error.value).split("\n")[1:]]


def test_a_valid_file_has_no_problems_and_the_documented_defaults(tmp_path: Path) -> None:
    study = _read(tmp_path, _VALID)

    study.problems.raise_if_any()
    sections = study.sections
    assert (sections.executions, sections.seed, sections.provider_seeds) == (2, None, False)
    assert sections.arms["dynamic"].limits.limits() == Limits(turns=5, latency_s=60.0)
    assert sections.models.observer is not None
    assert sections.models.observer.spec() == ModelSpec(
        name="vllm/qwen", base_url="http://localhost:8000/v1"
    )
    assert sections.benchmark is not None
    assert sections.benchmark.spec == {"name": "local", "path": "questions.jsonl"}
    assert study.folder == tmp_path.resolve()


def test_defaults_of_the_rule_are_those_of_the_record(tmp_path: Path) -> None:
    written, record = _read(tmp_path, _VALID).sections.rule, Rule()

    assert tuple(written.primary) == record.primary
    assert (written.level, written.cluster, written.population) == (
        record.level,
        record.cluster,
        record.population,
    )
    assert (written.missing, written.margins, written.attempts) == (
        record.missing,
        record.margins,
        record.attempts,
    )


def test_everything_that_is_wrong_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    text = (
        "study: March!\n"
        "benchmark: local\n"
        "arms:\n"
        "  a: {agent: x, role: basline, limits: {turns: -3, turs: 4}}\n"
        "  b: {agent: x, generate: {temprature: 1, observer: {temperature: 3}}}\n"
        "models: {orchestrator: gpt4}\n"
        "rule: {primary: [accuracy, acuracy], level: 1.5, margins: {accuracy: -1}}\n"
        "executions: 0\n"
        "generate: {reasoning_effort: hgh}\n"
    )

    assert _problems(tmp_path, text) == [
        "study.yaml:1 study: must be 1 to 64 characters out of a-z 0-9 . _ -, a letter or digit "
        "first; found 'March!'",
        "study.yaml:4 arms.a.role: must be 'baseline' or 'method'; did you mean 'baseline'?; "
        "found 'basline'",
        "study.yaml:4 arms.a.limits.turns: must be greater than or equal to 1; found -3",
        "study.yaml:4 arms.a.limits.turs: no such setting; did you mean 'turns'?",
        "study.yaml:5 arms.b.generate.observer.temperature: must be less than or equal to 2; found 3",
        "study.yaml:5 arms.b.generate.temprature: no such setting; did you mean 'temperature'?",
        "study.yaml:6 models.orchestrator.name: must be provider/model, for example openai/gpt-4o "
        "or taketwo/offline-observer; found 'gpt4'",
        "study.yaml:7 rule.primary.1: must be 'accuracy', 'trajectory_score', 'mc_rate', "
        "'task_understanding', 'gt_evidence_coverage', 'evidence_grounding', 'evidence_completeness', "
        "'reasoning_faithfulness', 'turns', 'visible_calls', 'primitive_ops', 'latency_s', 'tokens' "
        "or 'cost_usd'; did you mean 'accuracy'?; found 'acuracy'",
        "study.yaml:7 rule.level: must be less than 1; found 1.5",
        "study.yaml:7 rule.margins.accuracy: must be greater than 0; found -1",
        "study.yaml:8 executions: must be greater than or equal to 1; found 0",
        "study.yaml:9 generate.reasoning_effort: must be 'none', 'minimal', 'low', 'medium', "
        "'high', 'xhigh' or 'max'; did you mean 'high'?; found 'hgh'",
    ]


def test_a_wrong_part_does_not_hide_the_right_ones(tmp_path: Path) -> None:
    study = _read(tmp_path, _VALID + "limits: {turns: -1, frames: 9}\nexecutions: 3\n")

    assert len(study.problems) == 1
    assert study.sections.limits.limits() == Limits(frames=9)
    assert study.sections.executions == 3
    assert list(study.sections.arms) == ["static", "dynamic"]


def test_unknown_roles_and_settings_list_what_is_known(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID.replace("observer: {name", "planner: {name"))

    assert problems == [
        "study.yaml:6 models.planner: no such setting; known here are judge, observer, "
        "orchestrator, transcriber"
    ]


def test_the_sampling_of_the_judge_is_not_a_setting(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID.replace("observer: {temperature", "judge: {temperature"))

    assert len(problems) == 1
    assert problems[0].startswith("study.yaml:7 generate.judge: no such setting; known here are")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "study.yaml:1 study: missing; give the study a name, for example study: march"),
        (
            "study: a\nbenchmark: {path: x}\narms: {a: {agent: x}}\n",
            "study.yaml:2 benchmark: missing; name one, for example benchmark: {name: rendered}",
        ),
        (
            "study: a\nbenchmark: local\n",
            "study.yaml:1 arms: missing; a study needs `arms:` or `matrix:`",
        ),
    ],
)
def test_what_must_be_there_is_asked_for(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in _problems(tmp_path, text or "seed: 1\n")


def test_a_repeated_key_is_refused(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID + "models: {orchestrator: openai/gpt-4o}\n")

    assert problems == ["study.yaml:8 models: 'models' is given twice; keep one"]


def test_a_metric_named_twice_is_refused(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID + "rule: {primary: [turns, accuracy, turns]}\n")

    assert problems == [
        "study.yaml:8 rule.primary: a metric is named twice: ['turns', 'accuracy', 'turns']"
    ]


def test_words_that_yaml_reads_as_truth_values_are_explained(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID.replace("agent: video_react", "agent: on"))

    assert problems == [
        "study.yaml:5 arms.dynamic.agent: must be a valid string; found True "
        "(YAML reads yes, no, on and off as true and false: put it in quotes)"
    ]


def test_numbers_are_not_read_out_of_texts(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID + 'executions: "3"\n')

    assert problems == ["study.yaml:8 executions: must be a valid integer; found '3'"]


def test_not_a_number_is_no_temperature(tmp_path: Path) -> None:
    problems = _problems(tmp_path, _VALID.replace("temperature: 0.5", "temperature: .nan"))

    assert problems[0] == "study.yaml:7 generate.temperature: must be a finite number; found nan"


def test_sampling_is_merged_setting_by_setting() -> None:
    base = Sampling(temperature=0.5, max_tokens=100)

    merged = SamplingSection(temperature=0.0, top_k=5).merged_onto(base)

    assert merged == Sampling(temperature=0.0, top_k=5, max_tokens=100)


def test_names_that_yaml_reads_as_numbers_or_truth_values_are_told_with_the_remedy(
    tmp_path: Path,
) -> None:
    text = _VALID.replace(
        "models:", "  2: {agent: video_react}\n  on: {agent: video_react}\nmodels:"
    )

    assert _problems(tmp_path, text) == [
        "study.yaml:6 arms.2: a name must be text, but YAML reads this one as 2 (int); put it in quotes",
        "study.yaml:7 arms.True: a name must be text, but YAML reads this one as True (bool); put it in "
        "quotes",
    ]


def test_margins_beyond_a_metric_or_of_one_that_is_not_tested_are_refused(tmp_path: Path) -> None:
    rule = "rule: {primary: [accuracy], margins: {accuracy: 2.0, turns: 1.0}}\n"

    assert _problems(tmp_path, _VALID + rule) == [
        "study.yaml:8 rule.margins.accuracy: a margin of accuracy lies above 0 and at most at 1, where "
        "accuracy ends; found 2",
        "study.yaml:8 rule.margins.turns: 'turns' is not primary, and only primary metrics are tested; "
        "add it to rule.primary (accuracy) or remove the margin",
    ]


@pytest.mark.parametrize("margin", [0.001, 1.0])
def test_margins_inside_a_metric_are_taken(tmp_path: Path, margin: float) -> None:
    study = _read(tmp_path, _VALID + f"rule: {{margins: {{accuracy: {margin}}}}}\n")

    study.problems.raise_if_any()
    assert study.sections.rule.margins == {"accuracy": margin}


def test_a_request_has_at_least_a_second(tmp_path: Path) -> None:
    assert _problems(tmp_path, _VALID + "timeout_s: 0.5\n") == [
        "study.yaml:8 timeout_s: must be greater than or equal to 1; found 0.5"
    ]


def test_a_rule_of_stopping_needs_a_block_and_a_second_execution(tmp_path: Path) -> None:
    taken = _read(tmp_path, _VALID + "rule: {stopping: {block: 50}}\n")
    assert not len(taken.problems)
    assert taken.sections.rule.stopping is not None
    assert (taken.sections.rule.stopping.block, taken.sections.rule.stopping.alpha) == (50, 0.05)

    assert [
        text.partition(" ")[2]
        for text in (
            *_problems(tmp_path, _VALID + "rule: {stopping: {block: 9}}\n"),
            *_problems(tmp_path, _VALID + "rule: {stopping: {alpha: 0.1}}\n"),
            *_problems(tmp_path, _VALID + "rule: {stopping: {block: 50}}\nexecutions: 1\n"),
        )
    ] == [
        "rule.stopping.block: must be greater than or equal to 10; found 9",
        "rule.stopping: missing block; say after how many questions to look: {block: 50}",
        "rule.stopping: the shift from K1 decides, and there is no second execution; set "
        "executions: 2 or more, or remove it",
    ]
