"""Measuring the judge of a study's trajectories: its scores against right and wrong answers, others, and tricks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from taketwo.added_scoring import study_scoring
from taketwo.audit_input import AuditedCell, AuditInput
from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.media.store import write_atomically
from taketwo.scores.judge_audit.audit_findings import JudgeAudit
from taketwo.scores.judge_audit.audit_presets import AuditScope, audit_design, expected_calls
from taketwo.scores.judge_audit.human_ratings import HumanRatings, read_ratings
from taketwo.scores.judge_audit.rating_form import (
    FormCell,
    RatingForm,
    key_beside,
    make_form,
    read_key,
)
from taketwo.scores.judge_audit.rating_form import write_form as write_files
from taketwo.scores.judgement_pool import JudgementPool, asking
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scoring import model_specs, score
from taketwo.study_folder import StudyFolder, write_json

__all__ = ["audit_judges", "write_rating_form"]

_FORM_STREAM = 8


def audit_judges(
    study: Path | str,
    *,
    design: str = "quick",
    judges: Sequence[str] = (),
    ratings: Sequence[Path | str] = (),
    judgements: Path | str | None = None,
    judge: bool = True,
    on_work: Callable[[str], None] | None = None,
) -> JudgeAudit:
    """Measure the judge of a study's trajectories and write `judge-audit-<design>.json`.

    Parameters
    ----------
    design
        `published` (the size of AgentVidBench's own validation) or `quick`.
    judges
        Further judges by name, which score the same trajectories.
    ratings
        Filled forms of human raters, with the form's key beside them. They are kept in the study's
        folder, and later audits take them from there.
    judgements
        The shared folder of labels, where there is one.
    judge
        With False no model is called, and only what is labelled already is measured.
    on_work
        Told how many judgements are asked for, before the first.

    Raises
    ------
    RequestError
        If nobody judges the trajectories of the study, or no cell has one that can be judged.
    InvalidResults
        If a rating or a label cannot be used.
    """
    from taketwo.judge_checks import Checks  # heavy: on call

    where = StudyFolder.locate(Path(study))
    tell = on_work or _silent
    folders = [where.judgements, *([] if judgements is None else [Path(judgements)])]
    with asking(*folders) if judge else nullcontext():
        found = _input(study, design, judges, ratings, judgements)
        if judge:
            tell(_expected(found))
        audit = Checks(found, tell if judge else None).audit()
        found.pool.keep({item.question.question_id for item in found.plan.questions})
    write_json(where.audit_path(found.design.name), audit.to_json())
    return audit


def write_rating_form(
    study: Path | str, folder: Path | str, *, design: str = "published"
) -> tuple[RatingForm, tuple[Path, ...]]:
    """Draw trajectories for human raters and write their forms into `folder`; returns form and files.

    Raters follow the wording of the instructions that the study's judge follows. Of more arms than
    the design has, its number is drawn once for all questions, since only arms that ran on the same
    questions can be ranked.

    Raises
    ------
    RequestError
        If no cell has a trajectory that can be rated.
    """
    where = StudyFolder.locate(Path(study))
    frozen = where.plan()
    size = audit_design(design)
    scoring = study_scoring(where.folder, frozen).scoring or TrajectoryScoring(
        judge=ModelSpec(name="none/none")
    )
    cells = _cells(study, frozen, replace(scoring, protocol="blind"))
    rng = np.random.default_rng((frozen.seed, _FORM_STREAM))
    arms = sorted({cell.trajectory.arm for cell in cells})
    if size.human_arms is not None and len(arms) > size.human_arms:
        order: list[int] = rng.permutation(len(arms)).tolist()
        arms = [arms[at] for at in order[: size.human_arms]]
    questions = {item.question.question_id: item.question for item in frozen.questions}
    form = make_form(
        [
            FormCell(
                question=questions[cell.trajectory.question_id],
                arm=cell.trajectory.arm,
                execution=cell.trajectory.execution,
                text=cell.text,
            )
            for cell in cells
            if cell.trajectory.arm in arms
        ],
        questions=size.human_questions,
        raters=size.raters,
        rubric=scoring.rubric,
        rng=rng,
    )
    return form, write_files(form, Path(folder))


def _input(
    study: Path | str,
    design: str,
    judges: Sequence[str],
    ratings: Sequence[Path | str],
    judgements: Path | str | None,
) -> AuditInput:
    where = StudyFolder.locate(Path(study))
    frozen = where.plan()
    size = audit_design(design)
    scoring = study_scoring(where.folder, frozen).scoring
    if scoring is None:
        raise RequestError(
            f"{where.folder}: nobody judges the trajectories of this study; name a judge: "
            "taketwo score STUDY --trajectory-judge provider/model --audit"
        )
    rated = _ratings(where, [Path(path) for path in ratings])
    again = sorted({scoring.judge.name} & set(judges))
    if again:
        raise RequestError(
            f"{again[0]} judges the trajectories of this study already; name another one with "
            "--audit-judge"
        )
    named = {spec.name: spec for spec in (scoring.judge, *scoring.judges, *model_specs(judges))}
    return AuditInput(
        plan=frozen,
        scoring=scoring,
        design=size,
        judges=tuple(named.values()),
        cells=_cells(study, frozen, scoring),
        pool=JudgementPool(
            where.folder / "judgements", None if judgements is None else Path(judgements)
        ),
        folder=where.folder / "judgements" if judgements is None else Path(judgements),
        ratings=rated,
    )


def _ratings(where: StudyFolder, given: Sequence[Path]) -> HumanRatings | None:
    """Return what people rated: the tables given, which are kept, with those that were kept before."""
    absent = [path for path in given if not path.is_file()]
    if absent:
        raise RequestError(f"{absent[0]}: no such form of ratings; name the filled tables (.csv)")
    names = {path.stem for path in given}
    kept = [path for path in sorted(where.ratings.glob("*.csv")) if path.stem not in names]
    tables = sorted([*given, *kept], key=lambda path: path.stem)
    if not tables:
        return None
    key_path = key_beside(given or kept)
    key = read_key(key_path)
    if given and kept and read_key(key_beside(kept)).items != key.items:
        raise RequestError(
            f"{', '.join(map(str, kept))}: kept ratings of another form than {key_path}; ratings of two "
            "forms are not one measurement: move them away and audit again"
        )
    found = read_ratings(tables, key)
    for path in (key_path, *given) if given else ():
        write_atomically(where.ratings / path.name, path.read_bytes())
    return found


def _cells(study: Path | str, frozen: Plan, scoring: TrajectoryScoring) -> tuple[AuditedCell, ...]:
    scored = score(study, judge=False)
    accuracy = {
        (question, arm, execution): value
        for question, arm, execution, value in scored.outcomes.frame.select(
            "question_id", "arm", "execution", pl.col("accuracy")
        ).iter_rows()
    }
    labels = ProcessLabels(frozen, scoring, {})
    found: list[AuditedCell] = []
    for trajectory in scored.trajectories:
        request = labels.request(trajectory)
        if request is not None:
            name = trajectory.question_id, trajectory.arm, trajectory.execution
            found.append(
                AuditedCell(
                    trajectory=trajectory, accuracy=accuracy[name], text=request.trajectory.text
                )
            )
    if not found:
        raise RequestError(
            "no cell has a trajectory that can be judged: the questions have no milestones, or "
            "nothing has run"
        )
    return tuple(sorted(found, key=lambda cell: cell.name))


def _expected(found: AuditInput) -> str:
    labels = {
        judge.name: ProcessLabels(
            found.plan, found.scoring, found.pool.trajectories, judge=judge.name
        )
        for judge in found.judges
    }
    cells = [cell.trajectory for cell in found.cells]
    distinct = {(cell.trajectory.question_id, cell.text) for cell in found.cells}
    explained = {
        item.question.question_id for item in found.plan.questions if item.question.explanation
    }
    scope = AuditScope(
        trajectories=len(distinct),
        questions=len({question for question, _ in distinct}),
        explained=sum(question in explained for question, _ in distinct),
        judged={name: len(label.in_use(cells)) for name, label in labels.items()},
        rubric=found.scoring.rubric,
    )
    fixed = sum(
        item.question.question_id in {question for question, _ in distinct}
        and bool(item.question.reference or item.question.explanation)
        for item in found.plan.questions
    )
    beside = min(found.design.formats, fixed) * found.design.notations
    told = expected_calls(found.design, scope, list(labels)).sentence()
    return f"{told} Up to {beside:,} more beside one fixed path." if beside else told


def _silent(_text: str) -> None:
    return None
