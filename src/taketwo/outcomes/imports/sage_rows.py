"""SAGE: `<run>.jsonl` with answers and traces, `<run>.json` with scores; either spelling of the trace.

The order of rows differs between files and rows are missing without a word, so questions are joined by
video and question. A question that another file has and this one lacks is named and has no row,
so that it counts as not run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from taketwo.benchmarks.sage_bench import duration_bucket
from taketwo.errors import InvalidQuestion, InvalidResults
from taketwo.executions.log_json import Json, number, part, plain_json, text
from taketwo.executions.trajectory import ModelCall, ToolCall
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, numbered_runs, once_each
from taketwo.outcomes.imports.sage_lines import sage_lines
from taketwo.outcomes.imports.sources import Line, Parsed, Source, as_record
from taketwo.scores.formats.recorded_numbers import amount_problems
from taketwo.scores.formats.run_folder_summary import OWN_KEY
from taketwo.scores.formats.sage_trace import ending_of, join_id, trace_events

__all__ = ["KIND", "is_sage_inference", "is_sage_scores", "read_sage"]

KIND = "SAGE rows"

_STEM = re.compile(
    r"(?P<system>.+?)(?:_(?P<run>(?:K|run)\d+))?_(?P<task>sage_bench|minerva_bench)_results"
)
_LEVELS = ("ques_type", "difficulty", "modality")
_SECONDS = ("time_taken", "wall_clock_seconds")
_AMOUNTS = (
    *_SECONDS,
    "num_attempts",
    "total_tokens_logged",
    "duration",
    "duration_seconds",
    "num_iterative_reasoner_calls",
    "num_search_calls",
)
_FAILED = ("agent_error", "provider_error", "media_error", "not_run")
_OWN = ("turns", "visible_calls", "primitive_ops", "latency_s", "tokens", "cost_usd")


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A run: its file of scores, its file of answers, or both, row by question."""

    file: RunFile
    scores: Mapping[str, Line]
    answers: Mapping[str, Line]

    @property
    def questions(self) -> dict[str, None]:
        return dict.fromkeys([*self.scores, *self.answers])


def is_sage_scores(record: object) -> bool:
    """Return whether a JSON object is a row of SAGE's scores."""
    return set(as_record(record)) >= {"question", "answer", "full_answer", "is_correct"}


def is_sage_inference(record: object) -> bool:
    """Return whether a JSON object is a row of SAGE's answers."""
    return set(as_record(record)) >= {"path", "question", "answer", "full_answer"}


def read_sage(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of runs; the system is the file's name, an execution its `K<n>` or its folder.

    Raises
    ------
    InvalidResults
        If rows cannot be used, all of them named.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    faults: list[str] = []
    runs = _runs(sources, rows, faults)
    if faults:
        more = [f"and {len(faults) - 50} more"] if len(faults) > 50 else []
        raise InvalidResults("\n".join([*faults[:50], *more]))
    kept = once_each((run.file for run in runs), rows)
    runs = [run for run in runs if run.file in kept]
    numbers = {file.source.path: name for file, name in numbered_runs(run.file for run in runs)}
    tasks = {run.file.task for run in runs}
    every: dict[tuple[str, str], None] = {}
    for run in runs:
        every.update(dict.fromkeys((run.file.task, name) for name in run.questions))
    for run in runs:
        prefix = f"{run.file.task}/" if len(tasks) > 1 else ""
        execution = numbers[run.file.source.path]
        for name in run.questions:
            _add(rows, run, name, execution, prefix)
        _tell_missing(rows, run, [name for task, name in every if task == run.file.task])
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each file is a run of one system by itself",
        default_cluster="the video of the question",
    )


def _runs(sources: Sequence[Source], rows: RowList, faults: list[str]) -> list[_Run]:
    """Return the runs: a file of scores and the file of answers of the same name are one."""
    pairs: dict[Path, dict[str, Source]] = {}
    for source in sorted(sources, key=lambda source: str(source.path)):
        kind = "answers" if source.path.name.lower().endswith((".jsonl", ".jsonl.gz")) else "scores"
        pairs.setdefault(source.path.parent / _stem(source.path), {})[kind] = source
    runs: list[_Run] = []
    for base, pair in pairs.items():
        source = pair.get("scores") or pair["answers"]
        match = _STEM.fullmatch(base.name)
        runs.append(
            _Run(
                file=RunFile(
                    source=source,
                    system=match["system"] if match else base.name,
                    task=match["task"] if match else "sage_bench",
                    run=(match["run"] if match else None) or str(base.parent.resolve()),
                ),
                scores=_by_question(pair.get("scores"), rows, faults),
                answers=_by_question(pair.get("answers"), rows, faults),
            )
        )
    return runs


def _stem(path: Path) -> str:
    return re.sub(r"\.jsonl?(\.gz)?$", "", path.name)


def _by_question(source: Source | None, rows: RowList, faults: list[str]) -> dict[str, Line]:
    """Return the rows of a file by question; one that repeats another is left out and told."""
    found: dict[str, Line] = {}
    for line in sage_lines(source, faults) if source is not None else ():
        where = f"{source.path if source is not None else ''}, {line.place}"
        asked = text(line.record, "question")
        path = text(line.record, "video_path") or text(line.record, "path")
        lacking = [
            f"field {name!r} is {line.record.get(written)!r:.40}, expected a text"
            for name, written, value in (("question", "question", asked), ("video_path", "video_path", path))
            if not value
        ]  # fmt: skip
        correct = line.record.get("is_correct")
        if correct is not None and not isinstance(correct, bool):
            lacking.append(f"field 'is_correct' is {correct!r:.40}, expected true, false or null")
        lacking += _amounts(line.record)
        if lacking or asked is None or path is None:
            faults.append(f"{where}: {'; '.join(lacking)}")
            continue
        try:
            name = text(part(line.record, OWN_KEY), "question_id") or join_id(path, asked)
        except InvalidQuestion as error:
            faults.append(f"{where}: {error}")
            continue
        earlier = found.setdefault(name, line)
        if earlier is line:
            continue
        if _content(earlier.record) == _content(line.record):
            what, why = "rows that repeat another one", "a question that stands twice is one row"
            rows.aside(what, why, f"{where} repeats {earlier.place}")
            continue
        faults.append(
            f"{where}: asks the same of the same video as {earlier.place} and says something else; "
            "remove one of the two"
        )
    return found


def _content(record: Json) -> str:
    """Return what a row says, its number in the file apart."""
    said = {name: value for name, value in record.items() if name != "index"}
    return json.dumps(plain_json(said), sort_keys=True)


def _amounts(record: Json) -> list[str]:
    """Return what is wrong with the times and counts of a row."""
    types, own = part(record, "tool_call_types"), part(record, OWN_KEY)
    return [
        *amount_problems(record, _AMOUNTS),
        *amount_problems(types, types, place="tool_call_types."),
        *amount_problems(own, _OWN, place=f"{OWN_KEY}."),
    ]


def _add(rows: RowList, run: _Run, name: str, execution: str, prefix: str) -> None:
    scored, answered = run.scores.get(name), run.answers.get(name)
    line = scored or answered
    if line is None:
        return
    answer_record: Json = {} if answered is None else answered.record
    video = text(line.record, "video_path") or text(line.record, "path") or ""
    cluster = PurePosixPath(video.replace("\\", "/")).stem

    def add(metric: str | None, value: object, status: Status, detail: str | None = None) -> None:
        rows.add(
            system=run.file.system,
            execution=execution,
            question_id=f"{prefix}{name}",
            metric=metric,
            value=value,
            status=status,
            cluster=cluster,
            attributes=_attributes(line.record),
            detail=detail,
            source=run.file.source.path,
            place=line.place,
        )

    status, detail = _status(line.record, is_scored=scored is not None)
    if status in _FAILED:
        add(None, None, status, detail)
        return
    add("accuracy", _accuracy(line.record, status), status, detail)
    for metric, value in _measures(rows, run, line, answer_record).items():
        add(metric, value, "scored")


def _accuracy(record: Json, status: Status) -> object:
    """Return whether a row is right; what was given up is wrong, a reply that nobody read as it was scored."""
    correct = record.get("is_correct")
    if status == "unparsed" and isinstance(correct, bool):
        return correct
    if status in {"abstained", "limit", "unparsed"}:
        return 0.0
    return correct if status == "scored" else None


def _status(record: Json, *, is_scored: bool) -> tuple[Status, str | None]:
    own = part(record, OWN_KEY)
    correct = record.get("is_correct")
    ending, detail = ending_of(record.get("answer"), own, is_correct=correct if is_scored else None)
    is_left_open = ending == "unparsed" and is_scored and correct is None
    if ending != "answered" and not is_left_open:
        return ending, detail
    if not is_scored or correct is None:
        told = text(own, "score_status")
        if told in {"ungradable", "judge_error"}:
            return ("ungradable" if told == "ungradable" else "judge_error"), None
        return "not_judged", None
    if correct is False and record.get("evaluation_reasoning", "") is None:
        # The evaluator writes the text of a failed request off as wrong, without a rationale.
        return "judge_error", "is_correct is false, but the judge gave no reasoning"
    return "scored", None


def _measures(rows: RowList, run: _Run, line: Line, answer: Json) -> dict[str, float]:
    own = part(line.record, OWN_KEY)
    events = trace_events(part(answer, "complete_results"))
    counted = _counted(line.record)
    calls: float | None = counted
    turns: float | None = None
    if events is not None:
        calls = float(sum(isinstance(event, ToolCall) for event in events))
        turns = float(sum(isinstance(event, ModelCall) for event in events))
        if counted is not None and counted != calls:
            rows.aside(
                "counts of tool calls in files of scores",
                "the trace beside them says otherwise (the released evaluator does not know older traces)",
                f"{run.file.source.path}, {line.place}: {counted:g} in the row, {calls:g} in the trace",
            )
    seconds = [number(line.record, name) for name in _SECONDS]
    seconds += [number(answer, name) for name in _SECONDS]
    found = {
        "turns": turns,
        "visible_calls": calls,
        "latency_s": next((value for value in seconds if value is not None), None),
        "tokens": number(answer, "total_tokens_logged"),
        "num_attempts": number(line.record, "num_attempts"),
    }
    ours = {name: number(own, name) for name in _OWN if name in own}
    return {name: value for name, value in {**found, **ours}.items() if value is not None}


def _counted(record: Json) -> float | None:
    """Return the tool calls that a row counts, without the pseudo-tool that stands for none."""
    if not isinstance(record.get("tool_call_types"), dict):
        return None
    types = part(record, "tool_call_types")
    return float(sum(number(types, name) or 0 for name in types if name != "None"))


def _attributes(record: Json) -> dict[str, object]:
    found: dict[str, object] = {name: text(record, name) for name in _LEVELS}
    seconds = number(record, "duration") or number(record, "duration_seconds")
    if seconds is not None:
        found["duration"] = duration_bucket(seconds)
    return found


def _tell_missing(rows: RowList, run: _Run, every: Sequence[str]) -> None:
    """Name the questions that other files have and this one lacks; without a row they are not run."""
    absent = [name for name in every if name not in run.questions]
    if absent:
        listed = ", ".join(absent[:20])
        more = f" and {len(absent) - 20} more" if len(absent) > 20 else ""
        rows.note(
            f"{run.file.source.path}: {len(absent)} of {len(every)} questions have no row: {listed}{more}"
        )
