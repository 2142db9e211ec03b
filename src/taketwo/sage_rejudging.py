"""Judging the answers of a finished SAGE run again: another judge, each distinct answer once.

The run's file is read and never touched; what comes out is a new file of scores, row by row. The judge
is shown the question as it was asked (options stand in its text), the true answer and the answer, and
nothing else of the row: traces and reference trajectories stay out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RequestError
from taketwo.executions.log_json import Json, number, part, plain_json, text
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.trajectory import ToolCall
from taketwo.media.store import write_atomically
from taketwo.outcomes.imports.sage_answers import SageAnswer, sage_answers
from taketwo.outcomes.imports.sources import open_source
from taketwo.rejudged_labels import rejudged_labels
from taketwo.scores.formats.run_folder_summary import OWN_KEY
from taketwo.scores.formats.sage_trace import trace_events
from taketwo.scores.grading import JudgeRequest
from taketwo.scores.judged_in_batches import Ask, JudgingFailure, Save
from taketwo.scores.judgements import Judgement, read_judgements, write_judgements

__all__ = ["SageRejudged", "rejudge_sage"]

_KEPT = ("time_taken", "wall_clock_seconds", "total_tokens_logged")
"""What some rows have beyond the keys of scores, and an audit reads."""


@dataclass(frozen=True, kw_only=True)
class SageRejudged:
    """What judging again did.

    Answers are counted once however many rows gave them: `judged` got a label now, `pooled` had one.
    Rows: `unanswered` have no prediction, or are cells of ours that gave up or came to a limit, and are
    wrong without a question to the judge, `failed_runs` ended in an error of the run, `ungradable` got
    that label, `failures` are the causes of those that the judge did not label, by their place in the run
    (`line 3`). `decided` rows have a verdict, `correct` of them are right.
    `compared` rows had a verdict before as well, `changed` of them have another one now.
    """

    output: Path
    rows: int
    judged: int
    pooled: int
    unanswered: int
    failed_runs: int
    ungradable: int
    failures: Mapping[str, str]
    decided: int
    correct: int
    compared: int
    changed: int

    @property
    def accuracy(self) -> float | None:
        """Return correct / decided, 0 to 1; None where nothing is decided."""
        return self.correct / self.decided if self.decided else None


def rejudge_sage(
    run: Path | str,
    judge: ModelSpec,
    *,
    output: Path | str,
    judgements: Path | str | None = None,
    connections: int = 4,
    retries: int = 3,
    timeout_s: int = 300,
    on_work: Callable[[str], None] | None = None,
) -> SageRejudged:
    """Judge the answers of a SAGE file again and write a new file of scores.

    A null or empty answer is wrong without a question to the judge, and so is a cell of ours that gave
    up or came to a limit, as in the study. What the judge does not label has `is_correct` null and an
    `error`; the next time it is asked again. Where another model begins to serve the judge's name, its
    labels are left out as such failures: those of two models are not one measure.

    Parameters
    ----------
    run
        The file of answers (JSON Lines) or of scores (a JSON list), gzip or not.
    judge
        The model that judges, at temperature 0.
    output
        The new file of scores, `*.json`; it must not be there yet.
    judgements
        The folder of pooled judgements, `judgements` beside the output by default. What is judged
        already, whatever run it stood in, is not judged again.
    on_work
        Told before the judge is asked: how many answers, and of whom.

    Raises
    ------
    RequestError
        If the output is there, is no `.json`, or cannot be written, or another process asks judges
        for the same judgements; before anything is spent.
    InvalidResults
        If rows are broken, all of them named; if pooled labels contradict each other; or if those
        under the judge's name are by different served models.
    """
    source, target = Path(run), Path(output)
    pool_folder = target.parent / "judgements" if judgements is None else Path(judgements)
    _require_apart(source, target, pool_folder)
    rows = sage_answers(open_source(source))
    wanted = {row.request.key(judge.name): row.request for row in rows if row.request is not None}
    limits = {"connections": connections, "retries": retries, "timeout_s": timeout_s}

    def tell(there: Mapping[str, Judgement]) -> None:
        if on_work is not None:
            lacking = len(wanted) - len(there)
            on_work(
                f"asking {judge.name} about {lacking} different answers, {len(there)} are judged already"
            )

    labels = rejudged_labels(
        wanted,
        judge.name,
        _asking(judge, limits),
        read=read_judgements,
        write=write_judgements,
        pool=pool_folder,
        output=target,
        connections=connections,
        on_asking=tell,
    )
    scored = [_scored(row, judge.name, labels.by_key, labels.failures) for row in rows]
    _write(target, scored)
    return _account(
        target, rows, scored, len(wanted), len(labels.asked), judge.name, labels.failures
    )


def _require_apart(source: Path, target: Path, pool: Path) -> None:
    run, out = source.resolve(), target.resolve()
    if out == run:
        raise RequestError(f"{target}: the run itself, which is never written to; name a new file")
    if run in out.parents:
        raise RequestError(f"{target}: inside the run's file {source}; name a file elsewhere")
    if target.exists() or target.is_symlink():
        raise RequestError(f"{target}: is there already; name a new file, or remove it first")
    if target.suffix != ".json":
        raise RequestError(f"{target}: scores are one JSON list; name a file that ends in .json")
    for path in (*target.parents, pool, *pool.parents):
        if path.exists() and not path.is_dir():
            raise RequestError(f"{path}: a file, where a folder is needed; name another place")


def _asking(judge: ModelSpec, limits: Mapping[str, int]) -> Ask[JudgeRequest, Judgement]:
    async def ask(
        batch: Sequence[JudgeRequest], save: Save[Judgement]
    ) -> tuple[Sequence[Judgement], Sequence[JudgingFailure]]:
        from taketwo.scores.answer_judge import judge_answers  # heavy: on call

        return await judge_answers(batch, judge, rescue=save, **limits)

    return ask


def _scored(
    row: SageAnswer, judge: str, labels: Mapping[str, Judgement], failures: Mapping[str, str]
) -> dict[str, JsonValue]:
    """Return a row of scores: SAGE's keys, then `error` and what else we know."""
    record, answer = row.record, row.record.get("answer")
    own: dict[str, JsonValue] = {}
    verdict, reason, error = None, None, row.failure
    if row.request is not None:
        key = row.request.key(judge)
        label = labels.get(key)
        own["judging"] = _judging(judge, key, label)
        if label is None:
            own["score_status"] = "judge_error"
            error = failures.get(key, "the judge gave no label")
        else:
            own["score_status"] = "ungradable" if label.label == "ungradable" else "scored"
            verdict = None if label.label == "ungradable" else label.label == "correct"
            reason = label.reason
    elif row.failure is None:
        own["score_status"], verdict = "scored", False
    else:
        own["score_status"] = "not_judged"
    if "is_correct" in record:
        own["is_correct_before"] = row.before
    is_given_up = isinstance(answer, str) and "could not produce an answer" in answer.casefold()
    shown = {
        name: record.get(name) for name in ("question", "answer", "correct_answer", "full_answer")
    }
    levels = {name: record.get(name) for name in ("ques_type", "difficulty", "modality")}
    seconds = number(record, "duration")
    found: dict[str, object] = {
        "index": row.index,
        **shown,
        "is_correct": verdict,
        "evaluation_reasoning": reason,
        "none_prediction": answer is None,
        "could_not_produce": is_given_up,
        "is_list_answer": isinstance(answer, list),
        **_calls(record),
        **levels,
        "duration": number(record, "duration_seconds") if seconds is None else seconds,
        "video_path": row.video,
        "num_attempts": record.get("num_attempts"),
        **{name: record[name] for name in _KEPT if name in record},
        "error": error,
        OWN_KEY: {**part(record, OWN_KEY), **own},
    }
    return {name: plain_json(value) for name, value in found.items()}


def _judging(judge: str, key: str, label: Judgement | None) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"judge": judge, "key": key}
    if label is not None:
        told |= {
            "served_model": label.served_model,
            "prompt_sha256": label.prompt_sha256,
            "created": label.created,
        }
    return told


def _calls(record: Json) -> dict[str, object]:
    """Return the tool calls: of the trace in either spelling, else as the row counts them, else null."""
    events = trace_events(part(record, "complete_results"))
    if events is None:
        return {name: record.get(name) for name in ("used_tool_calls", "tool_call_types")}
    counts = Counter(event.name for event in events if isinstance(event, ToolCall))
    return {"used_tool_calls": bool(counts), "tool_call_types": dict(counts)}


def _write(target: Path, rows: Sequence[Mapping[str, JsonValue]]) -> None:
    written = json.dumps(rows, ensure_ascii=False, allow_nan=False, indent=1)
    write_atomically(target, f"{written}\n".encode())


def _account(
    target: Path,
    rows: Sequence[SageAnswer],
    scored: Sequence[Mapping[str, JsonValue]],
    wanted: int,
    pending: int,
    judge: str,
    failures: Mapping[str, str],
) -> SageRejudged:
    verdicts = [row["is_correct"] for row in scored]
    both = [
        (row.before, verdict)
        for row, verdict in zip(rows, verdicts, strict=True)
        if row.before is not None and verdict is not None
    ]
    statuses = Counter(text(row[OWN_KEY], "score_status") for row in scored)
    return SageRejudged(
        output=target,
        rows=len(rows),
        judged=pending - len(failures),
        pooled=wanted - pending,
        unanswered=sum(row.request is None and row.failure is None for row in rows),
        failed_runs=sum(row.failure is not None for row in rows),
        ungradable=statuses["ungradable"],
        failures={
            row.place: failures[key]
            for row in rows
            if row.request is not None and (key := row.request.key(judge)) in failures
        },
        decided=sum(verdict is not None for verdict in verdicts),
        correct=sum(verdict is True for verdict in verdicts),
        compared=len(both),
        changed=sum(before != now for before, now in both),
    )
