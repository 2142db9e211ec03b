"""AgentVidBench: 100 questions with 26 options, milestones, and a flag for answers that need a sweep.

The files of the data set (agentvidbench/agentvidbench) as they are downloaded: `questions.jsonl`,
`videos.jsonl`, `videos/`, `transcripts/`. Options may be objects or plain strings, numbers too; their
letters are their positions. A transcript of 0 bytes is a video without speech, a missing one is an
error. Every label of a row is a factor, whatever it is called: a short text, or a list of some.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.label_fields import LabelList, distinct_labels, further_labels
from taketwo.benchmarks.named_files import file_is_there, named_path, something_is_there
from taketwo.benchmarks.published_rows import PublishedRow, RowProblems, read_published
from taketwo.benchmarks.question import Milestone, Question, ReferenceStep, Sweep, option_labels
from taketwo.benchmarks.row_fields import (
    FiniteJson,
    JsonText,
    NumberText,
    described_problems,
    number_as_text,
)
from taketwo.benchmarks.video_files import VideoFinder
from taketwo.benchmarks.written_durations import WrittenDuration, duration_of
from taketwo.errors import InvalidQuestion

__all__ = ["MILESTONE_KINDS", "SUPER_CATEGORIES", "agentvidbench"]

MILESTONE_KINDS: tuple[str, ...] = (
    "context_identification",
    "temporal_localization",
    "ocr_text_reading",
    "audio_visual_evidence",
    "visual_recognition",
    "counting",
    "comparison",
    "exclusion_check",
    "arithmetic",
    "verification",
)
_OPTIONS = 26
_FEWEST_MILESTONES, _MOST_MILESTONES = 3, 7
SUPER_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "Daily Lifestyle": (
        "Travel/Lifestyle Vlog", "Travel/Vlog", "Cooking/Food", "Fitness/Workout",
    ),
    "Knowledge & Documentary": (
        "Science/Nature Documentary", "Science/Nature Doc", "News/Interview", "Tutorial/How-to",
    ),
    "Performance": ("Sports Competition", "Live Performance", "Music Clip"),
    "Media Arts": ("Screen Recording", "Art/Animation", "Stock/B-roll"),
}  # fmt: skip
"""Genres by super-category, as Table 13 and Figure 3 of the paper spell them (arXiv 2609.21386)."""
_SEVERAL_OF_VIDEO = ("production_style", "audio_type")
_NO_LABELS = (
    "title", "url", "author",
    "capability", "skill", "format", "licence", "sweep", "super_category",
)  # fmt: skip
"""Further fields that are no factors, and names of factors that are ours."""


def _folded(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


_SUPER_CATEGORY_OF = {
    _folded(genre): name for name, genres in SUPER_CATEGORIES.items() for genre in genres
}


def _option(value: object) -> object:
    plain = number_as_text(value)
    return {"letter": None, "text": plain} if isinstance(plain, str) else value


class _OptionFields(BaseModel):
    letter: str | None = None
    text: NumberText


class _MilestoneFields(BaseModel):
    model_config = ConfigDict(extra="ignore")
    id: str
    type: str
    description: str = Field(min_length=1)


class _StepFields(BaseModel):
    model_config = ConfigDict(extra="ignore")
    tool: JsonText = ""
    args: FiniteJson = None
    thought: JsonText = ""
    observation: JsonText = ""


class _PathFields(BaseModel):
    model_config = ConfigDict(extra="ignore")
    steps: list[_StepFields] | None = None


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow")
    question_id: int
    video_path: str = Field(min_length=1)
    transcript_path: str | None = None
    question_text: str = Field(min_length=1)
    options: list[Annotated[_OptionFields, BeforeValidator(_option)]]
    options_type: str | None = None
    answer: str
    answer_explanation: str | None = None
    milestones: list[_MilestoneFields]
    ecom_required: object = None
    trajectory: _PathFields | None = None
    categories: LabelList = []
    skills: LabelList = []
    difficulty: str | None = None


class _VideoRow(BaseModel):
    model_config = ConfigDict(extra="allow")
    file_name: str
    duration: WrittenDuration = None
    genre: str | None = None
    length_category: str | None = None
    license: str | None = None
    source: str | None = None
    production_style: LabelList = []
    audio_type: LabelList = []


def agentvidbench(path: Path, *, videos: Path | None = None, transcripts: bool = True) -> Benchmark:
    """Return the questions of a local copy of AgentVidBench.

    Parameters
    ----------
    path
        The data set's folder.
    videos
        A folder with files of the same names that go before those of the data set (such as
        transcoded copies).
    transcripts
        Whether the transcripts of the data set stand for speech recognition.

    Raises
    ------
    InvalidQuestion
        If nothing can be read, or a row of either file cannot be used; every such row is named. A
        video that is not there is no error: its questions count as not available.
    """
    rows = _file(path / "questions.jsonl")
    problems = RowProblems(f"AgentVidBench {str(path)!r}")
    root, finder = path.resolve(), VideoFinder()
    films = _videos(path / "videos.jsonl", problems)
    found = problems.read(
        rows,
        lambda row: _question(row, root, videos, films, finder, with_speech=transcripts),
        identity=lambda question: question.question_id,
        repeated=lambda question, earlier: (
            f"question_id {question.question_id} is used at {earlier} already"
        ),
    )
    problems.raise_if_any()
    version = sha256_of([question.content_sha256 for question in found])[:12]
    return Benchmark(name="agentvidbench", version=version, questions=tuple(found))


def _file(path: Path) -> list[PublishedRow]:
    if not file_is_there(path):
        raise InvalidQuestion(
            f"{str(path)!r} is not there; give the folder of the data set as `path`"
        )
    return read_published(path)


def _videos(path: Path, problems: RowProblems) -> dict[str, _VideoRow]:
    """Return what is known of the videos by file name; the file may be missing, but no broken link."""
    found = problems.read(
        read_published(path) if something_is_there(path) or path.is_symlink() else [],
        _film,
        identity=lambda film: film.file_name,
        repeated=lambda film, earlier: (
            f"file_name {film.file_name!r:.80} is there twice, at {earlier} already"
        ),
    )
    return {film.file_name: film for film in reversed(found)}


def _film(row: PublishedRow) -> _VideoRow:
    try:
        film = _VideoRow.model_validate(row.values)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    duration_of(film.duration)  # a length that cannot be read breaks this row, not its questions'
    return film


def _question(
    row: PublishedRow,
    root: Path,
    videos: Path | None,
    films: Mapping[str, _VideoRow],
    finder: VideoFinder,
    *,
    with_speech: bool,
) -> Question:
    try:
        fields = _Row.model_validate(row.values, strict=True)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    options, answer = _options(fields)
    film = films.get(fields.video_path) or films.get(Path(fields.video_path).name)
    film = film or _VideoRow(file_name=fields.video_path)
    return Question(
        question_id=str(fields.question_id),
        text=fields.question_text.strip(),
        video_id=Path(fields.video_path).stem,
        video_path=str(_video(fields.video_path, root, videos, finder)),
        options=options,
        answer_index=answer,
        subtitles_path=str(_transcript(fields, root)) if with_speech else None,
        video_duration_s=duration_of(film.duration),
        attributes=_attributes(fields, film),
        multi_attributes=_multi_attributes(fields, film),
        skills=distinct_labels(fields.skills),
        capabilities=distinct_labels(fields.categories),
        milestones=_milestones(fields.milestones),
        sweep=_sweep(fields.ecom_required),
        explanation=fields.answer_explanation,
        reference=_reference(fields.trajectory),
        licence=film.license,
    )


def _options(fields: _Row) -> tuple[tuple[str, ...], int]:
    letters = option_labels(_OPTIONS)
    if len(fields.options) != _OPTIONS:
        raise InvalidQuestion(f"field 'options' has {len(fields.options)} entries, not {_OPTIONS}")
    for letter, option in zip(letters, fields.options, strict=True):
        if option.letter is not None and option.letter.strip() != letter:
            raise InvalidQuestion(
                f"field 'options' has the letter {option.letter!r:.60} where {letter} stands"
            )
    answer = fields.answer.strip()
    if answer not in letters:
        raise InvalidQuestion(
            f"field 'answer' is {fields.answer!r:.60}, not one letter from A to Z"
        )
    return tuple(option.text for option in fields.options), letters.index(answer)


def _milestones(written: Sequence[_MilestoneFields]) -> tuple[Milestone, ...]:
    wanted = [f"M{number}" for number in range(1, len(written) + 1)]
    ids = [milestone.id for milestone in written]
    if ids != wanted:
        raise InvalidQuestion(
            f"field 'milestones' has the ids {ascii(', '.join(ids) or 'none')[1:-1]:.60}, not M1 to Mn in order"
        )
    if not _FEWEST_MILESTONES <= len(written) <= _MOST_MILESTONES:
        raise InvalidQuestion(
            f"field 'milestones' has {len(written)} entries, not {_FEWEST_MILESTONES} to "
            f"{_MOST_MILESTONES}"
        )
    unknown = [milestone.type for milestone in written if milestone.type not in MILESTONE_KINDS]
    if unknown:
        raise InvalidQuestion(
            f"field 'milestones' has the type {unknown[0]!r:.60}; known are {', '.join(MILESTONE_KINDS)}"
        )
    return tuple(
        Milestone(milestone_id=item.id, text=item.description, kind=item.type) for item in written
    )


def _sweep(flag: object) -> Sweep:
    if flag is True:
        return "yes"
    return "no" if flag is False else "unknown"


def _reference(path: _PathFields | None) -> tuple[ReferenceStep, ...]:
    return tuple(
        ReferenceStep(
            tool=step.tool,
            arguments="" if step.args is None else json.dumps(step.args, ensure_ascii=False),
            thought=step.thought,
            observation=step.observation,
        )
        for step in (path.steps if path is not None else None) or []
    )


def _attributes(fields: _Row, film: _VideoRow) -> dict[str, str]:
    labels: dict[str, str | None] = {
        "difficulty": fields.difficulty,
        "options_type": fields.options_type,
        "sweep": _sweep(fields.ecom_required),
        "licence": film.license,
        "genre": film.genre,
        "super_category": _SUPER_CATEGORY_OF.get(_folded(film.genre or "")),
        "length_category": film.length_category,
        "source": film.source,
    }
    further = {name: label for name, label in _further(fields, film) if isinstance(label, str)}
    own = {name: label for name, label in labels.items() if label}
    return {name: label.strip() for name, label in (further | own).items() if label.strip()}


def _multi_attributes(fields: _Row, film: _VideoRow) -> dict[str, tuple[str, ...]]:
    """Return the factors that may have several levels; empty texts are none."""
    written = dict(zip(_SEVERAL_OF_VIDEO, (film.production_style, film.audio_type), strict=True))
    lists = {name: labels for name, labels in _further(fields, film) if isinstance(labels, list)}
    found = {name: distinct_labels(labels) for name, labels in (lists | written).items()}
    return {name: labels for name, labels in found.items() if labels}


def _further(fields: _Row, film: _VideoRow) -> Iterator[tuple[str, str | list[str]]]:
    """Yield the labels whose names the documentation does not give, those of the question first.

    The paper has labels of videos (arXiv 2609.21386, Figure 3) whose names in the files are not known.
    """
    known = {*_Row.model_fields, *_VideoRow.model_fields, *_NO_LABELS}
    return further_labels((fields.model_extra or {}, film.model_extra or {}), known)


def _inside(root: Path, written: str, field: str) -> Path:
    path = named_path(root, written, field)
    if path.is_relative_to(root):
        return path
    raise InvalidQuestion(f"field {field!r} is {written!r:.80}, which leaves the data set's folder")


def _video(written: str, root: Path, videos: Path | None, finder: VideoFinder) -> Path:
    """Return the file of that name, in `videos` before the data set's; else one with its id in brackets."""
    own = _inside(root, written, "video_path")
    folders = [own.parent] if videos is None else [videos.resolve(), own.parent]
    there = next(filter(file_is_there, (folder / own.name for folder in folders)), None)
    found = there or finder.titled(folders, own.stem, field="video_path") or own
    return _inside(root, str(found), "video_path") if found.parent == own.parent else found


def _transcript(fields: _Row, root: Path) -> Path:
    written = fields.transcript_path or f"transcripts/{Path(fields.video_path).stem}.srt"
    return _inside(root, written, "transcript_path")
