"""AgentVidBench: 100 questions with 26 options, milestones, and a flag for answers that need a sweep.

The files of the data set (agentvidbench/agentvidbench) as they are downloaded: `questions.jsonl`,
`videos.jsonl`, `videos/`, `transcripts/`. Options may be objects or plain strings; their letters are
their positions. A transcript of 0 bytes is a video without speech, a missing one is an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.published_rows import (
    PublishedRow,
    RowProblems,
    read_published,
)
from taketwo.benchmarks.question import Milestone, Question, ReferenceStep, Sweep, option_labels
from taketwo.benchmarks.row_fields import described_problems
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


def _folded(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


_SUPER_CATEGORY_OF = {
    _folded(genre): name for name, genres in SUPER_CATEGORIES.items() for genre in genres
}


def _several(value: object) -> object:
    """Let one text stand for a list of labels, with commas between them."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _option(value: object) -> object:
    return {"letter": None, "text": value} if isinstance(value, str) else value


class _OptionFields(BaseModel):
    letter: str | None = None
    text: str


class _MilestoneFields(BaseModel):
    model_config = ConfigDict(extra="ignore")
    id: str
    type: str
    description: str = Field(min_length=1)


class _StepFields(BaseModel):
    model_config = ConfigDict(extra="ignore")
    tool: str = ""
    args: object = None
    thought: str = ""
    observation: str = ""


class _PathFields(BaseModel):
    model_config = ConfigDict(extra="ignore")
    steps: list[_StepFields] = []


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")
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
    categories: list[str] = []
    skills: list[str] = []
    difficulty: str | None = None


class _VideoRow(BaseModel):
    model_config = ConfigDict(extra="ignore")
    file_name: str
    duration: WrittenDuration = None
    genre: str | None = None
    length_category: str | None = None
    license: str | None = None
    source: str | None = None
    production_style: Annotated[list[str] | None, BeforeValidator(_several)] = None
    audio_type: Annotated[list[str] | None, BeforeValidator(_several)] = None


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
    films = _videos(path / "videos.jsonl", problems)
    found = problems.read(
        rows,
        lambda row: _question(row, path.resolve(), videos, films, with_speech=transcripts),
        identity=lambda question: question.question_id,
        repeated=lambda question, earlier: (
            f"question_id {question.question_id} is used at {earlier} already"
        ),
    )
    problems.raise_if_any()
    version = sha256_of([question.content_sha256 for question in found])[:12]
    return Benchmark(name="agentvidbench", version=version, questions=tuple(found))


def _file(path: Path) -> list[PublishedRow]:
    if not path.is_file():
        raise InvalidQuestion(
            f"{str(path)!r} is not there; give the folder of the data set as `path`"
        )
    return read_published(path)


def _videos(path: Path, problems: RowProblems) -> dict[str, _VideoRow]:
    """Return what is known of the videos by file name; the file may be missing."""
    found = problems.read(
        read_published(path) if path.is_file() else [],
        _film,
        identity=lambda film: film.file_name,
        repeated=lambda film, earlier: (
            f"file_name {film.file_name!r} is there twice, at {earlier} already"
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
    *,
    with_speech: bool,
) -> Question:
    try:
        fields = _Row.model_validate(row.values, strict=True)
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error))) from error
    options, answer = _options(fields)
    film = films.get(fields.video_path) or _VideoRow(file_name=fields.video_path)
    return Question(
        question_id=str(fields.question_id),
        text=fields.question_text.strip(),
        video_id=Path(fields.video_path).stem,
        video_path=str(_video(fields.video_path, root, videos)),
        options=options,
        answer_index=answer,
        subtitles_path=str(_transcript(fields, root)) if with_speech else None,
        video_duration_s=duration_of(film.duration),
        attributes=_attributes(fields, film),
        multi_attributes=_multi_attributes(film),
        skills=tuple(dict.fromkeys(fields.skills)),
        capabilities=tuple(dict.fromkeys(fields.categories)),
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
                f"field 'options' has the letter {option.letter!r} where {letter} stands"
            )
    answer = fields.answer.strip()
    if answer not in letters:
        raise InvalidQuestion(f"field 'answer' is {fields.answer!r}, not one letter from A to Z")
    return tuple(option.text for option in fields.options), letters.index(answer)


def _milestones(written: Sequence[_MilestoneFields]) -> tuple[Milestone, ...]:
    wanted = [f"M{number}" for number in range(1, len(written) + 1)]
    ids = [milestone.id for milestone in written]
    if ids != wanted:
        raise InvalidQuestion(
            f"field 'milestones' has the ids {', '.join(ids) or 'none'}, not M1 to Mn in order"
        )
    if not _FEWEST_MILESTONES <= len(written) <= _MOST_MILESTONES:
        raise InvalidQuestion(
            f"field 'milestones' has {len(written)} entries, not {_FEWEST_MILESTONES} to "
            f"{_MOST_MILESTONES}"
        )
    unknown = [milestone.type for milestone in written if milestone.type not in MILESTONE_KINDS]
    if unknown:
        raise InvalidQuestion(
            f"field 'milestones' has the type {unknown[0]!r}; known are {', '.join(MILESTONE_KINDS)}"
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
        for step in (path.steps if path is not None else [])
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
    return {name: label.strip() for name, label in labels.items() if label and label.strip()}


def _multi_attributes(film: _VideoRow) -> dict[str, tuple[str, ...]]:
    """Return the factors of a video that may have several levels; empty texts are none."""
    written = dict(zip(_SEVERAL_OF_VIDEO, (film.production_style, film.audio_type), strict=True))
    found = {
        name: tuple(dict.fromkeys(label.strip() for label in labels or () if label.strip()))
        for name, labels in written.items()
    }
    return {name: labels for name, labels in found.items() if labels}


def _inside(root: Path, written: str, field: str) -> Path:
    path = (root / written).resolve() if "\0" not in written else root.parent
    if not path.is_relative_to(root):
        raise InvalidQuestion(
            f"field {field!r} is {written!r:.80}, which leaves the data set's folder"
        )
    return path


def _video(written: str, root: Path, videos: Path | None) -> Path:
    own = _inside(root, written, "video_path")
    if videos is None:
        return own
    other = videos.resolve() / own.name
    return other if other.is_file() else own


def _transcript(fields: _Row, root: Path) -> Path:
    written = fields.transcript_path or f"transcripts/{Path(fields.video_path).stem}.srt"
    return _inside(root, written, "transcript_path")
