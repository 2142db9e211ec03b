"""Writing a run folder of AgentVidBench: inference without any truth, evaluation beside it."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.log_json import encodable, plain_json
from taketwo.executions.trajectory import Trajectory
from taketwo.media.store import write_atomically
from taketwo.scores.formats.run_folder import OWN_FILE
from taketwo.scores.formats.run_folder_steps import canonical_text, normalized_record, turn_of_each
from taketwo.scores.formats.run_folder_summary import (
    OWN_KEY,
    Evaluated,
    judge_record,
    letters_record,
    results_record,
    summary_record,
)

__all__ = [
    "OWN_FORMAT",
    "RunCell",
    "letters_of",
    "numbered",
    "write_evaluation",
    "write_inference",
    "write_own_file",
]

OWN_FORMAT = "taketwo.run-folder/1"

_NUMBER = re.compile(r"[0-9]{1,18}")
_FAILED = ("agent_error", "provider_error", "media_error")


@dataclass(frozen=True, kw_only=True)
class RunCell:
    """A cell as it is written: its question's number in the folder, and what it used.

    `measures` are its values on our metrics, None where nobody knows. `is_single_turn` has its reply
    as it stands for a trajectory, as the reference has it; any other agent has steps.
    """

    question_id: int
    question: Question
    trajectory: Trajectory
    measures: Mapping[str, float | None]
    is_single_turn: bool

    @property
    def failure(self) -> str | None:
        """Return why the cell has no answer; None where it ended by itself."""
        failed = self.trajectory.failure
        if failed is not None:
            return f"{failed.cause}: {failed.message}"
        status = self.trajectory.run_status
        return status if status in _FAILED else None

    @property
    def own(self) -> dict[str, JsonValue]:
        """Return what is ours of the record: ids, status, measures, and of a single turn its steps."""
        cell = self.trajectory
        return {
            "id": self.question.question_id,
            "video_id": self.question.video_id,
            "run_status": cell.run_status,
            "forced": cell.forced,
            "limit": cell.limit,
            "latency_wall_s": cell.latency_wall_s,
            **self.measures,
        }


def numbered(questions: Sequence[Question]) -> dict[str, int]:
    """Return the number of each question by its id: its raw id where all are numbers, else its place."""
    raw = [question.raw_id or question.question_id for question in questions]
    if all(_NUMBER.fullmatch(name) for name in raw):
        numbers = [int(name) for name in raw]
        if len(set(numbers)) == len(numbers):
            return {q.question_id: n for q, n in zip(questions, numbers, strict=True)}
    return {question.question_id: at for at, question in enumerate(questions, start=1)}


def write_inference(
    folder: Path, cells: Sequence[RunCell], *, framework: str, model: str, tag: str
) -> None:
    """Write `inference/`: progress, trajectories, outputs and summary; cells that did not run have none.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    inference = folder / "inference"
    done = [cell for cell in cells if cell.trajectory.run_status != "not_run"]
    results: list[JsonValue] = []
    for cell in sorted(done, key=lambda cell: cell.question_id):
        name = f"question{cell.question_id}"
        steps = normalized_record(
            cell.trajectory,
            cell.question,
            question_id=cell.question_id,
            method=framework,
            model=model,
        )
        record = _progress(cell, steps)
        results.append(record)
        _write_json(inference / "progress" / f"{name}.json", record)
        written = cell.trajectory.answer_text
        if not cell.is_single_turn:
            steps["tokens"] = record["tokens"]
            plain = cast("dict[str, JsonValue]", plain_json(steps))
            written = canonical_text(plain)
            outputs = inference / "outputs"
            _write_json(outputs / f"{name}.normalized.json", plain)
            _write_json(outputs / f"{name}.json", _native(plain))
            _write_text(outputs / f"{name}.txt", written)
        if cell.failure is None or cell.trajectory.events:
            _write_text(inference / "trajectories" / f"{name}.txt", written)
    walls = [cell.trajectory.latency_wall_s for cell in done]
    known = [wall for wall in walls if wall is not None]
    _write_json(
        inference / "summary.json",
        {
            "experiment": framework,
            "model": model,
            "tag": tag,
            "total": len(cells),
            "errored": sum(cell.failure is not None for cell in done),
            "total_wall_time": round(math.fsum(known), 1) if len(known) == len(walls) else None,
            "results": results,
        },
    )


def _progress(cell: RunCell, steps: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    latency = cell.trajectory.latency_s
    calls = cell.trajectory.model_calls
    record: dict[str, JsonValue] = {
        "question_id": cell.question_id,
        "video_path": f"videos/{Path(cell.question.video_path).name}",
        "elapsed_seconds": None if latency is None else round(latency, 1),
        "tokens": {
            "prompt_tokens": _whole(cell.measures.get("input_tokens")),
            "candidates_tokens": _whole(cell.measures.get("output_tokens")),
            "thoughts_tokens": None,
            "tool_use_tokens": None,
            "cached_tokens": None,
            "total_tokens": _whole(cell.measures.get("tokens")),
            "calls": len(calls),
            "retries": sum(call.retries for call in calls),
            "retry_wait_seconds": None,
        },
        OWN_KEY: {**cell.own, "steps": steps["steps"]} if cell.is_single_turn else cell.own,
    }
    if cell.is_single_turn:
        record["response_text"] = encodable(cell.trajectory.answer_text)
        record["frames_sampled"] = len(calls[0].media_sha256) if calls else None
    if cell.failure is not None:
        record["error"] = encodable(cell.failure)
    return record


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _native(record: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Return the steps as the flat list that the reference writes, with the turn of each."""
    steps = cast("list[dict[str, JsonValue]]", record["steps"])
    return [
        {**cast("dict[str, JsonValue]", step["data"]), "iteration": turn, "type": step["phase"]}
        for step, turn in zip(steps, turn_of_each(steps), strict=True)
    ]


def write_evaluation(
    folder: Path,
    items: Sequence[Evaluated],
    *,
    framework: str,
    model: str,
    tag: str,
    unrecorded: int = 0,
    own: Mapping[str, JsonValue] | None = None,
) -> dict[str, JsonValue]:
    """Write `evaluation/`: letters, judge, results and summary; return the summary.

    What ended in an error or did not run has no record of its own and is in the summary's `n` all the
    same.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    evaluation = folder / "evaluation"
    for item in items:
        name = f"question{item.question_id}.json"
        if item.status in {*_FAILED, "not_run"}:
            continue
        if item.letters is not None:
            _write_json(evaluation / "letters" / name, dict(item.letters))
        judged = judge_record(item, framework=framework)
        if judged is not None:
            _write_json(evaluation / "judge" / name, judged)
        results = results_record(item, framework=framework, model=model)
        _write_json(evaluation / "results" / name, results)
    summary = summary_record(
        items, framework=framework, model=model, tag=tag, unrecorded=unrecorded, own=own
    )
    _write_json(evaluation / "summary.json", summary)
    return summary


def letters_of(cell: RunCell, letter: str | None, *, framework: str) -> dict[str, JsonValue]:
    """Return the letters record of a cell whose answer was read on our side, as a vote of one."""
    said = encodable(cell.trajectory.answer_text)
    digest = hashlib.sha1(said.encode(), usedforsecurity=False).hexdigest()
    return letters_record(
        letter,
        question_id=cell.question_id,
        framework=framework,
        excerpt=said,
        sha1=digest,
    )


def write_own_file(folder: Path, record: Mapping[str, JsonValue]) -> None:
    """Write `taketwo.json`: what a reader of the folder needs to find back to our study."""
    _write_json(folder / OWN_FILE, {"format": OWN_FORMAT, **record})


def _write_json(path: Path, record: JsonValue) -> None:
    written = json.dumps(plain_json(record), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, f"{written}\n".encode())


def _write_text(path: Path, written: str) -> None:
    write_atomically(path, encodable(written).encode())
