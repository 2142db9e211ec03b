from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.outcomes.imports.files import cells, read
from tests.scores.formats.lemon_run import (
    NORMALIZED,
    RESULTS,
    canonical,
    changed,
    write_json,
    write_run,
    write_text,
)

from taketwo.auditing import audit
from taketwo.errors import InvalidResults, RequestError
from taketwo.outcomes.imports.detect import recognise
from taketwo.outcomes.imports.to_outcomes import to_outcomes


def right(root: Path, number: int, letter: str = "F") -> None:
    steps = changed(NORMALIZED, number=number)
    steps["steps"][-1]["data"]["letter"] = letter
    write_json(root / f"inference/outputs/question{number}.normalized.json", steps)


def test_tags_are_executions_and_methods_are_systems(tmp_path: Path) -> None:
    one = write_run(tmp_path, tag="run1", numbers=(1, 2))
    two = write_run(tmp_path, tag="run2", numbers=(1, 2))
    other = write_run(tmp_path, tag="run1", method="star", numbers=(1, 2))
    right(one, 1)
    right(other, 2)

    found = read(one, two, other)

    assert found.reading.formats == ("AgentVidBench run folders",)
    assert cells(found, "accuracy") == {
        ("ours/gemini-2.5-pro", "K1", "1"): (1.0, "scored"),
        ("ours/gemini-2.5-pro", "K1", "2"): (0.0, "scored"),
        ("ours/gemini-2.5-pro", "K2", "1"): (0.0, "scored"),
        ("ours/gemini-2.5-pro", "K2", "2"): (0.0, "scored"),
        ("star/gemini-2.5-pro", "K1", "1"): (0.0, "scored"),
        ("star/gemini-2.5-pro", "K1", "2"): (1.0, "scored"),
    }
    assert [(item.system, item.name) for item in found.reading.executions] == [
        ("ours/gemini-2.5-pro", "run1"),
        ("ours/gemini-2.5-pro", "run2"),
        ("star/gemini-2.5-pro", "run1"),
    ]
    assert found.factors["star/gemini-2.5-pro"] == {
        "framework": "star",
        "model": "gemini-2.5-pro",
    }
    assert found.reading.alignment == "arbitrary"


def test_all_metrics_of_a_run_are_read_by_our_names(tmp_path: Path) -> None:
    found = read(write_run(tmp_path))

    values = dict(found.rows.select("metric", "value").iter_rows())
    assert values == {
        "accuracy": 0,
        "visible_calls": 2,
        "latency_s": 31.882,
        "tokens": 49985,
        "trajectory_score": 0.6,
        "mc_rate": 0.625,
        "task_understanding": 2,
        "gt_evidence_coverage": 1,
        "evidence_grounding": 0,
        "evidence_completeness": 1,
        "reasoning_faithfulness": 2,
    }
    assert found.rows["cluster"].unique().to_list() == ["video901"]


def test_a_folder_of_runs_is_searched_and_each_run_is_one(tmp_path: Path) -> None:
    write_run(tmp_path / "exp", tag="run1")
    write_run(tmp_path / "exp", tag="run2")
    write_text(tmp_path / "exp/notes.txt", "hello")

    found = read(tmp_path / "exp")

    assert len(found.reading.files) == 2
    (aside,) = found.reading.asides
    assert aside.first.endswith("notes.txt")


def test_a_summary_names_its_run(tmp_path: Path) -> None:
    root = write_run(tmp_path)

    assert recognise(root / "inference/summary.json") == "agentvidbench"
    (root / "inference/summary.json").unlink()
    assert recognise(root / "inference/progress/question9001.json") == "agentvidbench"


def test_what_failed_is_no_wrong_answer_and_what_nobody_answered_is(tmp_path: Path) -> None:
    root = write_run(tmp_path, numbers=(1, 2, 3), total=4)
    failed = {"question_id": 2, "video_path": "v.mp4", "elapsed_seconds": 1.0, "error": "503"}
    write_json(root / "inference/progress/question2.json", failed)
    steps = copy.deepcopy(changed(NORMALIZED, number=3))
    steps["steps"][-1]["data"] = {"letter": "A", "reasoning": "max iterations"}
    write_json(root / "inference/outputs/question3.normalized.json", steps)
    credited = {"gold": "A", "pred": "A", "correct": True}
    results = changed(RESULTS, number=3, accuracy=credited)
    write_json(root / "evaluation/results/question3.json", results)

    found = read(root)

    assert cells(found, "accuracy") == {
        ("ours/gemini-2.5-pro", "K1", "1"): (0.0, "scored"),
        ("ours/gemini-2.5-pro", "K1", "2"): (None, "agent_error"),
        ("ours/gemini-2.5-pro", "K1", "3"): (0.0, "limit"),
    }
    told = "\n".join(found.reading.notes)
    assert "1 of 4 questions left no record" in told
    assert "1 trajectories ended without an answer and have the letter A" in told
    assert "(1 of them were counted as right there)" in told


def test_a_stored_letter_that_is_not_the_stated_one_is_told(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    right(root, 9001)

    found = read(root)

    assert cells(found, "accuracy")["ours/gemini-2.5-pro", "K1", "9001"] == (1.0, "scored")
    assert "first question 9001 (E stored, F stated)" in "\n".join(found.reading.notes)


def test_faults_of_all_runs_are_told_at_once(tmp_path: Path) -> None:
    one, two = write_run(tmp_path, tag="run1"), write_run(tmp_path, tag="run2")
    for root in (one, two):
        write_text(root / "evaluation/results/question9001.json", "{")

    with pytest.raises(InvalidResults) as caught:
        read(one, two)

    assert str(one) in str(caught.value)
    assert str(two) in str(caught.value)


def test_the_same_execution_twice_is_refused(tmp_path: Path) -> None:
    one, two = write_run(tmp_path / "a"), write_run(tmp_path / "b")

    with pytest.raises(InvalidResults, match=r"with the tag 'run1' is in .* already"):
        read(one, two)


def test_a_run_without_evaluation_has_no_scores(tmp_path: Path) -> None:
    root = write_run(tmp_path, with_evaluation=False)
    scored = write_run(tmp_path, tag="run2")

    found = read(root, scored)

    assert cells(found, "accuracy")["ours/gemini-2.5-pro", "K1", "9001"] == (None, "not_judged")
    assert any("no evaluation" in note for note in found.reading.notes)


def test_options_for_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="AgentVidBench run folders"):
        read(write_run(tmp_path), question="question_id")


def test_an_audit_compares_two_methods(tmp_path: Path) -> None:
    numbers = tuple(range(1, 13))
    roots = [
        write_run(tmp_path, method=method, tag=tag, numbers=numbers)
        for method in ("ours", "star")
        for tag in ("run1", "run2")
    ]
    for number in numbers[:6]:
        right(roots[0], number)
    for root in roots:
        for number in numbers:
            path = root / f"inference/progress/question{number}.json"
            record: dict[str, Any] = json.loads(path.read_text("utf-8"))
            write_json(path, {**record, "video_path": f"videos/v{number}.mp4"})

    found = audit(*roots, baseline="star/gemini-2.5-pro", primary=("accuracy", "trajectory_score"))

    table = found.outcomes.to_polars()
    assert table.height == 48
    assert table["trajectory_score"].unique().to_list() == [0.6]
    pair = found.comparison.to_json()["comparisons"][0]  # type: ignore[index,call-overload]
    assert set(pair["metrics"]) >= {"accuracy", "trajectory_score"}  # type: ignore[index,call-overload,arg-type]


def test_judgements_that_failed_and_unknown_tags_cost_no_answer(tmp_path: Path) -> None:
    root = write_run(tmp_path, numbers=(1, 2))
    for number, change in ((1, {"scores": {}}), (2, {"failure_tags": ["audio_tranerror"]})):
        stored = {**RESULTS["process"], "traj": None, **change}
        write_json(
            root / f"evaluation/results/question{number}.json",
            changed(RESULTS, number=number, process=stored),
        )

    found = read(root)

    table = to_outcomes(found, {}).to_polars().sort("question_id")
    assert table.select("run_status", "accuracy", "trajectory_score").rows() == [
        ("answered", 0.0, None), ("answered", 0.0, 0.6),
    ]  # fmt: skip
    told = {(item.what, item.first.partition(": ")[2]) for item in found.reading.asides}
    assert told == {
        ("trajectories without a judgement", "the judge gave no score for P1, P2, P3, P5"),
        ("judgements with failure tags that are none of the closed list", "audio_tranerror"),
    }


def test_files_that_no_question_has_are_in_the_account(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    write_text(root / "inference/progress/questionq1.json", "{}")
    write_text(root / "inference/trajectories/question01.txt", "x")

    found = read(root)

    assert (
        f"{root}: 2 files are not used, no question has them: inference/progress/questionq1.json, "
        "inference/trajectories/question01.txt"
    ) in found.reading.notes
    assert found.reading.n_questions == 1


def test_a_letter_that_nobody_chose_is_a_limit_where_only_the_text_is_left(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    steps = copy.deepcopy(NORMALIZED)
    steps["steps"][-1]["data"] = {"letter": "A", "reasoning": "max iterations"}
    shutil.rmtree(root / "inference/outputs")
    write_text(root / "inference/trajectories/question9001.txt", canonical(steps))
    credited = changed(RESULTS, number=9001, accuracy={"gold": "A", "pred": "A", "correct": True})
    write_json(root / "evaluation/results/question9001.json", credited)

    found = read(root)

    assert cells(found, "accuracy")["ours/gemini-2.5-pro", "K1", "9001"] == (0.0, "limit")
