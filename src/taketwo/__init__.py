"""Take Two: find out whether the result of a video agent is real.

Public names are loaded on first use; importing the package loads neither the engine nor a decoder.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taketwo.agents.answer import Answer
    from taketwo.analysis.comparison import Comparison
    from taketwo.auditing import Audit, audit
    from taketwo.benchmarks.benchmark import Benchmark
    from taketwo.benchmarks.question import Milestone, Question, VisibleQuestion
    from taketwo.demonstration import demo
    from taketwo.diagnosis import doctor
    from taketwo.errors import (
        DataError,
        ForeignLog,
        HarnessError,
        InvalidQuestion,
        InvalidResults,
        PlanChanged,
        RequestError,
        RuleMismatch,
        TaketwoError,
        TooFewClusters,
        UnknownName,
        UnpairedCells,
        UnreadableVideo,
    )
    from taketwo.executions.plan import Plan
    from taketwo.executions.rule import Rule
    from taketwo.executions.trajectory import Trajectory
    from taketwo.exporting import export_study
    from taketwo.judge_audits import audit_judges, write_rating_form
    from taketwo.outcomes.table import Outcomes
    from taketwo.question_sets import check_benchmark, compare_population, hold_out
    from taketwo.rejudging import rejudge
    from taketwo.reporting import write_report
    from taketwo.scoring import score
    from taketwo.study import compare, plan, run
    from taketwo.video_availability import check_availability

_HOMES = {
    "Answer": "taketwo.agents.answer",
    "Audit": "taketwo.auditing",
    "Benchmark": "taketwo.benchmarks.benchmark",
    "Comparison": "taketwo.analysis.comparison",
    "DataError": "taketwo.errors",
    "ForeignLog": "taketwo.errors",
    "HarnessError": "taketwo.errors",
    "InvalidQuestion": "taketwo.errors",
    "InvalidResults": "taketwo.errors",
    "Milestone": "taketwo.benchmarks.question",
    "Outcomes": "taketwo.outcomes.table",
    "Plan": "taketwo.executions.plan",
    "PlanChanged": "taketwo.errors",
    "Question": "taketwo.benchmarks.question",
    "RequestError": "taketwo.errors",
    "Rule": "taketwo.executions.rule",
    "RuleMismatch": "taketwo.errors",
    "TaketwoError": "taketwo.errors",
    "TooFewClusters": "taketwo.errors",
    "Trajectory": "taketwo.executions.trajectory",
    "UnknownName": "taketwo.errors",
    "UnpairedCells": "taketwo.errors",
    "UnreadableVideo": "taketwo.errors",
    "VisibleQuestion": "taketwo.benchmarks.question",
    "audit": "taketwo.auditing",
    "audit_judges": "taketwo.judge_audits",
    "check_availability": "taketwo.video_availability",
    "check_benchmark": "taketwo.question_sets",
    "compare": "taketwo.study",
    "compare_population": "taketwo.question_sets",
    "demo": "taketwo.demonstration",
    "doctor": "taketwo.diagnosis",
    "export_study": "taketwo.exporting",
    "hold_out": "taketwo.question_sets",
    "plan": "taketwo.study",
    "rejudge": "taketwo.rejudging",
    "run": "taketwo.study",
    "score": "taketwo.scoring",
    "write_rating_form": "taketwo.judge_audits",
    "write_report": "taketwo.reporting",
}

__all__ = [
    "Answer",
    "Audit",
    "Benchmark",
    "Comparison",
    "DataError",
    "ForeignLog",
    "HarnessError",
    "InvalidQuestion",
    "InvalidResults",
    "Milestone",
    "Outcomes",
    "Plan",
    "PlanChanged",
    "Question",
    "RequestError",
    "Rule",
    "RuleMismatch",
    "TaketwoError",
    "TooFewClusters",
    "Trajectory",
    "UnknownName",
    "UnpairedCells",
    "UnreadableVideo",
    "VisibleQuestion",
    "audit",
    "audit_judges",
    "check_availability",
    "check_benchmark",
    "compare",
    "compare_population",
    "demo",
    "doctor",
    "export_study",
    "hold_out",
    "plan",
    "rejudge",
    "run",
    "score",
    "write_rating_form",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return version("taketwo")
    if name not in _HOMES:
        raise AttributeError(f"module 'taketwo' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
