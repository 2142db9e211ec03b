"""The public functions plan, run and compare. They compose the stages, nothing more.

What needs the engine or a decoder is imported where it is called, so that reading results stays light.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from taketwo.added_scoring import study_scoring
from taketwo.analysis.compare import compare as compare_outcomes
from taketwo.analysis.comparison import Comparison
from taketwo.analysis.early_stop import early_stop
from taketwo.analysis.statements import configuration_statement
from taketwo.errors import InvalidResults, PlanChanged, RequestError, UnpairedCells
from taketwo.executions.expected_cost import ExpectedCost, expected_cost
from taketwo.executions.manifest import Manifest, compare_manifests
from taketwo.executions.plan import Plan, read_plan
from taketwo.executions.progress import Progress
from taketwo.executions.rule import Missing
from taketwo.executions.stopped import Stopped, is_stopped
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.from_logs import manifests_of, read_logs
from taketwo.outcomes.possible import require_planned
from taketwo.outcomes.table import Outcomes, read_outcomes
from taketwo.scoring import by_engine, score
from taketwo.study_folder import StudyFolder, write_json

_FAILED = ("provider_error", "agent_error", "media_error", "not_run")

__all__ = [
    "Planned",
    "Ran",
    "compare",
    "plan",
    "run",
]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A frozen plan with what it will cost; `is_new` says whether this call froze it."""

    plan: Plan
    folder: Path
    cost: ExpectedCost
    is_new: bool


def plan(study: Path | str) -> Planned:
    """Freeze the plan of a study, or read the one that is frozen, and say what it will cost.

    Raises
    ------
    RequestError
        If the study file is wrong, with all its faults at once.
    """
    from taketwo.executions.freeze import freeze, write_plan  # heavy: on call

    where = StudyFolder.locate(Path(study))
    is_new = not where.plan_path.exists()
    if is_new:
        if where.study_yaml is None:
            raise RequestError(f"{where.folder}: there is no study.yaml to make a plan of")
        frozen = freeze(where.study_yaml, now=_now())
        where.folder.mkdir(parents=True, exist_ok=True)
        write_plan(frozen, where.folder)
    else:
        frozen = where.plan()
    return Planned(plan=frozen, folder=where.folder, cost=expected_cost(frozen), is_new=is_new)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What the cells of a study have come to: how many by run status, and the first that failed.

    Cells that were left out by an early stop count as `stopped`.
    """

    plan: Plan
    statuses: Mapping[str, int]
    first_failure: str | None

    @property
    def failed(self) -> int:
        """Return how many cells ended in an error or did not run."""
        return sum(self.statuses.get(status, 0) for status in _FAILED)


def run(
    study: Path | str,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    retry_errors: bool = False,
    plugins: Sequence[str] = (),
) -> Ran:
    """Execute a study, or resume it: every planned cell of every execution that has no record yet.

    `retry_errors` starts cells again that ended in an error of the agent or of the media; errors of
    providers are always resumed, up to the rule's number of attempts. `plugins` are modules to
    import in the processes that run, so that their models and agents are known.

    Where the rule has `stopping`, re-executions run in blocks of questions in the order that was
    drawn. After each, its answers are judged and the shift of accuracy from K1 decides whether the
    rest is left out (`K<k>/stopped.json`); K1 always runs completely.

    Raises
    ------
    PlanChanged
        If what would run is no longer what was frozen; nothing was spent.
    HarnessError
        If the process that runs an execution broke down; what it finished is kept.
    """
    from taketwo.executions.run import run_study  # heavy: on call

    planned = plan(study)

    def decide(execution: int, blocks: int) -> Stopped | None:
        return early_stop(
            planned.plan, score(planned.folder, answers_only=True).outcomes, execution, blocks
        )

    done = run_study(
        planned.folder,
        on_progress=on_progress,
        retry_errors=retry_errors,
        plugins=plugins,
        decide=decide,
    )
    cells = [
        (cell, "stopped" if is_stopped(cell) else cell.run_status) for cell in done.trajectories
    ]
    failed = next((cell for cell, status in cells if status in _FAILED), None)
    return Ran(
        plan=planned.plan,
        statuses=Counter(status for _, status in cells),
        first_failure=None if failed is None else _failure_text(failed),
    )


def _failure_text(cell: Trajectory) -> str:
    told = cell.run_status
    if cell.failure is not None:
        told = f"{told}, {cell.failure.cause}: {' '.join(cell.failure.message.split())[:300]}"
    return f"question {cell.question_id!r}, arm {cell.arm!r}, K{cell.execution}: {told}"


def compare(
    *what: Path | str,
    missing: Missing | None = None,
    allow_drift: bool = False,
    by: Sequence[str] = (),
) -> Comparison:
    """Say whether the effect of each method survives complete re-execution.

    Parameters
    ----------
    what
        One study (folder or YAML file), one outcomes table (`.parquet`) with `plan.json` beside it,
        or the logs of the executions (`.eval`).
    missing
        Treats failed cells otherwise than the frozen rule says; marked as not as planned.
    allow_drift
        Compares although something that should be held fixed differs; marked on every page.
    by
        Attributes of the questions to break the effects down by, also `skill` and `capability`; a
        question counts under each of its skills.

    Raises
    ------
    PlanChanged
        If something that should be held fixed differs between executions, naming arm, role and
        both hashes.
    UnpairedCells
        If failed cells do not allow a comparison under the rule.
    """
    paths = [Path(item) for item in what]
    if paths and all(path.suffix == ".eval" for path in paths):
        found = read_logs(paths, read_unknown=by_engine)
        return _compared(
            found.plan,
            found.manifests,
            found.outcomes,
            named=paths[0].parent.parent,
            missing=missing,
            allow_drift=allow_drift,
            by=by,
        )
    if len(paths) != 1:
        raise RequestError(
            f"compare takes one study, one outcomes table or logs (.eval), found {len(paths)} names"
        )
    if paths[0].suffix == ".parquet":
        frozen = read_plan(paths[0].parent / "plan.json")
        given = read_outcomes(paths[0])
        require_planned(given.frame, frozen)
        return _compared(
            frozen,
            (),
            given,
            named=paths[0].parent,
            missing=missing,
            allow_drift=allow_drift,
            by=by,
        )
    where = StudyFolder.locate(paths[0])
    frozen = where.plan()
    table = where.folder / "outcomes.parquet"
    if table.is_file() and not any(where.folder.glob("K*/attempt-*")):
        # the logs stayed elsewhere; the table is all that a comparison needs
        return compare(table, missing=missing, allow_drift=allow_drift, by=by)
    scored = score(paths[0], judge=False)
    manifests = manifests_of(where.folder, frozen, scored.trajectories)
    comparison = _compared(
        frozen,
        manifests,
        scored.outcomes,
        named=paths[0],
        missing=missing,
        allow_drift=allow_drift,
        by=by,
    )
    reasons = study_scoring(where.folder, frozen).reasons
    if reasons:
        comparison = replace(comparison, not_as_planned=(*comparison.not_as_planned, *reasons))
    write_json(where.folder / "comparison.json", comparison.to_json())
    return comparison


def _compared(
    frozen: Plan,
    manifests: Sequence[Manifest],
    outcomes: Outcomes,
    *,
    named: Path,
    missing: Missing | None,
    allow_drift: bool,
    by: Sequence[str],
) -> Comparison:
    drift = compare_manifests(manifests) if manifests else None
    refusals = () if drift is None else drift.refusals
    if refusals and not allow_drift:
        listed = "\n".join(f"  {finding.message}" for finding in refusals[:20])
        more = f"\n  and {len(refusals) - 20} more" if len(refusals) > 20 else ""
        raise PlanChanged(
            f"what should be held fixed differs between executions of study {frozen.study!r}:\n"
            f"{listed}{more}\n"
            "  either execute again what differs, or compare all the same with --allow-drift "
            "(marked on every page)"
        )
    try:
        return compare_outcomes(
            outcomes,
            frozen.rule,
            study=frozen.sha256,
            seed=frozen.seed,
            missing=missing,
            by=by,
            configuration=configuration_statement(drift),
        )
    except (UnpairedCells, InvalidResults) as error:
        raise type(error)(str(error).replace("STUDY", str(named))) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
