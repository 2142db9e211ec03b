"""SAGE's rows as questions to a judge of answers: what was asked, what is true, what was answered.

Traces and reference trajectories (`reasoning_steps`, which nearly tell the answer) are in no request.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidQuestion, InvalidResults
from taketwo.executions.log_json import Json, encodable, part, text, texts, whole
from taketwo.outcomes.imports.sage_lines import sage_lines
from taketwo.outcomes.imports.sources import Line, Source, text_of
from taketwo.scores.formats.run_folder_summary import OWN_KEY
from taketwo.scores.formats.sage_trace import ending_of, join_id
from taketwo.scores.grading import JudgeRequest

__all__ = ["SageAnswer", "sage_answers"]

_MOST_FAULTS = 50
_FAILED = ("agent_error", "provider_error", "media_error", "not_run")
_GIVEN_UP = ("abstained", "limit")


@dataclass(frozen=True, kw_only=True)
class SageAnswer:
    """A row of a SAGE file whose answer can be judged.

    `place` is where it stands (`line 3`), `index` its number from 0. `request` is what the judge is asked:
    the question as it was put, the truth and the answer; None where there is no answer, where a cell of
    ours gave up or came to a limit, or where the run failed by an error, which `failure` tells.
    """

    place: str
    index: int
    record: Json
    video: str
    request: JudgeRequest | None
    failure: str | None

    @property
    def before(self) -> bool | None:
        """Return the verdict that the row has; false without a reasoning was a failed request."""
        verdict = self.record.get("is_correct")
        is_unsaid = self.record.get("evaluation_reasoning", "") is None
        if not isinstance(verdict, bool) or (
            not verdict and is_unsaid and self.request is not None
        ):
            return None
        return verdict


def sage_answers(source: Source) -> list[SageAnswer]:
    """Return the rows of a file of answers or of scores, in their order.

    Rows that ask the same of the same video all stay: each is judged for itself.

    Raises
    ------
    InvalidResults
        If the file holds no row, or rows that cannot be used: every one is named with line and field.
    """
    faults: list[str] = []
    found: list[SageAnswer] = []
    for position, line in enumerate(sage_lines(source, faults)):
        problems = _problems(line.record)
        if not problems:
            try:
                found.append(_row(line, position))
            except InvalidQuestion as error:
                problems.append(str(error))
        faults += [f"{source.path}, {line.place}: {problem}" for problem in problems]
    if faults:
        more = [f"and {len(faults) - _MOST_FAULTS} more"] if len(faults) > _MOST_FAULTS else []
        raise InvalidResults("\n".join([*faults[:_MOST_FAULTS], *more]))
    if not found:
        raise InvalidResults(
            f"{source.path}: no row in it; name a file of SAGE's answers or scores"
        )
    return found


def _problems(record: Json) -> list[str]:
    """Return what a row lacks, each with its field."""
    problems: list[str] = []
    if not (text(record, "question") or "").strip():
        problems.append(_told(record, "question", "a text"))
    if not _video(record):
        name = "video_path" if "video_path" in record else "path"
        problems.append(_told(record, name, "a text"))
    if "answer" not in record:
        problems.append(_told(record, "answer", "a text, or null where nothing was answered"))
    if not _truth(record) or isinstance(record.get("full_answer"), (dict, list)):
        problems.append(_told(record, "full_answer", "the true answer as a text"))
    verdict = record.get("is_correct")
    if verdict is not None and not isinstance(verdict, bool):
        problems.append(_told(record, "is_correct", "true, false or null"))
    return problems


def _told(record: Json, name: str, expected: str) -> str:
    found = f"is {record[name]!r:.40}" if name in record else "is not there"
    return f"field {name!r} {found}, expected {expected}"


def _video(record: Json) -> str:
    return text(record, "video_path") or text(record, "path") or ""


def _truth(record: Json) -> tuple[str, ...]:
    """Return the true answer, its letter where the row has one, and the other forms that we wrote of it.

    A letter that is null is none.
    """
    forms = [text_of(record.get(name)) for name in ("full_answer", "correct_answer")]
    forms += texts(part(record, OWN_KEY), "accepted_answers")
    return tuple(dict.fromkeys(encodable(form) for form in forms if form))


def _row(line: Line, position: int) -> SageAnswer:
    record = line.record
    asked, video, own = text(record, "question") or "", _video(record), part(record, OWN_KEY)
    truth, *further = _truth(record)
    question = Question(
        question_id=text(own, "question_id") or join_id(video, asked),
        text=asked,
        video_id=PurePosixPath(video.replace("\\", "/")).stem or "video",
        video_path=video,
        answer_text=truth,
        accepted_answers=tuple(further),
    )
    index = whole(record, "index")
    answer = record.get("answer")
    said = "" if answer is None else encodable(str(answer))
    failure: str | None = None
    is_given_up = not said.strip()
    if "run_status" in own:
        ending, why = ending_of(answer, own, is_correct=record.get("is_correct"))
        failure = (why or ending) if ending in _FAILED else None
        is_given_up = is_given_up or ending in _GIVEN_UP
    return SageAnswer(
        place=line.place,
        index=position if index is None else index,
        record=record,
        video=video,
        request=None
        if failure is not None or is_given_up
        else JudgeRequest(question=question, answer=said),
        failure=failure,
    )
