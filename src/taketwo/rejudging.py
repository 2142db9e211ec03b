"""Judging the trajectories of a finished AgentVidBench run again: another judge, protocol or rubric.

The run folder is read and never touched; what comes out is a copy of its inference with an evaluation
of its own, so that old and new scores can be laid side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import RUBRICS, Protocol
from taketwo.rejudged_answers import evaluated, not_run, with_letter
from taketwo.rejudged_copy import files_of_run, identity_of, require_apart, write_rejudged
from taketwo.rejudged_labels import rejudged_labels
from taketwo.rejudged_requests import (
    asked_questions,
    questions_without_record,
    request_of,
    require_asked,
    says_what_was_asked,
)
from taketwo.scores.formats.run_folder import OWN_FILE, read_run
from taketwo.scores.formats.run_folder_summary import process_means
from taketwo.scores.judged_in_batches import Ask, JudgingFailure, Save
from taketwo.scores.trajectory_judgements import (
    TrajectoryJudgement,
    read_trajectory_judgements,
    write_trajectory_judgements,
)
from taketwo.scores.trajectory_request import TrajectoryRequest

__all__ = ["Rejudged", "rejudge"]


@dataclass(frozen=True, kw_only=True)
class Rejudged:
    """What judging again did.

    `judged` trajectories were judged now, `pooled` had a judgement already, `failures` are the causes of
    those that the judge did not score, by question. `requested` questions were asked for in the run;
    `not_judged` of them ended in an error, left no trajectory or have no milestones. `unchecked` of the
    trajectories do not say what was asked, and were taken for the questions by their numbers alone.
    `means` are those of `P1` to `P5`, `traj` and `mc_rate` over what is defined. `summary` is the whole
    written summary.
    """

    output: Path
    requested: int
    judged: int
    pooled: int
    not_judged: int
    unchecked: int
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

    Where another model begins to serve the judge's name, its judgements are left out as failures
    with the reason: those of two models are not one measure.

    Parameters
    ----------
    run_folder
        `<framework>_<model>_<tag>` with `inference/` in it.
    questions
        The data set's folder with `questions.jsonl`, or the study that the run folder was exported
        from (its folder or YAML file); no video is needed.
    judge
        The model that judges, at temperature 0.
    output
        The new run folder. It must be empty, not there yet, or an earlier result of the same run
        by the same judge, protocol and rubric.
    protocol
        `blind` shows the judge the steps without names, tokens and times, or the recorded text where
        there are no steps; `published` shows the recorded text as it stands, with the system's name.
    judgements
        The folder of pooled judgements, `judgements` beside the output by default. What is judged
        already, whatever run it stood in, is not judged again. It is never in the run folder.
    on_work
        Told before the judge is asked: how many requests, and of whom.

    Raises
    ------
    RequestError
        If the output holds something else, or a result of another judge, protocol or rubric; if it or
        the judgements lie in the run folder, where no folder can be or where nothing can be written;
        if another process asks judges for the same judgements; if there is no such rubric. All of
        it before anything is spent.
    InvalidResults
        If files of the run are broken or links that lead out of it, or its questions are not in the
        data set or study, or other ones there; all of them are named. If pooled judgements under
        the judge's name are by different served models.
    InvalidQuestion
        If `questions` is neither a data set nor a study, or the data set cannot be used.
    DataError
        If the study has no plan, or one that cannot be read.
    """
    source, target = Path(run_folder), Path(output)
    if rubric not in RUBRICS:
        raise RequestError(f"no such rubric {rubric!r}; known are {', '.join(RUBRICS)}")
    pool_folder = target.parent / "judgements" if judgements is None else Path(judgements)
    identity = identity_of(source, judge, protocol, rubric, max_tokens)
    require_apart(source, target, pool_folder, identity)
    files = files_of_run(source)
    given = asked_questions(source, Path(questions))
    known = given.by_number
    options = {number: question.options for number, question in known.items()}
    run = read_run(source, options, with_scores=False)
    require_asked(run, given)
    absent = questions_without_record(run, given)
    answered = [with_letter(item, known[item.question_id], run.method) for item in run.items]
    asked = {
        item.question_id: request_of(
            item, known[item.question_id], system=run.method, protocol=protocol, rubric=rubric
        )
        for item in answered
    }
    requests = {number: request for number, request in asked.items() if request is not None}
    unchecked = sum(
        item.question_id in requests and not says_what_was_asked(run, item, given)
        for item in answered
    )
    limits = {"connections": connections, "retries": retries, "timeout_s": timeout_s}
    keys = {number: request.key(judge.name) for number, request in requests.items()}

    def tell(there: Mapping[str, TrajectoryJudgement]) -> None:
        if on_work is not None:
            pooled = sum(key in there for key in keys.values())
            lacking = len(keys) - pooled
            on_work(
                f"asking {judge.name} about {lacking} trajectories, {pooled} are judged already"
            )

    labels = rejudged_labels(
        {keys[number]: request for number, request in requests.items()},
        judge.name,
        _asking(judge, max_tokens, limits),
        read=read_trajectory_judgements,
        write=write_trajectory_judgements,
        pool=pool_folder,
        output=target / OWN_FILE,
        connections=connections,
        on_asking=tell,
    )
    failures = labels.failures
    scored = [
        evaluated(
            item,
            known[item.question_id],
            judge=judge.name,
            key=(key := keys.get(item.question_id)),
            judged=labels.by_key.get(key or ""),
            failure=failures.get(key or ""),
        )
        for item in answered
    ]
    scored += [not_run(number, question) for number, question in absent.items()]
    unrecorded = 0 if absent else run.unrecorded
    identity["unchecked_questions"] = unchecked
    summary = write_rejudged(run, target, files, scored, unrecorded, identity)
    requested = len(scored) + unrecorded
    return Rejudged(
        output=target,
        requested=requested,
        judged=sum(key in labels.asked and key in labels.by_key for key in keys.values()),
        pooled=sum(key not in labels.asked for key in keys.values()),
        not_judged=requested - len(requests),
        unchecked=unchecked,
        failures={number: failures[key] for number, key in sorted(keys.items()) if key in failures},
        means=process_means([item.process for item in scored if item.process is not None]),
        summary=summary,
    )


def _asking(
    judge: ModelSpec, max_tokens: int | None, limits: Mapping[str, int]
) -> Ask[TrajectoryRequest, TrajectoryJudgement]:
    async def ask(
        batch: Sequence[TrajectoryRequest], save: Save[TrajectoryJudgement]
    ) -> tuple[Sequence[TrajectoryJudgement], Sequence[JudgingFailure]]:
        from taketwo.scores.trajectory_judge import judge_trajectories  # heavy: on call

        return await judge_trajectories(batch, judge, max_tokens=max_tokens, rescue=save, **limits)

    return ask
