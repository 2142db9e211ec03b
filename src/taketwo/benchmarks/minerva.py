"""MINERVA: questions with five options and a reasoning trace by hand, on videos of 2 to 90 minutes.

Written from the public documentation of the data set (google-deepmind/neptune, arXiv 2505.00681) and
of harnesses that read it; **not verified against the data**. The videos are YouTube's; the files are
the user's. The reasoning trace is the question's explanation: no agent ever sees it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.named_files import file_is_there
from taketwo.benchmarks.published_rows import (
    PublishedRow,
    RowProblems,
    read_published,
)
from taketwo.benchmarks.question import Question, safe_question_id
from taketwo.benchmarks.row_fields import WholeNumber, described_problems
from taketwo.benchmarks.video_files import VideoFinder
from taketwo.errors import InvalidQuestion

__all__ = ["minerva", "youtube_id"]

_FILE = "minerva.json"
_OPTIONS = 5


def _several(value: object) -> object:
    """Let one text stand for a list of skills, with commas between them."""
    return value.split(",") if isinstance(value, str) else value


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")
    key: str = Field(min_length=1)
    video_id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str | None = None
    answer_choice_0: str
    answer_choice_1: str
    answer_choice_2: str
    answer_choice_3: str
    answer_choice_4: str
    answer_id: Annotated[WholeNumber, Field(ge=0, lt=_OPTIONS)]
    reasoning: str | None = None
    # The documentation writes the name with a blank, the harnesses read it with an underscore.
    question_type: Annotated[list[str], BeforeValidator(_several)] = Field(
        default=[], validation_alias=AliasChoices("question_type", "question type")
    )
    split: str | None = None
    category: str | None = None


def youtube_id(written: str) -> str:
    """Return the id of a video out of its YouTube address; anything else is returned as it is.

    Examples
    --------
    >>> youtube_id("https://www.youtube.com/watch?v=a-b_c")
    'a-b_c'
    """
    if "://" not in written:
        return written
    try:
        address = urlsplit(written)
    except ValueError:
        return written
    asked = parse_qs(address.query).get("v")
    return asked[0] if asked else address.path.rstrip("/").rpartition("/")[2] or written


def minerva(path: Path, *, videos: Path | None = None) -> Benchmark:
    """Return the questions of a local copy of MINERVA.

    Parameters
    ----------
    path
        The folder of `minerva.json`, or the file itself (JSON, JSON lines, Parquet or Arrow).
    videos
        The folder of `<video_id>.mp4` (or another ending, or `TITLE [<video_id>].mp4`), or of folders of that name with
        the file inside; `videos` beside the rows by default. A video that is not there is no
        error: its questions count as not available.

    Raises
    ------
    InvalidQuestion
        If nothing can be read, or a row cannot be used; every such row is named.
    """
    file = path / _FILE if file_is_there(path / _FILE) else path
    rows = read_published(file)
    root = (videos or (path if path.is_dir() else path.parent) / "videos").resolve()
    finder = VideoFinder()
    problems = RowProblems(f"MINERVA {str(path)!r}")
    found = problems.read(
        rows,
        lambda row: _question(row, root, finder),
        identity=lambda question: question.question_id,
        repeated=lambda question, earlier: (
            f"key {question.question_id!r} is used at {earlier} already"
        ),
    )
    problems.raise_if_any()
    version = sha256_of([question.content_sha256 for question in found])[:12]
    return Benchmark(name="minerva", version=version, questions=tuple(found))


def _question(row: PublishedRow, root: Path, finder: VideoFinder) -> Question:
    try:
        fields = _Row.model_validate(row.values)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    options = (
        fields.answer_choice_0.strip(),
        fields.answer_choice_1.strip(),
        fields.answer_choice_2.strip(),
        fields.answer_choice_3.strip(),
        fields.answer_choice_4.strip(),
    )
    _require_agreement(fields, options)
    video_id = youtube_id(fields.video_id)
    skills = (skill.strip() for skill in fields.question_type)
    labels = {"split": (fields.split or "").strip(), "category": (fields.category or "").strip()}
    question_id = safe_question_id(fields.key)
    return Question(
        question_id=question_id,
        raw_id=fields.key if question_id != fields.key else None,
        text=fields.question.strip(),
        video_id=video_id,
        video_path=str(finder.video(root, video_id)),
        options=options,
        answer_index=fields.answer_id,
        attributes={name: label for name, label in labels.items() if label},
        skills=tuple(dict.fromkeys(skill for skill in skills if skill)),
        explanation=(fields.reasoning or "").strip() or None,
    )


def _require_agreement(fields: _Row, options: tuple[str, ...]) -> None:
    """Refuse a free-form answer that is the text of another option than the one of `answer_id`."""
    answer = (fields.answer or "").strip()
    if answer in options and options[fields.answer_id] != answer:
        raise InvalidQuestion(
            f"field 'answer' is {answer!r:.60}, the text of option {options.index(answer)}, but "
            f"'answer_id' is {fields.answer_id}"
        )
