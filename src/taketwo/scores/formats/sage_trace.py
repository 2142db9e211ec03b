"""SAGE's rows: inference (JSON Lines) and scores (JSON), and the trace in them, from and to our records.

Traces come in two spellings: `iterative_reasoner` with `num_iterative_reasoner_calls`, and the older
`search_llm` with `num_search_calls`. The pseudo-tool `None` is no call. `reasoning_steps` is a reference
trajectory that nearly tells the answer; it is truth and never part of what an agent did.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question, safe_question_id
from taketwo.executions.log_json import Json, arguments, items, part, plain_json, text, whole
from taketwo.executions.trajectory import Event, ModelCall, Note, RunStatus, ToolCall, Trajectory
from taketwo.scores.answer_words import option_text
from taketwo.scores.formats.run_folder_summary import OWN_KEY

__all__ = [
    "SageCell",
    "ending_of",
    "inference_row",
    "join_id",
    "sage_trajectory",
    "score_row",
    "trace_events",
]

_REASONERS = ("iterative_reasoner", "search_llm")
_NO_TOOL = "None"
_NUMBERED = re.compile(r"_#\w+$")
_FAILED_CALL = "Error executing "
_BLOCKED = "invalid_tool_request_blocked"
_NO_ANSWER = "could not produce an answer"
_GAVE_UP = re.compile(
    r"[\s*_`\"']*could not produce (?:an|a supported) answer"
    r"(?=\s*(?:[.:;!\n*_`\"']|\Z)|\s+after\s+(?:\d+\s|requesting unavailable tool))"
    r"(?:\s+after\s+\d+\s+(?P<attempts>attempts?\b))?",
    re.IGNORECASE,
)
_STATUSES: tuple[RunStatus, ...] = (
    "answered", "abstained", "unparsed", "limit", "agent_error", "provider_error", "media_error",
    "not_run",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SageCell:
    """A cell of ours as it is written.

    `option_index` is the option that its score rests on, which a model may have read out of the reply.
    `shows_letter` gives the true letter, as rows of MINERVA do.
    """

    question: Question
    trajectory: Trajectory
    is_correct: bool | None
    score_status: str
    option_index: int | None
    shows_letter: bool
    measures: Mapping[str, float | None]


def join_id(video: str, question: str) -> str:
    """Return the id of a question: the same for every file that holds it, wherever its videos lay.

    It is that of `sage_bench`: the name of the video and a hash of it and the question, white space
    made one.
    """
    stem = PurePosixPath(video.replace("\\", "/")).stem or "video"
    normalised = " ".join(unicodedata.normalize("NFC", question).split())
    digest = hashlib.sha256(f"{stem}\0{normalised}".encode("utf-8", "surrogatepass")).hexdigest()
    return safe_question_id(f"{stem}-{digest[:8]}")


def ending_of(
    answer: object, own: Json, *, is_correct: object = None
) -> tuple[RunStatus, str | None]:
    """Return how a row's question ended, by its answer and by what we wrote beside it ourselves.

    An answer that is null was given up. The text that the run puts where the turns ran out, or where it
    asked for tools that are not there, is a limit, the one for attempts that all broke is an error:
    neither is an answer that is wrong. It is told by its beginning, a sentence of its own; SAGE's
    evaluator looks for the words anywhere, so that an answer which uses them loses there. Where the
    judge of the file found the answer right (`is_correct` true), it is an answer whatever it says.
    """
    told: RunStatus | None = next(
        (name for name in _STATUSES if name == text(own, "run_status")), None
    )
    if told is not None:
        return told, text(own, "failure")
    said = "" if answer is None else str(answer).strip()
    if not said:
        return "abstained", "the answer is null or empty"
    found = _GAVE_UP.match(said)
    if found is None or is_correct is True:
        return "answered", None
    return ("limit" if found["attempts"] is None else "agent_error"), said


def trace_events(results: Json) -> tuple[Event, ...] | None:
    """Return a trace as events, in order; None where there is none."""
    reasoner = next((name for name in _REASONERS if name in results), None)
    context = items(results, "context_vlm")
    if reasoner is None and not context:
        return None
    events: list[Event] = [
        ModelCall(role="orchestrator", model="unknown", text=_shown(_reply_of(item)))
        for item in context
    ]
    for number, step in enumerate(items(results, reasoner or ""), start=1):
        for key, call in part(step, "tool_calls").items():
            events.append(_call(key, call, f"step-{number}-{key}"))
        reply = _reply_of(step)
        if reply is not None:
            events.append(ModelCall(role="orchestrator", model="unknown", text=_shown(reply)))
    return tuple(events)


def _reply_of(step: object) -> object:
    """Return what the model said in a step, under whichever name its version used."""
    if not isinstance(step, Mapping):
        return None
    record = cast("Json", step)
    names = ("vlm_response", *(f"{name}_results" for name in _REASONERS))
    return next((record[name] for name in names if record.get(name) not in (None, {}, "")), None)


def _call(key: str, call: object, call_id: str) -> Event:
    name = _NUMBERED.sub("", key)
    result = _shown(cast("Json", call).get("result")) if isinstance(call, Mapping) else _shown(call)
    if name == _NO_TOOL:
        return Note(text=f"no tool was called: {result}")
    error: str | None = None
    if name == _BLOCKED:
        error = "no such tool"
    elif result.startswith(_FAILED_CALL):
        error = result[:300]
    elif isinstance(call, Mapping) and cast("Json", call).get("args_validity") is False:
        error = "the arguments were not valid"
    given = cast("Json", call).get("arguments") if isinstance(call, Mapping) else None
    return ToolCall(
        call_id=call_id,
        name=name,
        arguments=arguments(plain_json(given)),
        result=result,
        error=error,
    )


def _shown(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(plain_json(value), ensure_ascii=False)


def sage_trajectory(record: Json, *, arm: str, execution: int = 1) -> Trajectory:
    """Return the trajectory that an inference row tells of."""
    own = part(record, OWN_KEY)
    status, failure = ending_of(record.get("answer"), own, is_correct=record.get("is_correct"))
    events = trace_events(part(record, "complete_results")) or ()
    written = text(record, "path") or text(record, "video_path") or ""
    return Trajectory(
        arm=arm,
        question_id=text(own, "question_id") or join_id(written, text(record, "question") or ""),
        execution=execution,
        run_status=status,
        answer_index=whole(own, "option_index"),
        answer_text=text(own, "reply") or _shown(record.get("answer")),
        reasoning=failure or "",
        attempts=whole(record, "num_attempts") or 0,
        events=events,
    )


def inference_row(cell: SageCell) -> dict[str, JsonValue]:
    """Return a cell as a line of SAGE's inference file."""
    question = cell.question
    path = _path(question)
    asked = _asked(question)
    identity = f"{asked}|{path}".encode("utf-8", "surrogatepass")
    return {
        "path": path,
        "question": asked,
        "answer": _answer(cell),
        "correct_answer": _letter(cell),
        "id": hashlib.md5(identity, usedforsecurity=False).hexdigest(),
        "full_answer": _truth(question),
        **_levels(question),
        "num_attempts": cell.trajectory.attempts or None,
        "complete_results": _trace(cell.trajectory.events),
        OWN_KEY: _own(cell),
    }


def score_row(cell: SageCell, *, index: int) -> dict[str, JsonValue]:
    """Return a cell as an entry of SAGE's file of scores."""
    question, answer = cell.question, _answer(cell)
    counts: dict[str, int] = {}
    for call in cell.trajectory.tool_calls:
        counts[call.name] = counts.get(call.name, 0) + 1
    return {
        "index": index,
        "question": _asked(question),
        "answer": answer,
        "correct_answer": _letter(cell),
        "full_answer": _truth(question),
        "is_correct": cell.is_correct,
        "evaluation_reasoning": None if cell.is_correct is None else "scored by taketwo",
        "none_prediction": answer is None,
        "could_not_produce": answer is not None and _NO_ANSWER in answer.casefold(),
        "is_list_answer": False,
        "used_tool_calls": bool(counts),
        "tool_call_types": dict(counts),
        **_levels(question),
        "duration": question.video_duration_s,
        "video_path": _path(question),
        "num_attempts": cell.trajectory.attempts or None,
        "time_taken": cell.measures.get("latency_s"),
        OWN_KEY: _own(cell),
    }


def _path(question: Question) -> str:
    return f"videos/{question.video_id}{Path(question.video_path).suffix or '.mp4'}"


def _asked(question: Question) -> str:
    if not question.options:
        return question.text
    listed = [
        f"({label}) {' '.join(option.split())}"
        for label, option in zip(question.labels, question.options, strict=True)
    ]
    return "\n".join([question.text, "Answer from the following options:", *listed])


def _answer(cell: SageCell) -> str | None:
    """Return the answer that is judged: of a choice its option, not the reply that argues for it."""
    if not _has_reply(cell.trajectory):
        return None
    if cell.question.options and cell.option_index is not None:
        return option_text(cell.question, cell.option_index)
    return cell.trajectory.answer_text or None


def _has_reply(trajectory: Trajectory) -> bool:
    return trajectory.run_status in {"answered", "unparsed", "limit"}


def _truth(question: Question) -> str | None:
    index = question.answer_index
    return question.answer_text if index is None else question.options[index]


def _letter(cell: SageCell) -> str | None:
    index = cell.question.answer_index
    return cell.question.labels[index] if cell.shows_letter and index is not None else None


def _levels(question: Question) -> dict[str, JsonValue]:
    kind = question.attributes.get("question_type") or ("mcq" if question.options else "open_ended")
    return {
        "ques_type": kind,
        "difficulty": question.attributes.get("difficulty"),
        "modality": question.attributes.get("modality"),
    }


def _own(cell: SageCell) -> dict[str, JsonValue]:
    failure = cell.trajectory.failure
    accepted = list(cell.question.accepted_answers)
    reply = cell.trajectory.answer_text if _has_reply(cell.trajectory) else ""
    return {
        "question_id": cell.question.question_id,
        **({"accepted_answers": cast("JsonValue", accepted)} if accepted else {}),
        "arm": cell.trajectory.arm,
        "execution": cell.trajectory.execution,
        "run_status": cell.trajectory.run_status,
        "score_status": cell.score_status,
        "failure": None if failure is None else f"{failure.cause}: {failure.message}",
        "option_index": cell.option_index,
        **({"reply": reply} if reply and reply != _answer(cell) else {}),
        **cell.measures,
    }


def _trace(events: Sequence[Event]) -> dict[str, JsonValue]:
    """Return events as a trace: the first generation is the context, calls stand with the next one."""
    context: list[JsonValue] = []
    steps: list[JsonValue] = []
    waiting: dict[str, JsonValue] = {}
    counts: dict[str, int] = {}
    for event in events:
        if isinstance(event, ToolCall):
            counts[event.name] = counts.get(event.name, 0) + 1
            waiting[f"{event.name}_#{counts[event.name]}"] = {
                "result": event.result or f"{_FAILED_CALL}{event.name}: {event.error}"
                if event.error is not None
                else event.result,
                "arguments": dict(event.arguments),
                "rationale": None,
                "args_validity": event.error is None,
            }
        elif isinstance(event, ModelCall) and event.role == "orchestrator" and event.error is None:
            if not context:
                context.append({
                    "vlm_response": event.text,
                    "completion_ids": None,
                    "prompt_ids": None,
                    "attention_mask": None,
                })
                continue
            steps.append({"tool_calls": waiting, "iterative_reasoner_results": event.text})
            waiting = {}
    if waiting:
        steps.append({"tool_calls": waiting, "iterative_reasoner_results": {}})
    return {
        "context_vlm": context,
        "iterative_reasoner": steps,
        "num_iterative_reasoner_calls": len(steps),
        "args_validity": True,
    }
