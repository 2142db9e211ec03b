"""The report of a study: everything that its folder holds, as one document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from taketwo.added_scoring import study_scoring
from taketwo.analysis.comparison import Comparison
from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import InvalidResults
from taketwo.executions.logs import collect
from taketwo.executions.plan import Plan
from taketwo.executions.rule import Missing
from taketwo.outcomes.from_logs import manifests_of
from taketwo.outcomes.references import references_of
from taketwo.outcomes.table import read_outcomes
from taketwo.scores.judge_audit.audit_findings import JudgeAudit
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scoring import by_engine
from taketwo.study import compare
from taketwo.study_folder import StudyFolder

if TYPE_CHECKING:
    from taketwo.report.accounts import ContextNumber

_LEVELS = 12

__all__ = ["ReportFiles", "read_audit", "write_report"]


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """What `write_report` wrote."""

    html: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    comparison: Comparison


def write_report(
    study: Path | str,
    *,
    missing: Missing | None = None,
    allow_drift: bool = False,
    by: Sequence[str] | None = None,
    output: Path | str | None = None,
) -> ReportFiles:
    """Write `report.html`, the tables (Markdown, LaTeX, CSV) and the figures of a study.

    `by` are attributes of the questions to break the effects down by; without it, all that every
    question has, with 2 to 12 levels. They go into the study's folder, or into the folder `output`,
    which is made where it is not there; files of an earlier report are written anew.

    Raises what `compare` raises, and `HarnessError` where the folder cannot be written.
    """
    from taketwo.answer_judging import answer_judges  # its tables load the charts: on call
    from taketwo.judge_costs import judge_costs
    from taketwo.report.document import Sources, build_document  # charts are slow to load: on call
    from taketwo.report.html import write_figures, write_tables
    from taketwo.report.html import write_report as write_html

    where = StudyFolder.locate(Path(study))
    frozen = where.plan()
    chosen = _common_attributes(frozen) if by is None else by
    comparison = compare(study, missing=missing, allow_drift=allow_drift, by=chosen)
    trajectories = collect(where.folder, frozen, read_unknown=by_engine)
    pool = JudgementPool(where.folder / "judgements")
    process = study_scoring(where.folder, frozen)
    document = build_document(
        Sources(
            comparison=comparison,
            plan=frozen,
            outcomes=read_outcomes(where.folder / "outcomes.parquet"),
            trajectories=trajectories,
            manifests=manifests_of(where.folder, frozen, trajectories),
            context=_context(where.folder / "context.json"),
            references=references_of(frozen, process.scoring, pool.trajectories),
            answer_judges=answer_judges(
                frozen, pool, trajectories, judge=process.answer_judge(frozen)
            ),
            judge_costs=judge_costs(frozen, pool, trajectories, process),
            audits=tuple(read_audit(path) for path in where.audit_paths),
        )
    )
    target = where.folder if output is None else Path(output)
    return ReportFiles(
        html=write_html(document, target / "report.html", frames=where.folder / "frames"),
        tables=write_tables(document, target / "tables"),
        figures=write_figures(document, target / "figures"),
        comparison=comparison,
    )


def _common_attributes(frozen: Plan) -> tuple[str, ...]:
    """Return the factors that every question has, with as many levels as a table can hold."""
    factors = [
        {
            **{name: (level,) for name, level in planned.question.attributes.items()},
            **planned.question.several_levels,
        }
        for planned in frozen.questions
    ]
    common = set(factors[0]).intersection(*factors[1:])
    return tuple(
        name
        for name in sorted(common)
        if 2 <= len({level for one in factors for level in one[name]}) <= _LEVELS
    )


def _context(path: Path) -> tuple[ContextNumber, ...]:
    from taketwo.report.accounts import ContextNumber  # charts are slow to load: on call

    if not path.is_file():
        return ()
    try:
        rows = cast("list[dict[str, str]]", json.loads(path.read_bytes()))
        return tuple(ContextNumber(**row) for row in rows)  # pyright: ignore[reportArgumentType] written by the demo
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: not the numbers that the demo writes beside a study ({error}); remove the file"
        ) from error


def read_audit(path: Path) -> JudgeAudit:
    """Return an audit of the judges of a study.

    Raises
    ------
    InvalidResults
        If the file cannot be read.
    """
    try:
        record = cast("dict[str, JsonValue]", json.loads(path.read_bytes()))
        return JudgeAudit.from_json(record)
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: not a readable audit of judges ({error}); make it anew with: "
            "taketwo score STUDY --audit"
        ) from error
    except InvalidResults as error:
        raise InvalidResults(f"{path}: {error}") from error
