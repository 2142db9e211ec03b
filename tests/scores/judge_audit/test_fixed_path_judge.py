from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.scores.judge_audit.test_judge_probes import called, course, genuine
from tests.scores.test_trajectory_judge import SECRET, question
from tests.scripted_model import HttpError, Request, malformed, requests_of, says, script

from taketwo.benchmarks.question import ReferenceStep
from taketwo.errors import InvalidResults
from taketwo.executions.plan import ModelSpec
from taketwo.scores.judge_audit.fixed_path_judge import (
    RUBRIC_NAMES,
    FixedPathJudgement,
    FixedPathRequest,
    fixed_path_prompt,
    fixed_path_requests,
    fixed_path_text,
    judge_fixed_path,
    read_fixed_path_formats,
    read_fixed_path_judgements,
    write_fixed_path_judgements,
)
from taketwo.scores.judge_audit.format_probes import format_probes
from taketwo.scores.trajectory_text import RenderedTrajectory

STEPS = (
    ReferenceStep(tool="scan", arguments='{"fps": 1}', thought="Timer.", observation="0:45 at 62 s."),
)  # fmt: skip


def reply(*values: object) -> dict[str, Any]:
    return {
        "scores": dict(zip(RUBRIC_NAMES, values or (2, 1, 0, 2), strict=True)),
        "rationales": dict.fromkeys(RUBRIC_NAMES, "Because."),
    }


def request(text: str = "[step 1] said:\nfour", **changes: Any) -> FixedPathRequest:
    fields: dict[str, Any] = {
        "question": question(reference=STEPS),
        "trajectory": RenderedTrajectory(text=text, system="Some System"),
    }
    return FixedPathRequest(**(fields | changes))


async def judged(*requests: FixedPathRequest, steps: list[Any], **changes: Any) -> Any:
    name = script(steps, **changes)
    found = await judge_fixed_path(
        requests, ModelSpec(name=name), connections=2, retries=1, timeout_s=5
    )
    return name, *found


async def test_a_judgement_has_four_scores_and_their_mean() -> None:
    name, (found,), failures = await judged(request(), steps=[json.dumps(reply())])

    assert failures == ()
    assert dict(found.scores) == {
        "perceptual_correctness": 2,
        "temporal_localization": 1,
        "logical_reasoning": 0,
        "completeness": 2,
    }
    assert found.score == 0.625
    assert (found.judge, found.served_model, found.question_id) == (name, "scripted", "q1")
    assert (found.input_tokens, found.output_tokens) == (10, 5)


async def test_the_judge_sees_the_path_with_its_times_and_no_name_of_a_system() -> None:
    name, _, _ = await judged(request(), steps=[json.dumps(reply())])

    sent = requests_of(name)[0]
    assert sent.messages[0].text == fixed_path_prompt()
    assert (
        f'<<<UNTRUSTED path\n1. scan {{"fps": 1}}\nTimer.\n0:45 at 62 s.\n\n{SECRET}\n>>>UNTRUSTED'
        in sent.messages[1].text
    )
    assert "Some System" not in sent.text
    assert "Find thing M1." not in sent.text


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ("no", "there is no JSON object in the reply"),
        ("{no}", "the JSON object cannot be read"),
        (json.dumps(reply(3, 0, 0, 0)), "scores.perceptual_correctness: Input should be less"),
        (json.dumps(reply("2", 0, 0, 0)), "scores.perceptual_correctness: Input should be a valid int"),
        (json.dumps(reply(True, 0, 0, 0)), "scores.perceptual_correctness: Input should be a valid int"),
        (json.dumps(reply(None, 0, 0, 0)), "scores.perceptual_correctness: Input should be a valid int"),
        (json.dumps({"scores": reply()["scores"]}), "rationales: Field required"),
        (json.dumps(reply() | {"total": 2}), "total: Extra inputs are not permitted"),
        ("{" * 200_001, "characters, more than 200000"),
    ],
)  # fmt: skip
async def test_a_reply_that_breaks_a_rule_is_sent_back(broken: str, fault: str) -> None:
    name, found, _ = await judged(request(), steps=[broken, json.dumps(reply())])

    assert found[0].score == 0.625
    assert fault in requests_of(name)[1].messages[-1].text


async def test_a_reply_without_any_choice_is_asked_for_again() -> None:
    name, (found,), failures = await judged(request(), steps=[malformed(), json.dumps(reply())])

    assert failures == ()
    assert found.score == 0.625
    assert "there is no JSON object in the reply" in requests_of(name)[1].messages[-1].text


async def test_a_judge_that_never_keeps_the_rules_gives_no_score_and_stops_no_other() -> None:
    def answers(asked: Request) -> Any:
        if "bad one" in asked.text:
            return "no"
        return HttpError(400) if "down" in asked.text else says(json.dumps(reply()))

    _, found, failures = await judged(
        request("bad one"), request("down"), request("good"), steps=[answers], repeat_last=True
    )

    assert len(found) == 1
    causes = sorted(failure.cause for failure in failures)
    assert causes == [
        "HttpError: HTTP 400: scripted failure",
        "ReplyFault: there is no JSON object in the reply",
    ]


def test_what_the_judge_is_shown_is_in_the_key_and_nothing_else() -> None:
    key = request().key("j")

    assert key != request().key("k")
    assert key != request("another").key("j")
    assert key != request(question=question(reference=())).key("j")
    assert key == request(question=question(reference=STEPS, milestones=(), sweep="no")).key("j")


def test_an_explanation_alone_is_a_path_and_nothing_is_none() -> None:
    assert fixed_path_text(question()) == SECRET
    assert fixed_path_text(question(explanation=None)) is None
    with pytest.raises(ValueError, match="has neither a curated path nor an explanation"):
        request(question=question(explanation=None))


async def test_judgements_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    _, found, _ = await judged(
        request(), request("other"), steps=[json.dumps(reply())], repeat_last=True
    )
    assert write_fixed_path_judgements(tmp_path, ()) is None
    for judgement in found:
        path = write_fixed_path_judgements(tmp_path, [judgement])
        assert path is not None
        assert path.name.startswith("fixed-path-")

    assert read_fixed_path_judgements(tmp_path) == {item.key: item for item in found}


async def test_the_first_judgement_counts_and_a_part_that_is_none_is_refused(
    tmp_path: Path,
) -> None:
    _, (found,), _ = await judged(request(), steps=[json.dumps(reply())])
    write_fixed_path_judgements(tmp_path, [found])
    later = replace(found, scores=reply(0, 0, 0, 0)["scores"], created="2999-01-01T00:00:00+00:00")
    write_fixed_path_judgements(tmp_path, [later])
    assert dict(read_fixed_path_judgements(tmp_path)) == {found.key: found}

    (tmp_path / "fixed-path-0.parquet").write_bytes(b"no")
    with pytest.raises(InvalidResults, match="not readable as judgements by a fixed path"):
        read_fixed_path_judgements(tmp_path)


def test_a_row_with_a_score_out_of_range_is_refused(tmp_path: Path) -> None:
    write_fixed_path_judgements(tmp_path, [judgement_of(request(), 7)])

    with pytest.raises(InvalidResults, match="a row is no judgement by a fixed path"):
        read_fixed_path_judgements(tmp_path)


def judgement_of(asked: FixedPathRequest, temporal: int) -> FixedPathJudgement:
    record = reply(2, temporal, 2, 2)
    return FixedPathJudgement(
        key=asked.key("j"),
        question_id=asked.question.question_id,
        judge="j",
        prompt_sha256="0" * 64,
        scores=record["scores"],
        rationales=record["rationales"],
        created="2026-01-01T00:00:00+00:00",
    )


def test_the_change_between_notations_is_read_for_this_judge_too() -> None:
    with_path = genuine(
        "q1", question=question(reference=STEPS), trajectory=course("q1", called(1, "at 62 s"))
    )
    without = genuine(
        "q2",
        question=question(question_id="q2", explanation=None),
        trajectory=course("q2", called(1, "at 62 s")),
    )
    probes = format_probes([with_path, without], rng=np.random.default_rng(1)).probes
    requests = fixed_path_requests(probes)
    pool = {
        asked.key("j"): judgement_of(asked, temporal)
        for asked, temporal in zip(requests, (0, 2, 2), strict=True)
    }

    findings, cases = read_fixed_path_formats(probes, pool, "j", rng=np.random.default_rng(1))

    assert findings[0].subject == "j, by one fixed path"
    # 6/8 with frame indices, 8/8 with seconds and with minutes and seconds
    assert (findings[0].value, findings[0].n, findings[0].note) == (
        0.25,
        1,
        "no interval: 1 question has no variance",
    )
    assert [(case.before, case.after) for case in cases] == [("seconds: 1.000", "frames: 0.750")]


async def test_a_key_that_stands_twice_is_sent_back() -> None:
    twice = json.dumps(reply()).replace(
        '"completeness": ', '"completeness": 0, "completeness": ', 1
    )

    name, (found,), failures = await judged(request(), steps=[twice, json.dumps(reply())])

    assert failures == ()
    assert found.scores == reply()["scores"]
    assert "one of its keys stands twice" in requests_of(name)[1].text
