"""What an audit of the judges found: numbers with their origin, cases to look at, and what was not done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast, get_args

from pydantic import TypeAdapter, ValidationError

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import InvalidResults

__all__ = [
    "CHECKS",
    "NOT_PROBED",
    "AuditCase",
    "AuditCheck",
    "AuditFinding",
    "JudgeAudit",
    "JudgeUse",
]

FORMAT = "taketwo.judge-audit/1"
NOT_PROBED = "not probed: "
"""How `what` begins in a case that no probe could be made of; the reason follows."""

AuditCheck = Literal[
    "separation",
    "judges",
    "rubrics",
    "assertion",
    "ablation",
    "injection",
    "references",
    "formats",
    "humans",
]
CHECKS: tuple[AuditCheck, ...] = get_args(AuditCheck)


@dataclass(frozen=True, kw_only=True)
class AuditFinding:
    """One number of an audit.

    `subject` is what it is about (a judge, a pair of judges, an axis), `measure` what is measured, in
    words that a table can show. `low` and `high` are the 95 % interval over draws of questions,
    where there is one. `n` counts trajectories (or pairs), `clusters` questions. `published` is what
    the publication found for the same thing, on its own data. `value` is None where the number does
    not exist, and `reason` says why.
    """

    check: AuditCheck
    subject: str
    measure: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    clusters: int | None = None
    published: float | None = None
    reason: str | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class AuditCase:
    """One trajectory of a check that somebody should look at: what was done to it, before and after.

    One that no probe could be made of says so in `what`, and has no before and after.
    """

    check: AuditCheck
    question_id: str
    subject: str
    what: str
    before: str
    after: str

    @property
    def unprobed(self) -> str | None:
        """Return why no probe could be made of it, None where one was."""
        is_one = self.what.startswith(NOT_PROBED)
        return self.what.removeprefix(NOT_PROBED) if is_one else None


@dataclass(frozen=True, kw_only=True)
class JudgeUse:
    """What the numbers of an audit rest on: how many judgements of one judge, who served them, their price.

    `served` are the models that the provider says it used. Tokens are those of all replies together;
    None where one judgement does not report them. `cost_usd` is by the plan's prices, None without.
    """

    judge: str
    judgements: int
    served: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeAudit:
    """All findings about one judge of trajectories, on a `design` that says how much was looked at.

    `not_done` gives the reason for each check that could not be made, `failures` counts by check the
    trajectories that a judge did not score now, `causes` says why, by check. They are in no number.
    `probed_arm` is the arm whose runs the probes are made of.
    """

    judge: str
    rubric: str
    protocol: str
    design: str
    findings: tuple[AuditFinding, ...] = ()
    cases: tuple[AuditCase, ...] = ()
    not_done: Mapping[str, str] = field(default_factory=dict[str, str])
    failures: Mapping[str, int] = field(default_factory=dict[str, int])
    causes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    uses: tuple[JudgeUse, ...] = ()
    probed_arm: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in `judge-audit-<design>.json`."""
        return {
            "format": FORMAT,
            "judge": self.judge,
            "rubric": self.rubric,
            "protocol": self.protocol,
            "design": self.design,
            "findings": [cast("JsonValue", asdict(item)) for item in self.findings],
            "cases": [cast("JsonValue", asdict(item)) for item in self.cases],
            "not_done": dict(self.not_done),
            "failures": dict(self.failures),
            "causes": {check: dict(causes) for check, causes in self.causes.items()},
            "uses": [cast("JsonValue", asdict(item)) for item in self.uses],
            "probed_arm": self.probed_arm,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> JudgeAudit:
        """Read what `to_json` wrote.

        Raises
        ------
        InvalidResults
            If it is of another format, or a field is missing or unknown.
        """
        if record.get("format") != FORMAT:
            raise InvalidResults(
                f"not an audit of judges: format is {record.get('format')!r}, expected {FORMAT!r}; "
                "make it anew with: taketwo score STUDY --audit"
            )
        given = {name: value for name, value in record.items() if name != "format"}
        try:
            return TypeAdapter(cls).validate_python(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InvalidResults(
                f"the audit of judges lacks or garbles {place} ({first['msg']}); make it anew with: "
                "taketwo score STUDY --audit"
            ) from error
