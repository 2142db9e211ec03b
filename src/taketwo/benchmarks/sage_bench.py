"""SAGE-Bench: 1,744 questions on videos of any length, the options written into the question.

The data set (allenai/SAGE-Bench, ODC-BY 1.0) names YouTube videos; the files are the user's. What
its own loader leaves open is decided here: options are parsed out of the text, ids come from the video
and the question and not from a path, and a row that cannot be used is named instead of left out.

Rows are as the results that SAGE published (allenai/SAGE, `results/`) show them. A few of their
multiple-choice questions list no options, and of a few the truth is in words that are no option's
("Not possible to answer."): both are kept, with `question_type` as published, for their answers are
compared in words by a judge, as SAGE's evaluation compares all of them.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.options_in_text import parse_options
from taketwo.benchmarks.published_rows import (
    PublishedRow,
    RowProblems,
    read_published,
)
from taketwo.benchmarks.question import Question, safe_question_id
from taketwo.benchmarks.row_fields import WrittenNumber, described_problems
from taketwo.benchmarks.video_files import VideoFinder
from taketwo.errors import InvalidQuestion

__all__ = ["DURATION_BUCKETS", "duration_bucket", "sage_bench"]

DURATION_BUCKETS: tuple[tuple[float, str], ...] = (
    (60, "0-60 s"),
    (180, "60-180 s"),
    (300, "180-300 s"),
    (600, "300-600 s"),
    (1200, "600-1200 s"),
    (2400, "1200-2400 s"),
    (float("inf"), "2400+ s"),
)
"""Upper ends in seconds, not included, and names."""

_LABELLED = re.compile(r"^\(?(?P<label>[A-Z])[).:]\s*(?P<text>.*)$", re.DOTALL)
_LONG_S = 600


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")
    video_id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    gt_answer: str = Field(min_length=1)
    ques_type: str
    difficulty: str
    modality: str
    duration_seconds: Annotated[WrittenNumber, Field(gt=0)]


def duration_bucket(duration_s: float) -> str:
    """Return the name of the bucket that a duration in seconds falls in; lower ends belong to it."""
    return next(name for end, name in DURATION_BUCKETS if duration_s < end)


def sage_bench(
    path: Path, *, videos: Path | None = None, legacy_folder: str | None = None
) -> Benchmark:
    """Return the questions of a local copy of SAGE-Bench.

    Parameters
    ----------
    path
        The data set's folder, or one file of it (Parquet, Arrow or JSON lines).
    videos
        The folder of `<video_id>.mp4` (or another ending, or `TITLE [<video_id>].mp4`); `videos` beside
        the data set by default. A video that is not there is no error: its questions count as not available.
    legacy_folder
        Where the videos lay when ids were published that hash question and path; each question's
        `raw_id` is then that id (MD5 of `question|folder/video_id.mp4`), so that lists of them work.

    Raises
    ------
    InvalidQuestion
        If nothing can be read, or a row cannot be used; every such row is named.
    """
    rows = read_published(path)
    root = (videos or (path if path.is_dir() else path.parent) / "videos").resolve()
    finder = VideoFinder()
    problems = RowProblems(f"SAGE-Bench {str(path)!r}")
    found = problems.read(
        rows,
        lambda row: _question(row, root, finder, legacy_folder),
        identity=lambda question: question.question_id,
        repeated=lambda _, earlier: f"asks the same of the same video as {earlier}; remove one",
    )
    problems.raise_if_any()
    version = sha256_of([question.content_sha256 for question in found])[:12]
    return Benchmark(name="sage_bench", version=version, questions=tuple(found))


def _question(
    row: PublishedRow, root: Path, finder: VideoFinder, legacy_folder: str | None
) -> Question:
    try:
        fields = _Row.model_validate(row.values)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    parsed = parse_options(fields.question)
    kind = _kind(fields.ques_type)
    if kind != "mcq" and parsed.options:
        raise InvalidQuestion(
            f"field 'ques_type' is {fields.ques_type!r:.60}, but the question has "
            f"{len(parsed.options)} options"
        )
    video = finder.video(root, fields.video_id)
    index = _true_option(fields.gt_answer, parsed.options) if parsed.options else None
    return Question(
        question_id=_identity(fields.video_id, fields.question),
        raw_id=None
        if legacy_folder is None
        else _legacy_id(fields.question, f"{legacy_folder.rstrip('/')}/{fields.video_id}.mp4"),
        text=parsed.text,
        video_id=fields.video_id,
        video_path=str(video),
        options=parsed.options,
        answer_index=index,
        answer_text=fields.gt_answer if index is None else None,
        video_duration_s=fields.duration_seconds,
        attributes={
            "question_type": kind,
            "modality": _one_of(fields.modality, "modality", ("visual", "verbal", "both")),
            "difficulty": _one_of(
                fields.difficulty, "difficulty", ("easy", "medium", "hard", "very hard")
            ),
            "duration": duration_bucket(fields.duration_seconds),
            "length": "short" if fields.duration_seconds < _LONG_S else "long",
        },
    )


def _kind(written: str) -> Literal["mcq", "open_ended"]:
    plain = written.strip().lower().replace("-", "_").replace(" ", "_")
    if plain == "mcq":
        return "mcq"
    if plain in {"open_ended", "open"}:
        return "open_ended"
    raise InvalidQuestion(f"field 'ques_type' is {written!r:.60}; known are mcq and open-ended")


def _one_of(written: str, field: str, known: tuple[str, ...]) -> str:
    plain = " ".join(written.strip().lower().replace("_", " ").replace("-", " ").split())
    if plain not in known:
        raise InvalidQuestion(f"field {field!r} is {written!r:.60}; known are {', '.join(known)}")
    return plain


def _true_option(truth: str, options: tuple[str, ...]) -> int | None:
    """Return the option that the truth names, by its text, else by label and text; None where it names none.

    Raises
    ------
    InvalidQuestion
        If it is the text of several options, or has the label of one and the text of another.
    """
    by_text = [at for at, option in enumerate(options) if _folded(option) == _folded(truth)]
    labelled = _LABELLED.match(truth.strip())
    if not by_text and labelled is not None:
        said = _folded(labelled["text"])
        by_text = [at for at, option in enumerate(options) if _folded(option) == said]
        by_label = ord(labelled["label"]) - ord("A")
        if by_label < len(options) and (not said or by_label in by_text):
            return by_label
        if by_text:
            raise InvalidQuestion(
                f"field 'gt_answer' is {truth!r:.80}, which has the label of one option and the text of "
                "another"
            )
    if len(by_text) > 1:
        raise InvalidQuestion(
            f"field 'gt_answer' is {truth!r:.80}, which is the text of {len(by_text)} of "
            f"{len(options)} options"
        )
    return by_text[0] if by_text else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".").casefold()


def _identity(video_id: str, question: str) -> str:
    """Return an id that depends on the video and on what is asked, not on where files lie."""
    normalised = " ".join(unicodedata.normalize("NFC", question).split())
    digest = hashlib.sha256(f"{video_id}\0{normalised}".encode()).hexdigest()
    return safe_question_id(f"{video_id}-{digest[:8]}")


def _legacy_id(question: str, path: str) -> str:
    return hashlib.md5(f"{question}|{path}".encode(), usedforsecurity=False).hexdigest()
