"""From a study file to a frozen plan, and whether it still holds before an execution."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from tests.executions.probing import probe

from taketwo.agents import video_react
from taketwo.benchmarks.catalog import BENCHMARK_NAMES
from taketwo.benchmarks.rendered import rendered
from taketwo.errors import InvalidQuestion, PlanChanged, RequestError
from taketwo.executions import environment, resolved_study, unchanged
from taketwo.executions.expected_cost import expected_cost
from taketwo.executions.freeze import check_unchanged, freeze, write_plan
from taketwo.executions.plan import Plan, read_plan
from taketwo.executions.schedule import cell_order
from taketwo.executions.study_file import read_study_file

_NOW = "2026-03-01T12:00:00Z"
_STUDIES = Path(__file__).parents[2] / "studies"
_STUDY = """\
study: march
benchmark: {name: local, path: questions.jsonl}
arms:
  single: {agent: single_turn, role: baseline, options: {frames: 16}}
  react: {agent: video_react}
models:
  orchestrator: taketwo/offline-orchestrator
  observer: taketwo/offline-observer
  transcriber: taketwo/offline-transcriber
generate: {temperature: 0.7, observer: {temperature: 0.0}}
seed: 5
limits: {turns: 10}
rule: {primary: [accuracy, turns], margins: {accuracy: 0.02}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a study folder with three questions on two videos."""
    home = tmp_path / "march"
    home.mkdir()
    (home / "a.mp4").write_bytes(b"video a")
    (home / "b.mp4").write_bytes(b"video b")
    rows = [
        {
            "question_id": f"q{number}",
            "text": f"What is shown in scene {number}?",
            "video_path": video,
            "options": ["a dog", "a cat"],
            "answer": "A",
        }
        for number, video in enumerate(["a.mp4", "a.mp4", "b.mp4"])
    ]
    (home / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (home / "study.yaml").write_text(_STUDY)
    return home


def _frozen(folder: Path) -> Plan:
    plan = freeze(folder / "study.yaml", now=_NOW, probe=probe)
    write_plan(plan, folder)
    return plan


def _edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def _refusal(plan: Plan, folder: Path) -> str:
    with pytest.raises(PlanChanged) as error:
        check_unchanged(plan, folder)
    return str(error.value)


def test_a_plan_holds_what_the_study_says(folder: Path) -> None:
    plan = _frozen(folder)

    assert (plan.study, plan.created, plan.seed, plan.executions) == ("march", _NOW, 5, 2)
    assert [planned.question.question_id for planned in plan.questions] == ["q0", "q1", "q2"]
    assert plan.planned("q2").video_sha256 == hashlib.sha256(b"video b").hexdigest()
    assert plan.planned("q2").question.video_duration_s == 8.0
    assert [(arm.name, arm.agent, arm.baseline) for arm in plan.arms] == [
        ("single", "single_turn", None),
        ("react", "video_react", "single"),
    ]
    react = plan.arm("react")
    assert react.tools == ("analyze_video", "get_transcript")
    assert (react.limits.turns, react.limits.visible_calls) == (10, 15)
    assert (react.sampling["orchestrator"].temperature, react.sampling["observer"].temperature) == (
        0.7,
        0.0,
    )
    assert set(react.prompts) == {"orchestrator", "observer"}
    assert plan.arm("single").tools_sha256 != react.tools_sha256
    assert plan.rule.margins == {"accuracy": 0.02}
    assert plan.judge is None
    assert "inspect_ai" in plan.packages


def test_a_written_plan_is_read_back_and_freezing_again_gives_the_same_hash(folder: Path) -> None:
    plan = _frozen(folder)

    assert read_plan(folder / "plan.json") == plan
    assert freeze(folder / "study.yaml", now="2027-01-01T00:00:00Z", probe=probe).sha256 == (
        plan.sha256
    )


def test_a_plan_is_not_overwritten_by_another_one(folder: Path) -> None:
    plan = _frozen(folder)
    _edit(folder / "study.yaml", "seed: 5", "seed: 6")
    other = freeze(folder / "study.yaml", now=_NOW, probe=probe)

    with pytest.raises(RequestError, match="another plan lies here"):
        write_plan(other, folder)
    assert read_plan(folder / "plan.json") == plan
    assert write_plan(plan, folder) == folder / "plan.json"


def test_without_a_seed_one_is_drawn_and_stored(folder: Path) -> None:
    _edit(folder / "study.yaml", "seed: 5\n", "")

    seeds = {freeze(folder / "study.yaml", now=_NOW, probe=probe).seed for _ in range(3)}

    assert len(seeds) == 3
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert freeze(folder / "study.yaml", now=_NOW, seed=77, probe=probe).seed == 77


def test_a_drawn_seed_is_no_change_before_the_next_execution(folder: Path) -> None:
    _edit(folder / "study.yaml", "seed: 5\n", "")
    plan = _frozen(folder)

    assert check_unchanged(plan, folder) == plan.questions


def test_a_missing_video_is_planned_as_missing(folder: Path) -> None:
    (folder / "b.mp4").unlink()

    planned = _frozen(folder).planned("q2")

    assert (planned.availability, planned.video_sha256) == ("missing", None)
    assert planned.reason is not None
    assert "b.mp4" in planned.reason


def test_a_file_that_is_no_video_is_planned_as_unreadable(folder: Path) -> None:
    # Without a probe of the test's own, the file is looked at in a worker process.
    plan = freeze(folder / "study.yaml", now=_NOW)

    assert {planned.availability for planned in plan.questions} == {"unreadable"}


def test_problems_of_arms_benchmark_and_prices_are_told_together(folder: Path) -> None:
    _edit(folder / "study.yaml", "agent: video_react", "agent: video_reakt")
    _edit(folder / "study.yaml", "path: questions.jsonl", "pth: questions.jsonl")
    _edit(folder / "study.yaml", "seed: 5", "seed: -5\nprices: none.yaml")

    with pytest.raises(RequestError) as error:
        freeze(folder / "study.yaml", now=_NOW, probe=probe)

    message = str(error.value)
    assert message.startswith(f"{folder / 'study.yaml'}: 4 problems, nothing was frozen\n")
    assert "study.yaml:2 benchmark: unknown option of benchmark 'local' 'pth'" in message
    assert "study.yaml:5 arms.react.agent: unknown agent 'video_reakt'" in message
    assert "study.yaml:11 seed: must be greater than or equal to 0; found -5" in message
    assert "study.yaml:12 prices.file: " in message


def test_questions_that_cannot_be_used_are_a_fault_of_the_data(folder: Path) -> None:
    _edit(folder / "questions.jsonl", '"answer": "A"', '"answer": "Z"')

    with pytest.raises(InvalidQuestion, match="line 1"):
        freeze(folder / "study.yaml", now=_NOW, probe=probe)


def test_bad_questions_and_a_bad_study_are_told_together(folder: Path) -> None:
    _edit(folder / "questions.jsonl", '"answer": "A"', '"answer": "Z"')
    _edit(folder / "study.yaml", "models:\n", "models:\n  judge: {base_url: http://localhost}\n")

    with pytest.raises(RequestError) as error:
        freeze(folder / "study.yaml", now=_NOW, probe=probe)

    assert "study.yaml:7 models.judge: missing name; write provider/model" in str(error.value)
    assert "study.yaml:2 benchmark: " in str(error.value)


def test_an_untouched_study_is_unchanged(folder: Path) -> None:
    plan = _frozen(folder)

    assert check_unchanged(plan, folder) == plan.questions


def test_one_byte_of_a_video_refuses_with_both_hashes(folder: Path) -> None:
    plan = _frozen(folder)
    (folder / "a.mp4").write_bytes(b"video A")

    message = _refusal(plan, folder)

    before, after = (hashlib.sha256(data).hexdigest()[:12] for data in (b"video a", b"video A"))
    assert "nothing was spent" in message
    assert (
        f"video {(folder / 'a.mp4').resolve()} of question 'q0' and 1 more: planned {before}, now {after}"
    ) in message
    assert "q2" not in message


def test_one_option_refuses_with_arm_and_both_values(folder: Path) -> None:
    plan = _frozen(folder)
    _edit(folder / "study.yaml", "frames: 16", "frames: 17")

    message = _refusal(plan, folder)

    assert re.search(
        r"arm 'single', options: planned [0-9a-f]{12}, now [0-9a-f]{12} \(frames: 16 -> 17\)",
        message,
    )
    assert "'react'" not in message


def test_one_prompt_character_refuses_with_arm_role_and_both_hashes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = _frozen(folder)
    original = video_react.template
    monkeypatch.setattr(video_react, "template", lambda name: original(name) + " ")

    message = _refusal(plan, folder)

    now = hashlib.sha256(video_react.video_react_prompts()["orchestrator"].encode()).hexdigest()[
        :12
    ]
    planned = plan.arm("react").prompts["orchestrator"][:12]
    assert f"arm 'react', prompt of 'orchestrator': planned {planned}, now {now}" in message
    assert "prompt of 'observer'" not in message
    assert "arm 'single'" not in message


def test_other_sources_and_packages_refuse(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _frozen(folder)
    monkeypatch.setattr(resolved_study, "code_sha256", lambda: "f" * 64)
    monkeypatch.setattr(
        resolved_study, "package_versions", lambda _: {**plan.packages, "numpy": "0.1"}
    )

    message = _refusal(plan, folder)

    assert f"code of Take Two: planned {plan.code_sha256[:12]}, now ffffffffffff" in message
    assert f'(numpy: "{plan.packages["numpy"]}" -> "0.1")' in message


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "temperature: 0.7",
            "temperature: 0.8",
            "arm 'single', sampling of 'orchestrator': planned",
        ),
        ("turns: 10", "turns: 9", "(turns: 10 -> 9)"),
        (
            "orchestrator: taketwo/offline-orchestrator",
            "orchestrator: openai/gpt-4o",
            '(name: "taketwo/offline-orchestrator" -> "openai/gpt-4o")',
        ),
        ("seed: 5", "seed: 6", "seed: planned"),
        ("accuracy: 0.02", "accuracy: 0.03", "rule: planned"),
        ("  react: {", "  other: {", "arm 'react': in the plan, no longer in the study"),
        ("  react: {", "  other: {", "arm 'other': in the study, not in the plan"),
        ("seed: 5", "seed: 5\nexecutions: 3", "executions: planned"),
    ],
)
def test_every_edit_of_the_study_refuses(
    folder: Path, before: str, after: str, expected: str
) -> None:
    plan = _frozen(folder)
    _edit(folder / "study.yaml", before, after)

    assert expected in _refusal(plan, folder)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: text.replace("scene 1?", "scene 1!"), "question 'q1': planned"),
        (lambda text: text.replace('"q1"', '"q7"'), "question 'q1': in the plan, no longer in"),
        (lambda text: text.replace('"q1"', '"q7"'), "question 'q7': in the benchmark, not in"),
    ],
    ids=["text", "gone", "new"],
)
def test_other_questions_refuse(folder: Path, change: Callable[[str], str], expected: str) -> None:
    plan = _frozen(folder)
    path = folder / "questions.jsonl"
    path.write_text(change(path.read_text()))

    assert expected in _refusal(plan, folder)


def test_all_differences_are_told_at_once(folder: Path) -> None:
    plan = _frozen(folder)
    _edit(folder / "study.yaml", "frames: 16", "frames: 17")
    _edit(folder / "questions.jsonl", "scene 1?", "scene 1!")
    (folder / "b.mp4").write_bytes(b"other")

    message = _refusal(plan, folder)

    assert all(part in message for part in ("frames: 16 -> 17", "question 'q1'", "b.mp4"))
    assert "freeze a new study in a new folder" in message


def test_a_video_that_is_gone_is_a_loss_and_not_a_change(folder: Path) -> None:
    plan = _frozen(folder)
    (folder / "a.mp4").unlink()

    now = check_unchanged(plan, folder)

    assert [planned.availability for planned in now] == ["missing", "missing", "available"]


def test_a_study_may_move_with_its_videos(folder: Path) -> None:
    plan = _frozen(folder)
    moved = folder.rename(folder.parent / "moved")

    now = check_unchanged(plan, moved)

    assert {planned.availability for planned in now} == {"available"}
    assert now[0].question.video_path == str((moved / "a.mp4").resolve())


def test_a_plan_without_its_study_file_is_checked_against_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = _frozen(folder)
    (folder / "study.yaml").unlink()

    assert check_unchanged(plan, folder) == plan.questions
    monkeypatch.setattr(unchanged, "tools_sha256", lambda _: "f" * 64)
    (folder / "b.mp4").write_bytes(b"other")
    message = _refusal(plan, folder)
    assert "arm 'react', tool schemas of 'orchestrator': planned" in message
    assert "b.mp4 of question 'q2'" in message


def test_an_agent_that_no_longer_loads_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own_agent_for_freeze.py").write_text(
        "def answer(question, toolbox):\n    '''Answer nothing.'''\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    _edit(folder / "study.yaml", "agent: video_react", "agent: own_agent_for_freeze:answer")
    plan = _frozen(folder)
    source = hashlib.sha256((tmp_path / "own_agent_for_freeze.py").read_bytes()).hexdigest()
    assert plan.arm("react").prompts["source"] == source
    (folder / "study.yaml").unlink()
    monkeypatch.setattr(
        unchanged, "agent_spec", _raiser(RequestError("agent cannot be loaded: gone"))
    )

    message = _refusal(plan, folder)

    assert (
        "arm 'react', agent 'own_agent_for_freeze:answer': no longer loads: agent cannot" in message
    )


def _raiser(error: Exception) -> Callable[[str], object]:
    def raised(_: str) -> object:
        raise error

    return raised


def test_an_edited_source_of_an_own_agent_refuses(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "own_agent_edited.py"
    source.write_text("def answer(question, toolbox):\n    '''Answer nothing.'''\n")
    monkeypatch.syspath_prepend(tmp_path)
    _edit(folder / "study.yaml", "agent: video_react", "agent: own_agent_edited:answer")
    plan = _frozen(folder)
    source.write_text(source.read_text() + "# edited\n")

    message = _refusal(plan, folder)

    now = environment.source_sha256("own_agent_edited")
    assert now is not None
    assert "arm 'react', prompt of 'source': planned" in message
    assert f"now {now[:12]}" in message


@pytest.mark.parametrize("path", sorted(_STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_example_studies_name_a_benchmark_with_options_that_it_has(path: Path) -> None:
    section = read_study_file(path).sections.benchmark
    assert section is not None

    options = {name for name in section.spec if name != "name"}

    assert section.name in BENCHMARK_NAMES
    assert options <= set(inspect.signature(rendered).parameters)


@pytest.mark.parametrize("path", sorted(_STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_example_studies_resolve(path: Path, tmp_path: Path) -> None:
    # A copy with few questions, since painting all videos takes a minute.
    text = path.read_text()
    small = "{name: rendered, seed: 7, videos: 1, questions: 6, open_questions: 0}"
    study = tmp_path / "study.yaml"
    study.write_text(re.sub(r"^benchmark: .*$", f"benchmark: {small}", text, flags=re.MULTILINE))

    plan = freeze(study, now=_NOW, probe=probe)

    assert plan.study == path.stem
    assert any(arm.baseline is None for arm in plan.arms)
    assert any(arm.baseline is not None for arm in plan.arms)
    assert len(cell_order(plan, 1)) == len(plan.arms) * len(plan.questions)
    assert "limits of one cell" in expected_cost(plan).to_text()


def test_the_grid_example_pairs_arms_of_equal_temperature(tmp_path: Path) -> None:
    text = (_STUDIES / "offline-grid.yaml").read_text()
    small = "{name: rendered, seed: 7, videos: 1, questions: 6, open_questions: 0}"
    study = tmp_path / "study.yaml"
    study.write_text(re.sub(r"^benchmark: .*$", f"benchmark: {small}", text, flags=re.MULTILINE))

    plan = freeze(study, now=_NOW, probe=probe)

    assert {arm.name: arm.baseline for arm in plan.arms} == {
        "single_turn-0-3": None,
        "single_turn-1-0": None,
        "video_react-0-3": "single_turn-0-3",
        "video_react-1-0": "single_turn-1-0",
    }


def test_the_demo_runs_the_example_that_is_shown() -> None:
    packaged = (resources.files("taketwo") / "demonstration.yaml").read_text("utf-8")

    assert (_STUDIES / "demo.yaml").read_text("utf-8") == packaged


def test_a_provider_that_nobody_brings_is_told_where_it_is_written(folder: Path) -> None:
    path = folder / "study.yaml"
    arm = "  react: {agent: video_react, models: {observer: opnai/gpt-4o}}"
    text = path.read_text().replace("  react: {agent: video_react}", arm)
    path.write_text(text.replace("taketwo/offline-transcriber", "nope/foo"))

    with pytest.raises(RequestError) as error:
        freeze(path, now=_NOW, probe=probe)

    told = str(error.value)
    assert "study.yaml:5 arms.react.models.observer: no model provider is called 'opnai'" in told
    assert "did you mean 'openai'" in told
    assert "study.yaml:9 models.transcriber: no model provider is called 'nope'" in told


def test_excluded_questions_are_not_in_the_plan_and_its_version_says_so(folder: Path) -> None:
    path = folder / "study.yaml"
    path.write_text(
        path.read_text().replace("questions.jsonl}", "questions.jsonl, exclude: no.json}")
    )
    with pytest.raises(
        RequestError, match=r"study\.yaml:2 benchmark: .*no\.json: no such file of excl"
    ):
        freeze(path, now=_NOW, probe=probe)
    (folder / "no.json").write_text('["q1"]')

    plan = freeze(path, now=_NOW, probe=probe)

    assert "q1" not in {item.question.question_id for item in plan.questions}
    assert "without 1 excluded (" in plan.benchmark_version


def test_stopping_is_refused_for_several_methods_and_for_blocks_of_everything(folder: Path) -> None:
    study = folder / "study.yaml"
    short = "  short: {agent: video_react, limits: {turns: 3}}\n"
    _edit(study, "  react: {agent: video_react}\n", "  react: {agent: video_react}\n" + short)
    _edit(study, "rule: {", "rule: {stopping: {block: 10}, ")

    with pytest.raises(RequestError) as error:
        freeze(folder / "study.yaml", now=_NOW, probe=probe)

    assert "can stop early, found 2 methods (react, short)" in str(error.value)
    assert "10 of 3 questions leave nothing to save" in str(error.value)


def test_choices_of_which_no_option_is_the_truth_need_a_judge(folder: Path) -> None:
    row = {
        "video_id": "abc",
        "question": "What?\n(A) a key\n(B) a cup",
        "gt_answer": "Not possible to answer.",
        "ques_type": "mcq",
        "difficulty": "easy",
        "modality": "visual",
        "duration_seconds": 61.5,
    }
    (folder / "rows.jsonl").write_text(json.dumps(row))
    (folder / "videos").mkdir()
    (folder / "videos" / "abc.mp4").write_bytes(b"video")
    _edit(folder / "study.yaml", "name: local, path: questions", "name: sage_bench, path: rows")

    with pytest.raises(RequestError, match="1 questions have neither a true option nor accepted"):
        _frozen(folder)
    _edit(folder / "study.yaml", "models:\n", "models:\n  judge: mockllm/model\n")
    assert _frozen(folder).questions[0].question.answer_text == "Not possible to answer."
