"""Video-MME: 2,700 questions with four options on 900 short, medium and long videos.

Written from the public documentation of the data set (lmms-lab/Video-MME, arXiv 2405.21075) and of
harnesses that read it; **not verified against the data**, which is licensed for academic research
only. The videos are the user's. What the documentation leaves open is decided here: an option may
carry its letter or not, letters stand in order, and a row that cannot be used is named.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.named_files import file_is_there
from taketwo.benchmarks.published_rows import (
    PublishedRow,
    RowProblems,
    read_published,
)
from taketwo.benchmarks.question import Question, option_labels, safe_question_id
from taketwo.benchmarks.row_fields import described_problems
from taketwo.benchmarks.video_files import VideoFinder
from taketwo.errors import InvalidQuestion, RequestError

__all__ = ["SUBSETS", "Subset", "video_mme"]

Subset = Literal["short", "medium", "long"]
SUBSETS: tuple[Subset, ...] = ("short", "medium", "long")

_VIDEO_FOLDERS = ("videos", "video", "data")
_LABELLED = re.compile(r"^\s*\(?(?P<label>[A-Z])[.):]\s*(?P<text>.*?)\s*$", re.DOTALL)


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    video_id: str = Field(min_length=1)
    duration: Subset
    domain: str = Field(min_length=1)
    sub_category: str = Field(min_length=1)
    video_name: str = Field(alias="videoID", min_length=1)
    question_id: str = Field(min_length=1)
    task_type: str = Field(min_length=1)
    question: str = Field(min_length=1)
    options: list[str] = Field(min_length=2, max_length=26)
    answer: str


def video_mme(
    path: Path,
    *,
    videos: Path | None = None,
    subtitles: Path | None = None,
    subset: Subset | None = None,
) -> Benchmark:
    """Return the questions of a local copy of Video-MME.

    Parameters
    ----------
    path
        The data set's folder (rows in its folder `videomme`, or in itself), or one file of it
        (Parquet, Arrow, JSON lines or JSON).
    videos
        The folder of `<videoID>.mp4` (or another ending, or `TITLE [<videoID>].mp4`); by default `videos`, `video` or
        `data` beside the rows, whichever is there first. A video that is not there is no error:
        its questions count as not available.
    subtitles
        The folder of `<videoID>.srt`, for the setting with subtitles. The data set has none for
        some videos: those keep speech recognition, and the attribute `subtitles` says which.
    subset
        One of `short`, `medium` and `long`; all three by default. Rows of the others are checked
        all the same.

    Raises
    ------
    RequestError
        If there is no folder `subtitles`.
    InvalidQuestion
        If nothing can be read, or a row cannot be used; every such row is named.
    """
    if subtitles is not None and not subtitles.is_dir():
        raise RequestError(
            f"Video-MME {str(path)!r}: no folder of subtitles {str(subtitles)!r}; give the folder of "
            "<videoID>.srt, or leave the option out"
        )
    rows = read_published(path, subfolders=("videomme", "data", ""))
    beside = path if path.is_dir() else path.parent
    root = (videos or _video_folder(beside)).resolve()
    finder = VideoFinder()
    problems = RowProblems(f"Video-MME {str(path)!r}")
    found = problems.read(
        rows,
        lambda row: _question(row, root, finder, subtitles),
        identity=lambda question: question.question_id,
        repeated=lambda question, earlier: (
            f"question_id {question.question_id!r} is used at {earlier} already"
        ),
    )
    problems.raise_if_any()
    if subset is not None:
        found = [question for question in found if question.attributes["duration"] == subset]
    version = sha256_of([question.content_sha256 for question in found])[:12]
    return Benchmark(
        name="video_mme",
        version=version if subset is None else f"{subset} {version}",
        questions=tuple(found),
    )


def _video_folder(beside: Path) -> Path:
    places = [beside / name for name in _VIDEO_FOLDERS]
    return next((place for place in places if place.is_dir()), places[0])


def _question(
    row: PublishedRow, root: Path, finder: VideoFinder, subtitles: Path | None
) -> Question:
    try:
        fields = _Row.model_validate(row.values)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    options = _options(fields.options)
    answer, labels = fields.answer.strip(), option_labels(len(options))
    if answer not in labels:
        raise InvalidQuestion(
            f"field 'answer' is {fields.answer!r:.60}, not one letter from A to {labels[-1]}"
        )
    video = finder.video(root, fields.video_name, field="videoID")
    spoken = None if subtitles is None else subtitles.resolve() / f"{fields.video_name}.srt"
    has_subtitles = spoken is not None and file_is_there(spoken)
    attributes = {
        "duration": fields.duration,
        "domain": fields.domain.strip(),
        "sub_category": fields.sub_category.strip(),
        "task_type": fields.task_type.strip(),
    }
    if subtitles is not None:
        attributes["subtitles"] = "yes" if has_subtitles else "no"
    question_id = safe_question_id(fields.question_id)
    return Question(
        question_id=question_id,
        raw_id=fields.question_id if question_id != fields.question_id else None,
        text=fields.question.strip(),
        video_id=fields.video_name,
        video_path=str(video),
        options=options,
        answer_index=labels.index(answer),
        subtitles_path=str(spoken) if has_subtitles else None,
        attributes=attributes,
    )


def _options(written: list[str]) -> tuple[str, ...]:
    """Return the options without their letters, which all of them carry or none."""
    matches = [match for option in written if (match := _LABELLED.match(option))]
    if not matches:
        return tuple(option.strip() for option in written)
    labels = tuple(match["label"] for match in matches)
    if len(matches) == len(written) and labels == option_labels(len(written)):
        return tuple(match["text"] for match in matches)
    if "A" not in labels:
        return tuple(option.strip() for option in written)
    raise InvalidQuestion(
        f"field 'options' has the letters {', '.join(labels)} on {len(written)} options, not A, B, C "
        "in order"
    )
