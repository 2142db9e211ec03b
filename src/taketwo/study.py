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
from taketwo.executions.manifest import Manifest, availability_of, compare_manifests
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
_LOST = {"missing": "video missing", "unreadable": "video unreadable"}

__all__ = [
    "Planned",
    "Ran",
    "compare",
    "plan",
    "run",
]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A frozen plan with what it will cost; `is_new` says whether this call froze it.

    `study_yaml` is the study file, None where there is none any more. Of a plan that was frozen before,
    `edited` is what that file, or a file that it names, now says otherwise, and `installed` in what code,
    packages and prompts differ: the plan stands, but `run` refuses. `unusable` is why the study file
    cannot be used as it stands, None where it can. `is_begun` says whether cells ran.
    """

    plan: Plan
    folder: Path
    cost: ExpectedCost
    is_new: bool
    study_yaml: Path | None = None
    edited: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    unusable: str | None = None
    is_begun: bool = False


def plan(study: Path | str) -> Planned:
    """Freeze the plan of a study, or read the one that is frozen, and say what it will cost.

    Of a plan that was frozen before, also in what the study file says something else now.

    Raises
    ------
    RequestError
        If the study file is wrong and no plan is frozen yet, with all its faults at once.
    """
    from taketwo.executions.freeze import differences, freeze, write_plan  # heavy: on call

    where = StudyFolder.locate(Path(study))
    if where.plan_path.exists():
        frozen = where.plan()
        found = differences(frozen, where.folder)
        return Planned(
            plan=frozen,
            folder=where.folder,
            cost=expected_cost(frozen),
            is_new=False,
            study_yaml=_as_named(found.study_yaml, where.study_yaml),
            edited=found.in_file,
            installed=found.installed,
            unusable=found.unusable,
            is_begun=any(where.folder.glob("K*/attempt-*")),
        )
    if where.study_yaml is None:
        raise RequestError(f"{where.folder}: there is no study.yaml to make a plan of")
    frozen = freeze(where.study_yaml, now=_now())
    where.folder.mkdir(parents=True, exist_ok=True)
    write_plan(frozen, where.folder)
    return Planned(
        plan=frozen,
        folder=where.folder,
        cost=expected_cost(frozen),
        is_new=True,
        study_yaml=where.study_yaml,
    )


def _as_named(read: Path | None, named: Path | None) -> Path | None:
    """Return the study file that was read, by the name that the caller has for it."""
    return named if read and named and read.resolve() == named.resolve() else read


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What the cells of a study have come to: how many by run status, and the first that failed.

    Cells that were left out by an early stop count as `stopped`, those whose video is not there as
    `video missing` or `video unreadable`: no failure of an arm, but a question that leaves the comparison.
    `first_without_video` is the first of these.
    """

    plan: Plan
    statuses: Mapping[str, int]
    first_failure: str | None
    first_without_video: str | None = None

    @property
    def failed(self) -> int:
        """Return how many cells ended in an error or did not run."""
        return sum(self.statuses.get(status, 0) for status in _FAILED)

    @property
    def without_video(self) -> int:
        """Return how many cells had no video that can be read."""
        return sum(self.statuses.get(status, 0) for status in _LOST.values())


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
    cells = [(cell, _status(planned.plan, cell)) for cell in done.trajectories]
    failed = next((cell for cell, status in cells if status in _FAILED), None)
    lost = next((cell for cell, status in cells if status in _LOST.values()), None)
    return Ran(
        plan=planned.plan,
        statuses=Counter(status for _, status in cells),
        first_failure=None if failed is None else _failure_text(failed),
        first_without_video=None if lost is None else _failure_text(lost),
    )


def _status(frozen: Plan, cell: Trajectory) -> str:
    if is_stopped(cell):
        return "stopped"
    return _LOST.get(availability_of(frozen, cell), cell.run_status)


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

    The comparison of a study is kept in its folder, unless that can only be read.

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
        found = _compared(
            frozen,
            (),
            given,
            named=paths[0].parent,
            missing=missing,
            allow_drift=allow_drift,
            by=by,
        )
        return _with_judges_marked(found, paths[0].parent, frozen)
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
    comparison = _with_judges_marked(comparison, where.folder, frozen)
    if where.is_writable:
        write_json(where.folder / "comparison.json", comparison.to_json())
    return comparison


def _with_judges_marked(comparison: Comparison, folder: Path, frozen: Plan) -> Comparison:
    """Return the comparison with judges that were chosen after the plan was frozen among its reservations."""
    reasons = study_scoring(folder, frozen).reasons
    return replace(comparison, not_as_planned=(*comparison.not_as_planned, *reasons))


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
