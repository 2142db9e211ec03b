"""The scores of a run in AgentVidBench's records: judge, results, letters and summary.

The keys are theirs. The denominator is not: their evaluation counts the questions that happened to
finish, ours the questions that were asked for, with the coverage and the bounds beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.scores.process_scores import AXES, ProcessScores, mc_rate, trajectory_score

__all__ = [
    "OWN_KEY",
    "STORED_AXES",
    "Evaluated",
    "judge_record",
    "letters_record",
    "process_means",
    "process_record",
    "results_record",
    "summary_record",
]

OWN_KEY = "taketwo"
"""Under this key stands what is ours; nothing of theirs is replaced."""

STORED_AXES: Mapping[str, str] = {stored: axis for axis, (stored, _) in AXES.items()}
"""The judge's key of an axis by the key under which it is stored (`P1` to `P5`)."""

_MEANS = (*STORED_AXES, "traj", "mc_rate")


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """One question of a run as it is written: what was answered, and what that is worth.

    `is_correct` is None where nobody can say; `status` is then the reason. `process` is None where
    the trajectory was not judged, with `judge_error` as the reason if the judge failed.
    """

    question_id: int
    question: Question
    gold: str | None
    letter: str | None
    is_correct: bool | None
    status: str
    process: ProcessScores | None = None
    judge: str | None = None
    judge_error: str | None = None
    letters: Mapping[str, JsonValue] | None = None
    own: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def accuracy(self) -> dict[str, JsonValue]:
        """Return the block of the answer, as both records have it."""
        return {"gold": self.gold, "pred": self.letter, "correct": self.is_correct}


def process_record(scores: ProcessScores) -> dict[str, JsonValue]:
    """Return checked scores of a trajectory under the keys of the stored record."""
    return {
        "scores": {stored: scores.axes[axis] for stored, axis in STORED_AXES.items()},
        "traj": round(trajectory_score(scores.axes), 4),
        "mc_rate": round(_mc_rate(scores), 4),
        "rationales": dict(scores.rationales),
        "milestones": [
            {"id": label.milestone_id, "status": label.status, "evidence": label.evidence}
            for label in scores.milestones
        ],
        "failure_tags": list(scores.failure_tags),
        "summary": scores.summary,
    }


def _mc_rate(scores: ProcessScores) -> float:
    return mc_rate([label.status for label in scores.milestones], len(scores.milestones))


def judge_record(item: Evaluated, *, framework: str) -> dict[str, JsonValue] | None:
    """Return `judge/question<id>.json`; None where no judge was asked or answered."""
    if item.process is None and item.judge_error is None:
        return None
    record: dict[str, JsonValue] = {
        "question_id": item.question_id,
        "framework": framework,
        "judge_model": item.judge,
        "elapsed_s": None,
        "accuracy": item.accuracy,
        "process": {} if item.process is None else process_record(item.process),
    }
    if "judging" in item.own:
        record[OWN_KEY] = {"judging": item.own["judging"]}
    return record if item.judge_error is None else {**record, "error": item.judge_error}


def letters_record(
    letter: str | None, *, question_id: int, framework: str, excerpt: str, sha1: str
) -> dict[str, JsonValue]:
    """Return `letters/question<id>.json` of an answer that a rule read, as a vote of one."""
    return {
        "_meta": {
            "qid": question_id,
            "framework": framework,
            "n_runs": 1,
            "model_used": None,
            "elapsed_seconds": 0.0,
        },
        "votes": [letter],
        "majority_letter": letter,
        "agreement": 1.0,
        "n_null": int(letter is None),
        "raw_output_excerpt": excerpt[-600:],
        "raw_output_hash": sha1[:16],
    }


def results_record(item: Evaluated, *, framework: str, model: str) -> dict[str, JsonValue]:
    """Return `results/question<id>.json`."""
    votes = item.letters or {}
    record: dict[str, JsonValue] = {
        "question_id": item.question_id,
        "framework": framework,
        "model": model,
        "accuracy": item.accuracy,
        "process": {} if item.process is None else process_record(item.process),
        "judge_model": item.judge,
        "letter_extraction": {
            "majority": votes.get("majority_letter"),
            "agreement": votes.get("agreement"),
            "n_null": votes.get("n_null"),
        },
        "elapsed_s": None,
    }
    if item.judge_error is not None:
        record["error"] = f"judge: {item.judge_error}"
    return {**record, OWN_KEY: {"status": item.status, **item.own}}


def summary_record(
    items: Sequence[Evaluated],
    *,
    framework: str,
    model: str,
    tag: str,
    unrecorded: int = 0,
    own: Mapping[str, JsonValue] | None = None,
) -> dict[str, JsonValue]:
    """Return `evaluation/summary.json` over all questions that were asked for.

    `accuracy` is right answers over all of them, 3 decimals: what is not scored counts against the
    run here and is no wrong answer in its own record. `taketwo.coverage` says how many are scored and
    which accuracies are possible. `unrecorded` questions are known by number only and are in no bucket.
    """
    return {
        "experiment": framework,
        "model": model,
        "tag": tag,
        **_block(items, unrecorded),
        "by_difficulty": _buckets(
            items, {item.question_id: _listed(item.question, "difficulty") for item in items}
        ),
        "by_category": _buckets(
            items, {item.question_id: item.question.capabilities for item in items}
        ),
        "by_skill": _buckets(items, {item.question_id: item.question.skills for item in items}),
        OWN_KEY: {
            "coverage": _coverage(items, unrecorded),
            "judges": cast("JsonValue", sorted({item.judge for item in items if item.judge})),
            **(own or {}),
        },
    }


def _listed(question: Question, factor: str) -> tuple[str, ...]:
    level = question.attributes.get(factor)
    return () if level is None else (level,)


def _buckets(
    items: Sequence[Evaluated], labels: Mapping[int, Sequence[str]]
) -> dict[str, JsonValue]:
    names = sorted({label for found in labels.values() for label in found})
    return {
        name: _block([item for item in items if name in labels[item.question_id]], 0)
        for name in names
    }


def _block(items: Sequence[Evaluated], unrecorded: int) -> dict[str, JsonValue]:
    n = len(items) + unrecorded
    right = sum(item.is_correct is True for item in items)
    return {
        "n": n,
        "n_correct": right,
        "accuracy": round(right / n, 3) if n else None,
        "process_means": cast(
            "JsonValue", process_means([item.process for item in items if item.process])
        ),
    }


def process_means(scores: Sequence[ProcessScores]) -> dict[str, float | None]:
    """Return the means of `P1` to `P5`, `traj` and `mc_rate` over what is defined, 3 decimals."""
    values: dict[str, list[float]] = {name: [] for name in _MEANS}
    for item in scores:
        for stored, axis in STORED_AXES.items():
            if (score := item.axes[axis]) is not None:
                values[stored].append(score)
        values["traj"].append(trajectory_score(item.axes))
        values["mc_rate"].append(_mc_rate(item))
    return {
        name: round(math.fsum(found) / len(found), 3) if found else None
        for name, found in values.items()
    }


def _coverage(items: Sequence[Evaluated], unrecorded: int) -> dict[str, JsonValue]:
    n = len(items) + unrecorded
    right = sum(item.is_correct is True for item in items)
    scored = sum(item.is_correct is not None for item in items)
    unscored = Counter(item.status for item in items if item.is_correct is None)
    if unrecorded:
        unscored["no record"] = unrecorded
    return {
        "requested": n,
        "scored": scored,
        "not_scored": dict(sorted(unscored.items())),
        "judged": sum(item.process is not None for item in items),
        "accuracy_of_scored": round(right / scored, 3) if scored else None,
        "accuracy_at_least": round(right / n, 3) if n else None,
        "accuracy_at_most": round((right + n - scored) / n, 3) if n else None,
    }
