"""Axes and failure tags of a trajectory, by fixed rules from the labels of its milestones and its calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from taketwo.models.judge_milestones import Evidence, Finding, Status
from taketwo.models.judge_reading import Look, Worked
from taketwo.models.judge_units import units_of
from taketwo.models.judge_words import Passage, passage

__all__ = ["Judged", "Posed", "Sweep", "committed_answer", "judged", "options_in"]

Sweep = Literal["yes", "no", "unknown"]
Points = Literal[0, 1, 2]

_SWEEPING = re.compile(
    r"\b(how many|number of|count|total|all|every|each|any|ever|never|always|only|first|last|final|most|"
    r"least|fewest|longest|order|sequence|times|often|throughout|entire|whole|separate)\b",
    re.IGNORECASE,
)
_UNDERSTOOD, _HALF_UNDERSTOOD = 0.6, 0.3
_MOST_TAGS = 8
_MOST_READ = 20_000
_FINAL_ANSWER = re.compile(r"final answer\s*[:=]\s*(\S[^\n]*)", re.IGNORECASE)
_ANSWER_FIELD = re.compile(r'"(?:answer|letter)"\s*:\s*("(?:[^"\\\n]|\\.){0,2000}"|-?\d{1,9}|null)')
_OPTION = re.compile(r"^\s{0,8}\(?([A-Z]|\d{1,3})\)?[.):]?(?:\s+(\S.*))?$")
_LISTED = re.compile(r"^\s{0,8}([A-Z]|\d{1,3})[.):]\s+(\S.*)$", re.MULTILINE)
_SPOKEN = ("audio", "transcript", "speech", "hear", "spoken", "says", "said")
_READ = ("ocr", "text", "read ", "sign")


@dataclass(frozen=True, kw_only=True)
class Posed:
    """What a trajectory is judged by: the question, its options by label, and the milestones by id."""

    question: str
    options: Mapping[str, str]
    sweep: Sweep
    milestones: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Findings of the milestones by id, the axes under the judge's keys, and failure tags."""

    findings: Mapping[str, Finding]
    axes: Mapping[str, int | None]
    is_swept: bool
    reasons: Mapping[str, str]
    tags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Claims:
    """How many values the agent states that nothing observed shows, and how many that contradict."""

    unsupported: int
    contradicting: int


def judged(posed: Posed, worked: Worked) -> Judged:
    """Return labels, axes and tags of a trajectory.

    Only what calls returned is evidence. What the agent says after looking at frames itself can make
    a milestone partial or incorrect, never covered; all else that is said is a claim.
    """
    observed = Evidence(units_of([look.result for look in worked.looks]))
    seen = Evidence(units_of(worked.seen))
    findings = {
        name: _label(passage(text), observed, seen) for name, text in posed.milestones.items()
    }
    statuses: list[Status] = [finding.status for finding in findings.values()]
    claims = _claims(posed, worked, observed, seen)
    completeness = _completeness(posed, worked.looks)
    axes: dict[str, int | None] = {
        "task_understanding": _understanding(posed.question, worked),
        "gt_evidence_coverage": _coverage(statuses),
        "evidence_grounding": _grounding(statuses, claims, is_forged=worked.is_forged),
        "evidence_completeness": completeness,
        "reasoning_faithfulness": _faithfulness(posed, worked, observed, seen),
    }
    return Judged(
        findings=findings,
        axes=axes,
        is_swept=completeness is not None,
        reasons=_reasons(posed, statuses, claims, axes, looks=len(worked.looks)),
        tags=_tags(posed, findings, claims, axes, looks=len(worked.looks)),
    )


def _label(wanted: Passage, observed: Evidence, seen: Evidence) -> Finding:
    found = observed.find(wanted)
    if found.status != "missing":
        return found
    told = seen.find(wanted)
    if told.status == "covered":
        return Finding(status="partial", share=told.share, unit=told.unit)
    return told


def _coverage(statuses: Sequence[Status]) -> Points:
    """Return 2 for all covered, 1 for at least half (a partial one counts a half), else 0."""
    if not statuses:
        return 0
    credit = statuses.count("covered") + statuses.count("partial") / 2
    return 2 if credit == len(statuses) else 1 if 2 * credit >= len(statuses) else 0


def _grounding(statuses: Sequence[Status], claims: _Claims, *, is_forged: bool) -> Points:
    """Return 2 without a bad value, 1 with one; 0 with more, or where nothing was acquired at all."""
    if is_forged or not ("covered" in statuses or "partial" in statuses):
        return 0
    bad = statuses.count("incorrect") + claims.unsupported + claims.contradicting
    return 2 if bad == 0 else 1 if bad == 1 else 0


def _completeness(posed: Posed, looks: Sequence[Look]) -> Points | None:
    """Return 2 for two looks with different arguments, 1 for one over all; None where none is due."""
    if posed.sweep == "no" or (posed.sweep == "unknown" and not _SWEEPING.search(posed.question)):
        return None
    distinct = {(look.tool, look.arguments) for look in looks}
    if len(distinct) > 1:
        return 2
    return 1 if any(_is_over_all(look) for look in looks) else 0


def _is_over_all(look: Look) -> bool:
    """Return whether a look begins where the video does, or names no place."""
    try:
        given: object = json.loads(look.arguments or "{}")
    except (ValueError, RecursionError):
        return True
    fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    starts = [value for name, value in fields.items() if name.startswith(("start", "begin"))]
    return all(str(value).strip("0:.s ") == "" for value in starts)


def _understanding(question: str, worked: Worked) -> Points:
    """Return how many words of the question stand in what the agent said or asked of tools.

    Without any call or look at most 1: a question that is repeated is not yet understood.
    """
    wanted = passage(question[:_MOST_READ])
    own = Evidence(units_of([*worked.said, *worked.asked]))
    if not wanted.words:
        return 1
    share = sum(own.has_word(word) for word in wanted.words) / len(wanted.words)
    points: Points = 2 if share >= _UNDERSTOOD else 1 if share >= _HALF_UNDERSTOOD else 0
    return points if worked.looks else cast("Points", min(points, 1))


def _claims(posed: Posed, worked: Worked, observed: Evidence, seen: Evidence) -> _Claims:
    """Count values in the final answer and its reasons that were not observed or contradict.

    Only numbers with a word behind them count that the question or a milestone has too. What the
    question or an option says is no claim.
    """
    texts = [posed.question[:_MOST_READ], *posed.milestones.values()]
    about = {word for text in texts for word in passage(text).words}
    given = Evidence(units_of([posed.question, *posed.options.values()]))
    last = worked.said[-1] if worked.said else ""
    stated = {
        quantity
        for unit in units_of([last[:_MOST_READ], worked.final[:_MOST_READ]])
        for quantity in unit.passage.quantities
        if quantity.nouns & about
    }
    open_claims = [
        quantity
        for quantity in stated
        if not (observed.has_quantity(quantity) or given.has_quantity(quantity))
        and not (seen.units and not observed.units)
    ]
    wanted = [
        quantity
        for text in posed.milestones.values()
        for quantity in passage(text).quantities
        if quantity.nouns
    ]
    contradicting = [
        quantity
        for quantity in open_claims
        if any(quantity.is_of_same(other) for other in wanted)
        and not any(
            quantity.is_of_same(other) and quantity.number == other.number for other in wanted
        )
    ]
    return _Claims(
        unsupported=len(open_claims) - len(contradicting), contradicting=len(contradicting)
    )


def _faithfulness(posed: Posed, worked: Worked, observed: Evidence, seen: Evidence) -> Points:
    """Return 2 where the answer itself was observed, 1 where only its reasons were, else 0.

    An abstention after a look gets 1. An answer after a look of the agent's own gets 1 at most.
    """
    if not worked.looks:
        return 0
    answer = committed_answer(worked.final, posed.options)
    if not answer:
        return 1 if not worked.is_answered else 0
    if _is_shown(answer, posed, observed):
        return 2
    reasons = Evidence(units_of([worked.said[-1][:_MOST_READ]] if worked.said else []))
    has_reason = any(
        observed.has_quantity(quantity)
        for unit in reasons.units
        for quantity in unit.passage.quantities
        if quantity.nouns
    ) or any(
        observed.has_word(name) and not passage(posed.question).words & {name}
        for unit in reasons.units
        for name in unit.passage.names
    )
    return 1 if has_reason or _is_shown(answer, posed, seen) else 0


def _is_shown(answer: str, posed: Posed, evidence: Evidence) -> bool:
    """Return whether the evidence has the answer; a bare number only with a word of the question."""
    wanted = passage(answer)
    if wanted.words:
        return evidence.find(wanted).status == "covered"
    about = passage(posed.question).words
    return bool(wanted.quantities) and any(
        wanted.numbers <= unit.passage.numbers and unit.passage.words & about
        for unit in evidence.units
    )


def options_in(text: str) -> Mapping[str, str]:
    """Return the options of a text by their labels: its lines `A. <option>` or `1. <option>`."""
    found: dict[str, str] = {}
    for label, words in _LISTED.findall(text):
        found.setdefault(label, words.strip())
    return found


def committed_answer(final: str, options: Mapping[str, str]) -> str:
    """Return what a final answer settles on: the words of its option, else its own; empty for none.

    The last `FINAL ANSWER:` counts, else the last `"answer"` of a JSON object, else the first line
    that is an option, else the last line.
    """
    final = final[-_MOST_READ:]
    lines = [line.strip() for line in final.splitlines() if line.strip()]
    named = _FINAL_ANSWER.findall(final)
    fields = _ANSWER_FIELD.findall(final)
    if named:
        said = named[-1].strip(" *`\"'")
    elif fields:
        said = fields[-1].strip('"')
    else:
        said = next((line for line in lines if _option(line, options)), lines[-1] if lines else "")
    if said.lower().strip(". ") in {"", "none", "null", "(no text)"}:
        return ""
    return _option(said, options) or said


def _option(said: str, options: Mapping[str, str]) -> str:
    """Return the words of the option that a text names by its label, alone or before them; else empty."""
    match = _OPTION.match(said)
    words = options.get(match.group(1), "") if match else ""
    if match and words:
        behind = (match.group(2) or "").casefold().strip(" .")
        return words if not behind or behind == words.casefold().strip(" .") else ""
    return next((text for text in options.values() if text.casefold() == said.casefold()), "")


def _tags(
    posed: Posed,
    findings: Mapping[str, Finding],
    claims: _Claims,
    axes: Mapping[str, int | None],
    *,
    looks: int,
) -> tuple[str, ...]:
    statuses: list[Status] = [finding.status for finding in findings.values()]
    wrong = [posed.milestones[name] for name, f in findings.items() if f.status == "incorrect"]
    is_missing, has_some = "missing" in statuses, "covered" in statuses or "partial" in statuses
    rules = {
        "premature_answer": not looks,
        "unsupported_observation": bool(claims.unsupported) or not has_some,
        "counting_error": any(not _is_about(text, _SPOKEN + _READ[:1]) for text in wrong)
        or bool(claims.contradicting),
        "audio_transcript_error": any(_is_about(text, _SPOKEN) for text in wrong),
        "ocr_error": any(_is_about(text, _READ[:1]) for text in wrong),
        "missed_required_segment": is_missing and has_some,
        "premature_fixation": axes["evidence_completeness"] == 0,
        "insufficient_full_video_scan": axes["evidence_completeness"] in {0, 1} and is_missing,
        "failure_to_expand_search": looks == 1 and is_missing,
        "evidence_answer_conflict": bool(looks) and axes["reasoning_faithfulness"] == 0,
        "misunderstood_condition": axes["task_understanding"] == 0,
    }
    return tuple(tag for tag, applies in rules.items() if applies)[:_MOST_TAGS]


def _is_about(text: str, signs: Sequence[str]) -> bool:
    return any(sign in text.lower() for sign in signs)


def _reasons(
    posed: Posed,
    statuses: Sequence[Status],
    claims: _Claims,
    axes: Mapping[str, int | None],
    *,
    looks: int,
) -> Mapping[str, str]:
    counts = ", ".join(
        f"{statuses.count(status)} {status}"
        for status in ("covered", "partial", "incorrect", "missing")
    )
    is_due = axes["evidence_completeness"] is not None
    prefix = {
        "yes": "SWEEP=YES",
        "no": "ANCHORED",
        "unknown": f"FALLBACK SWEEP={'YES' if is_due else 'NO'}",
    }[posed.sweep]
    shown = {2: "was observed", 1: "is argued from observations", 0: "rests on no observation"}
    return {
        "P1": "By the share of the question's words in what the agent said and asked of tools.",
        "P2": f"Of {len(statuses)} pieces of evidence {counts}.",
        "P3": f"{claims.unsupported} unsupported and {claims.contradicting} contradicting values.",
        "P4": f"{prefix} - {looks} looks with a result.",
        "P5": f"The answer {shown[axes['reasoning_faithfulness'] or 0]}.",
    }
