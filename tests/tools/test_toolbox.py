from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.event import ToolEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageTool, ContentImage, ContentText, ModelOutput
from inspect_ai.tool import ToolCall
from pydantic import BaseModel
from tests.cells import LogTail, StubWorkers, grey_jpeg, model_name, subtitles, toolbox
from tests.scripted_model import HttpError, calls, requests_of, says

from taketwo.errors import UnreadableVideo
from taketwo.tools.budget import Limits
from taketwo.tools.toolbox import Toolbox, ToolSettings
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool

LOOK = ("analyze_video", {"start_time": 2, "end_time": 4, "focus": "the circle"})


async def run(box: Toolbox, reply: ModelOutput) -> list[ChatMessageTool]:
    messages = await box.run_tool_calls(reply)
    assert all(isinstance(message, ChatMessageTool) for message in messages)
    return [message for message in messages if isinstance(message, ChatMessageTool)]


def error_of(message: ChatMessageTool) -> dict[str, Any]:
    assert message.error is not None
    assert message.error.message == message.text
    return json.loads(message.text)["error"]


async def test_a_look_is_two_operations_and_one_visible_call(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, observer=[says("[3.0 s] 1 red circle")]), LogTail()
    reply = calls(LOOK)

    (message,) = await run(box, reply)

    assert message.text == (
        "window: 2.0-4.0 s\nframes: 3\nfps: 1\nresolution: medium\n"
        "<<<UNTRUSTED observations\n[3.0 s] 1 red circle\n>>>UNTRUSTED"
    )
    assert message.tool_call_id == reply.message.tool_calls[0].id  # type: ignore[index]
    assert [
        (event["operation"], event["freshness"], event["frames"], event["model_calls"])
        for event in log.of("primitive")
    ] == [("extract_video_parts", "fresh", 3, 0), ("analyze", "fresh", 3, 1)]
    assert {event["call_id"] for event in log.of("primitive")} == {message.tool_call_id}
    (tool,) = log.of("tool")
    assert tool["frames"] == [hashlib.sha256(grey_jpeg(time)).hexdigest() for time in (2, 3, 4)]
    assert tool["frame_times_s"] == [2.0, 3.0, 4.0]
    assert tool["error"] is None
    assert box.budget.used("visible_calls") == 1
    assert box.budget.used("primitive_ops") == 2


async def test_the_observer_is_asked_for_observations_with_the_question_as_context(
    tmp_path: Path,
) -> None:
    box = toolbox(tmp_path, observer=[says("x"), says("x")])
    await run(box, calls(LOOK))
    box.settings = ToolSettings(observer_sees_question=False)
    await run(box, calls(LOOK))

    seeing, blind = requests_of(model_name(box, "observer"))

    assert "you do not choose an option" in seeing.messages[0].text
    assert "Focus:\n<<<UNTRUSTED focus\nthe circle\n>>>UNTRUSTED" in seeing.text
    assert "Window: 2.0-4.0 s" in seeing.text
    assert "Which colour is the circle?" in seeing.text
    assert "Which colour is the circle?" not in blind.text
    assert "[frame at 2.00 s]" in seeing.text
    assert len(seeing.images) == 3


async def test_each_frame_that_is_handed_over_stands_after_its_time(tmp_path: Path) -> None:
    box = toolbox(tmp_path, tools=["extract_video_parts"])

    (message,) = await run(box, calls(("extract_video_parts", {"count": 2, "end_time": "0:10"})))

    assert isinstance(message.content, list)
    assert [type(part) for part in message.content] == [
        ContentText,
        ContentText,
        ContentImage,
        ContentText,
        ContentImage,
    ]
    labels = [part.text for part in message.content if isinstance(part, ContentText)]
    assert labels[1:] == ["[frame at 0.00 s]", "[frame at 10.00 s]"]


async def test_calls_past_the_budget_get_errors_together_with_the_earlier_results(
    tmp_path: Path,
) -> None:
    box = toolbox(
        tmp_path, observer=[says("first"), says("second")], limits=Limits(visible_calls=1)
    )
    log = LogTail()

    kept, refused = await run(box, calls(LOOK, LOOK))

    assert "first" in kept.text
    assert error_of(refused) == {
        "code": "budget_exhausted",
        "message": "visible_calls budget is used up: 1 of 1; the call was not made",
        "retryable": False,
    }
    assert [event["error"] for event in log.of("tool")] == [None, "budget_exhausted"]
    assert len(requests_of(model_name(box, "observer"))) == 1
    assert box.is_spent


async def test_a_tool_that_runs_out_midway_keeps_what_it_booked(tmp_path: Path) -> None:
    box = toolbox(tmp_path, observer=[says("x")], limits=Limits(primitive_ops=1))

    (message,) = await run(box, calls(LOOK))

    assert error_of(message)["code"] == "budget_exhausted"
    assert box.budget.used("primitive_ops") == 1
    assert box.failure is None


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (("analyse_video", {}), "unknown_tool", "known are analyze_video, get_transcript"),
        (("analyze_video", {"fps": "many"}), "invalid_arguments", "fps: .*found 'many'"),
        (("analyze_video", {"speed": 2}), "invalid_arguments", "speed: Extra inputs"),
        (("analyze_video", {"resolution": "4k"}), "invalid_arguments", "'low', 'medium' or 'high'"),
        (("analyze_video", {"start_time": float("nan")}), "invalid_arguments", "start_time"),
        (("analyze_video", {"start_time": 30}), "invalid_window", "the video lasts 24 s"),
        (("analyze_video", {"start_time": 9, "end_time": 9}), "invalid_window", "is empty"),
        (("get_transcript", {"start": 1, "start_time": 2}), "invalid_arguments", "not both"),
        (
            ToolCall(id="c", function="analyze_video", arguments={}, parse_error="not JSON: {"),
            "invalid_arguments",
            "are not a JSON object that can be used: not JSON: {",
        ),
    ],
)
async def test_a_wrong_call_gets_a_typed_error_and_is_counted(
    tmp_path: Path, call: Any, code: str, message: str
) -> None:
    box, log = toolbox(tmp_path, observer=[]), LogTail()

    (result,) = await run(box, calls(call))

    error = error_of(result)
    assert error["code"] == code
    assert error["retryable"] is True
    assert re.search(message, error["message"])
    assert log.of("tool")[0]["error"] == code
    assert log.of("primitive") == []
    assert box.budget.used("visible_calls") == 1


async def test_arguments_nested_without_end_are_an_error_like_any_other(tmp_path: Path) -> None:
    nested: dict[str, Any] = {}
    for _ in range(500):
        nested = {"x": nested}
    box, log = toolbox(tmp_path, observer=[]), LogTail()

    (result,) = await run(box, calls(("analyze_video", nested)))

    assert error_of(result)["code"] == "invalid_arguments"
    assert len(log.of("tool")) == 1


async def test_what_a_tool_or_an_agent_says_is_cleaned_before_it_is_kept(tmp_path: Path) -> None:
    async def say(context: ToolContext, arguments: BaseModel) -> ToolReply:
        return ToolReply(untrusted={"page": "before \ud800" + "x" * 500_000})

    class Nothing(BaseModel):
        pass

    page = VideoTool(name="page", description="d", guidance="g", arguments=Nothing, run=say)
    box, log = toolbox(tmp_path, tools=[page]), LogTail()

    (message,) = await run(box, calls(("page", {})))
    box.note("\udfff")

    assert "before \ufffd" in message.text
    assert len(message.text) < 210_000
    assert log.of("note") == [{"text": "\ufffd"}]


async def test_null_arguments_mean_the_default(tmp_path: Path) -> None:
    box = toolbox(tmp_path, observer=[says("x")])

    (message,) = await run(
        box, calls(("analyze_video", {"start_time": None, "end_time": 1, "fps": None}))
    )

    assert message.text.startswith("window: 0.0-1.0 s\nframes: 2\nfps: 1\n")


async def test_what_was_moved_or_capped_is_said(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, observer=[says("x")]), LogTail()
    box.settings = ToolSettings(max_frames=5)

    (message,) = await run(
        box, calls(("analyze_video", {"start_time": -3, "end_time": 99, "fps": 50.5}))
    )

    assert "frames: 5 of 481 asked for; one look takes at most 5" in message.text
    assert "start -3 s was moved to 0 s" in message.text
    assert "end 99 s was moved to the end of the video, 24 s" in message.text
    assert "fps 50.5 was moved to 20" in message.text
    assert log.of("tool")[0]["truncated"] is True


async def test_a_transcript_comes_from_the_subtitles_and_only_the_window(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1, 2, "early"), (5, 8.5, "the code is\nforty two"), (20, 21, "z"))
    box, log = toolbox(tmp_path, subtitles_path=speech), LogTail()

    (message,) = await run(box, calls(("get_transcript", {"start": 4, "end": 10})))

    assert message.text == (
        "window: 4.0-10.0 s\nsegments: 1\n"
        "<<<UNTRUSTED transcript\n[5.0-8.5 s] the code is forty two\n>>>UNTRUSTED"
    )
    (event,) = log.of("primitive")
    assert (event["operation"], event["audio_s"]) == ("transcribe_speech", 6.0)


async def test_a_long_transcript_is_cut_at_a_segment_and_says_where_to_go_on(
    tmp_path: Path,
) -> None:
    speech = subtitles(tmp_path, *[(n / 10, n / 10 + 0.05, "word " * 40) for n in range(1, 230)])
    box, log = toolbox(tmp_path, subtitles_path=speech), LogTail()

    (message,) = await run(box, calls(("get_transcript", {})))

    shown = [line for line in message.text.splitlines() if line.startswith("[")]
    assert 0 < len(shown) < 229
    assert len("\n".join(shown)) <= 24_000
    assert f"cut: {len(shown)} of 229 segments are shown; go on from " in message.text
    assert log.of("tool")[0]["truncated"] is True


async def test_a_silent_video_is_said_to_have_no_sound(tmp_path: Path) -> None:
    box = toolbox(tmp_path, info={"has_audio": False})

    (message,) = await run(box, calls(("get_transcript", {})))

    assert message.text == "window: 0.0-24.0 s\nsegments: 0\nnote: the video has no sound"


async def test_a_failing_observer_ends_the_cell_and_is_no_observation(tmp_path: Path) -> None:
    failure = HttpError(401)
    box, log = toolbox(tmp_path, observer=[failure]), LogTail()

    with pytest.raises(HttpError, match="401") as raised:
        await run(box, calls(LOOK, LOOK))

    assert raised.value is failure
    assert box.failure is failure
    assert [event["succeeded"] for event in log.of("primitive")] == [True, False]
    assert [event["error"] for event in log.of("tool")] == ["fault"]


async def test_a_provider_timeout_inside_a_tool_is_not_a_tool_error(tmp_path: Path) -> None:
    box = toolbox(tmp_path, observer=[TimeoutError("slow")] * 2)

    with pytest.raises(TimeoutError, match="slow"):
        await run(box, calls(LOOK))


async def test_an_unreadable_video_ends_the_cell(tmp_path: Path) -> None:
    workers = StubWorkers(error=UnreadableVideo("no frame at 2 s"))
    box = toolbox(tmp_path, observer=[says("x")], workers=workers)

    with pytest.raises(UnreadableVideo, match="no frame at 2 s"):
        await run(box, calls(LOOK))

    assert isinstance(box.failure, UnreadableVideo)


async def test_a_broken_tool_is_a_typed_error_with_its_cause(tmp_path: Path) -> None:
    async def broken(context: ToolContext, arguments: BaseModel) -> ToolReply:
        raise KeyError("oops")

    tool = VideoTool(
        name="broken",
        description="d",
        guidance="g",
        arguments=type("No", (BaseModel,), {}),
        run=broken,
    )
    box = toolbox(tmp_path, tools=[tool])

    (message,) = await run(box, calls(("broken", {})))

    assert error_of(message) == {
        "code": "tool_failed",
        "message": "KeyError: 'oops'",
        "retryable": False,
    }
    assert box.failure is None


async def test_every_call_is_a_tool_event_of_the_engine_and_nothing_is_cut_by_it(
    tmp_path: Path,
) -> None:
    box = toolbox(tmp_path, observer=[says("word " * 4500)])
    before = len(transcript().events)

    (message,) = await run(box, calls(LOOK))

    (event,) = [item for item in transcript().events[before:] if isinstance(item, ToolEvent)]
    assert event.function == "analyze_video"
    assert event.arguments == LOOK[1]
    assert event.truncated is None
    assert len(message.text) > 22_000


async def test_latency_is_the_sum_of_what_was_timed_once(tmp_path: Path) -> None:
    seen = says("x")
    seen.metadata = {"charged_s": 3.0}
    box, log = toolbox(tmp_path, observer=[seen]), LogTail()

    await run(box, calls(LOOK))

    (tool,) = log.of("tool")
    parts = sum(event["charged_s"] for event in log.of("primitive"))
    assert tool["latency_s"] == pytest.approx(box.latency_s)
    assert 3.0 + parts <= box.latency_s < 3.0 + parts + 0.5
    assert log.of("primitive")[1]["charged_s"] < 0.5
    assert log.of("primitive")[1]["seconds"] >= 3.0


def test_the_prompt_side_never_sees_the_path(tmp_path: Path) -> None:
    box = toolbox(tmp_path)

    assert list(box.tools) == ["analyze_video", "get_transcript"]
    assert box.video.duration_s == 24.0
    assert not box.is_spent


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ({"count": 3}, [0.0, 12.0, 24.0]),
        ({"fps": 0.5, "start_time": "0:20"}, [20.0, 22.0, 24.0]),
        ({"count": 1, "start_time": "00:00:10", "end_time": 12}, [11.0]),
    ],
)
async def test_frames_are_chosen_by_count_or_by_rate(
    tmp_path: Path, arguments: dict[str, Any], seconds: list[float]
) -> None:
    box, log = toolbox(tmp_path, tools=["extract_video_parts"]), LogTail()

    await run(box, calls(("extract_video_parts", arguments)))

    assert log.of("tool")[0]["frame_times_s"] == seconds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 3, "fps": 1}, "give count or fps, not both"),
        ({"start_time": "1:75"}, "start_time"),
        ({"start_time": "a:b"}, "start_time"),
        ({"end_time": "1:2:3:4"}, "end_time"),
        ({"count": 0}, "greater than or equal to 1"),
    ],
)
async def test_frames_cannot_be_chosen_both_ways_or_by_no_time(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    box = toolbox(tmp_path, tools=["extract_video_parts"])

    (result,) = await run(box, calls(("extract_video_parts", arguments)))

    assert error_of(result)["code"] == "invalid_arguments"
    assert message in error_of(result)["message"]


async def test_a_negative_end_is_the_end_of_the_video(tmp_path: Path) -> None:
    box = toolbox(tmp_path, observer=[says("x")])

    (message,) = await run(box, calls(("analyze_video", {"start_time": 20, "end_time": -1})))

    assert message.text.startswith("window: 20.0-24.0 s\n")
    assert "end -1 s is negative and was read as the end of the video" in message.text


async def test_frames_missing_at_a_broken_end_are_said_to_be_missing(tmp_path: Path) -> None:
    box = toolbox(tmp_path, tools=["extract_video_parts"], workers=StubWorkers(gives=2))

    (message,) = await run(box, calls(("extract_video_parts", {"count": 3})))

    assert "frames: 2 of 3 asked for; the others could not be decoded" in message.text


async def test_no_frame_is_handed_over_past_the_budget_of_frames(tmp_path: Path) -> None:
    box = toolbox(tmp_path, observer=[says("x")], limits=Limits(frames=3))

    first, second = await run(box, calls(LOOK, LOOK))

    assert "frames: 3" in first.text
    assert error_of(second)["message"].startswith("the budget of frames is used up")


async def test_an_agent_can_make_a_visible_call_by_name(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, observer=["1 red circle"]), LogTail()

    result = await box.run_call(*LOOK)

    assert result.failure is None
    assert result.reply.untrusted == {"observations": "1 red circle"}
    assert "1 red circle" in result.message.text
    assert box.budget.used("visible_calls") == 1
    assert [(event["name"], event["error"]) for event in log.of("tool")] == [
        ("analyze_video", None)
    ]
    assert {event["call_id"] for event in log.of("primitive")} == {result.message.tool_call_id}


async def test_a_call_by_name_that_fails_says_why_and_is_counted(tmp_path: Path) -> None:
    box = toolbox(tmp_path, limits=Limits(visible_calls=1))

    unknown = await box.run_call("look", {})
    refused = await box.run_call(*LOOK)

    assert unknown.failure is not None
    assert refused.failure is not None
    assert (unknown.failure.code, refused.failure.code) == ("unknown_tool", "budget_exhausted")
    assert unknown.message.tool_call_id != refused.message.tool_call_id


async def test_a_fault_of_a_provider_ends_a_call_by_name(tmp_path: Path) -> None:
    failure = HttpError(500)
    box = toolbox(tmp_path, observer=[failure, failure])

    with pytest.raises(HttpError):
        await box.run_call(*LOOK)

    assert box.failure is failure
