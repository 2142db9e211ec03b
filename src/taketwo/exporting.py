"""Writing a study in the files of others: AgentVidBench's run folders, SAGE's rows, ATIF trajectories."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from taketwo.added_scoring import study_scoring
from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RequestError
from taketwo.executions.log_json import plain_json
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.executions.trajectory_table import read_trajectories
from taketwo.media.store import write_atomically
from taketwo.outcomes.table import Outcomes, read_outcomes
from taketwo.scores.formats.atif import atif_record
from taketwo.scores.formats.file_names import model_of, names_of_arms, unique_names
from taketwo.scores.formats.run_folder_summary import Evaluated
from taketwo.scores.formats.run_folder_writing import (
    RunCell,
    letters_of,
    numbered,
    write_evaluation,
    write_inference,
    write_own_file,
)
from taketwo.scores.formats.sage_trace import SageCell, inference_row, score_row
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scoring import score
from taketwo.study_folder import StudyFolder

__all__ = ["Exported", "Form", "export_study"]

Form = Literal["agentvidbench", "sage", "atif"]

_SINGLE_TURN = "single_turn"
_FAILED = ("agent_error", "provider_error", "media_error", "not_run")
_MEASURES = (
    "turns",
    "visible_calls",
    "primitive_ops",
    "latency_s",
    "tokens",
    "cost_usd",
    "input_tokens",
    "output_tokens",
)


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written: folders or files by arm and execution, how many cells, and what to know of it."""

    form: Form
    output: Path
    paths: tuple[Path, ...]
    cells: int
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A cell with its scores, as the outcomes table has them."""

    trajectory: Trajectory
    values: Mapping[str, object]

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value) if math.isfinite(value) else None

    @property
    def is_correct(self) -> bool | None:
        accuracy = self.number("accuracy")
        return None if accuracy is None else accuracy == 1.0

    @property
    def option_index(self) -> int | None:
        """Return the option that the score rests on: the agent's, or one that a model read for us."""
        index = self.values.get("answer_index")
        return index if isinstance(index, int) else self.trajectory.answer_index

    @property
    def status(self) -> str:
        """Return why nobody can say whether the answer is right, or how the cell ended."""
        ended = str(self.values["run_status"])
        return ended if ended != "answered" else str(self.values["score_status"])


@dataclass(frozen=True, kw_only=True)
class _Study:
    """A study that was read back for export."""

    plan: Plan
    rows: Mapping[tuple[str, int], Sequence[_Row]]
    labels: ProcessLabels | None


def export_study(study: Path | str, *, form: Form, output: Path | str) -> Exported:
    """Write the cells of a study in the files that other programs read.

    Parameters
    ----------
    study
        A study folder or its YAML file. No model is called: what was not judged stays so.
    form
        `agentvidbench`: a run folder for each arm and execution; `sage`: a JSON Lines file of
        answers and a JSON file of scores for each; `atif`: a JSON file for each cell.
    output
        The folder to write into; it must be empty or not be there yet.

    Raises
    ------
    RequestError
        If the output holds something already, or `form` is none of the three.
    DataError
        If the study has no plan, or its logs or tables cannot be used.
    """
    writers: Mapping[Form, Callable[[_Study, Path], tuple[list[Path], list[str]]]] = {
        "agentvidbench": _run_folders,
        "sage": _sage_files,
        "atif": _atif_files,
    }
    if form not in writers:
        raise RequestError(f"no such form {form!r}; known are {', '.join(writers)}")
    target = Path(output)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise RequestError(f"{target}: holds something already; name a new or an empty folder")
    read = _read(StudyFolder.locate(Path(study)))
    paths, notes = writers[form](read, target)
    return Exported(
        form=form,
        output=target,
        paths=tuple(paths),
        cells=sum(len(rows) for rows in read.rows.values()),
        notes=tuple(notes),
    )


def _read(where: StudyFolder) -> _Study:
    plan = where.plan()
    table = where.folder / "outcomes.parquet"
    if any(where.folder.glob("K*/attempt-*")) or not table.is_file():
        scored = score(where.folder, judge=False)
        outcomes, trajectories = scored.outcomes, scored.trajectories
    else:
        # The logs stayed elsewhere; the two tables hold all that is written.
        outcomes = read_outcomes(table)
        trajectories = read_trajectories(where.folder / "trajectories.parquet")
    scoring = study_scoring(where.folder, plan).scoring
    labels: ProcessLabels | None = None
    if scoring is not None:
        pool = JudgementPool(where.folder / "judgements")
        labels = ProcessLabels(plan, scoring, pool.trajectories)
    return _Study(plan=plan, rows=_rows(plan, trajectories, outcomes), labels=labels)


def _rows(
    plan: Plan, trajectories: Sequence[Trajectory], outcomes: Outcomes
) -> dict[tuple[str, int], list[_Row]]:
    """Return the cells of each arm and execution in the order of the plan's questions."""
    values = {
        (row["arm"], row["execution"], row["question_id"]): row
        for row in outcomes.frame.iter_rows(named=True)
    }
    cells = {(cell.arm, cell.execution, cell.question_id): cell for cell in trajectories}
    found: dict[tuple[str, int], list[_Row]] = {}
    for arm in plan.arms:
        for execution in range(1, plan.executions + 1):
            own = found.setdefault((arm.name, execution), [])
            for planned in plan.questions:
                key = (arm.name, execution, planned.question.question_id)
                absent = Trajectory(
                    arm=key[0], execution=key[1], question_id=key[2], run_status="not_run"
                )
                empty = {"run_status": "not_run", "score_status": "not_judged"}
                own.append(_Row(trajectory=cells.get(key, absent), values=values.get(key, empty)))
    return found


def _run_folders(study: _Study, output: Path) -> tuple[list[Path], list[str]]:
    plan = study.plan
    questions = {item.question.question_id: item.question for item in plan.questions}
    numbers = numbered(tuple(questions.values()))
    names = names_of_arms(plan.arms, ending="_K99999")
    paths: list[Path] = []
    for (name, execution), rows in study.rows.items():
        arm = plan.arm(name)
        model, tag = model_of(arm), f"K{execution}"
        folder = output / f"{names[name]}_{tag}"
        cells = [
            RunCell(
                question_id=numbers[row.trajectory.question_id],
                question=questions[row.trajectory.question_id],
                trajectory=row.trajectory,
                measures={measure: row.number(measure) for measure in _MEASURES},
                is_single_turn=arm.agent == _SINGLE_TURN,
            )
            for row in rows
        ]
        items = [
            _evaluated(cell, row, study.labels, name) for cell, row in zip(cells, rows, strict=True)
        ]
        write_inference(folder, cells, framework=name, model=model, tag=tag)
        write_evaluation(folder, items, framework=name, model=model, tag=tag)
        write_own_file(folder, {
            "study": plan.study,
            "plan_sha256": plan.sha256,
            "arm": name,
            "agent": arm.agent,
            "execution": execution,
            "questions": [
                {
                    "question_id": cell.question_id,
                    "id": cell.question.question_id,
                    "video_id": cell.question.video_id,
                    "run_status": cell.trajectory.run_status,
                    "score_status": str(row.values["score_status"]),
                    "failure": cell.failure,
                }
                for cell, row in zip(cells, rows, strict=True)
            ],
        })  # fmt: skip
        paths.append(folder)
    notes = [
        "questions are numbered by their ids"
        if all(str(number) == (questions[key].raw_id or key) for key, number in numbers.items())
        else "questions are numbered by their place in the plan; taketwo.json says which is which"
    ]
    if any(len(question.labels) != 26 for question in questions.values()):
        notes.append("AgentVidBench has 26 options a question; these have another number of them")
    return paths, notes


def _evaluated(cell: RunCell, row: _Row, labels: ProcessLabels | None, framework: str) -> Evaluated:
    question = cell.question
    truth = question.answer_index
    letter = None if row.option_index is None else question.labels[row.option_index]
    status, judged = "not_judged", None
    if labels is not None:
        status, judged = labels.process_of(question.question_id, cell.trajectory)
    return Evaluated(
        question_id=cell.question_id,
        question=question,
        gold=question.answer_text if truth is None else question.labels[truth],
        letter=letter,
        is_correct=row.is_correct,
        status=row.status,
        process=None if judged is None else judged.scores,
        judge=None if judged is None else judged.judge,
        judge_error="the judge gave no usable reply" if status == "judge_error" else None,
        letters=letters_of(cell, letter, framework=framework),
        own=_judging(judged),
    )


def _judging(judged: TrajectoryJudgement | None) -> dict[str, JsonValue]:
    if judged is None:
        return {}
    return {
        "judging": {
            "served_model": judged.served_model,
            "protocol": judged.protocol,
            "rubric": judged.rubric,
            "prompt_sha256": judged.prompt_sha256,
            "key": judged.key,
            "created": judged.created,
        }
    }


def _sage_files(study: _Study, output: Path) -> tuple[list[Path], list[str]]:
    plan = study.plan
    questions = {item.question.question_id: item.question for item in plan.questions}
    is_minerva = plan.benchmark == "minerva"
    kind = "minerva_bench" if is_minerva else "sage_bench"
    names = names_of_arms(plan.arms, ending=f"_K99999_{kind}_results.jsonl")
    paths: list[Path] = []
    for (name, execution), rows in study.rows.items():
        cells = [
            SageCell(
                question=questions[row.trajectory.question_id],
                trajectory=row.trajectory,
                is_correct=row.is_correct,
                score_status=str(row.values["score_status"]),
                option_index=row.option_index,
                shows_letter=is_minerva,
                measures={measure: row.number(measure) for measure in _MEASURES},
            )
            for row in rows
        ]
        stem = f"{names[name]}_K{execution}_{kind}_results"
        lines = "".join(f"{_json(inference_row(cell))}\n" for cell in cells)
        write_atomically(output / f"{stem}.jsonl", lines.encode())
        scores = [score_row(cell, index=index) for index, cell in enumerate(cells)]
        write_atomically(output / f"{stem}.json", f"{_json(scores, indent=1)}\n".encode())
        paths += [output / f"{stem}.jsonl", output / f"{stem}.json"]
    unanswered = sum(
        row.trajectory.run_status in _FAILED for rows in study.rows.values() for row in rows
    )
    note = (
        f"{unanswered} cells that ended in an error or did not run have no answer and is_correct null, "
        "which SAGE's own evaluator would count as wrong"
    )
    return paths, [note] if unanswered else []


def _atif_files(study: _Study, output: Path) -> tuple[list[Path], list[str]]:
    plan = study.plan
    questions = {item.question.question_id: item.question for item in plan.questions}
    paths: list[Path] = []
    left_out = 0
    names = names_of_arms(plan.arms, ending="_K99999", with_model=False)
    files = unique_names(((name,) for name in questions), ending=".json")
    for (name, execution), rows in study.rows.items():
        for row in rows:
            cell = row.trajectory
            if cell.run_status == "not_run":
                left_out += 1
                continue
            record = atif_record(
                cell,
                questions[cell.question_id],
                plan.arm(name),
                session_id=f"{plan.sha256[:12]}-{name}-K{execution}-{cell.question_id}",
                cost_usd=row.number("cost_usd"),
            )
            path = output / f"{names[name]}_K{execution}" / f"{files[cell.question_id,]}.json"
            write_atomically(path, f"{_json(record, indent=1)}\n".encode())
            paths.append(path)
    return paths, [f"{left_out} cells did not run and have no file"] if left_out else []


def _json(record: JsonValue | Sequence[JsonValue], indent: int | None = None) -> str:
    plain = plain_json(cast("JsonValue", record))
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=indent)
