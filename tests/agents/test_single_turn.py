from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.model import ContentText, ModelOutput
from tests.cells import COLOURS, LogTail, StubWorkers, model_name, subtitles, toolbox
from tests.scripted_model import HttpError, Step, requests_of, says

from taketwo.agents.single_turn import SPEC, SingleTurn, SingleTurnOptions
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.media.worker import JpegFrame
from taketwo.models.native_video import video_of
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import RoleSettings


def agent(**options: object) -> SingleTurn:
    return SingleTurn(options=SingleTurnOptions.model_validate(options))


async def test_one_generation_sees_frames_over_the_whole_video(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, orchestrator=["It is blue.\nFINAL ANSWER: B"], tools=()), LogTail()

    answer = await agent(frames=4)(COLOURS, box)

    assert (answer.status, answer.option_index, answer.forced) == ("answered", 1, False)
    (request,) = requests_of(model_name(box, "orchestrator"))
    assert len(request.images) == 4
    labels = [line for line in request.text.splitlines() if line.startswith("[frame at")]
    assert labels == [
        "[frame at 0.00 s]",
        "[frame at 8.00 s]",
        "[frame at 16.00 s]",
        "[frame at 24.00 s]",
    ]
    assert (
        "Question: Which colour is the circle?\nOptions:\nA. red\nB. blue\nC. green" in request.text
    )
    assert "Video length: 24.0 s" in request.text
    assert "FINAL ANSWER: <label of one option" in request.text
    assert "transcript" not in request.text.lower()
    assert request.tools == []
    assert [event["operation"] for event in log.of("primitive")] == ["extract_video_parts"]
    assert log.of("model")[0]["frames"] == 4


async def test_the_transcript_is_added_where_it_is_wanted(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1, 2.5, "turn left"))
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: A"], subtitles_path=speech)

    await agent(transcript=True)(COLOURS, box)

    (request,) = requests_of(model_name(box, "orchestrator"))
    assert "<<<UNTRUSTED transcript\n[1.0-2.5 s] turn left\n>>>UNTRUSTED" in request.text


@pytest.mark.parametrize(
    ("reply", "status"),
    [("I am not sure.", "unparsed"), ("FINAL ANSWER: none", "abstained")],
)
async def test_no_answer_is_made_up(tmp_path: Path, reply: Step, status: str) -> None:
    box = toolbox(tmp_path, orchestrator=[reply])

    answer = await agent()(COLOURS, box)

    assert (answer.status, answer.option_index) == (status, None)
    assert len(requests_of(model_name(box, "orchestrator"))) == 1


async def test_an_open_question_is_answered_in_words(tmp_path: Path) -> None:
    question = VisibleQuestion(question_id="q", text="What?", options=(), video_duration_s=24.0)
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: a red door"], question=question)

    answer = await agent()(question, box)

    assert (answer.status, answer.text) == ("answered", "a red door")


async def test_a_small_budget_of_frames_gives_fewer_frames_and_a_note(tmp_path: Path) -> None:
    log = LogTail()
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: A"], limits=Limits(frames=3))

    answer = await agent(frames=16)(COLOURS, box)

    assert answer.status == "answered"
    assert log.of("model")[0]["frames"] == 3
    assert log.of("note") == [{"text": "3 frames instead of 16: the budget of frames"}]


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(frames=0), "frames"),
        (Limits(turns=0), "turns"),
        (Limits(primitive_ops=0), "primitive_ops"),
    ],
)
async def test_no_budget_is_a_limit(tmp_path: Path, limits: Limits, resource: str) -> None:
    box = toolbox(tmp_path, orchestrator=[says("FINAL ANSWER: A")], limits=limits)

    answer = await agent()(COLOURS, box)

    assert (answer.status, answer.limit) == ("limit", resource)


async def test_a_failing_provider_is_no_answer(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[HttpError(500)] * 2)

    with pytest.raises(HttpError, match="500"):
        await agent()(COLOURS, box)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 1, "frames": 5}, "give frames or fps, not both"),
        ({"cap": 5}, "give fps with it"),
        ({"native_video": True, "frames": 5}, "leaves the frames to the model"),
        ({"native_video": True, "fps": 1, "cap": 5}, "leaves the frames to the model"),
        ({"fps": 0}, "greater than 0"),
        ({"fps": float("nan")}, "finite"),
        ({"cap": 0, "fps": 1}, "greater than or equal to 1"),
    ],
)
def test_looks_that_exclude_each_other_are_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        SPEC.checked(options)


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({}, (16, None, None, False)),
        ({"fps": 2}, (None, 2.0, None, False)),
        ({"fps": None, "frames": 50}, (50, None, None, False)),
        ({"fps": 1, "cap": 9}, (None, 1.0, 9, False)),
        ({"native_video": True}, (None, 1.0, None, True)),
    ],
)
def test_a_plan_shows_what_holds_where_nothing_is_said(
    given: dict[str, object], known: tuple[object, ...]
) -> None:
    options = SingleTurnOptions.model_validate(given)

    assert (options.frames, options.fps, options.cap, options.native_video) == known
    assert SingleTurnOptions.model_validate(options.model_dump(mode="json")) == options


async def test_a_frame_that_is_shown_at_two_times_is_handed_over_once(tmp_path: Path) -> None:
    class TenASecond(StubWorkers):
        def jpegs(
            self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
        ) -> tuple[JpegFrame, ...]:
            found = super().jpegs(path, times_s, max_side, quality)
            return tuple(
                replace(frame, time_s=int(frame.requested_s * 10 + 1e-6) / 10) for frame in found
            )

    box = toolbox(
        tmp_path,
        orchestrator=["FINAL ANSWER: A"],
        workers=TenASecond(),
        info={"duration_s": 1.0},
    )

    await agent(frames=50)(COLOURS, box)

    (request,) = requests_of(model_name(box, "orchestrator"))
    labels = [line for line in request.text.splitlines() if line.startswith("[frame at ")]
    assert labels == [f"[frame at {tenth / 10:.2f} s]" for tenth in range(11)]
    assert len(request.images) == 11


async def test_at_a_rate_a_small_budget_of_frames_still_covers_both_ends(tmp_path: Path) -> None:
    workers, log = StubWorkers(), LogTail()
    box = toolbox(
        tmp_path, orchestrator=["FINAL ANSWER: A"], workers=workers, limits=Limits(frames=3)
    )

    await agent(fps=1.0)(COLOURS, box)

    assert workers.calls == [(0.0, 12.0, 24.0)]
    assert log.of("note") == [{"text": "3 frames instead of 25: the budget of frames"}]


@pytest.mark.parametrize(
    "reply",
    [
        HttpError(400, "maximum context length is 1000 tokens. FINAL ANSWER: A"),
        ModelOutput.from_content(
            "scripted", "too many tokens. FINAL ANSWER: A", stop_reason="model_length"
        ),
    ],
)
async def test_more_than_the_context_holds_is_a_limit_and_never_an_answer(
    tmp_path: Path, reply: Step
) -> None:
    box = toolbox(tmp_path, orchestrator=[reply] * 3, info={"duration_s": 1800.0})

    answer = await agent(fps=1.0)(COLOURS, box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, "context")
    assert box.failure is None
    assert len(requests_of(model_name(box, "orchestrator"))) == 1


async def test_the_video_itself_goes_to_a_provider_that_sends_video(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, orchestrator=["FINAL ANSWER: B"]), LogTail()

    answer = await agent(native_video=True, resolution="low")(COLOURS, box)

    assert answer.option_index == 1
    (request,) = requests_of(model_name(box, "orchestrator"))
    content = request.messages[0].content
    assert isinstance(content, list)
    assert isinstance(content[0], ContentText)
    reference = video_of(content[0])
    assert reference is not None
    assert (reference.sha256, reference.fps, reference.resolution) == ("ab" * 32, 1.0, "low")
    assert request.images == []
    assert "Above is a video. Answer the question below from it." in request.text
    assert "video.mp4" not in request.text
    assert log.of("primitive") == []
    (model,) = log.of("model")
    assert (model["media_sha256"], model["frames"]) == (["ab" * 32], 25)


async def test_the_video_itself_is_refused_where_it_would_be_dropped(tmp_path: Path) -> None:
    model = RoleSettings(role="orchestrator", model="mockllm/model")
    box = toolbox(tmp_path, extra_roles={"orchestrator": model})

    with pytest.raises(RequestError, match=r"video by reference .* may never reach 'mockllm'"):
        await agent(native_video=True)(COLOURS, box)


@pytest.mark.parametrize(
    ("orchestrator", "look"),
    [
        ("openai/gpt-5", (50, None, False)),
        ("anthropic/claude-opus-4-7", (50, None, False)),
        ("google/gemini-2.5-pro", (None, 1.0, False)),
        ("vllm/Qwen/Qwen3.5-27B", (None, 1.0, False)),
        ("gemini-video/gemini-2.5-pro", (None, 1.0, True)),
    ],
)
def test_the_published_look_follows_the_model(
    orchestrator: str, look: tuple[int | None, float | None, bool]
) -> None:
    options = SPEC.checked(SPEC.preset("published").options_for(orchestrator)).model_dump()

    assert (options["frames"], options["fps"], options["native_video"]) == look
    assert options["cap"] is None


def test_the_matched_look_is_50_frames_for_every_model() -> None:
    preset = SPEC.preset("matched-50")

    for model in ("openai/gpt-5", "gemini-video/gemini-2.5-pro"):
        assert SPEC.checked(preset.options_for(model)).model_dump()["frames"] == 50


@pytest.mark.parametrize(
    ("options", "frames"),
    [
        ({}, (16, 0, None)),
        ({"fps": 2}, (0, 2, None)),
        ({"fps": 1, "cap": 50}, (0, 1, 50)),
        ({"native_video": True}, (0, 1, None)),
    ],
)
def test_what_a_cell_is_expected_to_look_at(
    options: dict[str, object], frames: tuple[int, float, int | None]
) -> None:
    work = SPEC.work_for(SPEC.checked(options))

    assert work is not None
    assert (work.turns, work.calls_most) == (1, 1)
    assert frames == (
        work.orchestrator_frames,
        work.orchestrator_frames_per_s,
        work.orchestrator_frames_most,
    )
