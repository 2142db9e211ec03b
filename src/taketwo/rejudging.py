"""Judging the trajectories of a finished AgentVidBench run again: another judge, protocol or rubric.

The run folder is read and never touched; what comes out is a copy of its inference with an evaluation
of its own, so that old and new scores can be laid side by side.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.errors import HarnessError, InvalidResults, RequestError
from taketwo.executions.log_json import plain_json, text
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import RUBRICS, Protocol
from taketwo.scores.run_folder import OWN_FILE, AgentVidBenchRun, RunItem, read_run
from taketwo.scores.run_folder_files import RunFiles
from taketwo.scores.run_folder_steps import without_identity
from taketwo.scores.run_folder_summary import Evaluated, process_means
from taketwo.scores.run_folder_writing import write_evaluation, write_own_file
from taketwo.scores.trajectory_judgements import (
    TrajectoryJudgement,
    read_trajectory_judgements,
    write_trajectory_judgements,
)
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_request import rubric as rubric_text
from taketwo.scores.trajectory_text import RenderedTrajectory, rendered

__all__ = ["Rejudged", "rejudge"]

_BATCH = 8
_UNJUDGED = ("agent_error", "provider_error", "media_error", "not_run")


@dataclass(frozen=True, kw_only=True)
class Rejudged:
    """What judging again did.

    `judged` trajectories were judged now, `pooled` had a judgement already, `failures` are the causes of
    those that the judge did not score, by question. `requested` questions were asked for in the run;
    `not_judged` of them ended in an error or left no trajectory. `means` are those of `P1` to `P5`,
    `traj` and `mc_rate` over what is defined. `summary` is the whole written summary.
    """

    output: Path
    requested: int
    judged: int
    pooled: int
    not_judged: int
    failures: Mapping[int, str]
    means: Mapping[str, float | None]
    summary: Mapping[str, JsonValue]


def rejudge(
    run_folder: Path | str,
    questions: Path | str,
    judge: ModelSpec,
    *,
    output: Path | str,
    protocol: Protocol = "blind",
    rubric: str = "standard",
    max_tokens: int | None = 4096,
    judgements: Path | str | None = None,
    connections: int = 4,
    retries: int = 3,
    timeout_s: int = 300,
    on_work: Callable[[str], None] | None = None,
) -> Rejudged:
    """Judge the trajectories of a run folder again and write the result as a new one.

    Parameters
    ----------
    run_folder
        `<framework>_<model>_<tag>` with `inference/` in it.
    questions
        The data set's folder with `questions.jsonl`; no video is needed.
    judge
        The model that judges, at temperature 0.
    output
        The new run folder. It must be empty, not there yet, or an earlier result of the same run.
    protocol
        `blind` shows the judge the steps without names, tokens and times, or the recorded text where
        there are no steps; `published` shows the recorded text as it stands, with the system's name.
    judgements
        The folder of pooled judgements, `judgements` beside the output by default. What is judged
        already, whatever run it stood in, is not judged again.
    on_work
        Told before the judge is asked: how many requests, and of whom.

    Raises
    ------
    RequestError
        If the output holds something else, or lies in the run folder, or there is no such rubric.
    InvalidResults
        If files of the run are broken, all of them named, or its questions are not in the data set.
    InvalidQuestion
        If the data set cannot be used.
    """
    source, target = Path(run_folder), Path(output)
    if rubric not in RUBRICS:
        raise RequestError(f"no such rubric {rubric!r}; known are {', '.join(RUBRICS)}")
    _require_apart(source, target)
    run = read_run(source)
    known = _questions(run, Path(questions))
    absent = _absent(run, known)
    requests = {
        item.question_id: TrajectoryRequest(
            question=known[item.question_id],
            trajectory=_shown(item, run.method, protocol),
            protocol=protocol,
            rubric=rubric,
        )
        for item in run.items
        if item.run_status not in _UNJUDGED and item.text is not None
    }
    pool_folder = target.parent / "judgements" if judgements is None else Path(judgements)
    pool = dict(read_trajectory_judgements(pool_folder))
    keys = {number: request.key(judge.name) for number, request in requests.items()}
    pending = [request for number, request in requests.items() if keys[number] not in pool]
    failures: dict[str, str] = {}
    if pending:
        if on_work is not None:
            pooled = len(requests) - len(pending)
            on_work(
                f"asking {judge.name} about {len(pending)} trajectories, {pooled} are judged already"
            )
        found, failures = asyncio.run(
            _judged(
                pending,
                judge,
                pool_folder,
                connections=connections,
                retries=retries,
                timeout_s=timeout_s,
                max_tokens=max_tokens,
            )
        )
        pool.update({item.key: item for item in found})
    items = [
        _evaluated(item, known[item.question_id], judge.name, keys, pool, failures)
        for item in run.items
    ]
    items += [_not_run(question) for question in absent]
    unrecorded = 0 if absent else run.unrecorded
    summary = _write(
        run,
        target,
        items,
        unrecorded,
        _identity(run, judge, protocol, rubric, max_tokens),
    )
    requested = len(items) + unrecorded
    return Rejudged(
        output=target,
        requested=requested,
        judged=sum(request.key(judge.name) in pool for request in pending),
        pooled=len(requests) - len(pending),
        not_judged=requested - len(requests),
        failures={number: failures[key] for number, key in sorted(keys.items()) if key in failures},
        means=process_means([item.process for item in items if item.process is not None]),
        summary=summary,
    )


def _require_apart(source: Path, target: Path) -> None:
    run, out = source.resolve(), target.resolve()
    if out == run or run in out.parents or out in run.parents:
        raise RequestError(
            f"{target}: the run folder itself, or one inside the other; the run is never written to: "
            "name another folder"
        )
    if not target.exists():
        return
    if not target.is_dir():
        raise RequestError(f"{target}: a file; name a new folder")
    if not any(target.iterdir()):
        return
    marked = RunFiles(target).json(target / OWN_FILE)
    if marked is None or text(marked, "source_sha256") != _place(source):
        raise RequestError(
            f"{target}: holds something that is no earlier result of {source.name}; name a new folder"
        )


def _place(source: Path) -> str:
    """Return a name of where a run lies that tells nobody the path."""
    return sha256_of_text(str(source.resolve()))


def _questions(run: AgentVidBenchRun, folder: Path) -> dict[int, Question]:
    benchmark = agentvidbench(folder, transcripts=False)
    known = {int(question.question_id): question for question in benchmark.questions}
    absent = [item.question_id for item in run.items if item.question_id not in known]
    if absent:
        raise InvalidResults(
            f"{run.path}: {len(absent)} of {len(run.items)} questions are not in {folder}, first "
            f"{absent[0]}; name the data set that the run was made on"
        )
    return known


def _absent(run: AgentVidBenchRun, known: Mapping[int, Question]) -> list[Question]:
    """Return the questions that the run was given and left no record of, as far as that is certain.

    Without a summary, or with a total of the whole data set, the run was given all of it; with another
    total nobody knows which questions the others were.
    """
    if run.total is not None and run.total != len(known):
        return []
    there = {item.question_id for item in run.items}
    return [question for number, question in sorted(known.items()) if number not in there]


def _not_run(question: Question) -> Evaluated:
    index = question.answer_index
    return Evaluated(
        question_id=int(question.question_id),
        question=question,
        gold=None if index is None else question.labels[index],
        letter=None,
        is_correct=None,
        status="not_run",
    )


def _shown(item: RunItem, method: str, protocol: Protocol) -> RenderedTrajectory:
    """Return what the judge reads: the text as recorded, or the steps without what names anybody."""
    written = item.text or ""
    if protocol == "published":
        return RenderedTrajectory(text=written, system=method)
    if item.normalized is not None and item.trajectory is not None:
        return rendered(item.trajectory, system=method)
    return RenderedTrajectory(text=without_identity(written).strip() or "(no text)", system=method)


async def _judged(
    pending: Sequence[TrajectoryRequest],
    judge: ModelSpec,
    pool: Path,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    max_tokens: int | None,
) -> tuple[list[TrajectoryJudgement], dict[str, str]]:
    """Ask a batch at a time, so that what was paid for is on disk soon after."""
    from taketwo.scores.trajectory_judge import judge_trajectories  # heavy: on call

    found: list[TrajectoryJudgement] = []
    failures: dict[str, str] = {}
    size = _BATCH * connections
    for start in range(0, len(pending), size):
        done, failed = await judge_trajectories(
            pending[start : start + size],
            judge,
            connections=connections,
            retries=retries,
            timeout_s=timeout_s,
            max_tokens=max_tokens,
        )
        write_trajectory_judgements(pool, done)
        found += done
        failures.update({failure.key: failure.cause for failure in failed})
    return found, failures


def _evaluated(
    item: RunItem,
    question: Question,
    judge: str,
    keys: Mapping[int, str],
    pool: Mapping[str, TrajectoryJudgement],
    failures: Mapping[str, str],
) -> Evaluated:
    key = keys.get(item.question_id, "")
    judged = pool.get(key)
    gold = None if question.answer_index is None else question.labels[question.answer_index]
    own: dict[str, JsonValue] = {"letter_source": item.letter_source}
    if judged is not None:
        own["judging"] = {
            "served_model": judged.served_model,
            "prompt_sha256": judged.prompt_sha256,
            "key": judged.key,
            "created": judged.created,
        }
    return Evaluated(
        question_id=item.question_id,
        question=question,
        gold=gold,
        letter=item.letter,
        is_correct=_is_correct(item, gold),
        status=_status(item, gold),
        process=None if judged is None else judged.scores,
        judge=judge if key else None,
        judge_error=failures.get(key),
        letters=None if item.letters is None else _plain(item.letters),
        own=own,
    )


def _plain(record: Mapping[str, object]) -> dict[str, JsonValue]:
    return {name: plain_json(value) for name, value in record.items()}


def _status(item: RunItem, gold: str | None) -> str:
    if item.run_status != "answered":
        return item.run_status
    return "judge_error" if _is_correct(item, gold) is None else "scored"


def _is_correct(item: RunItem, gold: str | None) -> bool | None:
    """Return whether the answer is right, by the data set's truth."""
    if item.run_status in {"abstained", "unparsed", "limit"}:
        return False
    if item.run_status != "answered" or item.is_doubtful or item.letter is None or gold is None:
        return None
    return item.letter == gold


def _identity(
    run: AgentVidBenchRun, judge: ModelSpec, protocol: Protocol, rubric: str, max_tokens: int | None
) -> dict[str, JsonValue]:
    return {
        "rejudged_from": run.path.resolve().name,
        "source_sha256": _place(run.path),
        "judge": judge.to_json(),
        "protocol": protocol,
        "rubric": rubric,
        "prompt_sha256": sha256_of_text(rubric_text(rubric)),
        "max_tokens": max_tokens,
        "letters": "of the trajectory, else of the stored votes, else read by our parser",
    }


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_symlink()]


def _write(
    run: AgentVidBenchRun,
    target: Path,
    items: Sequence[Evaluated],
    unrecorded: int,
    identity: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    write_own_file(target, {**_plain(run.own), **identity})
    try:
        for name in ("inference", "evaluation"):
            if (target / name).exists():
                shutil.rmtree(target / name)
        shutil.copytree(run.path / "inference", target / "inference", ignore=_links)
    except OSError as error:
        raise HarnessError(
            f"{target}: the inference cannot be copied there ({error}); make room or allow writing "
            "there, and start again: what was judged is kept"
        ) from error
    return write_evaluation(
        target,
        items,
        framework=run.method,
        model=run.model,
        tag=run.tag,
        unrecorded=unrecorded,
        own=identity,
    )
