"""From `arms:` and `matrix:` to arms: models, sampling, limits and options merged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.catalog import agent_spec
from taketwo.agents.preset import Preset
from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RequestError
from taketwo.executions.baselines import WrittenArm, baselines_of
from taketwo.executions.located_yaml import Place, Problems
from taketwo.executions.matrix import expand_matrix
from taketwo.executions.plan import ModelRole, ModelSpec, Sampling
from taketwo.executions.study_file import (
    ArmSection,
    ModelSection,
    SamplingSection,
    StudyFile,
    StudySections,
)
from taketwo.tools.budget import Limits

__all__ = ["ArmDraft", "resolve_arms"]

_ARM_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


@dataclass(frozen=True, kw_only=True)
class ArmDraft:
    """An arm with everything merged, before its prompts and tools are hashed."""

    name: str
    baseline: str | None
    spec: AgentSpec
    options: BaseModel
    models: Mapping[ModelRole, ModelSpec]
    sampling: Mapping[ModelRole, Sampling]
    limits: Limits
    factors: Mapping[str, str]

    @property
    def options_json(self) -> dict[str, JsonValue]:
        """Return the options, defaults included, as they stand in a plan."""
        return self.options.model_dump(mode="json")


def resolve_arms(study: StudyFile) -> tuple[ArmDraft, ...]:
    """Return the arms of a study file, those of `arms:` first, then those of `matrix:`.

    What cannot be resolved is added to `study.problems` and left out, so that everything that is
    wrong is told at once; call `study.problems.raise_if_any()` before relying on the result.

    Notes
    -----
    *Models*: the arm's model of a role, else the study's. *Sampling*, setting by setting: the
    arm's for that role; for the orchestrator then the arm's shared one; then the study's for that
    role; then the study's shared one. An arm's shared sampling thus never reaches the observer and
    the transcriber, which are instruments and stay the same in all arms unless an arm names them.
    *Limits*: the smallest of the agent's own, the study's and the arm's.
    *Preset*: what it says of options, models and sampling goes before the study's and after the
    arm's own; its limits are one more limit.
    """
    sections, problems = study.sections, study.problems
    written = [*_written_arms(sections, problems), *_matrix_arms(study)]
    baselines = baselines_of(written, sections.baseline, problems)
    drafts: list[ArmDraft] = []
    for arm in written:
        draft = _draft(arm, sections, baselines.get(arm.name), problems, study.folder)
        if draft is not None:
            drafts.append(draft)
    return tuple(drafts)


def _written_arms(sections: StudySections, problems: Problems) -> list[WrittenArm]:
    found: list[WrittenArm] = []
    for name, section in sections.arms.items():
        place: Place = ("arms", name)
        if not _ARM_NAME.fullmatch(name):
            problems.add(
                place,
                f"arm name {name!r} must be 1 to 32 characters out of a-z 0-9 _ -, a letter first",
            )
        if section.agent is None:
            problems.add(place, "missing agent; name one, for example agent: video_react")
        for factor in ("agent",):
            if section.factors.get(factor, section.agent) != section.agent:
                problems.add(
                    (*place, "factors", factor),
                    f"the level of {factor!r} is the arm's own: {section.agent!r}; leave it out",
                )
        found.append(
            WrittenArm(
                name=name,
                place=place,
                section=section,
                factors={**_own_factors(section, sections), **section.factors},
            )
        )
    return found


def _own_factors(section: ArmSection, study: StudySections) -> dict[str, str]:
    """Return the levels that an arm has without saying so: agent, orchestrator, reasoning."""
    factors: dict[str, str] = {}
    if section.agent is not None:
        factors["agent"] = section.agent
    model = section.models.orchestrator or study.models.orchestrator
    if model is not None:
        factors["orchestrator"] = model.name
    effort = _sampling("orchestrator", section, study).reasoning_effort
    if effort is not None:
        factors["reasoning"] = effort
    return factors


def _matrix_arms(study: StudyFile) -> list[WrittenArm]:
    sections, problems = study.sections, study.problems
    found: list[WrittenArm] = []
    for name, section, factors in expand_matrix(sections.matrix, problems):
        if name in sections.arms:
            problems.add(
                ("arms", name), "the matrix makes an arm of the same name; rename this one"
            )
        own = _own_factors(section, sections)
        found.append(
            WrittenArm(name=name, place=("matrix",), section=section, factors={**own, **factors})
        )
    return found


def _draft(
    arm: WrittenArm,
    study: StudySections,
    baseline: str | None,
    problems: Problems,
    folder: Path,
) -> ArmDraft | None:
    if arm.section.agent is None:
        return None
    try:
        spec = agent_spec(arm.section.agent)
    except RequestError as error:
        problems.add((*arm.place, "agent"), str(error))
        return None
    preset = _preset(arm, spec, problems)
    if preset is None:
        return None
    options = _options(arm, spec, preset, study, problems, folder)
    if options is None:
        return None
    roles = spec.roles_for(options)
    models = _models(arm, spec.name, roles, preset, study, problems)
    if len(models) < len(roles):
        return None
    orchestrator = models["orchestrator"].name if "orchestrator" in models else None
    return ArmDraft(
        name=arm.name,
        baseline=baseline,
        spec=spec,
        options=options,
        models=models,
        sampling={
            role: _sampling(role, arm.section, study, preset.sampling_for(orchestrator).get(role))
            for role in roles
        },
        limits=spec
        .limits_for(options)
        .tightened_by(preset.limits)
        .tightened_by(study.limits.limits())
        .tightened_by(arm.section.limits.limits()),
        factors={
            name: level
            for name, level in arm.factors.items()
            # An agent that reaches models of its own has none of the study's levels.
            if "orchestrator" in roles
            or name in arm.section.factors
            or name not in {"orchestrator", "reasoning"}
        },
    )


def _preset(arm: WrittenArm, spec: AgentSpec, problems: Problems) -> Preset | None:
    name = arm.section.preset
    if name is None:
        return Preset(summary="", source="")
    try:
        return spec.preset(name)
    except RequestError as error:
        problems.add((*arm.place, "preset"), str(error))
        return None


def _options(
    arm: WrittenArm,
    spec: AgentSpec,
    preset: Preset,
    study: StudySections,
    problems: Problems,
    folder: Path,
) -> BaseModel | None:
    model = arm.section.models.orchestrator
    name = preset.models.get("orchestrator") if model is None else model.name
    if name is None and study.models.orchestrator is not None:
        name = study.models.orchestrator.name
    try:
        # Paths among the options start where the study file lies.
        return spec.options.model_validate(
            {**preset.options_for(name), **arm.section.options}, context={"folder": folder}
        )
    except ValidationError as error:
        known = ", ".join(spec.options.model_fields) or "none"
        for item in error.errors(include_url=False):
            problems.add(
                (*arm.place, "options", *item["loc"]),
                f"agent {spec.name!r} refuses it: {item['msg']}, found {item['input']!r}; "
                f"its options are {known}",
            )
        return None


def _models(
    arm: WrittenArm,
    agent: str,
    roles: tuple[ModelRole, ...],
    preset: Preset,
    study: StudySections,
    problems: Problems,
) -> dict[ModelRole, ModelSpec]:
    found: dict[ModelRole, ModelSpec] = {}
    for role in roles:
        own: ModelSection | None = getattr(arm.section.models, role)
        model: ModelSection | None = own or getattr(study.models, role)
        if own is None and role in preset.models:
            model = ModelSection(name=preset.models[role])
        if model is not None and model.name:
            found[role] = model.spec()
        elif not problems.is_inside(("models", role)):
            problems.add(
                ("models", role),
                f"agent {agent!r} of arm {arm.name!r} needs a model for the role {role!r}; "
                f"name one under models: {{{role}: provider/model}}",
            )
    for role in ("orchestrator", "observer", "transcriber", "judge"):
        if getattr(arm.section.models, role) is not None and role not in roles:
            what = "the judge is one for the study" if role == "judge" else "it has none"
            problems.add(
                (*arm.place, "models", role),
                f"arm {arm.name!r} sets a model for the role {role!r} of agent {agent!r}: "
                f"{what}; its roles are {', '.join(roles) or 'none'}",
            )
    return found


def _sampling(
    role: ModelRole,
    section: ArmSection,
    study: StudySections,
    preset: Mapping[str, JsonValue] | None = None,
) -> Sampling:
    layers = [study.generate, getattr(study.generate, role, None)]
    if preset is not None:
        layers.append(SamplingSection.model_validate(dict(preset)))
    if role == "orchestrator":
        layers.append(section.generate)
    layers.append(getattr(section.generate, role, None))
    merged = Sampling()
    for layer in layers:
        merged = merged if layer is None else layer.merged_onto(merged)
    return merged
