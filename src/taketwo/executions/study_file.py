"""What a `study.yaml` may say, and everything that is wrong with one, told at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.located_yaml import LocatedYaml, Problems, read_located_yaml
from taketwo.executions.log_json import part
from taketwo.executions.plan import ModelSpec, Plan, Sampling
from taketwo.executions.rule import LEAST_BLOCK, MOST, ClusterBy, Metric, Missing, Population
from taketwo.executions.scoring_spec import AnswerRule, Protocol, Rubric, Ungradable
from taketwo.executions.sections import Section, sections_of
from taketwo.tools.budget import Limits
from taketwo.tools.web import SearchName

__all__ = [
    "ArmSection",
    "BaselineSection",
    "BenchmarkSection",
    "GenerateSection",
    "LimitsSection",
    "ModelSection",
    "ModelsSection",
    "PriceSection",
    "PricesSection",
    "RuleSection",
    "SamplingSection",
    "ScoringSection",
    "StoppingSection",
    "StudyFile",
    "StudySections",
    "TrajectoryScoringSection",
    "WebSection",
    "read_study_file",
    "study_file_of",
]

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def _or_name(key: str) -> BeforeValidator:
    """Let a plain text stand for a mapping that has only `key`."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class ModelSection(Section):
    """A model by its inspect_ai name, `provider/model`."""

    name: str = Field(default="", pattern=r"^[^/\s]+/.+$")
    base_url: str | None = None
    args: dict[str, Any] = Field(default_factory=dict)

    def spec(self) -> ModelSpec:
        """Return the record that a plan keeps."""
        return ModelSpec(name=self.name, base_url=self.base_url, args=self.args)


NamedModel = Annotated[ModelSection, _or_name("name")]


class ModelsSection(Section):
    """One model per role."""

    orchestrator: NamedModel | None = None
    observer: NamedModel | None = None
    transcriber: NamedModel | None = None
    judge: NamedModel | None = None


class SamplingSection(Section):
    """How one role's model is sampled; what is left out is not sent."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    reasoning_effort: ReasoningEffort | None = None
    reasoning_tokens: int | None = Field(default=None, ge=1)

    def merged_onto(self, base: Sampling) -> Sampling:
        """Return `base` with what is set here in place of it."""
        mine = {name: getattr(self, name) for name in SamplingSection.model_fields}
        return Sampling(**{
            name: getattr(base, name) if value is None else value for name, value in mine.items()
        })


class GenerateSection(SamplingSection):
    """Sampling for all roles, with exceptions by role."""

    orchestrator: SamplingSection | None = None
    observer: SamplingSection | None = None
    transcriber: SamplingSection | None = None


class LimitsSection(Section):
    """The most that one cell may use of each resource."""

    turns: int | None = Field(default=None, ge=1)
    visible_calls: int | None = Field(default=None, ge=0)
    primitive_ops: int | None = Field(default=None, ge=0)
    model_calls: int | None = Field(default=None, ge=1)
    frames: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=1)
    latency_s: float | None = Field(default=None, gt=0)
    cost_usd: float | None = Field(default=None, gt=0)
    wall_s: float | None = Field(default=None, gt=0)

    def limits(self) -> Limits:
        """Return the record that a plan keeps."""
        return Limits(**self.model_dump())


class BaselineSection(Section):
    """The arm that a method is compared with: by name, or by factors.

    `same` lists factors that must agree (all others than those given a level, where it is left
    out); every further key is a factor and the level that the baseline has there.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, str] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride] pydantic's way to type extras

    arm: str | None = None
    same: list[str] | None = None

    @property
    def levels(self) -> Mapping[str, str]:
        """Return the factors whose level is given."""
        return dict(self.__pydantic_extra__)


class ArmSection(Section):
    """One arm as written."""

    agent: str | None = None
    preset: str | None = None
    role: Literal["baseline", "method"] | None = None
    baseline: Annotated[BaselineSection, _or_name("arm")] | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    models: ModelsSection = Field(default_factory=ModelsSection)
    generate: GenerateSection = Field(default_factory=GenerateSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    factors: dict[str, str] = Field(default_factory=dict)


class BenchmarkSection(BaseModel):
    """A benchmark by name; every further key goes to its loader."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    name: str | None = None

    @property
    def spec(self) -> Mapping[str, JsonValue]:
        """Return what goes to the catalogue of benchmarks."""
        return {"name": self.name, **(self.model_extra or {})}


class PriceSection(Section):
    """US dollars per million tokens of one model."""

    input: float | None = Field(default=None, ge=0)
    output: float | None = Field(default=None, ge=0)


def _iso_date(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


class PricesSection(Section):
    """Prices of models and the day they were read, or the file that has them."""

    file: str | None = None
    date: Annotated[str, BeforeValidator(_iso_date)] | None = Field(
        default=None, pattern=r"^\d{4}-\d{2}-\d{2}$"
    )
    models: dict[str, PriceSection] = Field(default_factory=dict)


Margin = Annotated[float, Field(gt=0)]


class StoppingSection(Section):
    """When a re-execution may stop early; looked at after every `block` questions, on accuracy."""

    block: int | None = Field(default=None, ge=LEAST_BLOCK)
    alpha: float = Field(default=0.05, gt=0, lt=1)


class RuleSection(Section):
    """What is tested and how; the defaults are those of `Rule`."""

    primary: list[Metric] = Field(
        default=["accuracy", "turns", "visible_calls", "primitive_ops", "latency_s"], min_length=1
    )
    level: float = Field(default=0.95, ge=0.5, lt=1)
    cluster: ClusterBy = "video"
    population: Population = "matched"
    missing: Missing = "refuse"
    margins: dict[Metric, Margin] = Field(default_factory=dict[Metric, Margin])
    attempts: int = Field(default=3, ge=1, le=20)
    stopping: StoppingSection | None = None


class WebSection(Section):
    """What may be searched and read in the web; `path` is a file or folder of recorded pages."""

    search: SearchName | None = None
    path: str | None = None


NamedModels = Annotated[list[NamedModel], Field(max_length=20)]


class TrajectoryScoringSection(Section):
    """Who judges trajectories: a published preset, or a judge by name."""

    preset: Literal["published", "repository"] | None = None
    judge: NamedModel | None = None
    protocol: Protocol = "blind"
    rubric: Rubric = "standard"
    max_tokens: int | None = Field(default=None, ge=256)
    judges: NamedModels = Field(default_factory=list[ModelSection])
    references: bool = True


class ScoringSection(Section):
    """How answers and trajectories are scored; the defaults are those of `ScoringSpec`."""

    answers: AnswerRule = "option-match"
    repeats: int = Field(default=1, ge=1, le=25)
    ungradable: Ungradable = "undefined"
    judges: NamedModels = Field(default_factory=list[ModelSection])
    extractor: NamedModel | None = None
    trajectories: Annotated[TrajectoryScoringSection, _or_name("preset")] | None = None


class StudySections(Section):
    """A whole study file. What must be there is checked where all problems are collected."""

    study: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    benchmark: Annotated[BenchmarkSection, _or_name("name")] | None = None
    arms: dict[str, ArmSection] = Field(default_factory=dict)
    matrix: dict[str, Any] = Field(default_factory=dict)
    baseline: Annotated[BaselineSection, _or_name("arm")] | None = None
    models: ModelsSection = Field(default_factory=ModelsSection)
    generate: GenerateSection = Field(default_factory=GenerateSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    rule: RuleSection = Field(default_factory=RuleSection)
    executions: int = Field(default=2, ge=1, le=1000)
    seed: int | None = Field(default=None, ge=0, lt=2**53)
    cells: int = Field(default=4, ge=1, le=1000)
    connections: int = Field(default=4, ge=1, le=1000)
    retries: int = Field(default=3, ge=0, le=100)
    timeout_s: float = Field(default=600.0, ge=1)
    provider_seeds: bool = False
    prices: Annotated[PricesSection, _or_name("file")] | None = None
    web: Annotated[WebSection, _or_name("search")] | None = None
    scoring: Annotated[ScoringSection, _or_name("answers")] = Field(default_factory=ScoringSection)


@dataclass(frozen=True, kw_only=True)
class StudyFile:
    """What could be read of a study file, and what is wrong with the rest."""

    path: Path
    sections: StudySections
    problems: Problems

    @property
    def folder(self) -> Path:
        """Return where relative paths of the file start."""
        return self.path.resolve().parent


def read_study_file(path: Path) -> StudyFile:
    """Read a study file; what is wrong in it is collected in `problems`, not raised.

    Raises
    ------
    RequestError
        If it is no YAML mapping at all; the message has the line and the column.
    """
    source = read_located_yaml(path)
    problems = Problems(source)
    for place in source.duplicates:
        problems.add(place, f"{place[-1]!r} is given twice; keep one")
    sections = sections_of(StudySections, source.data, (), problems)
    _require(source, sections, problems)
    return StudyFile(path=path, sections=sections, problems=problems)


def study_file_of(plan: Plan, folder: Path) -> Path | None:
    """Return the study file of a study's folder; None where there is none any more.

    It is `study.yaml` in the folder, `FOLDER.yaml` beside it, or the file that the plan was made of.
    """
    # with_suffix would take the 2 of a folder NAME.2 for a suffix, and find the file of another study
    home = folder.resolve()
    beside = [home.parent / f"{home.name}{ending}" for ending in (".yaml", ".yml")]
    origin = [Path(plan.study_file)] if plan.study_file else []
    written = [folder / "study.yaml", *beside, *origin]
    return next((path for path in written if path.is_file()), None)


def _require(source: LocatedYaml, sections: StudySections, problems: Problems) -> None:
    if "study" not in source.data:
        problems.add(("study",), "missing; give the study a name, for example study: march")
    benchmark = source.data.get("benchmark")
    if benchmark is None or (isinstance(benchmark, dict) and "name" not in benchmark):
        problems.add(("benchmark",), "missing; name one, for example benchmark: {name: rendered}")
    if not source.data.get("arms") and not source.data.get("matrix"):
        problems.add(("arms",), "missing; a study needs `arms:` or `matrix:`")
    if len(set(sections.rule.primary)) < len(sections.rule.primary):
        problems.add(("rule", "primary"), f"a metric is named twice: {sections.rule.primary}")
    _check_margins(sections.rule, problems)
    _check_stopping(source, sections, problems)
    _check_web(source, sections, problems)


def _check_margins(rule: RuleSection, problems: Problems) -> None:
    for metric, margin in rule.margins.items():
        place = ("rule", "margins", metric)
        most = MOST.get(metric)
        if most is not None and margin > most:
            problems.add(
                place,
                f"a margin of {metric} lies above 0 and at most at {most:g}, where {metric} ends; "
                f"found {margin:g}",
            )
        if metric not in rule.primary:
            problems.add(
                place,
                f"{metric!r} is not primary, and only primary metrics are tested; add it to "
                f"rule.primary ({', '.join(rule.primary)}) or remove the margin",
            )


def _check_stopping(source: LocatedYaml, sections: StudySections, problems: Problems) -> None:
    rule = part(source.data, "rule")
    if isinstance(rule.get("stopping"), dict) and "block" not in part(rule, "stopping"):
        problems.add(
            ("rule", "stopping"), "missing block; say after how many questions to look: {block: 50}"
        )
    if sections.rule.stopping is not None and sections.executions < 2:
        problems.add(
            ("rule", "stopping"),
            "the shift from K1 decides, and there is no second execution; set executions: 2 or "
            "more, or remove it",
        )


def _check_web(source: LocatedYaml, sections: StudySections, problems: Problems) -> None:
    written, web = part(source.data, "web"), sections.web
    if web is None:
        return
    if web.search is None and "search" not in written:
        problems.add(("web",), "missing search; write serper, ddgs or corpus")
    if web.search == "corpus" and web.path is None and "path" not in written:
        problems.add(("web",), "missing path; name a file or folder of recorded pages")
    if web.search in {"serper", "ddgs"} and web.path is not None:
        problems.add(("web", "path"), f"{web.search} has no recorded pages; remove it")
