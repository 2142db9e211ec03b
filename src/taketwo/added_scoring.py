"""Who judges the trajectories of a study: as its plan says, or as somebody asked for after it was frozen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.study_folder import write_json

__all__ = ["StudyScoring", "remember", "study_scoring"]

FORMAT = "taketwo.added-scoring/1"
_NAME = "added-scoring.json"


@dataclass(frozen=True, kw_only=True)
class StudyScoring:
    """How trajectories are judged, None where they are not; `is_added` says that the plan does not say it.

    `further` are judges that were asked for beside those of `scoring`. `replaced` names the judge of
    the plan where another one stands in for it, since it gave no label.
    """

    scoring: TrajectoryScoring | None
    is_added: bool = False
    further: tuple[ModelSpec, ...] = ()
    replaced: str | None = None

    def with_stand_in(self, judge: ModelSpec) -> StudyScoring:
        """Return the scoring with another judge in place of the plan's."""
        if self.scoring is None:
            return self
        return replace(
            self,
            scoring=replace(self.scoring, judge=judge),
            is_added=True,
            further=tuple(other for other in self.further if other != judge),
            replaced=self.scoring.judge.name,
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why a page is marked as not as planned."""
        if not self.is_added or self.scoring is None:
            return ()
        instead = (
            "" if self.replaced is None else f" instead of {self.replaced}, which gave no label"
        )
        return (
            f"trajectories are judged by {self.scoring.judge.name}{instead}, which was chosen after "
            "the plan was frozen",
        )


def study_scoring(folder: Path, plan: Plan, asked: Sequence[ModelSpec] = ()) -> StudyScoring:
    """Return who judges the trajectories of the study in `folder`.

    A judge that an earlier request made the study's comes before the plan's, which had given no label
    then. Where neither names one, it is the first of `asked`, blind
    and by the standard rubric; `remember` makes it the study's.

    Raises
    ------
    RequestError
        If a judge is asked for and no question has milestones.
    InvalidResults
        If what the folder remembers cannot be read.
    """
    path = folder / _NAME
    planned = plan.scoring.trajectories
    added = _read(path)
    scoring = planned if added is None else added
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
        is_added=scoring is not None and (planned is None or added is not None),
        replaced=None if planned is None or added is None else planned.judge.name,
        further=tuple(judge for judge in asked if judge.name not in known),
    )


def remember(folder: Path, process: StudyScoring) -> None:
    """Make a judge that the plan does not name the study's own, from now on."""
    if process.is_added and process.scoring is not None:
        record: JsonValue = {"format": FORMAT, "trajectories": process.scoring.to_json()}
        write_json(folder / _NAME, record)


def _read(path: Path) -> TrajectoryScoring | None:
    if not path.is_file():
        return None
    try:
        record = cast("Mapping[str, JsonValue]", json.loads(path.read_bytes()))
        if record["format"] != FORMAT:
            raise ValueError(f"format is {record['format']!r}, expected {FORMAT!r}")
        return TrajectoryScoring.from_json(cast("Mapping[str, JsonValue]", record["trajectories"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: not what `taketwo score --trajectory-judge` writes ({error}); remove the file "
            "and name the judge again"
        ) from error
