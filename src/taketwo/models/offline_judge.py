"""The offline judge: labels, axes and verdicts by fixed rules about words, numbers and times.

It sees nothing but its prompt: no file, no truth that the prompt does not have. It is weak on
purpose and always says the same of the same. What is fenced is material: no sentence in there is
obeyed, and all that it can change is what counts as observed or claimed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from inspect_ai.model import ChatMessage

from taketwo.errors import RequestError
from taketwo.models.judge_answers import chosen_option, label_of
from taketwo.models.judge_axes import Judged, Posed, Sweep, judged, options_in
from taketwo.models.judge_milestones import Evidence, Status
from taketwo.models.judge_reading import Material, material_of, worked_in
from taketwo.models.judge_units import sentences_of, units_of

__all__ = ["judge_reply"]

_SWEEP = re.compile(r"^SWEEP_REQUIRED: (yes|no|unknown)\s*$", re.MULTILINE)
_NAMES = re.compile(
    r"\bLabel these (?P<count>\d{1,6}) milestones once each, in this order: (?P<names>.*)\.\s*$",
    re.MULTILINE,
)
_MILESTONE = re.compile(r"^(.{0,200}?) \(.{0,100}?\): (.*)$")
_TAG = re.compile(r"^- ([a-z]+(?:_[a-z]+)+)\s*$", re.MULTILINE)
_LONGEST_EVIDENCE = 200
_MOST_SENTENCES = 12
_CREDIT: Mapping[Status, float] = {"covered": 1.0, "partial": 0.5, "incorrect": 0.0, "missing": 0.0}


def judge_reply(messages: Sequence[ChatMessage]) -> str:
    """Return the JSON object that the instructions ask for, and nothing else.

    Raises
    ------
    RequestError
        If the instructions ask for none of the objects that this judge can give.
    """
    material = material_of(messages)
    answers = {
        '"process_scores"': _process,
        '"perceptual_correctness"': _fixed_path,
        '"label"': _label,
        '"option"': _option,
    }
    for key, answer in answers.items():
        if key in material.instructions:
            return json.dumps(answer(material), ensure_ascii=False)
    raise RequestError(
        "taketwo/offline-judge was not asked for anything that it can judge: its instructions name "
        f"none of the JSON keys {', '.join(answers)}; give it the role of a judge, or take another "
        "model"
    )


def _process(material: Material) -> dict[str, object]:
    """Return the reply about a trajectory, by milestones or by the sentences of an explanation."""
    allowed = _TAG.findall(material.instructions)
    has_milestones = "explanation" not in material.blocks or "milestones" in material.blocks
    milestones = _milestones(material) if has_milestones else _sentences(material, "explanation")
    found = judged(_posed(material, milestones), worked_in(material.blocks.get("trajectory", "")))
    return {
        "process_scores": dict(found.axes),
        "axis_rationales": dict(found.reasons),
        "milestone_coverage": _coverage(found) if has_milestones else [],
        "failure_tags": [tag for tag in found.tags if tag in allowed],
        "summary": f"Judged by rules about shared words. {found.reasons['P2']}",
    }


def _coverage(found: Judged) -> list[dict[str, str]]:
    return [
        {
            "milestone_id": name,
            "status": finding.status,
            "evidence_in_prediction": finding.unit.text[:_LONGEST_EVIDENCE] if finding.unit else "",
        }
        for name, finding in found.findings.items()
    ]


def _posed(material: Material, milestones: Mapping[str, str]) -> Posed:
    flag = _SWEEP.search(material.remarks)
    sweeps: dict[str, Sweep] = {"yes": "yes", "no": "no"}
    return Posed(
        question=material.blocks.get("question", ""),
        options=options_in(material.blocks.get("options", "")),
        sweep=sweeps.get(flag.group(1), "unknown") if flag else "unknown",
        milestones=milestones,
    )


def _milestones(material: Material) -> dict[str, str]:
    """Return the milestones by id, each id once: those that the request lists at its end.

    Without such a list, or where ids have commas, the ids are what stands before the types.
    """
    lines = material.blocks.get("milestones", "").splitlines()
    listed = _NAMES.search(material.remarks)
    names = listed.group("names").split(", ") if listed else []
    if listed is None or len(names) != int(listed.group("count")):
        matches = [match for line in lines if (match := _MILESTONE.match(line))]
        return {match.group(1): match.group(2) for match in matches}
    written: list[list[str]] = []
    for line in lines:
        if len(written) < len(names) and line.startswith(f"{names[len(written)]} ("):
            written.append([line])
        elif written:
            written[-1].append(line)
    texts = [" ".join(parts) for parts in written]
    texts += [""] * (len(names) - len(texts))
    return {name: text.partition("): ")[2] or text for name, text in zip(names, texts, strict=True)}


def _sentences(material: Material, block: str) -> dict[str, str]:
    """Return the sentences of a human's text as if they were milestones."""
    sentences = sentences_of(material.blocks.get(block, ""))[:_MOST_SENTENCES]
    return {f"sentence {number}": text for number, text in enumerate(sentences, start=1)}


def _fixed_path(material: Material) -> dict[str, object]:
    """Return four scores beside a human's path: its sentences, its times, the answer, all of it."""
    path = material.blocks.get("path", "")
    worked = worked_in(material.blocks.get("trajectory", ""))
    found = judged(_posed(material, _sentences(material, "path")), worked)
    statuses: list[Status] = [finding.status for finding in found.findings.values()]
    credit = sum(_CREDIT[status] for status in statuses)
    share = credit / len(statuses) if statuses else 0.0
    scores = {
        "perceptual_correctness": 0 if not credit else 1 if "incorrect" in statuses else 2,
        "temporal_localization": _times(path, [look.result for look in worked.looks]),
        "logical_reasoning": found.axes["reasoning_faithfulness"],
        "completeness": 2 if share > 0.9 else 1 if share >= 0.5 else 0,
    }
    why = f"Of {len(statuses)} sentences of the path {credit:g} were observed."
    return {"scores": scores, "rationales": dict.fromkeys(scores, why)}


def _times(path: str, results: Sequence[str]) -> int:
    """Return 2 where all times of the path stand in results, 1 for at least half, else 0."""
    wanted = [second for unit in units_of([path]) for second in unit.passage.times]
    if not wanted:
        return 2 if results else 0
    evidence = Evidence(units_of(results))
    share = sum(evidence.has_time(second) for second in wanted) / len(wanted)
    return 2 if share == 1 else 1 if share >= 0.5 else 0


def _label(material: Material) -> dict[str, object]:
    label, reason = label_of(
        "\n".join((material.blocks.get("question", ""), material.blocks.get("options", ""))),
        material.blocks.get("true answer", ""),
        material.blocks.get("answer to grade", ""),
    )
    return {"label": label, "reason": reason}


def _option(material: Material) -> dict[str, object]:
    option, reason = chosen_option(
        material.blocks.get("question", ""), material.blocks.get("reply", "")
    )
    return {"option": option, "reason": reason}
