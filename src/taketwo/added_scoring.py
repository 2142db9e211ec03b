"""Who judges the answers and trajectories of a study: as its plan says, or as was asked for after it was frozen.

What is chosen later is kept beside the plan, and every page about the study says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.study_folder import write_json

__all__ = ["AnswerStandIn", "StudyScoring", "remember", "study_scoring"]

FORMAT = "taketwo.added-scoring/2"
_FORMATS = ("taketwo.added-scoring/1", FORMAT)
_NAME = "added-scoring.json"


@dataclass(frozen=True, kw_only=True)
class AnswerStandIn:
    """A judge of answers in the place of `replaced`, which could not be asked any more.

    Of the `wanted` labels (distinct answers and repeats) that the study needed, `labelled` were there
    from the replaced judge; `cause` says what became of the first of the others.
    """

    judge: ModelSpec
    replaced: str
    labelled: int
    wanted: int
    cause: str

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it is kept beside the plan."""
        return {**asdict(self), "judge": self.judge.to_json()}

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> AnswerStandIn:
        """Read what `to_json` wrote."""
        return cls(
            judge=ModelSpec.from_json(cast("Mapping[str, JsonValue]", record["judge"])),
            replaced=str(record["replaced"]),
            labelled=int(cast("int", record["labelled"])),
            wanted=int(cast("int", record["wanted"])),
            cause=str(record["cause"]),
        )

    @property
    def reason(self) -> str:
        """Return why a page is marked as not as planned."""
        kept = (
            "gave no label"
            if not self.labelled
            else f"labelled {self.labelled:,} of {self.wanted:,} and none when it was asked last; its labels "
            "are in no accuracy of the comparison, and stand beside it in the report"
        )
        return (
            f"answers are judged by {self.judge.name}, which was chosen after the plan was frozen, "
            f"instead of {self.replaced}, which {kept}"
        )


@dataclass(frozen=True, kw_only=True)
class StudyScoring:
    """How trajectories are judged, None where they are not; `is_added` says that the plan does not say it.

    `further` are judges that were asked for beside those of `scoring`. `replaced` names the judge of
    the plan where another one stands in for it, since it gave no label. `answers` is the judge that
    stands in for the plan's judge of answers, None where the plan's own counts.
    """

    scoring: TrajectoryScoring | None
    is_added: bool = False
    further: tuple[ModelSpec, ...] = ()
    replaced: str | None = None
    answers: AnswerStandIn | None = None

    def with_stand_in(self, judge: ModelSpec) -> StudyScoring:
        """Return the scoring with another judge of trajectories in place of the plan's."""
        if self.scoring is None:
            return self
        return replace(
            self,
            scoring=replace(self.scoring, judge=judge),
            is_added=True,
            further=tuple(other for other in self.further if other != judge),
            replaced=self.scoring.judge.name,
        )

    def with_answers(self, stand_in: AnswerStandIn) -> StudyScoring:
        """Return the scoring with another judge of answers, which may itself follow one that stood in."""
        if self.answers is not None:
            replaced = f"{stand_in.replaced} (which stood in for {self.answers.replaced})"
            stand_in = replace(stand_in, replaced=replaced)
        return replace(self, answers=stand_in)

    def answer_judge(self, plan: Plan) -> ModelSpec | None:
        """Return the judge whose labels of answers count; None where nobody judges them."""
        return plan.judge if self.answers is None else self.answers.judge

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why a page is marked as not as planned."""
        found: list[str] = []
        if self.answers is not None:
            found.append(self.answers.reason)
        if self.is_added and self.scoring is not None:
            instead = (
                "" if self.replaced is None else f" instead of {self.replaced}, which gave no label"
            )
            found.append(
                f"trajectories are judged by {self.scoring.judge.name}{instead}, which was chosen "
                "after the plan was frozen"
            )
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class _Added:
    """What the folder remembers."""

    trajectories: TrajectoryScoring | None = None
    answers: AnswerStandIn | None = None


def study_scoring(folder: Path, plan: Plan, asked: Sequence[ModelSpec] = ()) -> StudyScoring:
    """Return who judges the answers and trajectories of the study in `folder`.

    A judge of trajectories that the plan does not name becomes the study's own where the plan has
    none, and is remembered by `remember`; where the plan has one, it is a further one.

    Raises
    ------
    RequestError
        If a judge is asked for and no question has milestones.
    InvalidResults
        If what the folder remembers cannot be read.
    """
    added = _read(folder / _NAME)
    planned = plan.scoring.trajectories
    scoring = planned if added.trajectories is None else added.trajectories
    if asked and not any(item.question.milestones for item in plan.questions):
        raise RequestError(
            f"trajectories are judged against milestones, and none of the {len(plan.questions)} "
            "questions has any; add milestones to the questions and freeze a new study"
        )
    if scoring is None and asked:
        scoring = TrajectoryScoring(judge=asked[0])
    known = (
        set[str]()
        if scoring is None
        else {scoring.judge.name, *(judge.name for judge in scoring.judges)}
    )
    return StudyScoring(
        scoring=scoring,
        is_added=scoring is not None and (planned is None or added.trajectories is not None),
        replaced=None if planned is None or added.trajectories is None else planned.judge.name,
        further=tuple(judge for judge in asked if judge.name not in known),
        answers=added.answers,
    )


def remember(folder: Path, process: StudyScoring, *, is_judged: bool) -> None:
    """Make judges that the plan does not name the study's own, from now on.

    `is_judged` says whether the judge of trajectories gave a label; one that gave none is not kept.
    """
    trajectories = process.scoring if process.is_added and is_judged else None
    if trajectories is None and process.answers is None:
        return
    known = _read(folder / _NAME).trajectories if trajectories is None else trajectories
    record: JsonValue = {
        "format": FORMAT,
        "trajectories": None if known is None else known.to_json(),
        "answers": None if process.answers is None else process.answers.to_json(),
    }
    write_json(folder / _NAME, record)


def _read(path: Path) -> _Added:
    if not path.is_file():
        return _Added()
    try:
        record = cast("Mapping[str, JsonValue]", json.loads(path.read_bytes()))
        if record["format"] not in _FORMATS:
            raise ValueError(f"format is {record['format']!r}, expected {FORMAT!r}")
        trajectories = cast("Mapping[str, JsonValue] | None", record["trajectories"])
        answers = cast("Mapping[str, JsonValue] | None", record.get("answers"))
        return _Added(
            trajectories=None
            if trajectories is None
            else TrajectoryScoring.from_json(trajectories),
            answers=None if answers is None else AnswerStandIn.from_json(answers),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: not what `taketwo score --trajectory-judge` or `--stand-in` writes ({error}); "
            "remove the file and name the judge again"
        ) from error
