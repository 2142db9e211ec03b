"""A few questions in full: what was asked, what every cell answered, called and looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from taketwo.benchmarks.question import Question
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import ToolCall, Trajectory
from taketwo.outcomes.table import Outcomes
from taketwo.report.numbers import seconds
from taketwo.report.untrusted import harmless

__all__ = [
    "Case",
    "CaseChoice",
    "LookedAt",
    "ShownCall",
    "ShownCell",
    "ShownOption",
    "cases_of",
    "choose_cases",
    "evenly",
    "frames_of",
]

CASES = 6
_CALLS = 12
_FRAMES = 8
_TEXT, _REPLY, _ARGUMENT = 1500, 700, 300
_FRAME_TIME = re.compile(r"\[frame at (\d+(?:\.\d+)?) s\]")


@dataclass(frozen=True, kw_only=True)
class LookedAt:
    """A frame that a model was handed, by hash, and the second it shows (None: not recorded)."""

    sha256: str
    time_s: float | None


@dataclass(frozen=True, kw_only=True)
class ShownCall:
    """A visible call as it is read: `signature` is name and arguments."""

    signature: str
    result: str
    error: str | None
    frames: int


@dataclass(frozen=True, kw_only=True)
class ShownCell:
    """What one arm did with the question in one execution.

    `is_right` is None where nobody can say. `n_frames` and `n_calls` count all, of which `frames`
    and `calls` are shown.
    """

    arm: str
    execution: int
    status: str
    answer: str
    has_answer: bool
    is_right: bool | None
    latency: str
    reasoning: str
    failure: str
    notes: tuple[str, ...]
    calls: tuple[ShownCall, ...]
    n_calls: int
    frames: tuple[LookedAt, ...]
    n_frames: int


@dataclass(frozen=True, kw_only=True)
class ShownOption:
    """An option, whether it is the true one, and the cells that chose it (`K1 static`)."""

    label: str
    text: str
    is_true: bool
    chosen_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question in full; `cells` in the order of arms, then executions."""

    question_id: str
    text: str
    truth: str
    details: str
    options: tuple[ShownOption, ...]
    executions: int
    cells: tuple[ShownCell, ...]


@dataclass(frozen=True, kw_only=True)
class CaseChoice:
    """Which questions are shown, and by what rule they were chosen."""

    question_ids: tuple[str, ...]
    how: str


def choose_cases(outcomes: Outcomes, limit: int = CASES) -> CaseChoice:
    """Choose the first questions, by id, whose correctness changed between executions in any arm.

    Where none changed, the first questions by id. The rule looks at no answer's content, so that
    nobody can pick the flattering ones.
    """
    changed = (
        outcomes.frame
        .drop_nulls("accuracy")
        .group_by("arm", "question_id")
        .agg(pl.col("accuracy").n_unique().alias("levels"))
        .filter(pl.col("levels") > 1)["question_id"]
        .unique()
        .sort()
        .to_list()
    )
    if changed:
        shown = tuple(cast("list[str]", changed)[:limit])
        return CaseChoice(
            question_ids=shown,
            how=(
                f"Chosen by rule: of the {len(changed):,} questions whose correctness changed "
                f"between executions in at least one arm, the first {len(shown)} by id."
            ),
        )
    ids = cast("list[str]", outcomes.frame["question_id"].unique().sort().to_list())
    return CaseChoice(
        question_ids=tuple(ids[:limit]),
        how=(
            "Chosen by rule: no question changed its correctness between executions, so these are "
            f"the first {min(limit, len(ids))} of {len(ids):,} by id."
        ),
    )


def cases_of(
    choice: CaseChoice, plan: Plan, outcomes: Outcomes, trajectories: Iterable[Trajectory]
) -> tuple[Case, ...]:
    """Return the chosen questions with all their cells.

    Parameters
    ----------
    trajectories
        Of any questions; those of the chosen ones are kept.
    """
    wanted = set(choice.question_ids)
    found: dict[tuple[str, str, int], Trajectory] = {
        (item.question_id, item.arm, item.execution): item
        for item in trajectories
        if item.question_id in wanted
    }
    rows = outcomes.frame.filter(pl.col("question_id").is_in(choice.question_ids))
    scores = {
        (str(row["question_id"]), str(row["arm"]), int(row["execution"])): row
        for row in rows.iter_rows(named=True)
    }
    return tuple(
        _case(plan.planned(question_id).question, plan, scores, found)
        for question_id in choice.question_ids
    )


def _case(
    question: Question,
    plan: Plan,
    scores: Mapping[tuple[str, str, int], Mapping[str, object]],
    found: Mapping[tuple[str, str, int], Trajectory],
) -> Case:
    cells: list[ShownCell] = []
    chosen: dict[int, list[str]] = {}
    for arm in plan.arms:
        for execution in range(1, plan.executions + 1):
            key = (question.question_id, arm.name, execution)
            row = scores.get(key)
            if row is None:
                continue
            index = cast("int | None", row["answer_index"])
            if index is not None:
                chosen.setdefault(index, []).append(f"K{execution} {arm.name}")
            cells.append(_shown_cell(question, arm.name, execution, row, found.get(key)))
    options = tuple(
        ShownOption(
            label=label,
            text=harmless(text, _TEXT),
            is_true=index == question.answer_index,
            chosen_by=tuple(chosen.get(index, ())),
        )
        for index, (label, text) in enumerate(zip(question.labels, question.options, strict=True))
    )
    details = [f"video {question.video_id}"]
    if question.video_duration_s is not None:
        details.append(f"{seconds(question.video_duration_s)} long")
    details += [f"{name} {value}" for name, value in question.attributes.items()]
    return Case(
        question_id=question.question_id,
        text=harmless(question.text, _TEXT),
        truth=harmless(question.answer_text or "", _TEXT),
        details=harmless(", ".join(details), _TEXT),
        options=options,
        executions=plan.executions,
        cells=tuple(cells),
    )


def _shown_cell(
    question: Question,
    arm: str,
    execution: int,
    row: Mapping[str, object],
    trajectory: Trajectory | None,
) -> ShownCell:
    accuracy = cast("float | None", row["accuracy"])
    calls = () if trajectory is None else trajectory.tool_calls
    looked_at = () if trajectory is None else frames_of(trajectory)
    status = str(row["run_status"]).replace("_", " ")
    score = str(row["score_status"] or "")
    forced = ", forced by its budget" if row["forced"] else ""
    judged = "" if score in {"", "scored"} else f", {score.replace('_', ' ')}"
    return ShownCell(
        arm=arm,
        execution=execution,
        status=f"{status}{forced}{judged}",
        answer=_answer(question, row),
        has_answer=row["run_status"] == "answered",
        is_right=None if accuracy is None else accuracy == 1,
        latency=seconds(cast("float | None", row["latency_s"])),
        reasoning="" if trajectory is None else harmless(trajectory.reasoning, _REPLY),
        failure=harmless(str(row["failure"] or ""), _REPLY),
        notes=() if trajectory is None else _notes(trajectory),
        calls=tuple(_shown_call(call) for call in calls[:_CALLS]),
        n_calls=len(calls),
        frames=evenly(looked_at, _FRAMES),
        n_frames=len(looked_at),
    )


def _answer(question: Question, row: Mapping[str, object]) -> str:
    index = cast("int | None", row["answer_index"])
    if index is not None and 0 <= index < len(question.options):
        return harmless(f"{question.labels[index]}. {question.options[index]}", _ARGUMENT)
    if row["run_status"] == "answered" and not question.options:
        return harmless(str(row["answer_text"] or ""), _ARGUMENT)
    return "no answer"


def _notes(trajectory: Trajectory) -> tuple[str, ...]:
    return tuple(
        harmless(event.text, _ARGUMENT) for event in trajectory.events if event.kind == "note"
    )


def _shown_call(call: ToolCall) -> ShownCall:
    arguments = ", ".join(
        f"{harmless(name, 60)}={_value(value)}" for name, value in call.arguments.items()
    )
    return ShownCall(
        signature=f"{harmless(call.name, 60)}({arguments})",
        result=harmless(call.result, _REPLY),
        error=None if call.error is None else harmless(call.error, _ARGUMENT),
        frames=len(call.frames),
    )


def _value(value: object) -> str:
    if isinstance(value, str) and len(value) > _ARGUMENT:
        return f'"{harmless(value, _ARGUMENT)}"'
    return harmless(json.dumps(value, ensure_ascii=False, default=str), _ARGUMENT)


def frames_of(trajectory: Trajectory) -> tuple[LookedAt, ...]:
    """Return every frame that the cell's tools returned or its models were handed, in order of time.

    Times come from the tool's record or, for frames in a request, from the line
    `[frame at 12.00 s]` that precedes each; where the lines do not match the frames one to one, the
    time is not known. A frame that was seen twice counts once.
    """
    times: dict[str, float | None] = {}
    for event in trajectory.events:
        if event.kind == "tool":
            known = event.frame_times_s if len(event.frame_times_s) == len(event.frames) else None
            _note_times(times, event.frames, known)
        elif event.kind == "model":
            said = tuple(float(text) for text in _FRAME_TIME.findall(event.input_text))
            known = said if len(said) == len(event.media_sha256) else None
            _note_times(times, event.media_sha256, known)
    seen = [LookedAt(sha256=sha256, time_s=time_s) for sha256, time_s in times.items()]
    return tuple(sorted(seen, key=lambda item: (item.time_s is None, item.time_s or 0)))


def _note_times(
    times: dict[str, float | None], frames: Sequence[str], known: Sequence[float] | None
) -> None:
    for position, sha256 in enumerate(frames):
        time_s = None if known is None else known[position]
        if times.get(sha256) is None:
            times[sha256] = time_s


def evenly(frames: Sequence[LookedAt], limit: int) -> tuple[LookedAt, ...]:
    """Return at most `limit` of the frames, spread over all of them, both ends included."""
    if len(frames) <= limit:
        return tuple(frames)
    step = (len(frames) - 1) / (limit - 1)
    return tuple(frames[round(position * step)] for position in range(limit))
