"""Reading a run folder of AgentVidBench: what was answered, what the judge said, what broke.

    <framework>_<model>_<tag>/
      inference/   progress/ trajectories/ outputs/ (question<id>.* each)  summary.json
      evaluation/  letters/ judge/ results/ (question<id>.json each)  summary.json

Every question that any file of it names is an item with a status; a question that failed, is missing
or got an empty reply is never dropped. The letter is the one that the trajectory states; where it
states none, the majority of the stored votes; and without votes, what our own parser reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from taketwo.agents.answer import parse_answer
from taketwo.benchmarks.question import VisibleQuestion, option_labels
from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, items, number, part, text, whole
from taketwo.executions.trajectory import ModelCall, RunStatus, Trajectory
from taketwo.scores.run_folder_files import RunFiles, StoredProcess, stored_process
from taketwo.scores.run_folder_steps import answer_in, record_problems, trajectory_of
from taketwo.scores.run_folder_summary import OWN_KEY

__all__ = ["OWN_FILE", "AgentVidBenchRun", "LetterSource", "RunItem", "read_run"]

OWN_FILE = "taketwo.json"
"""Beside the two folders: which of our questions has which number, where we wrote the folder."""

LetterSource = Literal["trajectory", "letters", "text"]

_STATUSES: tuple[RunStatus, ...] = (
    "answered",
    "abstained",
    "unparsed",
    "limit",
    "agent_error",
    "provider_error",
    "media_error",
    "not_run",
)
_LETTERS = option_labels(26)
_EFFORT = ("turns", "visible_calls", "primitive_ops", "latency_s", "tokens", "cost_usd")


@dataclass(frozen=True, kw_only=True)
class RunItem:
    """One question of a run.

    `own_id` is our id of the question where we wrote the folder. `text` is the text that the judge
    was given, as it stands. `trajectory` is None where nothing was recorded. `letter` comes from
    `letter_source`; `stored_letter` and `gold` are what the evaluation wrote. `is_doubtful` marks a
    letter that all votes missed and that our parser reads in the text: an extraction that failed, not
    an answer that is wrong. `measures` are values on our metrics, as far as they were recorded.
    """

    question_id: int
    own_id: str | None
    run_status: RunStatus
    failure: str | None
    text: str | None
    trajectory: Trajectory | None
    normalized: Json | None
    letter: str | None
    letter_source: LetterSource | None
    is_doubtful: bool
    letters: Json | None
    gold: str | None
    stored_letter: str | None
    has_evaluation: bool
    stored_correct: bool | None
    process: StoredProcess | None
    judge_error: str | None
    video: str | None
    measures: Mapping[str, float]
    source: Path
    own: Json = field(default_factory=dict[str, object])

    @property
    def is_correct(self) -> bool | None:
        """Return whether the letter is the true one; None where there is no truth, or no way to say.

        An agent that gave up, or whose reply holds no answer, is wrong; one that failed is not. Where
        we wrote the folder, its own verdict stands, which for open questions no letter could give.
        """
        if self.own_id is not None:
            return self.stored_correct
        if self.run_status in {"abstained", "unparsed", "limit"}:
            return False if self.gold is not None else None
        if self.run_status != "answered" or self.is_doubtful or self.gold is None:
            return None
        return None if self.letter is None else self.letter == self.gold


@dataclass(frozen=True, kw_only=True)
class AgentVidBenchRun:
    """A run folder: one method with one model, by a tag. `total` is how many questions it was given."""

    path: Path
    method: str
    model: str
    tag: str
    total: int | None
    items: tuple[RunItem, ...]
    own: Json

    @property
    def requested(self) -> int:
        """Return the denominator: the questions that were asked for, whatever became of them."""
        return max(self.total or 0, len(self.items))

    @property
    def unrecorded(self) -> int:
        """Return how many of them left no file, so that not even their ids are known."""
        return self.requested - len(self.items)


def read_run(path: Path) -> AgentVidBenchRun:
    """Read a run folder.

    Raises
    ------
    InvalidResults
        If it is no run folder, or files in it are broken; every one is named with what is wrong.
    """
    if not (path / "inference").is_dir():
        raise InvalidResults(
            f"{path}: not a run folder of AgentVidBench (no folder 'inference' in it); name the folder "
            "that holds inference/ and evaluation/"
        )
    files = RunFiles(path)
    summary = files.json(path / "inference" / "summary.json") or {}
    own = files.json(path / OWN_FILE) or {}
    mapped = {
        number_: record
        for record in items(own, "questions")
        if (number_ := whole(record, "question_id")) is not None
    }
    listed = {
        number_: cast("Json", record)
        for record in items(summary, "results")
        if (number_ := whole(record, "question_id")) is not None
    }
    method, model, tag = _identity(path, summary, files)
    ids = sorted({*files.ids, *listed, *mapped})
    found = [
        _item(files, number_, listed.get(number_), cast("Json", mapped.get(number_, {})), method)
        for number_ in ids
    ]
    files.raise_if_any()
    if not found:
        raise InvalidResults(f"{path}: a run folder without a single question in it")
    return AgentVidBenchRun(
        path=path,
        method=method,
        model=model,
        tag=tag,
        total=whole(summary, "total"),
        items=tuple(item for item in found if item is not None),
        own=own,
    )


def _identity(path: Path, summary: Json, files: RunFiles) -> tuple[str, str, str]:
    """Return method, model and tag: by the summary, else by a normalized file, else by the folder."""
    method, model, tag = (text(summary, name) for name in ("experiment", "model", "tag"))
    first, _, rest = path.resolve().name.partition("_")
    middle, _, last = rest.rpartition("_")
    if method is None or model is None:
        record = files.first_normalized() or {}
        method = method or text(record, "method")
        model = model or text(record, "model")
    return method or first, model or middle or "unknown model", tag or last or "run"


def _item(
    files: RunFiles, number_: int, listed: Json | None, mapped: Json, method: str
) -> RunItem | None:
    """Return a question of the run; None where its files are broken, which `files` then tells."""
    before = files.count
    progress = files.record("inference/progress", number_) or listed
    normalized = files.record("inference/outputs", number_, ending=".normalized.json")
    written = files.text(number_)
    letters = files.record("evaluation/letters", number_, id_in="_meta")
    results = files.record("evaluation/results", number_)
    judged = files.record("evaluation/judge", number_)
    if normalized is not None:
        files.add(
            f"inference/outputs/question{number_}.normalized.json", record_problems(normalized)
        )
    scored = results if results is not None else judged
    kind = "results" if results is not None else "judge"
    process, faults = stored_process(part(scored, "process"))
    files.add(f"evaluation/{kind}/question{number_}.json", faults)
    if files.count > before:
        return None
    own: Json = {**mapped, **part(progress, OWN_KEY)}
    answer = None if normalized is None else answer_in(normalized)
    letter, source, doubtful = _letter(written, normalized is not None, answer, letters)
    status, failure = _status(
        progress, written, letter, own, gave_up=bool(answer and answer.gave_up)
    )
    cell = _trajectory(normalized, written, status, letter, number_, method, progress)
    accuracy = part(scored, "accuracy")
    correct = accuracy.get("correct")
    return RunItem(
        question_id=number_,
        own_id=text(own, "id"),
        run_status=status,
        failure=failure,
        text=written,
        trajectory=None if cell is None else replace(cell, forced=own.get("forced") is True),
        normalized=normalized,
        letter=letter if status == "answered" else None,
        letter_source=source if status == "answered" else None,
        is_doubtful=doubtful and status == "answered",
        letters=letters,
        gold=text(accuracy, "gold"),
        stored_letter=text(accuracy, "pred"),
        has_evaluation=scored is not None,
        stored_correct=correct if isinstance(correct, bool) else None,
        process=process,
        judge_error=text(judged, "error") or text(results, "error"),
        video=text(progress, "video_path"),
        measures=_measures(files, number_, progress, normalized, own, status),
        source=files.source_of(number_),
        own=own,
    )


def _letter(
    written: str | None, is_structured: bool, answer: object, letters: Json | None
) -> tuple[str | None, LetterSource | None, bool]:
    """Return the letter, where it is from, and whether all votes missed it."""
    structured = getattr(answer, "letter", None)
    if structured is not None:
        return str(structured), "trajectory", False
    if is_structured and answer is not None:
        return None, None, False
    majority = (text(letters, "majority_letter") or "").strip().upper()
    if majority in _LETTERS:
        return majority, "letters", False
    votes = items(letters, "votes")
    if votes and any(vote is not None for vote in votes):
        return None, None, False
    read = _read(written or "")
    return read, None if read is None else "text", bool(votes) and read is not None


def _read(written: str) -> str | None:
    """Return the letter that our own parser finds in a reply, without knowing the options' texts."""
    unknown = tuple(f"\0option {letter}" for letter in _LETTERS)
    asked = VisibleQuestion(question_id="q", text="?", options=unknown, video_duration_s=None)
    index = parse_answer(written, asked).option_index
    return None if index is None else _LETTERS[index]


def _status(
    progress: Json | None, written: str | None, letter: str | None, own: Json, *, gave_up: bool
) -> tuple[RunStatus, str | None]:
    error = text(progress, "error")
    told: RunStatus | None = next(
        (name for name in _STATUSES if name == text(own, "run_status")), None
    )
    if told is not None:
        return told, error or text(own, "failure")
    if error is not None:
        return "agent_error", error
    if written is None:
        return "not_run", "no trajectory was recorded"
    if gave_up:
        return "limit", "the agent ended without an answer and the run wrote the letter A"
    if not written.strip():
        return "unparsed", "the reply is empty"
    return ("answered", None) if letter is not None else ("unparsed", "no letter in the reply")


def _trajectory(
    normalized: Json | None,
    written: str | None,
    status: RunStatus,
    letter: str | None,
    number_: int,
    method: str,
    progress: Json | None,
) -> Trajectory | None:
    if normalized is not None:
        return trajectory_of(normalized, arm=method, question_id=str(number_), run_status=status)
    if written is None:
        return None
    index = _LETTERS.index(letter) if status == "answered" and letter in _LETTERS else None
    said = ModelCall(role="orchestrator", model="unknown", text=written)
    return Trajectory(
        arm=method,
        question_id=str(number_),
        execution=1,
        run_status=status,
        answer_index=index,
        answer_text=written,
        latency_s=number(progress, "elapsed_seconds"),
        events=(said,) if written.strip() else (),
    )


def _measures(
    files: RunFiles,
    number_: int,
    progress: Json | None,
    normalized: Json | None,
    own: Json,
    status: RunStatus,
) -> dict[str, float]:
    """Return what the run recorded of a question's effort, by our names of the metrics."""
    if status in {"agent_error", "provider_error", "media_error", "not_run"}:
        return {}
    steps = [text(step, "phase") for step in items(normalized, "steps")]
    used = part(progress, "tokens") or part(normalized, "tokens")
    spent = number(used, "total_tokens")
    was_tracked = bool(number(used, "calls")) or bool(spent)
    elapsed = number(normalized, "elapsed_seconds")
    elapsed = number(progress, "elapsed_seconds") if elapsed is None else elapsed
    waited = number(used, "retry_wait_seconds") or 0.0
    is_single = normalized is None and not files.has_outputs(number_)
    turns = files.turns(number_)
    found = {
        "turns": 1.0 if is_single else turns,
        "visible_calls": 0.0 if is_single else _if(normalized, steps.count("tool_call")),
        "latency_s": None if elapsed is None else max(0.0, elapsed - waited),
        "tokens": spent if was_tracked else None,
    }
    ours = {name: number(own, name) for name in _EFFORT if name in own}
    return {name: value for name, value in {**found, **ours}.items() if value is not None}


def _if(present: object, value: float) -> float | None:
    return None if present is None else float(value)
