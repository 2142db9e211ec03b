"""A benchmark of one's own: a file of questions and a folder of videos (docs/guides/own-questions.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path, PurePath
from typing import Annotated, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.local_rows import LocalRow, WrittenFloat, no_numbers, read_rows
from taketwo.benchmarks.named_files import named_path
from taketwo.benchmarks.published_rows import RowProblems
from taketwo.benchmarks.question import (
    Milestone,
    Question,
    ReferenceStep,
    Sweep,
    option_labels,
    safe_question_id,
)
from taketwo.benchmarks.row_fields import WholeNumber, WrittenNumber, described_problems
from taketwo.errors import InvalidQuestion

__all__ = ["local"]

_MILESTONE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def _yes_or_no(value: object) -> object:
    """Let true and false, as which many programs write yes and no, be what they mean."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _milestone_id(value: str) -> str:
    if not _MILESTONE_ID.fullmatch(value):
        raise PydanticCustomError(
            "milestone_id", "a milestone id needs 1 to 64 characters out of A-Z a-z 0-9 . _ -"
        )
    return value


def _given(value: object, known: Collection[str] | None = None) -> object:
    """Return an object without the fields, or those of `known`, that are null: they are not given."""
    if not isinstance(value, dict):
        return value
    fields = cast("dict[object, object]", value)
    return {
        name: item
        for name, item in fields.items()
        if item is not None or (known is not None and name not in known)
    }


class _GivenFields(BaseModel):
    """Fields of which null says that they are not given; numbers may stand for texts."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_null(cls, value: object) -> object:
        return _given(value, cls.model_fields)


class _MilestoneFields(_GivenFields):
    milestone_id: Annotated[str, AfterValidator(_milestone_id)] | None = None
    text: str = Field(min_length=1)
    kind: str | None = Field(default=None, min_length=1)
    start_s: Annotated[WrittenNumber, Field(ge=0)] | None = None
    end_s: Annotated[WrittenNumber, Field(ge=0)] | None = None


class _StepFields(_GivenFields):
    tool: str = ""
    arguments: str = ""
    thought: str = ""
    observation: str = ""


class _Fields(_GivenFields):
    """The fields of a row; numbers may be written as text, as CSV and YAML do, and texts as numbers."""

    question_id: str = Field(min_length=1)
    text: str
    video_path: str = Field(min_length=1)
    video_id: str | None = None
    options: list[str] = []
    answer: str | None = None
    answer_index: WholeNumber | None = None
    answer_text: str | None = None
    accepted_answers: list[str] = []
    subtitles_path: str | None = None
    video_duration_s: Annotated[WrittenNumber, Field(gt=0)] | None = None
    attributes: Annotated[dict[str, str], BeforeValidator(_given)] = {}
    multi_attributes: Annotated[dict[str, list[str]], BeforeValidator(_given)] = {}
    skills: list[str] = []
    capabilities: list[str] = []
    milestones: list[_MilestoneFields] = []
    sweep: Annotated[Sweep | None, BeforeValidator(_yes_or_no)] = None
    explanation: str | None = None
    reference: list[_StepFields] = []
    raw_id: str | None = None
    licence: str | None = None


_KNOWN = {
    "": tuple(_Fields.model_fields),
    "milestones": tuple(_MilestoneFields.model_fields),
    "reference": tuple(_StepFields.model_fields),
}


def local(
    questions: Path,
    *,
    videos: Path | None = None,
    name: str = "local",
    allow_absolute: bool = False,
) -> Benchmark:
    """Return the questions of a file.

    Parameters
    ----------
    questions
        A `.jsonl`, `.json`, `.csv`, `.yaml` or `.yml` file; docs/guides/own-questions.md lists
        its fields.
    videos
        The folder that video and subtitle paths are relative to, and that they must not leave;
        by default the folder of the question file.
    name
        Name of the benchmark.
    allow_absolute
        Whether absolute paths may point outside that folder.

    Raises
    ------
    InvalidQuestion
        If the file cannot be read or any row cannot be used; every bad row is listed with its
        line. A video that does not exist is no error here: its questions count as not available.
    """
    root = (videos or questions.parent).resolve()
    problems = RowProblems(f"question file {str(questions)!r}")
    good = problems.read(
        read_rows(questions),
        lambda row: _question(row, root, allow_absolute=allow_absolute),
        identity=lambda question: question.question_id,
        repeated=lambda question, earlier: (
            f"the id {question.question_id!r} is used on {earlier} already"
        ),
    )
    problems.raise_if_any()
    if not good:
        raise InvalidQuestion(f"question file {str(questions)!r} has no questions")
    version = sha256_of([question.content_sha256 for question in good])[:12]
    return Benchmark(name=name, version=version, questions=tuple(good))


def _question(row: LocalRow, root: Path, *, allow_absolute: bool) -> Question:
    strange = no_numbers(row.values)
    if strange:
        raise InvalidQuestion(
            f"field {strange[0]!r:.80} is NaN or an infinity, which no field can be; leave it out, or "
            "put it in quotes where it is a text"
        )
    try:
        fields = _Fields.model_validate(_as_written(row.values))
    except ValidationError as error:
        raise InvalidQuestion("; ".join(described_problems(error, _KNOWN))) from error
    answer_index, answer_text = _truth(fields)
    video = _inside(fields.video_path, root, "video_path", allow_absolute=allow_absolute)
    subtitles = fields.subtitles_path and _inside(
        fields.subtitles_path, root, "subtitles_path", allow_absolute=allow_absolute
    )
    question_id = safe_question_id(fields.question_id)
    return Question(
        question_id=question_id,
        raw_id=fields.raw_id or (fields.question_id if question_id != fields.question_id else None),
        text=fields.text,
        video_id=fields.video_id or _without_suffix(fields.video_path),
        video_path=str(video),
        options=tuple(fields.options),
        answer_index=answer_index,
        answer_text=answer_text,
        accepted_answers=tuple(fields.accepted_answers),
        subtitles_path=str(subtitles) if subtitles else None,
        video_duration_s=fields.video_duration_s,
        attributes=fields.attributes,
        multi_attributes={name: tuple(found) for name, found in fields.multi_attributes.items()},
        skills=tuple(fields.skills),
        capabilities=tuple(fields.capabilities),
        sweep=fields.sweep,
        explanation=fields.explanation,
        reference=tuple(ReferenceStep(**step.model_dump()) for step in fields.reference),
        milestones=_milestones(fields.milestones),
        licence=fields.licence,
    )


def _as_written(value: object) -> object:
    """Return a value whose numbers of JSON are the texts that they were; fields make numbers of them."""
    if isinstance(value, WrittenFloat):
        return value.written
    if isinstance(value, dict):
        return {
            name: _as_written(item) for name, item in cast("dict[object, object]", value).items()
        }
    if isinstance(value, list):
        return [_as_written(item) for item in cast("list[object]", value)]
    return value


def _milestones(written: Sequence[_MilestoneFields]) -> tuple[Milestone, ...]:
    found: list[Milestone] = []
    places: dict[str, int] = {}
    for at, step in enumerate(written):
        name = step.milestone_id or f"m{at + 1}"
        earlier = places.setdefault(name.casefold(), at)
        if earlier != at:
            raise InvalidQuestion(
                f"field 'milestones.{at}' has the id {name!r:.70}, which 'milestones.{earlier}' has "
                "already; give each its own, different also without regard to case"
            )
        found.append(
            Milestone(
                milestone_id=name,
                text=step.text,
                kind=step.kind,
                start_s=step.start_s,
                end_s=step.end_s,
            )
        )
    return tuple(found)


def _truth(fields: _Fields) -> tuple[int | None, str | None]:
    """Return the true option or the true text, out of whichever field says it."""
    given = [
        name
        for name in ("answer", "answer_index", "answer_text")
        if getattr(fields, name) is not None
    ]
    if len(given) != 1:
        raise InvalidQuestion(
            f"{' and '.join(given) or 'no answer'} given; give one of answer, answer_index, "
            "answer_text"
        )
    if not fields.options:
        if fields.answer_index is not None:
            raise InvalidQuestion(f"answer_index {fields.answer_index!r:.60} without options")
        return None, fields.answer if fields.answer_text is None else fields.answer_text
    if fields.answer_text is not None:
        raise InvalidQuestion("answer_text is for open questions; with options give answer")
    if fields.answer_index is not None:
        return fields.answer_index, None
    answer = (fields.answer or "").strip()
    labels = option_labels(len(fields.options))
    matches = [i for i, option in enumerate(fields.options) if option.strip() == answer]
    by_label = [i for i, label in enumerate(labels) if label == answer.upper()]
    if matches and by_label and matches != by_label:
        raise InvalidQuestion(
            f"answer {answer!r:.60} is the label of one option and the text of another; "
            "give answer_index (from 0) instead"
        )
    found = matches or by_label
    if len(found) != 1:
        raise InvalidQuestion(
            f"answer {answer!r:.60} is neither one of the labels {labels[0]} to {labels[-1]} nor the "
            "text of one option"
        )
    return found[0], None


def _without_suffix(path: str) -> str:
    """Return a path without its ending, for the video's id; the last part needs no name."""
    plain = PurePath(path)
    return (plain.with_suffix("") if plain.name else plain).as_posix()


def _inside(path: str, root: Path, field: str, *, allow_absolute: bool) -> Path:
    """Return the resolved path, which must stay in the root unless absolute ones are allowed.

    Links are followed first, so that a link inside cannot lead outside.
    """
    is_absolute = Path(path).is_absolute()
    resolved = named_path(root, path, field)
    if resolved.is_relative_to(root) or (is_absolute and allow_absolute):
        return resolved
    hint = (
        "set allow_absolute to permit absolute paths" if is_absolute else "put the file inside it"
    )
    raise InvalidQuestion(f"{field} {path!r:.80} leaves the folder {str(root)!r}; {hint}")
