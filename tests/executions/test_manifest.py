from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.plans import make_plan

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.errors import ForeignLog
from taketwo.executions.manifest import (
    Attempt,
    Finding,
    Manifest,
    availability_of,
    build_manifest,
    compare_manifests,
    read_manifest,
)
from taketwo.executions.plan import Plan, Sampling
from taketwo.executions.trajectory import (
    Failure,
    ModelCall,
    PrimitiveOperation,
    ToolCall,
    Trajectory,
)

QUESTIONS = [
    Question(
        question_id=f"q{number}", text="What?", video_id="v", video_path="v.mp4", answer_text="x"
    )
    for number in range(3)
]


def make_sampled_plan() -> Plan:
    plan = make_plan(questions=QUESTIONS)
    sampled = {"orchestrator": Sampling(temperature=0.5)}
    return replace(plan, arms=tuple(replace(arm, sampling=sampled) for arm in plan.arms))  # type: ignore[arg-type]


PLAN = make_sampled_plan()
SENT: Mapping[str, JsonValue] = {"temperature": 0.5}


def call(execution: int, cell: str, **fields: object) -> ModelCall:
    values: dict[str, object] = {
        "role": "orchestrator",
        "model": "openai/m",
        "served_model": "m-1",
        "fingerprint": "fp",
        "response_id": f"{execution}-{cell}",
        "request_sha256": f"request of {cell}",
        "system_sha256": "system",
        "tools_sha256": "tools",
        "sampling_sent": SENT,
        "text": f"{execution}",
        **fields,
    }
    return ModelCall(**values)  # type: ignore[arg-type]


def cells(
    execution: int, calls: Mapping[str, object] | None = None, **fields: object
) -> list[Trajectory]:
    return [
        Trajectory(**{  # type: ignore[arg-type]
            "arm": arm.name,
            "question_id": question.question_id,
            "execution": execution,
            "run_status": "answered",
            "log": "attempt-01.eval",
            "attempts": 1,
            "started": "2026-01-01T00:00:05+00:00",
            "video_sha256": "video",
            "events": (call(execution, f"{arm.name}:{question.question_id}", **(calls or {})),),
            **fields,
        })
        for arm in PLAN.arms
        for question in QUESTIONS
    ]


def attempt(**fields: object) -> Attempt:
    values: dict[str, object] = {
        "log": "attempt-01.eval",
        "sha256": "l",
        "status": "success",
        "created": "2026-01-01T00:00:00+00:00",
        "code_sha256": "c" * 64,
        "packages": {"inspect_ai": "0.3.285"},
        "loop_lag_p99_s": 0.01,
        **fields,
    }
    return Attempt(**values)  # type: ignore[arg-type]


def manifest(
    execution: int, trajectories: list[Trajectory] | None = None, **fields: object
) -> Manifest:
    found = cells(execution) if trajectories is None else trajectories
    return build_manifest(PLAN, execution, found, [attempt(**fields)])


def test_two_faithful_executions_have_nothing_to_be_said_about() -> None:
    comparison = compare_manifests([manifest(1), manifest(2)])

    assert comparison.refusals == ()
    assert comparison.drift == ()
    assert comparison.flags == ()
    assert comparison.unavailable == ()


def only(findings: tuple[Finding, ...], check: str) -> Finding:
    (finding,) = [item for item in findings if item.check == check and item.arm in {None, "base"}]
    return finding


def test_another_prompt_as_sent_is_refused_with_arm_role_and_both_hashes() -> None:
    other = manifest(2, cells(2, {"system_sha256": "prompt" * 8}))

    finding = only(compare_manifests([manifest(1), other]).refusals, "system prompt as sent")

    assert (finding.arm, finding.role) == ("base", "orchestrator")
    assert finding.message == (
        "arm 'base', role orchestrator: system prompt as sent differs between K1 and K2: "
        "system became promptprompt"
    )


def test_a_prompt_that_one_execution_needed_and_the_other_did_not_is_no_change() -> None:
    second = cells(2)
    extra = call(2, "last", system_sha256="the one of the last turn")
    second[0] = replace(second[0], events=(*second[0].events, extra))

    assert compare_manifests([manifest(1), manifest(2, second)]).refusals == ()


def test_planned_prompts_of_tools_that_one_execution_called_each_are_no_change() -> None:
    plan = replace(PLAN, arms=tuple(replace(arm, texts=("t1", "t2")) for arm in PLAN.arms))

    def of(execution: int, **prompt: str) -> Manifest:
        found = cells(execution)
        extra = call(execution, "extra", **prompt)
        found[0] = replace(found[0], events=(*found[0].events, extra))
        return build_manifest(plan, execution, found, [attempt()])

    one = of(1, system_text_sha256="t1", system_sha256="first tool")
    other = of(2, system_text_sha256="t2", system_sha256="second tool")
    altered = of(2, system_text_sha256="t1", system_sha256="altered on its way")
    unplanned = of(2, system_text_sha256="t3", system_sha256="nobody planned this")
    unplanned_too = of(1, system_text_sha256="t4", system_sha256="nor this")

    assert compare_manifests([one, other]).refusals == ()
    assert compare_manifests([one, other]).unavailable == ()
    assert "first tool became altered on " in compare_manifests([one, altered]).refusals[0].message
    both = compare_manifests([unplanned_too, unplanned])
    assert both.refusals == ()
    assert only(both.flags, "system prompt as sent").arm == "base"


def test_another_transcriber_is_refused_and_both_are_named_in_the_manifests() -> None:
    def of(execution: int, source: str | None) -> Manifest:
        found = cells(execution)
        heard = PrimitiveOperation(
            operation="transcribe_speech",
            succeeded=True,
            freshness="fresh",
            seconds=1.0,
            charged_s=1.0,
            speech_source=source,
        )
        found[0] = replace(found[0], events=(*found[0].events, heard))
        return build_manifest(PLAN, execution, found, [attempt()])

    one, same, other = of(1, "whisper tiny 1a5a"), of(2, "whisper tiny 1a5a"), of(2, "whisper base")

    assert one.speech_sources == ("whisper tiny 1a5a",)
    assert compare_manifests([one, same]).refusals == ()
    assert compare_manifests([one, of(2, None)]).refusals == ()
    assert only(compare_manifests([one, other]).refusals, "source of speech").role == "transcriber"


@pytest.mark.parametrize("source", ["no audio track", "subtitles:1a5a1a5a1a5a"])
def test_an_execution_that_listened_to_other_videos_only_is_no_other_transcriber(
    source: str,
) -> None:
    def of(execution: int, *sources: str) -> Manifest:
        found = cells(execution)
        heard = [
            PrimitiveOperation(
                operation="transcribe_speech",
                succeeded=True,
                freshness="fresh",
                seconds=1.0,
                charged_s=1.0,
                speech_source=one,
            )
            for one in sources
        ]
        found[0] = replace(found[0], events=(*found[0].events, *heard))
        return build_manifest(PLAN, execution, found, [attempt()])

    by_model, without = of(1, "whisper tiny 1a5a"), of(2, source)

    assert compare_manifests([by_model, without]).refusals == ()
    assert compare_manifests([without, replace(by_model, execution=3)]).refusals == ()
    assert without.speech_sources == (source,)


def test_another_first_request_is_refused_with_the_question() -> None:
    second = cells(2)
    changed = call(2, "base:q1", request_sha256="other request")
    second[1] = replace(second[1], events=(changed,))

    finding = only(compare_manifests([manifest(1), manifest(2, second)]).refusals, "first request")

    assert finding.message == (
        "arm 'base', role orchestrator: the first request of 1 questions differs between K1 and "
        "K2; first 'q1': request of b became other reques"
    )


def test_later_requests_are_recorded_and_not_compared() -> None:
    first, second = cells(1), cells(2)
    for number, cell in enumerate(second):
        later = call(2, f"later {number}", request_sha256="depends on the reply")
        second[number] = replace(cell, events=(*cell.events, later))

    assert compare_manifests([manifest(1, first), manifest(2, second)]).refusals == ()


def test_another_byte_of_a_video_is_refused_for_every_arm() -> None:
    refusals = compare_manifests([
        manifest(1),
        manifest(2, cells(2, video_sha256="edited")),
    ]).refusals

    assert {(item.check, item.arm, item.count) for item in refusals} == {
        ("video", "base", 3),
        ("video", "method", 3),
    }


@pytest.mark.parametrize(
    ("field", "value", "check"),
    [
        ("tools_sha256", "other", "tool block as sent"),
        ("sampling_sent", {"temperature": 0.5, "top_p": 0.1}, "sampling as sent"),
    ],
)
def test_other_tools_or_sampling_as_sent_are_refused(field: str, value: object, check: str) -> None:
    comparison = compare_manifests([manifest(1), manifest(2, cells(2, {field: value}))])

    assert only(comparison.refusals, check).role == "orchestrator"


def test_other_code_and_packages_are_refused() -> None:
    other = manifest(2, code_sha256="d" * 64, packages={"inspect_ai": "0.3.286"})

    checks = {item.check for item in compare_manifests([manifest(1), other]).refusals}

    assert checks == {"code", "packages"}


def test_a_changed_plan_is_refused_by_its_template() -> None:
    arms = tuple(replace(arm, prompts={"orchestrator": "9" * 64}) for arm in PLAN.arms)
    other = build_manifest(replace(PLAN, arms=arms), 2, cells(2), [attempt()])

    finding = only(compare_manifests([manifest(1), other]).refusals, "prompt template")

    assert finding.message == (
        "arm 'base', role orchestrator: prompt template differs between K1 and K2: "
        "000000000000 became 999999999999"
    )


def test_a_cached_answer_is_refused() -> None:
    finding = only(
        compare_manifests([manifest(1, cells(1, {"cache": "read"}))]).refusals, "no cache"
    )

    assert finding.count == 6
    assert "6 model calls went through a cache (first: base:q0, read)" in finding.message


def test_a_response_that_occurs_in_two_executions_is_refused() -> None:
    second = cells(2, {"response_id": "1-base:q0"})

    finding = only(
        compare_manifests([manifest(1), manifest(2, second)]).refusals, "no response twice"
    )

    assert finding.message.startswith("1 responses have the same id in K1 and K2")


@pytest.mark.parametrize("sent", [{}, {"temperature": 1.0}, {"config.temperature": 0.7}])
def test_a_temperature_that_was_not_sent_as_planned_is_refused(
    sent: Mapping[str, JsonValue],
) -> None:
    finding = only(manifest(1, cells(1, {"sampling_sent": sent})).findings, "sampling as planned")

    assert finding.kind == "refusal"
    assert finding.message.startswith(
        "arm 'base', role orchestrator: temperature was not sent as planned in 3 calls "
        "(first: asked 0.5, sent "
    )


def test_a_temperature_in_a_nested_block_is_found() -> None:
    assert manifest(1, cells(1, {"sampling_sent": {"config.temperature": 0.5}})).findings == ()


def test_media_that_the_request_does_not_carry_are_refused() -> None:
    found = manifest(1, cells(1, {"media_sha256": ("a", "b"), "request_sha256": None})).findings

    assert only(found, "media as handed").count == 6


def test_a_tool_result_that_the_engine_cut_short_is_refused() -> None:
    cut = ToolCall(call_id="1", name="get_transcript", arguments={}, truncated=True)
    first = cells(1)
    first[0] = replace(first[0], events=(*first[0].events, cut))

    finding = only(manifest(1, first).findings, "tool results whole")

    assert "1 tool results were cut short by the engine (first: get_transcript" in finding.message


def test_a_cell_that_is_older_than_its_log_is_refused() -> None:
    found = manifest(1, cells(1, started="2025-12-31T23:59:59+00:00")).findings

    assert only(found, "run in this execution").count == 6


def test_another_served_model_and_fingerprint_are_drift_and_not_refused() -> None:
    other = manifest(2, cells(2, {"served_model": "m-2", "fingerprint": "fp2"}))

    comparison = compare_manifests([manifest(1), other])

    assert comparison.refusals == ()
    assert only(comparison.drift, "served model").message == (
        "arm 'base', role orchestrator: served model was m-1 in K1, then m-2"
    )
    assert only(comparison.drift, "fingerprint").kind == "drift"
    assert "served by 2 models: m-1, m-2" in only(comparison.flags, "one served model").message


def test_what_nobody_reported_is_unavailable_and_never_same() -> None:
    nothing = {
        "fingerprint": None,
        "system_sha256": None,
        "request_sha256": None,
        "sampling_sent": None,
    }

    comparison = compare_manifests([manifest(1, cells(1, nothing)), manifest(2, cells(2, nothing))])

    checks = {item.check for item in comparison.unavailable}
    assert {"fingerprint", "system prompt as sent", "first request", "sampling as sent"} <= checks
    assert comparison.refusals == ()


def test_equal_calls_with_other_results_are_drift() -> None:
    def with_look(execution: int, result: str) -> list[Trajectory]:
        look = ToolCall(call_id="1", name="look", arguments={"at": 1}, result=result)
        return [replace(cell, events=(*cell.events, look)) for cell in cells(execution)]

    comparison = compare_manifests([
        manifest(1, with_look(1, "red")),
        manifest(2, with_look(2, "blue")),
    ])

    assert only(comparison.drift, "observations").message == (
        "6 of 6 tool calls with equal arguments returned something else in K2 than in K1"
    )


def test_numbers_that_are_not_finite_are_identified_like_any_other() -> None:
    def with_look(execution: int, at: float) -> list[Trajectory]:
        look = ToolCall(call_id="1", name="look", arguments={"at": at, "\ud800": [at]})
        return [replace(cell, events=(*cell.events, look)) for cell in cells(execution)]

    nan, again, infinite = (
        manifest(1, with_look(1, at)) for at in (float("nan"), float("nan"), float("inf"))
    )

    assert nan.observations == again.observations
    assert not set(nan.observations) & set(infinite.observations)
    assert nan.cells[0].said_sha256 != infinite.cells[0].said_sha256


def test_a_sampled_arm_that_says_the_same_twice_is_flagged() -> None:
    comparison = compare_manifests([
        manifest(1, cells(1, {"text": "same"})),
        manifest(2, cells(2, {"text": "same"})),
    ])

    assert only(comparison.flags, "identical trajectories").count == 3


def test_a_late_event_loop_is_flagged_and_an_unmeasured_one_is_unavailable() -> None:
    assert only(manifest(1, loop_lag_p99_s=0.5).findings, "event loop").kind == "flag"
    assert only(manifest(1, loop_lag_p99_s=None).findings, "event loop").kind == "unavailable"


def test_a_video_that_is_gone_is_a_loss_of_availability() -> None:
    gone = Failure(cause="VideoMissing", message="v.mp4", retryable=False)
    broken = Failure(cause="VideoUnreadable", message="v.mp4", retryable=False)
    frame = Failure(cause="UnreadableVideo", message="v.mp4", retryable=False)
    (cell,) = cells(1)[:1]

    assert availability_of(PLAN, replace(cell, run_status="media_error", failure=gone)) == "missing"
    assert (
        availability_of(PLAN, replace(cell, run_status="media_error", failure=broken))
        == "unreadable"
    )
    assert (
        availability_of(PLAN, replace(cell, run_status="media_error", failure=frame)) == "available"
    )
    assert availability_of(PLAN, cell) == "available"


def test_a_manifest_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    written = manifest(1)
    path = tmp_path / "manifest.json"

    written.write(path)

    assert read_manifest(path) == written


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no readable manifest"),
        (b'{"format": "taketwo.manifest/2"}', "this reader knows taketwo.manifest/1"),
        (b'{"format": "taketwo.manifest/1"}', "lacks or garbles a field"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(content)

    with pytest.raises(ForeignLog, match=message):
        read_manifest(path)
