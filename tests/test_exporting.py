"""A study, written in the files of others and read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.exported_study import cells_of, make_study_plan, question, write_study
from tests.outcomes.imports.files import cells, read
from tests.plans import make_plan
from tests.scores.formats.test_atif import check_document

from taketwo.cli.export import command
from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.trajectory import Event, ModelCall
from taketwo.exporting import export_study
from taketwo.outcomes.build import Label, outcomes_of
from taketwo.outcomes.imports.to_outcomes import to_outcomes
from taketwo.outcomes.table import read_outcomes
from taketwo.scores.formats.file_names import safe_name, unique_names
from taketwo.scores.formats.run_folder import AgentVidBenchRun, read_run
from taketwo.scores.formats.run_folder_writing import numbered
from taketwo.scores.trajectory_text import rendered

SAME = ("run_status", "accuracy", "visible_calls", "turns", "latency_s", "tokens")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    plan = make_study_plan()
    return write_study(tmp_path / "study", plan, cells_of(plan))


def run_of(exported: Path, name: str) -> AgentVidBenchRun:
    return read_run(exported / name)


def record(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_each_arm_and_execution_is_a_run_folder(study: Path, tmp_path: Path) -> None:
    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    assert [path.name for path in done.paths] == [
        "base_taketwo_offline-orchestrator_K1",
        "base_taketwo_offline-orchestrator_K2",
        "method_taketwo_offline-orchestrator_K1",
        "method_taketwo_offline-orchestrator_K2",
    ]
    assert done.cells == 12
    root = done.paths[2]
    written = sorted(
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()
    )
    both = [
        f"{folder}/question{number}.{ending}"
        for number in (7, 8)
        for folder, ending in (
            ("evaluation/judge", "json"),
            ("evaluation/letters", "json"),
            ("evaluation/results", "json"),
            ("inference/outputs", "json"),
            ("inference/outputs", "normalized.json"),
            ("inference/outputs", "txt"),
            ("inference/progress", "json"),
            ("inference/trajectories", "txt"),
        )
    ]
    assert written == sorted([
        *both, "evaluation/summary.json", "inference/summary.json", "taketwo.json",
    ])  # fmt: skip


def test_the_records_have_the_keys_of_the_reference(study: Path, tmp_path: Path) -> None:
    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")
    root = done.paths[2]

    assert set(record(root / "inference/summary.json")) == {
        "experiment", "model", "tag", "total", "errored", "total_wall_time", "results",
    }  # fmt: skip
    progress = record(root / "inference/progress/question7.json")
    assert set(progress) == {
        "question_id", "video_path", "elapsed_seconds", "tokens", "taketwo",
    }  # fmt: skip
    assert (progress["question_id"], progress["video_path"]) == (7, "videos/video7.mp4")
    assert progress["elapsed_seconds"] == 3.2
    assert progress["tokens"]["total_tokens"] == 121
    judged = record(root / "evaluation/judge/question7.json")
    assert judged["accuracy"] == {"gold": "C", "pred": "E", "correct": False}
    assert judged["process"]["scores"] == {"P1": 2, "P2": 1, "P3": 1, "P4": None, "P5": 1}
    assert (judged["process"]["traj"], judged["process"]["mc_rate"]) == (0.625, 0.5)
    summary = record(root / "evaluation/summary.json")
    assert set(summary) == {
        "experiment", "model", "tag", "n", "n_correct", "accuracy", "process_means",
        "by_difficulty", "by_category", "by_skill", "taketwo",
    }  # fmt: skip
    assert (summary["n"], summary["n_correct"]) == (3, 0)
    assert summary["taketwo"]["coverage"]["not_scored"] == {"not_run": 1}
    assert summary["by_difficulty"]["hard"]["n"] == 2


def test_inference_tells_neither_truth_nor_place(study: Path, tmp_path: Path) -> None:
    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    for root in done.paths:
        for path in (root / "inference").rglob("*"):
            if path.is_file():
                written = path.read_text("utf-8")
                assert "secret" not in written
                assert "correct" not in written
                assert "gold" not in written


def test_a_single_turn_reply_is_its_trajectory(study: Path, tmp_path: Path) -> None:
    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")
    root = done.paths[0]

    said = "I looked 1 times.\nFINAL ANSWER: C"
    assert (root / "inference/trajectories/question7.txt").read_text("utf-8") == said
    assert not (root / "inference/outputs").exists()
    progress = record(root / "inference/progress/question7.json")
    assert (progress["response_text"], progress["frames_sampled"]) == (said, 2)
    failed = record(root / "inference/progress/question9.json")
    assert failed["error"] == "Timeout: after 3 attempts"
    assert not (root / "evaluation/results/question9.json").exists()
    assert record(root / "inference/summary.json")["errored"] == 1


def test_what_was_written_is_read_back(study: Path, tmp_path: Path) -> None:
    export_study(study, form="agentvidbench", output=tmp_path / "exp")
    runs = [read_run(path) for path in sorted((tmp_path / "exp").iterdir())]
    by_cell = {
        (run.method, int(run.tag[1:]), item.own_id): item for run in runs for item in run.items
    }

    for cell in cells_of(make_study_plan()):
        item = by_cell[cell.arm, cell.execution, cell.question_id]
        assert item.run_status == cell.run_status
        if cell.run_status == "provider_error":
            assert item.failure == "Timeout: after 3 attempts"
            continue
        assert item.trajectory is not None
        assert item.trajectory.answer_index == cell.answer_index
        assert [(c.name, dict(c.arguments), c.result, c.error) for c in item.trajectory.tool_calls] == [
            (c.name, dict(c.arguments), c.result, c.error) for c in cell.tool_calls
        ]  # fmt: skip
        assert rendered(item.trajectory, system="s") == rendered(cell, system="s")
        assert item.process is not None
    assert [run.requested for run in runs] == [3, 3, 3, 3]


@pytest.mark.parametrize("form", ["agentvidbench", "sage"])
def test_an_audit_of_an_export_sees_the_outcomes_of_the_study(
    study: Path, tmp_path: Path, form: Any
) -> None:
    done = export_study(study, form=form, output=tmp_path / "exp")
    systems = {
        "agentvidbench": {f"{arm}/taketwo/offline-orchestrator": arm for arm in ("base", "method")},
        "sage": {f"{arm}_taketwo_offline-orchestrator": arm for arm in ("base", "method")},
    }[form]

    found = read(done.output)
    table = to_outcomes(found, {}).to_polars()
    planned = read_outcomes(study / "outcomes.parquet").to_polars()

    measured = [*SAME, *(["trajectory_score", "mc_rate"] if form == "agentvidbench" else [])]
    keys = ["arm", "execution", "question_id"]
    ours = planned.select(*keys, *measured).sort(keys)
    theirs = table.with_columns(table["arm"].replace(systems)).select(*keys, *measured).sort(keys)
    assert theirs.rows() == ours.rows()
    assert {item.number for item in found.reading.executions} == {1, 2}


@pytest.mark.parametrize("form", ["agentvidbench", "sage"])
def test_a_reply_that_a_model_read_for_us_keeps_letter_and_verdict(
    tmp_path: Path, form: Any
) -> None:
    plan = make_study_plan()
    said = [
        replace(cell, run_status="unparsed", answer_index=None)
        if (cell.arm, cell.question_id) == ("base", "7")
        else cell
        for cell in cells_of(plan)
    ]
    study = write_study(tmp_path / "study", plan, said)

    def read_out(question_id: str, cell: Any) -> Label:
        index = 2 if cell.run_status == "unparsed" else cell.answer_index
        source = "extracted" if cell.run_status == "unparsed" else "agent"
        return Label("scored", float(index == 2), float(index == 2), source, index)

    outcomes_of(plan, said, read_out).write(study / "outcomes.parquet")

    done = export_study(study, form=form, output=tmp_path / "exp")

    if form == "agentvidbench":
        results = record(done.paths[0] / "evaluation/results/question7.json")
        assert results["accuracy"] == {"gold": "C", "pred": "C", "correct": True}
        assert results["letter_extraction"] == {"majority": "C", "agreement": 1.0, "n_null": 0}
    table = to_outcomes(read(done.output), {}).to_polars()
    own = table.filter(table["arm"].str.starts_with("base") & table["accuracy"].is_not_null())
    assert own.sort("execution", "question_id").select("run_status", "accuracy").rows() == [
        ("unparsed", 1.0), ("answered", 0.0), ("unparsed", 1.0), ("answered", 0.0),
    ]  # fmt: skip


def test_executions_of_one_study_belong_together(study: Path, tmp_path: Path) -> None:
    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    assert read(done.output).reading.alignment == "blocked"


def test_ids_that_are_no_numbers_are_numbered_and_mapped(tmp_path: Path) -> None:
    plan = make_study_plan(prefix="q-")
    study = write_study(tmp_path / "study", plan, cells_of(plan))

    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    mapped = record(done.paths[0] / "taketwo.json")["questions"]
    assert [(item["question_id"], item["id"]) for item in mapped] == [
        (1, "q-7"), (2, "q-8"), (3, "q-9"),
    ]  # fmt: skip
    assert ("base/taketwo/offline-orchestrator", "K1", "q-7") in cells(
        read(done.output), "accuracy"
    )
    assert any("taketwo.json says which is which" in note for note in done.notes)


def test_every_cell_that_ran_is_an_atif_document(study: Path, tmp_path: Path) -> None:
    done = export_study(study, form="atif", output=tmp_path / "exp")

    assert len(done.paths) == 10
    for path in done.paths:
        check_document(record(path))
    assert (tmp_path / "exp/method_K2/8.json").is_file()
    assert done.notes == ("2 cells did not run and have no file",)


def test_an_output_with_something_in_it_is_left_alone(study: Path, tmp_path: Path) -> None:
    (tmp_path / "exp").mkdir()
    (tmp_path / "exp/mine.txt").write_text("mine")

    with pytest.raises(RequestError, match="holds something already"):
        export_study(study, form="atif", output=tmp_path / "exp")
    with pytest.raises(RequestError, match="no such form 'csv'"):
        export_study(study, form="csv", output=tmp_path / "new")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4o", "a_openai_gpt-4o_K1"),
        ("../../etc", "a__.._etc_K1"),
        ("..", "a_unnamed_K1"),
        ("x\n\0y", "a_x_y_K1"),
    ],
)
def test_no_name_leads_out_of_the_output(model: str, name: str) -> None:
    assert safe_name("a", model, "K1") == name
    assert "/" not in safe_name("a", model, "K1")


def test_each_name_is_its_own_and_none_is_too_long() -> None:
    keys = [
        ("a", "b/c"),
        ("a/b", "c"),
        ("A", "b_c"),
        ("x", "y"),
        ("m" * 300, "1"),
        ("m" * 300, "2"),
    ]

    names = unique_names(keys, ending="_K1.jsonl")

    assert names["x", "y"] == "x_y"
    assert [names[key].rpartition("-")[0] for key in keys[:3]] == ["a_b_c", "a_b_c", "A_b_c"]
    assert len({name.casefold() for name in names.values()}) == 6
    assert max(len(name + "_K1.jsonl") for name in names.values()) == 120
    assert unique_names(reversed(keys), ending="_K1.jsonl") == names


NAMES = {
    "collide": (("react", "openrouter/openai/gpt-5"), ("react_openrouter", "openai/gpt-5")),
    "case": (("ours", "m"), ("OURS", "m")),
    "long": (("base", "m" * 210), ("method", "m" * 210)),
    "long arms": (("b" * 150, "m"), ("b" * 149 + "c", "m")),
    "outside": (("../../evil", "m"), ("/etc/evil", "m")),
}


@pytest.mark.parametrize("form", ["agentvidbench", "sage", "atif"])
@pytest.mark.parametrize("names", list(NAMES))
def test_every_cell_is_on_disk_in_the_output_whatever_the_arms_are_called(
    tmp_path: Path, names: str, form: Any
) -> None:
    study = named_study(tmp_path / "here" / "study", NAMES[names])
    output = tmp_path / "here" / "exp"

    done = export_study(study, form=form, output=output)

    outside = [path for path in tmp_path.rglob("*") if path.name.find("evil") >= 0]
    assert all(output in path.parents for path in outside)
    assert len({path.resolve() for path in done.paths}) == len(done.paths)
    on_disk = {
        "agentvidbench": {path.parent for path in output.rglob("taketwo.json")},
        "sage": set(output.rglob("*.json*")),
        "atif": set(output.rglob("*.json")),
    }[form]
    assert set(done.paths) == on_disk
    assert len(on_disk) == {"agentvidbench": 4, "sage": 8, "atif": 10}[form]
    assert all(len(path.name) <= 120 for path in output.rglob("*"))


@pytest.mark.parametrize("names", ["collide", "long"])
def test_arms_of_one_name_stay_two_systems_with_two_executions(tmp_path: Path, names: str) -> None:
    study = named_study(tmp_path / "study", NAMES[names])

    found = read(export_study(study, form="sage", output=tmp_path / "exp").output)

    assert len(found.reading.systems) == 2
    assert sorted((item.number, item.n_questions) for item in found.reading.executions) == [
        (1, 3), (1, 3), (2, 3), (2, 3),
    ]  # fmt: skip


def named_study(folder: Path, names: tuple[tuple[str, str], tuple[str, str]]) -> Path:
    """Write the study with other names of its arms and models."""
    plan = make_study_plan()
    arms = [
        replace(arm, name=name, models={role: ModelSpec(name=model) for role in arm.models})
        for arm, (name, model) in zip(plan.arms, names, strict=True)
    ]
    renamed: dict[str, str] = {
        arm.name: name for arm, (name, _) in zip(plan.arms, names, strict=True)
    }
    cells = [replace(cell, arm=renamed[cell.arm]) for cell in cells_of(plan)]
    return write_study(folder, replace(plan, arms=tuple(arms)), cells)


def test_thoughts_are_there_after_reading_what_was_written(tmp_path: Path) -> None:
    plan = make_study_plan()
    thinking = [replace(cell, events=tuple(map(thought, cell.events))) for cell in cells_of(plan)]
    study = write_study(tmp_path / "study", plan, thinking)

    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    runs = [read_run(path) for path in done.paths]
    by_cell = {
        (run.method, int(run.tag[1:]), item.own_id): item for run in runs for item in run.items
    }
    compared = 0
    for cell in thinking:
        found = by_cell[cell.arm, cell.execution, cell.question_id].trajectory
        if cell.events and found is not None:
            assert rendered(found, system="s") == rendered(cell, system="s")
            assert [call.reasoning for call in found.model_calls] == [
                call.reasoning for call in cell.model_calls
            ]
            compared += 1
    assert compared == 8


def test_a_reply_of_a_single_turn_that_was_changed_is_read_as_it_stands(
    study: Path, tmp_path: Path
) -> None:
    root = export_study(study, form="agentvidbench", output=tmp_path / "exp").paths[0]
    (root / "inference/trajectories/question7.txt").write_text("Something else.", "utf-8")

    seven, eight = run_of(tmp_path / "exp", root.name).items[:2]

    assert seven.trajectory is not None
    assert eight.trajectory is not None
    assert [call.text for call in seven.trajectory.model_calls] == ["Something else."]
    assert [call.text for call in eight.trajectory.model_calls] == [
        "I looked 1 times.\nFINAL ANSWER: D"
    ]


def thought(event: Event) -> Event:
    if isinstance(event, ModelCall):
        return replace(event, reasoning=f"Before this I thought: {event.text[:6]}")
    return event


def test_numbers_come_from_the_ids_only_where_all_of_them_are_numbers() -> None:
    assert numbered([question(7), question(9)]) == {"7": 7, "9": 9}
    assert numbered([question(7), question(9, prefix="q")]) == {"7": 1, "q9": 2}
    assert numbered([question(7), question(7, prefix="0")]) == {"7": 1, "07": 2}


def test_the_command_says_what_it_wrote(study: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(
        command,
        [str(study), "--to", "agentvidbench", "-o", str(tmp_path / "exp")],
        catch_exceptions=False,
    )

    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) == 4
    assert "12 cells" in shown.stderr


def test_a_study_without_judge_has_no_judge_records(tmp_path: Path) -> None:
    plan = make_plan(questions=[question(7)])
    scored = make_study_plan()
    assert plan.scoring.trajectories is None
    study = write_study(tmp_path / "study", scored, cells_of(scored))
    bare = json.dumps(make_plan(questions=[question(n) for n in (7, 8, 9)]).to_json())
    (study / "plan.json").write_text(bare, "utf-8")

    done = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    assert not (done.paths[0] / "evaluation/judge").exists()
    results = record(done.paths[0] / "evaluation/results/question7.json")
    assert (results["process"], results["accuracy"]["correct"]) == ({}, True)
