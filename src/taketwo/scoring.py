"""Scoring a study from its logs: answers and trajectories judged once each, and the table of outcomes.

No agent runs here and no log is touched: what a judge says goes into parts of `judgements/`, keyed
by the content that was judged, and everything else is made anew from the logs and those parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from taketwo.added_scoring import AnswerStandIn, StudyScoring, remember, study_scoring
from taketwo.errors import RequestError
from taketwo.executions.logs import UnknownLayout, collect
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.executions.trajectory import Trajectory
from taketwo.executions.trajectory_table import write_trajectories
from taketwo.outcomes.build import outcomes_of
from taketwo.outcomes.labels import labels_by
from taketwo.outcomes.references import reference_requests, references_of
from taketwo.outcomes.table import Outcomes
from taketwo.scores.grading import Grader
from taketwo.scores.judge_failures import read_failures, write_failures
from taketwo.scores.judge_work import JudgeWork
from taketwo.scores.judgement_pool import JudgementPool, asking
from taketwo.scores.judgements import Judgement
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.served_models import require_one_served_model
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.study_folder import StudyFolder

__all__ = ["JudgeWork", "Scored", "by_engine", "model_specs", "score"]


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What scoring did: the table, the work of each judge, and what is still without a label.

    `judged` counts the answers that were labelled now, `failures` are the causes of those that could not
    be, `pending` how many still need the judge. `references` are the judged curated trajectories, one row
    a question; None where there are none.
    """

    outcomes: Outcomes
    trajectories: tuple[Trajectory, ...]
    judged: int
    failures: tuple[str, ...]
    pending: int
    work: tuple[JudgeWork, ...] = field(default=())
    references: pl.DataFrame | None = None


def score(
    study: Path | str,
    *,
    judge: bool = True,
    judges: Sequence[str] = (),
    trajectory_judges: Sequence[str] = (),
    stand_in: str | None = None,
    judgements: Path | str | None = None,
    answers_only: bool = False,
    on_work: Callable[[str], None] | None = None,
) -> Scored:
    """Judge the answers and trajectories of a study from its logs and write its outcomes.

    Parameters
    ----------
    judge
        With False no model is called: what needs a judge and has no label stays `not_judged`.
    judges, trajectory_judges
        Further judges of answers and of trajectories by name; their labels stand beside those of
        the plan's judges and never replace them. Where the plan has no judge of trajectories, the
        first of `trajectory_judges` becomes the study's, and where the plan's gave no label at all
        it stands in for it; both are marked as not as planned.
    stand_in
        A judge of answers in the place of the plan's one, which cannot be asked any more. The plan's
        is asked once more first, and only where it gives no label and leaves answers without one
        does the other one label all answers, is remembered, and counts from then on. Labels of the
        two are never mixed; every page is marked as not as planned.
    judgements
        A folder of labels that several studies share. New labels go there, and those that this
        study uses are kept in its own folder as well.
    answers_only
        Leaves trajectories as they are.
    on_work
        Told before each judge is asked: how many requests, and of whom.

    Raises
    ------
    RequestError
        If a judge's name is no model's, or no question has milestones to judge trajectories by. If a
        judge cannot be asked (a key is missing), or nobody stands in for one that can, after the
        others were asked, with the tables written.
    """
    where = StudyFolder.locate(Path(study))
    frozen = where.plan()
    further = _beside_the_planned(frozen, judges)
    instead = _beside_the_planned(frozen, () if stand_in is None else (stand_in,))
    if instead and not judge:
        raise RequestError(
            f"the plan's judge is asked before {stand_in} stands in for it; score without --no-judge"
        )
    process = study_scoring(where.folder, frozen, model_specs(trajectory_judges))
    trajectories = collect(where.folder, frozen, read_unknown=by_engine)
    shared = None if judgements is None else Path(judgements)
    if judge and any(cell.run_status != "not_run" for cell in trajectories):
        asked = _ask(
            where,
            frozen,
            trajectories,
            shared,
            further,
            instead,
            process,
            answers_only=answers_only,
            on_work=on_work or _silent,
        )
    else:
        asked = _Asked(
            pool=JudgementPool(where.judgements, shared), failed=read_failures(where.folder)
        )
    pool = asked.pool
    if asked.stand_in is not None:
        process = process.with_answers(asked.stand_in)
    primary = process.answer_judge(frozen)
    name = None if primary is None else primary.name
    grader = Grader(frozen, pool.answers, pool.extractions, failed=asked.failed.keys(), judge=name)
    process, labels = _labels(frozen, process, asked, trajectories)
    answers_used = grader.judgements_in_use(trajectories)
    trajectories_used = () if labels is None else labels.in_use(trajectories)
    remember(where.folder, process, is_judged=bool(trajectories_used))
    pool.keep(
        {item.question.question_id for item in frozen.questions},
        {item.key for item in (*answers_used, *trajectories_used)},
    )
    _require_one_served(frozen, process, answers_used, trajectories_used)
    outcomes = outcomes_of(
        frozen,
        trajectories,
        labels_by(grader),
        None if labels is None else labels.process_of,
    )
    write_trajectories(where.folder / "trajectories.parquet", trajectories)
    outcomes.write(where.folder / "outcomes.parquet")
    if asked.unasked:
        raise RequestError("\n".join(asked.unasked))
    counted = _primary(name, asked.work)
    return Scored(
        outcomes=outcomes,
        trajectories=trajectories,
        judged=sum(item.done for item in counted),
        failures=tuple(sorted(cause for item in counted for cause in item.failures)),
        pending=len(grader.pending(trajectories)) + len(grader.pending_extractions(trajectories)),
        work=asked.work,
        references=references_of(frozen, process.scoring, pool.trajectories),
    )


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The labels after judges were asked, what they did, what failed, and who could not be asked."""

    pool: JudgementPool
    failed: Mapping[str, str]
    work: tuple[JudgeWork, ...] = ()
    unasked: tuple[str, ...] = ()
    stand_in: AnswerStandIn | None = None


def _ask(
    where: StudyFolder,
    frozen: Plan,
    trajectories: Sequence[Trajectory],
    shared: Path | None,
    further: Sequence[ModelSpec],
    instead: Sequence[ModelSpec],
    process: StudyScoring,
    *,
    answers_only: bool,
    on_work: Callable[[str], None],
) -> _Asked:
    """Ask the judges of answers, one instead of the plan's where it cannot be asked, and those of trajectories."""
    from taketwo.answer_stand_in import ask_stand_in  # heavy: on call
    from taketwo.judging import Judging

    current = process.answer_judge(frozen)
    stand_in: AnswerStandIn | None = None
    refused: list[str] = []
    with asking(where.judgements, *([] if shared is None else [shared])):
        pool = JudgementPool(where.judgements, shared)
        pool.share()
        judging = Judging(frozen, pool, trajectories, on_work)
        judging.options()
        if current is not None:
            judging.answers((current, *frozen.scoring.judges, *further))
            try:
                for judge in instead:
                    stand_in = ask_stand_in(
                        judging, pool, frozen, trajectories, current=current, judge=judge
                    )
                    judging.unasked.pop(current.name, None)
            except RequestError as error:
                refused.append(str(error))
        if not answers_only and process.scoring is not None:
            judging.trajectories(
                process.scoring, process.further, reference_requests(frozen, process.scoring)
            )
    earlier = read_failures(where.folder) if answers_only else {}
    failed = {**earlier, **judging.failed}
    write_failures(where.folder, failed)
    return _Asked(
        pool=pool,
        failed=failed,
        work=tuple(judging.work),
        unasked=tuple(dict.fromkeys((*judging.unasked.values(), *refused))),
        stand_in=stand_in,
    )


def _labels(
    frozen: Plan, process: StudyScoring, asked: _Asked, trajectories: Sequence[Trajectory]
) -> tuple[StudyScoring, ProcessLabels | None]:
    """Return whose judgements of trajectories count.

    Where the judge has given none at all, the first further judge that has stands in for it.
    """
    if process.scoring is None:
        return process, None

    def of(scoring: TrajectoryScoring) -> ProcessLabels:
        return ProcessLabels(frozen, scoring, asked.pool.trajectories, failed=asked.failed.keys())

    own = of(process.scoring)
    if process.further and not own.in_use(trajectories):
        for judge in process.further:
            other = process.with_stand_in(judge)
            if other.scoring is not None and of(other.scoring).in_use(trajectories):
                return other, of(other.scoring)
    return process, own


def _primary(judge: str | None, work: Sequence[JudgeWork]) -> list[JudgeWork]:
    """Return the work on which the table's accuracies rest."""
    return [
        item
        for item in work
        if item.what == "options" or (item.what == "answers" and item.judge == judge)
    ]


def _require_one_served(
    frozen: Plan,
    process: StudyScoring,
    answers: Sequence[Judgement],
    trajectories: Sequence[TrajectoryJudgement],
) -> None:
    """Refuse labels that bear one judge's name and were given by different models behind it."""
    judge = process.answer_judge(frozen)
    if judge is not None:
        require_one_served_model(answers, judge.name)
    if process.scoring is not None:
        require_one_served_model(trajectories, process.scoring.judge.name)


def _beside_the_planned(frozen: Plan, names: Sequence[str]) -> tuple[ModelSpec, ...]:
    """Return the judges of answers that are named; the plan must have one, which they stand beside."""
    found = model_specs(names)
    if found and frozen.judge is None:
        raise RequestError(
            f"the plan of study {frozen.study!r} has no judge of answers, and further ones only stand "
            "beside it; add models: {judge: provider/model} and freeze a new study"
        )
    return found


def model_specs(names: Sequence[str]) -> tuple[ModelSpec, ...]:
    """Return the judges that are named, each once.

    Raises
    ------
    RequestError
        If a name is not `provider/model`, or nobody brings its provider.
    """
    for name in names:
        provider, _, model = name.partition("/")
        if not provider or not model or any(character.isspace() for character in name):
            raise RequestError(f"{name!r} is no model: write provider/model, such as openai/gpt-4o")
    if names:
        from taketwo.executions.model_providers import provider_problem  # heavy: on call

        problems = [problem for name in names if (problem := provider_problem(name)) is not None]
        if problems:
            raise RequestError("; ".join(dict.fromkeys(problems)))
    return tuple(ModelSpec(name=name) for name in dict.fromkeys(names))


def _silent(_text: str) -> None:
    return None


def by_engine(log: Path) -> Sequence[Trajectory]:
    """Return the cells of a log whose layout only the engine knows."""
    try:
        from taketwo.executions.logs_by_engine import read_log  # heavy: on call
    except ModuleNotFoundError as error:
        raise UnknownLayout(
            f"{log}: the layout of this log is not known; to read it by the engine install "
            "'taketwo[run]'"
        ) from error
    return tuple(read_log(log))
