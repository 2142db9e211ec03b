"""Reading a run folder of AgentVidBench: what was answered, what the judge said, what broke.

    <framework>_<model>_<tag>/
      inference/   progress/ trajectories/ outputs/ (question<id>.* each)  summary.json
      evaluation/  letters/ judge/ results/ (question<id>.json each)  summary.json

Every question that any file of it names is an item with a status; a question that failed, is missing
or got an empty reply is never dropped. The letter is the one that the trajectory states; where it
states none, the majority of the stored votes; and without votes, what our own parser reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, items, part, text, whole
from taketwo.executions.trajectory import RunStatus, Trajectory
from taketwo.scores.formats.recorded_numbers import amount_problems
from taketwo.scores.formats.run_folder_answers import LetterSource, ending_of, error_in, letter_of
from taketwo.scores.formats.run_folder_cell import trajectory_in
from taketwo.scores.formats.run_folder_files import RunFiles
from taketwo.scores.formats.run_folder_measures import amounts_in, measures_of
from taketwo.scores.formats.run_folder_process import ReadProcess, StoredProcess, stored_process
from taketwo.scores.formats.run_folder_steps import canonical_text, record_in
from taketwo.scores.formats.run_folder_summary import OWN_KEY
from taketwo.scores.formats.run_folder_trajectory import answer_in, record_problems

__all__ = ["OWN_FILE", "AgentVidBenchRun", "RunItem", "read_run"]

OWN_FILE = "taketwo.json"
"""Beside the two folders: which of our questions has which number, where we wrote the folder."""


@dataclass(frozen=True, kw_only=True)
class RunItem:
    """One question of a run.

    `own_id` is our id of the question where we wrote the folder. `text` is the text that the judge
    was given, as it stands; where no such file is left, what the steps give or the reply that was noted.
    `normalized` are the steps, of their own file or as the text shows them. `trajectory` is None where
    nothing was recorded. `letter` comes from `letter_source`; `stored_letter` and `gold` are what the evaluation wrote. `is_doubtful` marks a
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
    """A run folder: one method with one model, by a tag.

    `total` is how many questions it was given. `unused` are the files that no question was read from.
    """

    path: Path
    method: str
    model: str
    tag: str
    total: int | None
    items: tuple[RunItem, ...]
    own: Json
    unused: tuple[str, ...] = ()

    @property
    def requested(self) -> int:
        """Return the denominator: the questions that were asked for, whatever became of them."""
        return max(self.total or 0, len(self.items))

    @property
    def unrecorded(self) -> int:
        """Return how many of them left no file, so that not even their ids are known."""
        return self.requested - len(self.items)


def read_run(
    path: Path,
    options: Mapping[int, Sequence[str]] | None = None,
    *,
    with_scores: bool = True,
) -> AgentVidBenchRun:
    """Read a run folder.

    Parameters
    ----------
    options
        The texts of each question's options by its number, so that a reply which repeats the text of
        one is read too; without them only labels are.
    with_scores
        Whether to read what a judge said of the trajectories. Without it no item has a `process`, and
        scores that break the schema are no fault: to judge again they are not needed.

    Raises
    ------
    InvalidResults
        If it is no run folder, or files in it are broken or lead out of it; every one is named with what
        is wrong.
    """
    if not (path / "inference").is_dir():
        raise InvalidResults(
            f"{path}: not a run folder of AgentVidBench (no folder 'inference' in it); name the folder "
            "that holds inference/ and evaluation/"
        )
    files = RunFiles(path)
    files.check_links()
    summary = files.json(path / "inference" / "summary.json") or {}
    own = files.json(path / OWN_FILE) or {}
    mapped = {
        number_: cast("Json", record)
        for record in items(own, "questions")
        if (number_ := whole(record, "question_id")) is not None
    }
    listed = _listed(files, summary)
    method, model, tag = _identity(path, summary, files)
    found = [
        _item(
            files,
            number_,
            listed.get(number_),
            mapped.get(number_, {}),
            method,
            None if options is None else options.get(number_),
            with_scores=with_scores,
        )
        for number_ in sorted({*files.ids, *listed, *mapped})
    ]
    files.raise_if_any()
    if not found:
        other = f"; not used: {', '.join(files.unused[:5])}" if files.unused else ""
        raise InvalidResults(f"{path}: a run folder without a single question in it{other}")
    return AgentVidBenchRun(
        path=path,
        method=method,
        model=model,
        tag=tag,
        total=whole(summary, "total"),
        items=tuple(item for item in found if item is not None),
        own=own,
        unused=files.unused,
    )


def _listed(files: RunFiles, summary: Json) -> dict[int, Json]:
    """Return the records of the summary by question, the id under its name or the older one.

    Two that differ are a fault unless the question has a file of its own, which goes before both.
    """
    listed: dict[int, Json] = {}
    faults = amount_problems(summary, ("total", "errored"))
    for place, record in enumerate(items(summary, "results")):
        where = f"results.{place}."
        known: Json = cast("Json", record) if isinstance(record, Mapping) else {}
        name = "question_id" if "question_id" in known else "qid"
        number_ = whole(known, name)
        if number_ is None or number_ < 0:
            expected = "expected the question's number"
            faults.append(f"field '{where}question_id' is {known.get(name)!r:.40}, {expected}")
            continue
        faults += amounts_in(known, where)
        if listed.setdefault(number_, known) != known and not files.has_progress(number_):
            faults.append(
                f"field 'results.{place}' is about question {number_}, as an earlier one that differs; "
                "remove the wrong one"
            )
    files.add("inference/summary.json", faults)
    return listed


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
    files: RunFiles,
    number_: int,
    listed: Json | None,
    mapped: Json,
    method: str,
    options: Sequence[str] | None,
    *,
    with_scores: bool,
) -> RunItem | None:
    """Return a question of the run; None where its files are broken, which `files` then tells."""
    before = files.count
    recorded = files.record("inference/progress", number_)
    files.add(f"inference/progress/question{number_}.json", amounts_in(recorded or {}))
    progress = recorded or listed
    normalized, written = _steps(files, number_, progress)
    letters = files.record("evaluation/letters", number_, id_in="_meta")
    results = files.record("evaluation/results", number_)
    judged = files.record("evaluation/judge", number_)
    scored = results if results is not None else judged
    kind = "results" if results is not None else "judge"
    read = stored_process(part(scored, "process")) if with_scores else ReadProcess()
    files.add(f"evaluation/{kind}/question{number_}.json", read.faults)
    if files.count > before:
        return None
    own: Json = {**mapped, **part(progress, OWN_KEY)}
    answer = None if normalized is None else answer_in(normalized)
    found = letter_of(written, answer, letters, options)
    status, failure = ending_of(
        error=error_in(progress),
        written=written,
        letter=found.letter,
        own=own,
        gave_up=answer is not None and answer.gave_up,
    )
    is_answered = status == "answered"
    cell = trajectory_in(
        normalized,
        written,
        status,
        found.letter,
        question_id=number_,
        method=method,
        progress=progress,
        own=own,
    )
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
        letter=found.letter if is_answered else None,
        letter_source=found.source if is_answered else None,
        is_doubtful=found.is_doubtful and is_answered,
        letters=letters,
        gold=text(accuracy, "gold"),
        stored_letter=text(accuracy, "pred"),
        has_evaluation=scored is not None,
        stored_correct=correct if isinstance(correct, bool) else None,
        process=read.process,
        judge_error=error_in(judged) or error_in(results) or read.lack,
        video=text(progress, "video_path"),
        measures=measures_of(files, number_, progress, normalized, own, status),
        source=files.source_of(number_),
        own=own,
    )


def _steps(files: RunFiles, number_: int, progress: Json | None) -> tuple[Json | None, str | None]:
    """Return the steps of a question and its text, each from the other where only one is left."""
    normalized = files.record("inference/outputs", number_, ending=".normalized.json")
    written = files.text(number_)
    file = f"inference/outputs/question{number_}.normalized.json"
    reply = text(progress, "response_text")
    if normalized is None and written is not None and reply is None:
        # A reply of a single turn is the model's own and never taken for steps.
        file = f"inference/trajectories/question{number_}.txt"
        try:
            normalized = record_in(written)
        except ValueError as error:
            files.add(file, [str(error)])
        if normalized is not None and normalized["question_id"] != number_:
            found = normalized["question_id"]
            files.add(file, [f"it is about question {found!r:.40}, but its name says {number_}"])
    if normalized is None:
        return None, reply if written is None else written
    problems = record_problems(normalized)
    files.add(file, problems)
    if written is None and not problems:
        written = canonical_text(normalized)
    return normalized, written
