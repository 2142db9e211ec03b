"""Judging the trajectories of a finished AgentVidBench run again: another judge, protocol or rubric.

The run folder is read and never touched; what comes out is a copy of its inference with an evaluation
of its own, so that old and new scores can be laid side by side.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.errors import HarnessError, InvalidResults, RequestError
from taketwo.executions.log_json import items, part, plain_json, text
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import RUBRICS, Protocol
from taketwo.executions.trajectory import ModelCall
from taketwo.scores.answer_parsing import parse_option
from taketwo.scores.run_folder import OWN_FILE, AgentVidBenchRun, RunItem, read_run
from taketwo.scores.run_folder_files import RunFiles
from taketwo.scores.run_folder_steps import without_identity
from taketwo.scores.run_folder_summary import Evaluated, letters_record, process_means
from taketwo.scores.run_folder_writing import write_evaluation, write_own_file
from taketwo.scores.trajectory_judgements import (
    TrajectoryJudgement,
    read_trajectory_judgements,
    write_trajectory_judgements,
)
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_request import rubric as rubric_text
from taketwo.scores.trajectory_text import RenderedTrajectory, rendered, rendered_prediction

__all__ = ["Rejudged", "rejudge"]

_BATCH = 8
_UNJUDGED = ("agent_error", "provider_error", "media_error", "not_run")
_LISTED, _SHOWN = 50, 80
_LEFTOVER = re.compile(r"\.[^/]+\.[0-9]+\.[0-9a-f]{12}\.tmp")
"""What a process that was killed while it wrote a file may leave beside it."""
_HEADER = re.compile(r"\A\ufeff?=== [^\n]* trajectory \([^\n]*\) ===\s+Question:")
_BODY = re.compile(r"^(?:Metrics: n_steps=|\[Step 1\])", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Rejudged:
    """What judging again did.

    `judged` trajectories were judged now, `pooled` had a judgement already, `failures` are the causes of
    those that the judge did not score, by question. `requested` questions were asked for in the run;
    `not_judged` of them ended in an error or left no trajectory. `unchecked` of the trajectories do not
    say what was asked, and were taken for the data set's questions by their numbers alone. `means` are those of `P1` to `P5`,
    `traj` and `mc_rate` over what is defined. `summary` is the whole written summary.
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
        already, whatever run it stood in, is not judged again. It is never in the run folder.
    on_work
        Told before the judge is asked: how many requests, and of whom.

    Raises
    ------
    RequestError
        If the output holds something else, or it or the judgements lie in the run folder or where no
        folder can be, or there is no such rubric.
    InvalidResults
        If files of the run are broken or links that lead out of it, or its questions are not in the
        data set or other ones there; all of them are named.
    InvalidQuestion
        If the data set cannot be used.
    """
    source, target = Path(run_folder), Path(output)
    if rubric not in RUBRICS:
        raise RequestError(f"no such rubric {rubric!r}; known are {', '.join(RUBRICS)}")
    pool_folder = target.parent / "judgements" if judgements is None else Path(judgements)
    _require_apart(source, target, pool_folder)
    files = _files(source)
    run = read_run(source)
    known = _questions(run, Path(questions))
    absent = _absent(run, known)
    answered = [_with_letter(item, known[item.question_id], run.method) for item in run.items]
    requests = {
        item.question_id: TrajectoryRequest(
            question=known[item.question_id],
            trajectory=_shown(item, run.method, protocol),
            protocol=protocol,
            rubric=rubric,
        )
        for item in answered
        if item.run_status not in _UNJUDGED and item.text is not None
    }
    unchecked = sum(item.question_id in requests and not _asked(item) for item in answered)
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
        limits = {"connections": connections, "retries": retries, "timeout_s": timeout_s}
        found, failures = asyncio.run(_judged(pending, judge, pool_folder, max_tokens, limits))
        pool.update({item.key: item for item in found})
    scored = [
        _evaluated(item, known[item.question_id], judge.name, keys, pool, failures)
        for item in answered
    ]
    scored += [_not_run(question) for question in absent]
    unrecorded = 0 if absent else run.unrecorded
    identity = _identity(run, judge, protocol, rubric, max_tokens)
    identity["unchecked_questions"] = unchecked
    summary = _write(run, target, files, scored, unrecorded, identity)
    requested = len(scored) + unrecorded
    return Rejudged(
        output=target,
        requested=requested,
        judged=sum(request.key(judge.name) in pool for request in pending),
        pooled=len(requests) - len(pending),
        not_judged=requested - len(requests),
        unchecked=unchecked,
        failures={number: failures[key] for number, key in sorted(keys.items()) if key in failures},
        means=process_means([item.process for item in scored if item.process is not None]),
        summary=summary,
    )


def _require_apart(source: Path, target: Path, pool: Path) -> None:
    """Check, before anything is asked, that all that is written can be and is not in the run."""
    run, out, kept = source.resolve(), target.resolve(), pool.resolve()
    if out == run or run in out.parents or out in run.parents:
        raise RequestError(
            f"{target}: the run folder itself, or one inside the other; the run is never written to: "
            "name another folder"
        )
    if kept == run or run in kept.parents:
        raise RequestError(
            f"{pool}: in the run folder, which is never written to; name another folder for the "
            "judgements (--judgements)"
        )
    if kept == out or {out / "inference", out / "evaluation"} & {kept, *kept.parents}:
        raise RequestError(
            f"{pool}: is replaced by the result; name another folder for the judgements (--judgements)"
        )
    for path in (target, *target.parents, pool, *pool.parents):
        if os.path.lexists(path) and not path.is_dir():
            raise RequestError(f"{path}: no folder, where one is needed; name another place")
    own = kept.relative_to(out).parts[0] if out in kept.parents else None
    there = [path.name for path in target.iterdir()] if target.exists() else []
    if all(name == own or _LEFTOVER.fullmatch(name) for name in there):
        return
    marked = RunFiles(target).json(target / OWN_FILE)
    if marked is None or text(marked, "source_sha256") != _place(source):
        raise RequestError(
            f"{target}: holds something that is no earlier result of {source.name}; name a new folder"
        )


def _files(source: Path) -> list[Path]:
    """Return the files of a run by their paths in it, links within it followed.

    Raises
    ------
    InvalidResults
        If links lead out of the run folder, nowhere or round in circles, all of them named.
    """
    home = source.resolve()
    found: list[Path] = []
    faults: list[str] = []
    tops = [Path(name) for name in (OWN_FILE, "evaluation", "inference")]
    waiting = [(name, (home,)) for name in tops if os.path.lexists(source / name)]
    while waiting:
        name, above = waiting.pop()
        path = source / name
        try:
            real = path.resolve(strict=True)
            if not real.is_relative_to(home):
                faults.append(f"{name}: leads out of the run folder")
            elif real in above:
                faults.append(f"{name}: leads to a folder that it lies in")
            elif path.is_dir():
                inner = sorted(path.iterdir(), reverse=True)
                waiting += [(name / entry.name, (*above, real)) for entry in inner]
            elif path.is_file():
                found.append(name)
            else:
                faults.append(f"{name}: neither a file nor a folder")
        except (OSError, RuntimeError):
            faults.append(f"{name}: leads nowhere or cannot be read")
    if faults:
        more = [f"and {len(faults) - _LISTED} more"] if len(faults) > _LISTED else []
        listed = "\n".join(f"  {fault}" for fault in (*faults[:_LISTED], *more))
        raise InvalidResults(
            f"{source}: {len(faults)} entries are not files of this folder, and nothing outside it is "
            f"read; copy the folder first, e.g. cp -rL {source} COPY, and judge the copy:\n{listed}"
        )
    return found


def _place(source: Path) -> str:
    """Return a name of where a run lies that tells nobody the path."""
    return sha256_of_text(str(source.resolve()))


def _questions(run: AgentVidBenchRun, folder: Path) -> dict[int, Question]:
    """Return the data set's questions by number, after checking that the run was asked those."""
    read = agentvidbench(folder, transcripts=False).questions
    known = {int(question.question_id): question for question in read}
    absent = [item.question_id for item in run.items if item.question_id not in known]
    others = {
        item.question_id: (said, known[item.question_id].text)
        for item in run.items
        if item.question_id in known
        for said in _asked(item)
        if _folded(said) != _folded(known[item.question_id].text)
    }
    problems: list[str] = []
    if absent:
        problems.append(
            f"{len(absent)} of {len(run.items)} questions are not in {folder}, first {absent[0]}"
        )
    if others:
        first, (said, there) = next(iter(others.items()))
        problems.append(
            f"{len(others)} of {len(run.items)} questions are others in {folder} by the same numbers: "
            f"{', '.join(map(str, others))}; of {first} the run says {_clipped(said)}, the data set "
            f"{_clipped(there)}"
        )
    if problems:
        raise InvalidResults(
            f"{run.path}: {'; '.join(problems)}; name the data set that the run was made on"
        )
    return known


def _asked(item: RunItem) -> list[str]:
    """Return what the files of an item say was asked: its steps and their text, as far as they do.

    A reply of a single turn is the model's own, whatever it looks like, and says nothing of the kind.
    """
    if item.normalized is None:
        return []
    said = [text(item.normalized, "question_text") or ""]
    written = item.text or ""
    head = _HEADER.match(written)
    body = None if head is None else _BODY.search(written, head.end())
    if head is not None and body is not None:
        said.append(written[head.end() : body.start()])
    return [words for words in said if words.strip() not in {"", "None"}]


def _folded(words: str) -> str:
    """Return a text such that spaces, line ends and ways to write an accent make no difference."""
    return "".join(unicodedata.normalize("NFC", words).split())


def _clipped(words: str) -> str:
    shown = " ".join(words.split())
    return repr(shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...")


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
        return rendered_prediction(written, system=method)
    if item.normalized is not None and item.trajectory is not None:
        return rendered(item.trajectory, system=method)
    return rendered_prediction(without_identity(written), system=method)


def _with_letter(item: RunItem, question: Question, framework: str) -> RunItem:
    """Return an item with the letter that its answer names, now that the options' texts are known.

    A label in the answer step stands, and so do stored votes, and all that we wrote ourselves. A
    letter that was read in a text becomes a vote, for who reads the result without the options' texts.
    """
    is_told = item.letter_source == "trajectory" and item.letter in question.labels
    if is_told or item.own_id is not None or item.run_status not in {"answered", "unparsed"}:
        return item
    steps = [step for step in items(item.normalized, "steps") if text(step, "phase") == "answer"]
    given = (text(part(steps[-1], "data"), "letter") or "").strip() if steps else ""
    votes = items(item.letters, "votes")
    is_voted = item.letter_source == "letters" or any(vote is not None for vote in votes)
    if is_voted and not given:
        return item
    said = given or _reply(item)
    at = parse_option(said, question.for_agent()).option_index
    if at is None:
        none = {"letter": None, "letter_source": None, "is_doubtful": False}
        return replace(item, run_status="unparsed", **none)
    letter = question.labels[at]
    read = letters_record(
        letter,
        question_id=item.question_id,
        framework=framework,
        excerpt=said,
        sha1=hashlib.sha1(said.encode(errors="replace"), usedforsecurity=False).hexdigest(),
    )
    return replace(
        item,
        run_status="answered",
        failure=None,
        letter=letter,
        letter_source="trajectory" if given else "text",
        is_doubtful=bool(votes) and not given,
        letters=item.letters if item.letters is not None or given else read,
    )


def _reply(item: RunItem) -> str:
    """Return the words that an answer may stand in: of steps the last ones, unless a call came after."""
    if item.normalized is None:
        return item.text or ""
    events = () if item.trajectory is None else item.trajectory.events
    last = events[-1] if events else None
    return last.text if isinstance(last, ModelCall) else ""


async def _judged(
    pending: Sequence[TrajectoryRequest],
    judge: ModelSpec,
    pool: Path,
    max_tokens: int | None,
    limits: Mapping[str, int],
) -> tuple[list[TrajectoryJudgement], dict[str, str]]:
    """Ask a batch at a time, so that what was paid for is on disk soon after."""
    from taketwo.scores.trajectory_judge import judge_trajectories  # heavy: on call

    found: list[TrajectoryJudgement] = []
    failures: dict[str, str] = {}
    size = _BATCH * limits["connections"]
    for start in range(0, len(pending), size):
        batch = pending[start : start + size]
        done, failed = await judge_trajectories(batch, judge, max_tokens=max_tokens, **limits)
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
        "letters": "of the trajectory, else of the stored votes, else read by our parser with the options",
    }


def _write(
    run: AgentVidBenchRun,
    target: Path,
    files: Sequence[Path],
    items: Sequence[Evaluated],
    unrecorded: int,
    identity: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    write_own_file(target, {**_plain(run.own), **identity})
    try:
        for left in target.glob(".*.tmp"):
            if _LEFTOVER.fullmatch(left.name):
                left.unlink()
        for name in ("inference", "evaluation"):
            if (target / name).exists():
                shutil.rmtree(target / name)
        (target / "inference").mkdir()
        for name in files:
            if name.parts[0] == "inference":
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                # The contents alone: what may not be written there may be written here.
                shutil.copyfile(run.path / name, target / name)
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
