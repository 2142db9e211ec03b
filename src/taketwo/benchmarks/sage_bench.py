"""SAGE-Bench: 1,744 questions on videos of any length, the options written into the question.

The data set (allenai/SAGE-Bench, ODC-BY 1.0) names YouTube videos; the files are the user's. What
its own loader leaves open is decided here: options are parsed out of the text and the truth must be
one of them, ids come from the video and the question and not from a path, and a row that cannot be
used is named instead of left out.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.published_rows import (
    PublishedRow,
    RowProblems,
    read_published,
)
from taketwo.benchmarks.question import Question, option_labels, safe_question_id
from taketwo.benchmarks.row_fields import WrittenNumber, described_problems
from taketwo.benchmarks.video_files import video_file
from taketwo.errors import InvalidQuestion

__all__ = ["DURATION_BUCKETS", "ParsedQuestion", "duration_bucket", "parse_options", "sage_bench"]

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

_OPTION = re.compile(r"^\s*\((?P<label>[A-Z])\)\s*(?P<text>.*\S)\s*$")
_LEAD_IN = re.compile(r"[a-z ]*\bfollowing (?:answer )?(?:options|choices)\b[a-z ]*", re.IGNORECASE)
_LEADING_VERBS = frozenset({"answer", "choose", "give", "pick", "reply", "respond", "select"})
_LEAD_IN_WORD = re.compile(
    r"(?:an?|and|answers?|appropriate|best|by|choices?|choos(?:e|ing)|correct|exactly|following|from|"
    r"give|given|into?|most|of|one|only|options?|out|pick|picking|please|provided|question|reply|"
    r"respond|right|select|selecting|single|the|this|to|using|with|your)"
)
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


@dataclass(frozen=True, kw_only=True)
class ParsedQuestion:
    """A question as asked, and its options in their order; none where it is open."""

    text: str
    options: tuple[str, ...]


def duration_bucket(duration_s: float) -> str:
    """Return the name of the bucket that a duration in seconds falls in; lower ends belong to it."""
    return next(name for end, name in DURATION_BUCKETS if duration_s < end)


def parse_options(written: str) -> ParsedQuestion:
    """Return a question and the options that stand in its text, one `(A) text` a line.

    The sentence that leads in the options is taken off, as agents are shown them in a form of their
    own: the last line before them where it only asks to answer from the following options. Any other
    line stays in the question.

    Raises
    ------
    InvalidQuestion
        If the labels are not A, B, C, ... in order, or text stands between or after them.
    """
    lines = written.replace("\r\n", "\n").split("\n")
    first = next((at for at, line in enumerate(lines) if _OPTION.match(line)), None)
    if first is None:
        return ParsedQuestion(text=written.strip(), options=())
    listed = [line for line in lines[first:] if line.strip()]
    matches = [_OPTION.match(line) for line in listed]
    strange = [line for line, match in zip(listed, matches, strict=True) if match is None]
    if strange:
        raise InvalidQuestion(
            f"the options are not one '(A) text' a line: {strange[0].strip()[:60]!r} stands among them"
        )
    found = [match for match in matches if match is not None]
    labels = tuple(match["label"] for match in found)
    if labels != option_labels(len(found)):
        raise InvalidQuestion(f"the options are labelled {', '.join(labels)}, not A, B, C in order")
    head = [line for line in lines[:first] if line.strip()]
    if len(head) > 1 and _leads_in(head[-1]):
        head.pop()
    return ParsedQuestion(
        text="\n".join(head).strip(), options=tuple(match["text"] for match in found)
    )


def _leads_in(line: str) -> bool:
    """Return whether a line asks to answer from the following options, and says nothing else."""
    sentence = line.strip().removesuffix(":").removesuffix(".").rstrip().lower()
    words = sentence.split()
    first = next((word for word in words if word != "please"), "")
    return (
        _LEAD_IN.fullmatch(sentence) is not None
        and first in _LEADING_VERBS
        and all(map(_LEAD_IN_WORD.fullmatch, words))
    )


def sage_bench(
    path: Path, *, videos: Path | None = None, legacy_folder: str | None = None
) -> Benchmark:
    """Return the questions of a local copy of SAGE-Bench.

    Parameters
    ----------
    path
        The data set's folder, or one file of it (Parquet, Arrow or JSON lines).
    videos
        The folder of `<video_id>.mp4` (or .mkv, .webm, .mov, .avi); `videos` beside the data set
        by default. A video that is not there is no error: its questions count as not available.
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
    problems = RowProblems(f"SAGE-Bench {str(path)!r}")
    found = problems.read(
        rows,
        lambda row: _question(row, root, legacy_folder),
        identity=lambda question: question.question_id,
        repeated=lambda _, earlier: f"asks the same of the same video as {earlier}; remove one",
    )
    problems.raise_if_any()
    version = sha256_of([question.content_sha256 for question in found])[:12]
    return Benchmark(name="sage_bench", version=version, questions=tuple(found))


def _question(row: PublishedRow, root: Path, legacy_folder: str | None) -> Question:
    try:
        fields = _Row.model_validate(row.values)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    parsed = parse_options(fields.question)
    kind = _kind(fields.ques_type)
    if (kind == "mcq") != bool(parsed.options):
        raise InvalidQuestion(
            f"field 'ques_type' is {fields.ques_type!r}, but the question has "
            f"{len(parsed.options) or 'no'} options"
        )
    index = _true_option(fields.gt_answer, parsed.options) if parsed.options else None
    return Question(
        question_id=_identity(fields.video_id, fields.question),
        raw_id=None
        if legacy_folder is None
        else _legacy_id(fields.question, f"{legacy_folder.rstrip('/')}/{fields.video_id}.mp4"),
        text=parsed.text,
        video_id=fields.video_id,
        video_path=str(video_file(root, fields.video_id)),
        options=parsed.options,
        answer_index=index,
        answer_text=None if parsed.options else fields.gt_answer,
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
    raise InvalidQuestion(f"field 'ques_type' is {written!r}; known are mcq and open-ended")


def _one_of(written: str, field: str, known: tuple[str, ...]) -> str:
    plain = " ".join(written.strip().lower().replace("_", " ").replace("-", " ").split())
    if plain not in known:
        raise InvalidQuestion(f"field {field!r} is {written!r}; known are {', '.join(known)}")
    return plain


def _true_option(truth: str, options: tuple[str, ...]) -> int:
    """Return the option that the truth names: by its text, else by label and text."""
    wanted = _folded(truth)
    matches = [at for at, option in enumerate(options) if _folded(option) == wanted]
    if not matches and (labelled := _LABELLED.match(truth.strip())):
        at = ord(labelled["label"]) - ord("A")
        if at < len(options) and _folded(labelled["text"]) in {"", _folded(options[at])}:
            matches = [at]
    if len(matches) != 1:
        raise InvalidQuestion(
            f"field 'gt_answer' is {truth!r:.80}, which is the text of {len(matches)} of "
            f"{len(options)} options"
        )
    return matches[0]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".").casefold()


def _identity(video_id: str, question: str) -> str:
    """Return an id that depends on the video and on what is asked, not on where files lie."""
    normalised = " ".join(unicodedata.normalize("NFC", question).split())
    digest = hashlib.sha256(f"{video_id}\0{normalised}".encode()).hexdigest()
    return safe_question_id(f"{video_id}-{digest[:8]}")


def _legacy_id(question: str, path: str) -> str:
    return hashlib.md5(f"{question}|{path}".encode(), usedforsecurity=False).hexdigest()
