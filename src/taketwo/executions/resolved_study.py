"""A study file with every name resolved: arms, benchmark, judge, prices; all problems told at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from taketwo.agents.catalog import AgentSpec
from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.errors import RequestError, TaketwoError
from taketwo.executions.arms import ArmDraft, resolve_arms
from taketwo.executions.environment import code_sha256, package_versions, source_sha256
from taketwo.executions.located_yaml import Place
from taketwo.executions.model_providers import provider_problem
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion
from taketwo.executions.planned_web import planned_web
from taketwo.executions.prices import Prices, resolve_prices
from taketwo.executions.resolved_scoring import resolve_judge, resolve_scoring
from taketwo.executions.rule import Rule, Stopping
from taketwo.executions.scoring_spec import ScoringSpec
from taketwo.executions.study_file import (
    ModelSection,
    ModelsSection,
    RuleSection,
    StudyFile,
    read_study_file,
)
from taketwo.executions.web_spec import WebSpec
from taketwo.media.transcript import OFFLINE_TRANSCRIBER
from taketwo.tools.catalog import tool_prompts, tools_sha256

__all__ = ["ResolvedStudy", "prompt_hashes", "resolve_study", "text_hashes"]


@dataclass(frozen=True, kw_only=True)
class ResolvedStudy:
    """A study file with every name resolved, before its media are looked at."""

    study: StudyFile
    arms: tuple[ArmDraft, ...]
    benchmark: Benchmark
    judge: ModelSpec | None
    scoring: ScoringSpec
    prices: Prices
    web: WebSpec | None = None

    def plan(self, questions: tuple[PlannedQuestion, ...], *, now: str, seed: int) -> Plan:
        """Return the plan of this study on `questions`."""
        sections = self.study.sections
        arms = tuple(_arm(draft) for draft in self.arms)
        models = {model.name for arm in arms for model in arm.models.values()}
        priced = models | {judge.name for judge in self.scoring.models}
        if self.judge is not None:
            priced.add(self.judge.name)
        if any(not arm.models for arm in arms):
            # An agent that runs elsewhere reaches models that the study does not name.
            priced |= set(self.prices.models)
        return Plan(
            study=sections.study or "",
            created=now,
            seed=seed,
            executions=sections.executions,
            benchmark=self.benchmark.name,
            benchmark_version=self.benchmark.version,
            benchmark_sha256=self.benchmark.fingerprint,
            questions=questions,
            arms=arms,
            rule=_rule(sections.rule),
            judge=self.judge,
            scoring=self.scoring,
            cells=sections.cells,
            connections=sections.connections,
            retries=sections.retries,
            timeout_s=sections.timeout_s,
            provider_seeds=sections.provider_seeds,
            code_sha256=code_sha256(),
            packages=package_versions(models),
            prices={name: one for name, one in self.prices.models.items() if name in priced},
            prices_date=self.prices.date,
            study_file=str(self.study.path.resolve()),
            web=self.web,
        )


def resolve_study(study_yaml: Path) -> ResolvedStudy:
    """Return a study file with every name resolved.

    Raises
    ------
    RequestError
        If the file is no YAML mapping, or with all problems of the study by line.
    DataError
        If the benchmark's own files cannot be used.
    """
    study = read_study_file(study_yaml)
    arms = resolve_arms(study)
    prices = resolve_prices(study)
    judge = resolve_judge(study)
    web = planned_web(study)
    _check_providers(study, arms)
    _check_prices(study, arms, prices)
    benchmark = _benchmark(study)
    if benchmark is not None and judge is None:
        _require_no_judge(study, benchmark)
    scoring = resolve_scoring(study, benchmark)
    _check_stopping(study, arms, benchmark)
    study.problems.raise_if_any()
    if benchmark is None:
        raise RequestError(f"{study_yaml}: the study names no benchmark")
    return ResolvedStudy(
        study=study,
        arms=arms,
        benchmark=benchmark,
        judge=judge,
        scoring=scoring,
        prices=prices,
        web=web,
    )


def prompt_hashes(spec: AgentSpec, options: BaseModel) -> dict[str, str]:
    """Return the hash of every prompt template that an agent and its tools send, by role.

    Templates of tools that are not among the agent's own stand as `ROLE of tools`. A third-party
    agent (`module:callable`) also has the hash of its source file, as `source`.
    """
    hashes = {name: sha256_of_text(text) for name, text in spec.prompts(options).items()}
    for role, text in tool_prompts(spec.tools(options)).items():
        found = sha256_of_text(text)
        if found not in hashes.values():
            hashes[f"{role} of tools"] = found
    if ":" in spec.name:
        source = source_sha256(spec.name.split(":", 1)[0])
        if source is not None:
            hashes["source"] = source
    return hashes


def text_hashes(spec: AgentSpec, options: BaseModel) -> tuple[str, ...]:
    """Return the hashes of the single templates that an agent and its tools send, sorted."""
    texts = [*spec.prompts(options).values()]
    for tool in spec.tools(options):
        texts += tool.prompts.values()
    parts = {part for text in texts for part in text.split("\n\f\n")}
    return tuple(sorted(sha256_of_text(part) for part in parts))


def _benchmark(study: StudyFile) -> Benchmark | None:
    section = study.sections.benchmark
    if section is None or not section.name:
        return None
    try:
        return load_benchmark(section.spec, base=study.folder)
    except RequestError as error:
        study.problems.add(("benchmark",), str(error))
    except TaketwoError as error:
        if not len(study.problems):
            raise
        study.problems.add(("benchmark",), str(error))
    return None


def _check_providers(study: StudyFile, arms: Sequence[ArmDraft]) -> None:
    """Note the models whose provider nobody brings, each where it is written."""
    sections = study.sections
    written: dict[Place, str] = {}
    for place, models in [
        (("models",), sections.models),
        *((("arms", name, "models"), arm.models) for name, arm in sections.arms.items()),
    ]:
        for role in ModelsSection.model_fields:
            model: ModelSection | None = getattr(models, role)
            if model is not None and model.name:
                written[*place, role] = model.name
    grid = {model.name for arm in arms for model in arm.models.values()} - set(written.values())
    for place, name in [*written.items(), *((("matrix",), name) for name in sorted(grid))]:
        problem = provider_problem(name)
        if problem is not None:
            study.problems.add(place, problem)


def _check_prices(study: StudyFile, arms: Sequence[ArmDraft], prices: Prices) -> None:
    """Note the arms with a limit in dollars of which a model has no price: nobody could keep it."""
    for arm in arms:
        limit = arm.limits.cost_usd
        names = {model.name for model in arm.models.values()} - {OFFLINE_TRANSCRIBER}
        unpriced = sorted(names - set(prices.models))
        if limit is None or not unpriced:
            continue
        written = study.sections.arms.get(arm.name)
        is_own = written is not None and written.limits.cost_usd is not None
        place: Place = ("arms", arm.name, "limits") if is_own else ("limits",)
        study.problems.add(
            (*place, "cost_usd"),
            f"a cell of arm {arm.name!r} may cost {limit:g} US dollars, but "
            f"{', '.join(map(repr, unpriced))} {'has' if len(unpriced) == 1 else 'have'} no price, "
            "so the limit could not be kept; add prices: {date: YYYY-MM-DD, models: "
            f"{{{unpriced[0]}: {{input: ..., output: ...}}}}}} in US dollars per million tokens "
            "(0 for a model that costs nothing)",
        )


def _require_no_judge(study: StudyFile, benchmark: Benchmark) -> None:
    """Note the questions that nobody could score: no true option, no list of accepted answers, no judge."""
    waiting = [
        question.question_id
        for question in benchmark.questions
        if not question.is_matched_by_option
        and (question.format == "mcq" or not question.accepted_answers)
    ]
    if waiting:
        study.problems.add(
            ("models",),
            f"{len(waiting)} questions have neither a true option nor accepted answers, first "
            f"{waiting[0]!r}, and no judge is named; add judge: provider/model, or accepted answers to the questions",
        )


def _arm(draft: ArmDraft) -> Arm:
    tools = draft.spec.tools(draft.options)
    return Arm(
        name=draft.name,
        agent=draft.spec.name,
        baseline=draft.baseline,
        options=draft.options_json,
        models=draft.models,
        sampling=draft.sampling,
        limits=draft.limits,
        tools=tuple(tool.name for tool in tools),
        prompts=prompt_hashes(draft.spec, draft.options),
        tools_sha256=tools_sha256(tools),
        texts=text_hashes(draft.spec, draft.options),
        factors=draft.factors,
        work=draft.spec.work_for(draft.options),
    )


def _rule(section: RuleSection) -> Rule:
    return Rule(
        primary=tuple(section.primary),
        level=section.level,
        cluster=section.cluster,
        population=section.population,
        missing=section.missing,
        margins={str(name): margin for name, margin in section.margins.items()},
        attempts=section.attempts,
        stopping=_stopping(section),
    )


def _stopping(section: RuleSection) -> Stopping | None:
    found = section.stopping
    if found is None or found.block is None:
        return None
    return Stopping(block=found.block, alpha=found.alpha)


def _check_stopping(
    study: StudyFile, arms: Sequence[ArmDraft], benchmark: Benchmark | None
) -> None:
    stopping = _stopping(study.sections.rule)
    if stopping is None:
        return
    methods = [arm.name for arm in arms if arm.baseline is not None]
    if len(methods) > 1:
        study.problems.add(
            ("rule", "stopping"),
            f"one method with one baseline can stop early, found {len(methods)} methods "
            f"({', '.join(methods[:5])}); make a study of each, or remove it",
        )
    if benchmark is not None and stopping.block >= len(benchmark.questions):
        study.problems.add(
            ("rule", "stopping", "block"),
            f"{stopping.block} of {len(benchmark.questions)} questions leave nothing to save; "
            "choose smaller blocks",
        )
