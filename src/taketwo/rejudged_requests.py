"""What a run that is judged again was asked: its questions by number, and the requests to the judge.

The questions are those of AgentVidBench's data set, or those of a study of ours that the run folder
was exported from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidQuestion, InvalidResults
from taketwo.executions.log_json import items, text, whole
from taketwo.executions.scoring_spec import Protocol
from taketwo.scores.formats.run_folder import OWN_FILE, AgentVidBenchRun, RunItem
from taketwo.scores.formats.run_folder_files import RunFiles
from taketwo.scores.formats.run_folder_steps import without_identity
from taketwo.scores.formats.run_folder_writing import numbered
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_text import RenderedTrajectory, rendered, rendered_prediction
from taketwo.study_folder import StudyFolder

__all__ = [
    "AskedQuestions",
    "asked_questions",
    "questions_without_record",
    "request_of",
    "require_asked",
    "says_what_was_asked",
]

_UNJUDGED = ("agent_error", "provider_error", "media_error", "not_run")
_SHOWN = 80
_HEADER = re.compile(r"\A\ufeff?=== [^\n]* trajectory \([^\n]*\) ===\s+Question:")
_BODY = re.compile(r"^(?:Metrics: n_steps=|\[Step 1\])", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class AskedQuestions:
    """Questions by their numbers in a run folder; of a study the hash of its plan as well."""

    place: Path
    by_number: Mapping[int, Question]
    plan_sha256: str | None = None


def asked_questions(source: Path, questions: Path) -> AskedQuestions:
    """Return the questions of a data set or a study by the numbers that they have in a run folder.

    Parameters
    ----------
    source
        The run folder. Its `taketwo.json`, where there is one, says which question of a study has
        which number; without it ids that are numbers are the numbers.
    questions
        The data set's folder, or a study's: its folder with `plan.json`, or its YAML file.

    Raises
    ------
    InvalidQuestion
        If it is neither, or the data set cannot be used.
    InvalidResults
        If nothing says which question of the study has which number.
    DataError
        If the study has no plan, or one that cannot be read.
    """
    is_file = questions.is_file() and questions.suffix in {".yaml", ".yml"}
    if is_file or any((questions / name).is_file() for name in ("plan.json", "study.yaml")):
        return _of_study(source, questions)
    if not (questions / "questions.jsonl").is_file():
        what = "is not there" if not questions.exists() else "has neither of the two"
        raise InvalidQuestion(
            f"{questions}: {what}; name with --questions the folder of the data set (with "
            "questions.jsonl in it) or a study (its folder with plan.json, or its YAML file)"
        )
    found = agentvidbench(questions, transcripts=False).questions
    return AskedQuestions(
        place=questions, by_number={int(question.question_id): question for question in found}
    )


def _of_study(source: Path, study: Path) -> AskedQuestions:
    plan = StudyFolder.locate(study).plan()
    numbers = _numbers(source, study, [item.question for item in plan.questions])
    return AskedQuestions(place=study, by_number=numbers, plan_sha256=plan.sha256)


def _numbers(source: Path, study: Path, planned: Sequence[Question]) -> dict[int, Question]:
    files = RunFiles(source)
    own = files.json(source / OWN_FILE) or {}
    files.raise_if_any()
    by_id = {question.question_id: question for question in planned}
    ids = {whole(entry, "question_id"): text(entry, "id") for entry in items(own, "questions")}
    if ids:
        return {
            number: by_id[name]
            for number, name in ids.items()
            if number is not None and name is not None and name in by_id
        }
    numbers = numbered(planned)
    unlike = [
        name for name, number in numbers.items() if str(number) != (by_id[name].raw_id or name)
    ]
    if unlike:
        raise InvalidResults(
            f"{source}: no {OWN_FILE} in it that says which question of {study} has which number, and "
            f"the ids there are no numbers (first {unlike[0]}); name the study that the run folder was "
            "exported from, and the folder as it was exported"
        )
    return {number: by_id[name] for name, number in numbers.items()}


def require_asked(run: AgentVidBenchRun, asked: AskedQuestions) -> None:
    """Check that the run was asked the questions that have its numbers.

    Raises
    ------
    InvalidResults
        If questions of it are not there, or other ones; all of them are named.
    """
    known, place = asked.by_number, asked.place
    absent = [item.question_id for item in run.items if item.question_id not in known]
    others = {
        item.question_id: (said, known[item.question_id].text)
        for item in run.items
        if item.question_id in known
        for said in _asked(item)
        if _folded(said) != _folded(known[item.question_id].text)
    }
    problems: list[str] = []
    if absent:
        problems.append(
            f"{len(absent)} of {len(run.items)} questions are not in {place}, first {absent[0]}"
        )
    if others:
        first, (said, there) = next(iter(others.items()))
        problems.append(
            f"{len(others)} of {len(run.items)} questions are others in {place} by the same numbers: "
            f"{', '.join(map(str, others))}; of {first} the run says {_clipped(said)}, those questions "
            f"{_clipped(there)}"
        )
    if problems:
        raise InvalidResults(
            f"{run.path}: {'; '.join(problems)}; name the data set or study that the run was made on"
        )


def says_what_was_asked(run: AgentVidBenchRun, item: RunItem, asked: AskedQuestions) -> bool:
    """Return whether the files of an item tell its question: its text, or the plan that the run is of."""
    is_of_plan = item.own_id is not None and text(run.own, "plan_sha256") == asked.plan_sha256
    return (is_of_plan and asked.plan_sha256 is not None) or bool(_asked(item))


def _asked(item: RunItem) -> list[str]:
    """Return what the files of an item say was asked: its steps and their text, as far as they do.

    A reply of a single turn is the model's own, whatever it looks like, and says nothing of the kind.
    """
    if item.normalized is None:
        return []
    said = [text(item.normalized, "question_text") or ""]
    written = item.text or ""
    head = _HEADER.match(written)
    body = None if head is None else _BODY.search(written, head.end())
    if head is not None and body is not None:
        said.append(written[head.end() : body.start()])
    return [words for words in said if words.strip() not in {"", "None"}]


def _folded(words: str) -> str:
    """Return a text such that spaces, line ends and ways to write an accent make no difference."""
    return "".join(unicodedata.normalize("NFC", words).split())


def _clipped(words: str) -> str:
    shown = " ".join(words.split())
    return repr(shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...")


def questions_without_record(run: AgentVidBenchRun, asked: AskedQuestions) -> dict[int, Question]:
    """Return the questions that the run was given and left no record of, as far as that is certain.

    Without a summary, or with a total of all the questions, the run was given all of them; with
    another total nobody knows which questions the others were.
    """
    known = asked.by_number
    if run.total is not None and run.total != len(known):
        return {}
    there = {item.question_id for item in run.items}
    return {number: question for number, question in sorted(known.items()) if number not in there}


def request_of(
    item: RunItem, question: Question, *, system: str, protocol: Protocol, rubric: str
) -> TrajectoryRequest | None:
    """Return what the judge is to be asked; None for a trajectory that did not end, or without milestones."""
    if item.run_status in _UNJUDGED or item.text is None or not question.milestones:
        return None
    return TrajectoryRequest(
        question=question,
        trajectory=_shown(item, system, protocol),
        protocol=protocol,
        rubric=rubric,
    )


def _shown(item: RunItem, system: str, protocol: Protocol) -> RenderedTrajectory:
    """Return what the judge reads: the text as recorded, or the steps without what names anybody.

    What we wrote ourselves reads as in the study, a reply of a single turn too.
    """
    written = item.text or ""
    if protocol == "published":
        return rendered_prediction(written, system=system)
    if item.trajectory is not None and (item.normalized is not None or item.own_id is not None):
        return rendered(item.trajectory, system=system)
    return rendered_prediction(without_identity(written), system=system)
