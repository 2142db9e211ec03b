"""AgentVidBench: run folders `<framework>_<model>_<tag>` with `inference/` and `evaluation/`.

A method with a model is a system, the tag names its execution. The answer is the letter that the
trajectory states, else the majority of the stored votes. An agent that ended without an answer counts as
wrong whatever letter the run wrote for it; a run that failed has no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import text
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.sources import Parsed, Source
from taketwo.scores.formats.run_folder import AgentVidBenchRun, RunItem, read_run

__all__ = ["KIND", "anchor_of", "read_agentvidbench", "run_folder_of"]

KIND = "AgentVidBench run folders"

_FAILED = ("agent_error", "provider_error", "media_error", "not_run")
_LISTED = 20
_CLIPPED = 120
_UNANSWERED = ("abstained", "unparsed", "limit")


def run_folder_of(file: Path) -> Path | None:
    """Return the run folder that a file belongs to; None where it belongs to none."""
    parents = list(file.parents)[:3]
    for folder in parents:
        if folder.name in {"inference", "evaluation"}:
            root = folder.parent
            return root if anchor_of(root) is not None else None
    beside = file.parent if file.name == "taketwo.json" else None
    return beside if beside is not None and anchor_of(beside) is not None else None


def anchor_of(root: Path) -> Path | None:
    """Return the one file that stands for a run folder: its summary, else its first record."""
    inference = root / "inference"
    summary = inference / "summary.json"
    if summary.is_file() and (inference / "progress").is_dir():
        return summary
    for folder, pattern in (("progress", "question*.json"), ("trajectories", "question*.txt")):
        first = min((inference / folder).glob(pattern), default=None)
        if first is not None:
            return first
    return None


def read_agentvidbench(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of run folders, each named by one file in it.

    Raises
    ------
    InvalidResults
        If files of the runs are broken, all of them named, or two folders are the same execution of one
        system.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    runs = _runs(sources)
    own_ids = [bool(run.own) for run in runs]
    by_number = not all(own_ids)
    for run in runs:
        for item in run.items:
            _add(rows, run, item, by_number=by_number)
        _tell(rows, run)
    studies = {(text(run.own, "plan_sha256")) for run in runs}
    is_one_study = len(studies) == 1 and None not in studies
    parsed = rows.parsed(
        [source.as_file(KIND) for source in sources],
        is_blocked=is_one_study,
        alignment_reason="executions of one study of ours"
        if is_one_study
        else "a run folder is a run of one method by itself",
        default_cluster="the video of the question",
    )
    factors = {
        (_system(run), name, level)
        for run in runs
        for name, level in (("framework", run.method), ("model", run.model))
    }
    return replace(parsed, factors=tuple(sorted(factors)))


def _runs(sources: Sequence[Source]) -> list[AgentVidBenchRun]:
    """Read every folder; what is wrong in any of them is told at once."""
    runs: list[AgentVidBenchRun] = []
    faults: list[str] = []
    places: dict[tuple[str, str], Path] = {}
    for source in sources:
        root = run_folder_of(source.path)
        if root is None:
            faults.append(f"{source.path}: not in a run folder of AgentVidBench")
            continue
        try:
            run = read_run(root)
        except InvalidResults as error:
            faults.append(str(error))
            continue
        earlier = places.setdefault((_system(run), run.tag), root)
        if earlier != root:
            faults.append(
                f"{root}: {_system(run)} with the tag {run.tag!r} is in {earlier} already; another "
                "execution has another tag, and a run that was judged again is not another one: "
                "name one of the two"
            )
        runs.append(run)
    if faults:
        raise InvalidResults("\n".join(faults))
    return runs


def _system(run: AgentVidBenchRun) -> str:
    return f"{run.method}/{run.model}"


def _add(rows: RowList, run: AgentVidBenchRun, item: RunItem, *, by_number: bool) -> None:
    question = str(item.question_id) if by_number or item.own_id is None else item.own_id
    place = f"question {item.question_id}"
    video = text(item.own, "video_id")
    if video is None and item.video is not None:
        video = PurePosixPath(item.video.replace("\\", "/")).stem

    def add(metric: str | None, value: object, status: Status, detail: str | None = None) -> None:
        rows.add(
            system=_system(run),
            execution=run.tag,
            question_id=question,
            metric=metric,
            value=value,
            status=status,
            cluster=video,
            detail=detail,
            source=item.source,
            place=place,
        )

    status, detail = _status(item)
    if status in _FAILED:
        add(None, None, status, detail)
        return
    correct = item.is_correct
    add("accuracy", None if correct is None else float(correct), status, detail)
    for metric, value in item.measures.items():
        add(metric, value, "scored")
    process = item.process
    if process is None:
        if item.judge_error is not None:
            rows.aside(
                "trajectories without a judgement",
                "the judge failed",
                f"{run.path}, {place}: {' '.join(item.judge_error.split())[:_CLIPPED]}",
            )
        return
    if process.unknown_tags:
        rows.aside(
            "judgements with failure tags that are none of the closed list",
            "such tags are left out, the scores are read",
            f"{run.path}, {place}: {', '.join(process.unknown_tags)[:_CLIPPED]}",
        )
    add("trajectory_score", process.trajectory_score, "scored")
    add("mc_rate", process.mc_rate, "scored")
    for axis, score in process.scores.axes.items():
        if score is not None:
            add(axis, score, "scored")


def _status(item: RunItem) -> tuple[Status, str | None]:
    if item.run_status != "answered":
        status: Status = item.run_status
        is_ungraded = status in _UNANSWERED and item.is_correct is None
        return ("not_judged" if is_ungraded else status), item.failure
    if item.is_doubtful:
        return "judge_error", "all votes for a letter are null, though the reply names one"
    told = text(item.own, "score_status")
    if item.is_correct is None and told in {"ungradable", "judge_error"}:
        return ("ungradable" if told == "ungradable" else "judge_error"), None
    return ("scored" if item.is_correct is not None else "not_judged"), None


def _tell(rows: RowList, run: AgentVidBenchRun) -> None:
    """Say in the account what is odd about a run."""
    where = str(run.path)
    if run.unrecorded:
        rows.note(
            f"{where}: {run.unrecorded} of {run.requested} questions left no record and no id; those "
            "that another run has count as not run here"
        )
    if run.unused:
        listed = ", ".join(run.unused[:_LISTED])
        more = f" and {len(run.unused) - _LISTED} more" if len(run.unused) > _LISTED else ""
        rows.note(
            f"{where}: {len(run.unused)} files are not used, no question has them: {listed}{more}"
        )
    gave_up = [item for item in run.items if item.run_status == "limit" and item.own_id is None]
    if gave_up:
        credited = sum(item.stored_correct is True for item in gave_up)
        rows.note(
            f"{where}: {len(gave_up)} trajectories ended without an answer and have the letter A in "
            f"the run's files ({credited} of them were counted as right there); they count as limit"
        )
    other = [
        item
        for item in run.items
        if item.letter is not None
        and item.stored_letter is not None
        and item.letter != item.stored_letter
    ]
    if other:
        rows.note(
            f"{where}: {len(other)} stored letters are not those of the trajectory, first question "
            f"{other[0].question_id} ({other[0].stored_letter} stored, {other[0].letter} stated); "
            "the stated one counts"
        )
    ends = Counter(item.run_status for item in run.items)
    if ends["answered"] and not any(item.has_evaluation for item in run.items):
        rows.note(f"{where}: no evaluation; its answers are not judged")
    if any(item.process is not None for item in run.items) and not run.own:
        rows.note(
            f"{where}: mc_rate as stored, over the milestones that the judge returned; to have it over "
            "those of the data set, judge again with: taketwo rejudge"
        )
