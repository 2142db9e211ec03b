"""The judges of a study file with their names resolved, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.executions.located_yaml import Place
from taketwo.executions.model_providers import provider_problem
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import (
    JUDGE_PRESETS,
    PUBLISHED_ANSWER_JUDGE,
    ScoringSpec,
    TrajectoryScoring,
)
from taketwo.executions.study_file import ModelSection, StudyFile, TrajectoryScoringSection

__all__ = ["resolve_judge", "resolve_scoring"]

_PLACE: Place = ("scoring",)


def resolve_judge(study: StudyFile) -> ModelSpec | None:
    """Return the judge of answers: the one that is named, under `scoring: published` else GPT-4o."""
    model = study.sections.models.judge
    if model is None:
        is_published = study.sections.scoring.answers == "published"
        return ModelSpec(name=PUBLISHED_ANSWER_JUDGE) if is_published else None
    if not model.name:
        study.problems.add(("models", "judge"), "missing name; write provider/model")
    return model.spec()


def resolve_scoring(study: StudyFile, benchmark: Benchmark | None) -> ScoringSpec:
    """Return how the study is scored; what is wrong is added to the study's problems."""
    section = study.sections.scoring
    repeats = section.repeats
    if repeats % 2 == 0:
        study.problems.add(
            (*_PLACE, "repeats"),
            f"an odd number, so that there can be a majority; found {repeats}",
        )
        repeats += 1
    if (repeats > 1 or section.judges) and resolve_judge(study) is None:
        study.problems.add(
            _PLACE,
            "repeats and further judges stand beside a primary judge of answers, and none is named; "
            "add models: {judge: provider/model}",
        )
    judges = _models(study, section.judges, (*_PLACE, "judges"))
    extractor = (
        ()
        if section.extractor is None
        else _models(study, [section.extractor], (*_PLACE, "extractor"))
    )
    return ScoringSpec(
        answers=section.answers,
        repeats=repeats,
        ungradable=section.ungradable,
        judges=judges,
        extractor=extractor[0] if extractor else None,
        trajectories=None
        if section.trajectories is None
        else _trajectories(study, section.trajectories, benchmark),
    )


def _trajectories(
    study: StudyFile, section: TrajectoryScoringSection, benchmark: Benchmark | None
) -> TrajectoryScoring | None:
    place: Place = (*_PLACE, "trajectories")
    preset = None if section.preset is None else JUDGE_PRESETS[section.preset]
    if benchmark is not None and not any(item.milestones for item in benchmark.questions):
        study.problems.add(
            place,
            f"trajectories are judged against milestones, and none of the "
            f"{len(benchmark.questions)} questions of {benchmark.name!r} has any; remove it, or add "
            "milestones to the questions",
        )
    if section.judge is None and preset is None:
        study.problems.add(
            place,
            "missing judge; write judge: provider/model, or preset: published",
        )
        return None
    primary = [] if section.judge is None else [section.judge]
    named = _models(study, primary, (*place, "judge"))
    judge = named[0] if named else None
    if judge is None and preset is not None:
        judge = ModelSpec(name=preset.model)
        problem = provider_problem(judge.name)
        if problem is not None:
            study.problems.add((*place, "preset"), problem)
    if judge is None:
        return None
    judges = _models(study, section.judges, (*place, "judges"))
    names = [judge.name, *(other.name for other in judges)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        study.problems.add((*place, "judges"), f"{twice[0]!r} is named twice; keep one")
    return TrajectoryScoring(
        judge=judge,
        protocol=section.protocol,
        rubric=section.rubric,
        max_tokens=section.max_tokens or (4096 if preset is None else preset.max_tokens),
        judges=judges,
        references=section.references,
    )


def _models(
    study: StudyFile, sections: Sequence[ModelSection], place: Place
) -> tuple[ModelSpec, ...]:
    for section in sections:
        problem = (
            provider_problem(section.name) if section.name else "missing name; write provider/model"
        )
        if problem is not None:
            study.problems.add(place, problem)
    names = [section.name for section in sections]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        study.problems.add(place, f"{twice[0]!r} is named twice; keep one")
    return tuple(section.spec() for section in sections if section.name)
