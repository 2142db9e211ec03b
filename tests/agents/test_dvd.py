from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import anyio
import av
import numpy as np
import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.tool import ToolCall, ToolFunction
from PIL import Image
from tests.cells import COLOURS, LogTail, StubWorkers, model_name, subtitles
from tests.indexed_cells import caption, indexed, numbered, observing
from tests.scripted_model import (
    HttpError,
    Reply,
    Request,
    Step,
    calls,
    empty,
    malformed,
    refuses,
    requests_of,
    says,
    script,
)

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer
from taketwo.agents.catalog import agent_spec
from taketwo.agents.dvd import Dvd, DvdOptions, dvd_prompts
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError, UnreadableVideo
from taketwo.media.store import MediaStore
from taketwo.media.worker import MediaWorkers
from taketwo.tools.budget import Limits
from taketwo.tools.primitives import CellMedia
from taketwo.tools.role_model import ProviderReplyError, RoleSettings
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_index import OpenedIndex
from taketwo.tools.video_index_store import IndexStore

FINISH_B = calls(("finish", {"answer": "B"}))
BROWSE = ("global_browse_tool", {"query": "the course"})
SEARCH = ("clip_search_tool", {"event_description": "a circle rolls"})
INSPECT = (
    "frame_inspect_tool",
    {"question": "which colour?", "time_ranges_hhmmss": [["00:00:02", "00:00:04"]]},
)
OPEN = VisibleQuestion(question_id="o", text="What rolls?", options=(), video_duration_s=24.0)
MANY = VisibleQuestion(
    question_id="m",
    text="How many?",
    options=tuple(f"{number} times" for number in range(26)),
    video_duration_s=24.0,
)
SPEC: AgentSpec = agent_spec("dvd")


def options(**given: object) -> DvdOptions:
    return DvdOptions.model_validate({"search": "bm25", **given})


def cell(folder: Path, orchestrator: list[Step], **given: Any) -> Toolbox:
    chosen = given.pop("chosen", options())
    observer = given.pop("observer", observing())
    return indexed(folder, observer, orchestrator=orchestrator, tools=chosen.tools(), **given)


async def run(
    box: Toolbox, chosen: DvdOptions | None = None, question: VisibleQuestion = COLOURS
) -> Answer:
    return await Dvd(options=chosen or options())(question, box)


def sent(box: Toolbox) -> list[Request]:
    return requests_of(model_name(box, "orchestrator"))


def assert_paired(request: Request) -> None:
    """Each call of a request has exactly one result, in order, before anything else is said."""
    waiting: list[str] = []
    for message in request.messages:
        if isinstance(message, ChatMessageTool):
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert waiting == []
        if isinstance(message, ChatMessageAssistant):
            waiting = [call.id for call in message.tool_calls or []]
    assert waiting == []


async def test_it_browses_searches_inspects_and_finishes(tmp_path: Path) -> None:
    steps: list[Step] = [
        calls(BROWSE),
        calls(SEARCH),
        calls(INSPECT),
        calls(("finish", {"answer": "B"}), text="It is blue."),
    ]
    box, log = cell(tmp_path, steps), LogTail()

    answer = await run(box)

    assert (answer.status, answer.option_index, answer.text) == ("answered", 1, "B")
    assert (answer.reasoning, answer.forced) == ("It is blue.", False)
    first, *_, last = sent(box)
    assert sorted(tool.name for tool in first.tools) == [
        "clip_search_tool",
        "finish",
        "frame_inspect_tool",
        "global_browse_tool",
    ]
    assert first.images == []
    assert "Length of the video: 00:00:24 (24.0 s)" in first.text
    assert "A. red\nB. blue\nC. green" in first.text
    for evidence in ("the whole course", "Scene 2: a circle rolls.", "the circle is blue"):
        assert evidence in last.text
    assert_paired(last)
    assert [event["name"] for event in log.of("tool")] == [
        "global_browse_tool",
        "clip_search_tool",
        "frame_inspect_tool",
    ]
    assert box.budget.used("visible_calls") == 3


async def test_finish_is_an_answer_and_no_look_at_the_video(tmp_path: Path) -> None:
    box, log = cell(tmp_path, [FINISH_B]), LogTail()

    answer = await run(box)

    assert (answer.option_index, box.budget.used("visible_calls")) == (1, 0)
    assert log.of("tool") == []


async def test_calls_before_finish_are_made_in_order_and_those_after_it_are_not(
    tmp_path: Path,
) -> None:
    box, log = (
        cell(tmp_path, [calls(SEARCH, INSPECT, ("finish", {"answer": "C"}), BROWSE)]),
        LogTail(),
    )

    answer = await run(box)

    assert answer.option_index == 2
    assert [event["name"] for event in log.of("tool")] == [
        "clip_search_tool",
        "frame_inspect_tool",
    ]


# Compatibility 1: the end of the loop and what is said to the model.


async def test_the_last_turn_offers_finish_alone(tmp_path: Path) -> None:
    box, log = cell(tmp_path, [calls(SEARCH), FINISH_B]), LogTail()

    answer = await run(box, options(turns=2))

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "turns")
    last = sent(box)[-1]
    assert [tool.name for tool in last.tools] == ["finish"]
    assert last.tool_choice == ToolFunction(name="finish")
    assert last.messages[-1].text.startswith(
        "This is your last turn (turns used up). Call `finish`"
    )
    assert log.of("note") == [{"text": "last turn: the budget of turns is used up"}]


async def test_the_faithful_last_turn_leaves_the_choice(tmp_path: Path) -> None:
    chosen = options(turns=2, faithful=True)
    box = cell(tmp_path, [calls(SEARCH), FINISH_B], chosen=chosen)

    answer = await run(box, chosen)

    assert (answer.option_index, answer.forced) == (1, True)
    assert len(sent(box)[-1].tools) == 4
    assert sent(box)[-1].tool_choice == "auto"


@pytest.mark.parametrize("ignores", [calls(BROWSE), calls(("finish", {})), says("Hard to say.")])
async def test_a_model_that_ignores_the_last_turn_is_asked_once_more_for_plain_text(
    tmp_path: Path, ignores: ModelOutput
) -> None:
    box = cell(tmp_path, [ignores, says('{"answer": "C"}')])

    answer = await run(box, options(turns=1))

    assert (answer.option_index, answer.forced, answer.limit) == (2, True, "turns")
    again = sent(box)[-1]
    assert again.tool_choice == "none"
    assert again.messages[-1].text.startswith("No function can be called any more")
    assert_paired(again)


@pytest.mark.parametrize("faithful", [True, False])
async def test_a_model_that_never_answers_hits_the_limit_and_no_letter(
    tmp_path: Path, faithful: bool
) -> None:
    chosen = options(turns=1, faithful=faithful)
    box = cell(tmp_path, [calls(BROWSE)] * 2, chosen=chosen)

    answer = await run(box, chosen)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, "turns")
    assert len(sent(box)) == (1 if faithful else 2)


@pytest.mark.parametrize("text", ["B", "The answer is B.", '{"answer": "blue"}', "blue"])
@pytest.mark.parametrize("turns", [1, 15])
async def test_a_reply_in_plain_text_is_accepted_as_the_answer(
    tmp_path: Path, text: str, turns: int
) -> None:
    box = cell(tmp_path, [says(text)])

    answer = await run(box, options(turns=turns))

    assert (answer.status, answer.option_index, answer.forced) == ("answered", 1, turns == 1)


async def test_talk_without_a_call_and_without_an_answer_is_sent_back(tmp_path: Path) -> None:
    box = cell(tmp_path, [says("I will browse first."), FINISH_B])

    answer = await run(box)

    assert answer.option_index == 1
    assert sent(box)[1].messages[-1].text.startswith("Your reply has neither a call nor an answer")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (
            ("frame_inspect_tool", {"question": "q", "time_ranges_hhmmss": [["9:00", "9:30"]]}),
            "invalid_window",
        ),
        (
            ("frame_inspect_tool", {"question": "q", "time_ranges_hhmmss": [["0:05", "0:05"]]}),
            "invalid_window",
        ),
        (("clip_search_tool", {"event_description": "x", "top_k": -1}), "invalid_arguments"),
        (
            ("clip_search_tool", {"event_description": "x", "top_k": float("nan")}),
            "invalid_arguments",
        ),
        (("clip_search_tool", {"event_description": ["x"]}), "invalid_arguments"),
        (("global_browse_tool", {"query": ""}), "invalid_arguments"),
        (("global_browse_tool", {"query": "q", "database": {}}), "invalid_arguments"),
        (("grep", {}), "unknown_tool"),
        (("finish", {}), "invalid_arguments"),
        (("finish", {"answer": ["A", "B"]}), "invalid_arguments"),
        (
            ToolCall(id="c", function="finish", arguments={}, parse_error="not JSON: {"),
            "invalid_arguments",
        ),
    ],
)
async def test_a_wrong_call_is_a_message_that_the_model_can_act_on(
    tmp_path: Path, call: Any, code: str
) -> None:
    box = cell(tmp_path, [calls(call), FINISH_B])

    answer = await run(box)

    assert answer.option_index == 1
    results = [message for message in sent(box)[1].messages if isinstance(message, ChatMessageTool)]
    assert json.loads(results[0].text)["error"]["code"] == code
    assert_paired(sent(box)[1])


async def test_ranges_past_the_end_are_looked_at_up_to_it(tmp_path: Path) -> None:
    workers = StubWorkers()
    look = {"question": "q", "time_ranges_hhmmss": [["00:00:22", "01:00:00"]]}
    box = cell(tmp_path, [calls(("frame_inspect_tool", look)), FINISH_B], workers=workers)

    await run(box)

    assert workers.calls[-1] == (22.0, 22.5, 23.0, 23.5, 24.0)
    assert "ranges: 00:00:22-00:00:24" in sent(box)[-1].text


# Compatibility 2: frames are what their time says.


@pytest.mark.parametrize("rate", [25, 15])
async def test_frames_of_any_rate_are_those_of_their_time(tmp_path: Path, rate: int) -> None:
    path, seconds = tmp_path / "video.mp4", 90
    _paint_numbers(path, rate=rate, seconds=seconds)
    pairs: list[tuple[float, int]] = []

    def look(request: Request) -> Reply:
        times = [
            float(found)
            for found in re.findall(r"\[frame at ([\d.]+) s\]", request.messages[1].text)
        ]
        pairs.extend(zip(times, map(_number_of, request.images), strict=True))
        return observing()(request)  # type: ignore[operator, return-value]

    chosen = options(clip_seconds=10)
    inspect = {"question": "q", "time_ranges_hhmmss": [["00:01:20", "00:01:25"]]}
    with MediaWorkers(1) as workers:
        box = cell(tmp_path, [calls(("frame_inspect_tool", inspect)), FINISH_B], observer=look)
        box.primitives.media = CellMedia(  # the real decoder in place of the stub
            path=path,
            info=workers.probe(path),
            workers=workers,
            frames=MediaStore(tmp_path / "frames"),
            derived=MediaStore(tmp_path / "media"),
            slots=anyio.CapacityLimiter(1),
        )
        await run(box, chosen)

    wanted = [n / 2 for n in range(2 * seconds)] + [80 + n / 2 for n in range(11)]
    assert len(pairs) == len(wanted)
    for time_s, (label_s, number) in zip(wanted, pairs, strict=True):
        assert abs(number / rate - time_s) <= 0.25
        assert label_s == pytest.approx(number / rate, abs=0.006)


def _paint_numbers(path: Path, *, rate: int, seconds: int) -> None:
    """Write a video whose frames show their number as 12 black or white squares."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 96, 32, "yuv420p"
        for number in range(rate * seconds):
            bits = np.array([255 * (number >> bit & 1) for bit in range(12)], dtype=np.uint8)
            row = np.repeat(bits, 8)
            picture = np.broadcast_to(row[None, :, None], (32, 96, 3))
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _number_of(image: str) -> int:
    data = base64.b64decode(image.split(",", 1)[1])
    grey = np.asarray(Image.open(io.BytesIO(data)).convert("L"), dtype=float)
    squares = grey.reshape(32, 12, 8).mean(axis=(0, 2))
    return sum(int(square > 127) << bit for bit, square in enumerate(squares))


# Compatibility 3: a clip is its position.


async def test_clips_with_identical_descriptions_are_both_found(tmp_path: Path) -> None:
    box = cell(
        tmp_path,
        [calls(SEARCH), FINISH_B],
        observer=observing(lambda _: caption("A circle rolls.")),
    )

    await run(box)

    text = sent(box)[1].text
    for times in ("00:00:00-00:00:10", "00:00:10-00:00:20", "00:00:20-00:00:24"):
        assert f"[{times}] A circle rolls." in text


# Compatibility 7: equal inputs, equal trajectories; a budget ends in a forced answer.


async def test_the_same_inputs_give_the_same_trajectory(tmp_path: Path) -> None:
    def without_times(event: dict[str, Any]) -> str:
        kept = {
            key: value
            for key, value in event.items()
            if key not in {"seconds", "charged_s", "latency_s", "call_id", "freshness"}
        }
        text = json.dumps(kept, sort_keys=True)
        return re.sub(r'scripted/\d+|"latency_s": [\d.e-]+|[0-9a-f]{12}-[0-9a-f]{16}', "", text)

    found: list[list[str]] = []
    answers: list[Answer] = []
    for folder in ("first", "second"):
        steps = [calls(BROWSE, SEARCH), calls(INSPECT), FINISH_B]
        box, log = cell(tmp_path / folder, steps), LogTail()
        answers.append(await run(box))
        found.append([
            without_times(event)
            for source in ("index", "model", "primitive", "tool", "note")
            for event in log.of(source)
        ])
        texts = [request.text for request in sent(box)]
        found[-1] += texts

    assert len(found[0]) > 20
    assert found[0] == found[1]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(visible_calls=1), "visible_calls"),
        (Limits(turns=2), "turns"),
        (Limits(model_calls=3), "model_calls"),
        (Limits(primitive_ops=2), "primitive_ops"),
    ],
)
async def test_a_budget_that_runs_out_ends_in_a_forced_answer(
    tmp_path: Path, limits: Limits, resource: str
) -> None:
    box = cell(tmp_path, [calls(INSPECT), FINISH_B], limits=limits)

    answer = await run(box)

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, resource)


async def test_tokens_are_known_afterwards_and_end_the_cell_as_a_limit(tmp_path: Path) -> None:
    box = cell(tmp_path, [calls(INSPECT), FINISH_B], limits=Limits(tokens=20))

    answer = await run(box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, "tokens")


async def test_a_charged_index_counts_against_the_budget(tmp_path: Path) -> None:
    chosen = options(charge_index=True)
    box = cell(tmp_path, [FINISH_B], chosen=chosen, limits=Limits(tokens=50))

    answer = await run(box, chosen)

    assert (answer.status, answer.limit) == ("limit", "tokens")
    assert sent(box) == []


@pytest.mark.parametrize(
    ("value", "status", "index"),
    [
        ("Z", "answered", 25),
        ("7 times", "answered", 7),
        ("C. 2 times", "answered", 2),
        ("Either A or B", "unparsed", None),
        ("27", "unparsed", None),
        ("none", "abstained", None),
        ("AA", "unparsed", None),
    ],
)
async def test_an_answer_out_of_26_options_is_read_and_never_guessed(
    tmp_path: Path, value: str, status: str, index: int | None
) -> None:
    box = cell(tmp_path, [calls(("finish", {"answer": value}))])

    answer = await run(box, question=MANY)

    assert (answer.status, answer.option_index, answer.text) == (status, index, value)


@pytest.mark.parametrize("number", [3, 3.0])
async def test_a_number_is_an_answer_in_words(tmp_path: Path, number: float) -> None:
    box = cell(tmp_path, [calls(("finish", {"answer": number}))])

    answer = await run(box, question=OPEN)

    assert (answer.status, answer.text) == ("answered", str(number))


async def test_an_open_question_takes_the_text_of_finish_and_of_a_last_reply(
    tmp_path: Path,
) -> None:
    by_finish = cell(tmp_path / "a", [calls(("finish", {"answer": "a blue circle"}))])
    by_text = cell(tmp_path / "b", [says("A blue circle rolls.")])

    first = await run(by_finish, question=OPEN)
    last = await run(by_text, options(turns=1), OPEN)

    assert (first.status, first.text) == ("answered", "a blue circle")
    assert (last.status, last.text, last.forced) == ("answered", "A blue circle rolls.", True)
    assert "Its `answer` is the answer in a few words." in sent(by_finish)[0].text


# Failures.


@pytest.mark.parametrize("failure", [HttpError(429), HttpError(500), TimeoutError("slow")])
@pytest.mark.parametrize("where", ["orchestrator", "captions", "look"])
async def test_a_failing_provider_is_never_an_answer(
    tmp_path: Path, failure: Exception, where: str
) -> None:
    observer = {
        "orchestrator": observing(),
        "captions": observing(lambda _: failure),
        "look": observing(inspected=failure),
    }[where]
    fails = where == "orchestrator"
    box = cell(
        tmp_path, [calls(INSPECT), *([failure] * 4 if fails else [FINISH_B])], observer=observer
    )

    with pytest.raises(type(failure)):
        await run(box)

    assert box.failure is failure


@pytest.mark.parametrize("reply", [empty(), malformed(), refuses()])
async def test_a_reply_that_is_none_is_never_an_answer(tmp_path: Path, reply: ModelOutput) -> None:
    box = cell(tmp_path, [reply] * 4)

    with pytest.raises(ProviderReplyError):
        await run(box)


async def test_a_video_that_cannot_be_decoded_is_a_media_error(tmp_path: Path) -> None:
    box = cell(tmp_path, [FINISH_B], workers=StubWorkers(error=UnreadableVideo("gone")))

    with pytest.raises(UnreadableVideo):
        await run(box)

    assert isinstance(box.failure, UnreadableVideo)


# Options.


async def test_the_lite_mode_reads_speech_and_never_speaks_of_seeing(tmp_path: Path) -> None:
    chosen = options(lite=True)
    said = subtitles(tmp_path, (1.0, 2.0, "a circle rolls"), (3.0, 4.0, "it is blue"))
    workers = StubWorkers()
    box = cell(
        tmp_path,
        [calls(SEARCH), FINISH_B],
        chosen=chosen,
        subtitles_path=said,
        workers=workers,
        observer=observing(lambda _: HttpError(500)),
    )

    answer = await run(box, chosen)

    assert answer.option_index == 1
    assert workers.calls == []
    first, second = sent(box)
    assert sorted(tool.name for tool in first.tools) == [
        "clip_search_tool",
        "finish",
        "global_browse_tool",
    ]
    assert "frame_inspect" not in first.text
    assert "[00:00:01-00:00:02] a circle rolls" in second.text


async def test_a_silent_video_in_the_lite_mode_leaves_only_finish(tmp_path: Path) -> None:
    chosen = options(lite=True)
    box = cell(tmp_path, [FINISH_B], chosen=chosen)

    await run(box, chosen)

    (request,) = sent(box)
    assert [tool.name for tool in request.tools] == ["finish"]
    assert "clip_search" not in request.text
    assert "global_browse" not in request.text


async def test_calls_can_be_written_in_text(tmp_path: Path) -> None:
    chosen = options(call_form="text")
    steps: list[Step] = [
        says(
            'I search.\n{"name": "clip_search_tool", "arguments": {"event_description": "circle"}}'
        ),
        says('{"name": "finish", "arguments": {"answer": "B"}}'),
    ]
    box, log = cell(tmp_path, steps, chosen=chosen), LogTail()

    answer = await run(box, chosen)

    assert answer.option_index == 1
    first, second = sent(box)
    assert first.tools == []
    assert '"name": "frame_inspect_tool"' in first.text
    assert "Scene 1: a circle rolls." in second.text
    assert [event["name"] for event in log.of("tool")] == ["clip_search_tool"]


async def test_a_video_of_one_second_is_indexed_and_answered(tmp_path: Path) -> None:
    box = cell(tmp_path, [calls(BROWSE), FINISH_B], info={"duration_s": 1.0})

    answer = await run(box)

    assert answer.option_index == 1
    assert len(box.state.get(OpenedIndex).index.clips) == 1


async def test_the_cells_of_one_question_after_the_other_share_the_index(tmp_path: Path) -> None:
    name = script([observing()], repeat_last=True)
    for _ in range(3):
        box = cell(tmp_path, [FINISH_B], name=name)
        assert (await run(box)).option_index == 1

    assert len(requests_of(name)) == 4


def test_presets_and_their_limits() -> None:
    assert sorted(SPEC.presets) == ["default", "paper", "published", "table-24"]
    for name, preset in SPEC.presets.items():
        chosen = SPEC.checked(preset.options_for("openai/o3"))
        assert isinstance(chosen, DvdOptions)
        assert chosen.clip_seconds == (5.0 if name == "paper" else 10.0)
        assert SPEC.limits_for(chosen) == Limits(turns=16 if name == "default" else 15)
    assert SPEC.preset("table-24").models == {"observer": "google/gemini-2.5-pro"}


def test_auto_is_resolved_where_options_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DvdOptions().model_dump()["search"] == "embeddings"
    monkeypatch.setattr("taketwo.tools.text_search.embeddings_problem", lambda: "it is not there")

    assert DvdOptions().model_dump()["search"] == "bm25"
    with pytest.raises(
        RequestError, match="search: Value error, search by embeddings is asked for"
    ):
        SPEC.checked({"search": "embeddings"})


def test_the_plan_holds_the_search_and_the_prompts_of_the_index_fixed() -> None:
    prompts = dvd_prompts(options())
    other = dvd_prompts(options(search="embeddings"))

    assert prompts["search"].startswith("bm25s ")
    assert "weights 64b47a2dc493" in other["search"]
    assert {key for key in prompts if prompts[key] != other[key]} == {"search"}
    assert "subject_registry" in prompts["index"]
    assert "index" not in dvd_prompts(options(lite=True))


def test_the_expected_work_counts_the_index_once_a_video() -> None:
    work = SPEC.work_for(options(clip_seconds=5))
    assert work is not None
    assert (work.index_calls_per_minute, work.index_frames) == (12, 10)
    assert work.index_is_shared
    lite = SPEC.work_for(options(lite=True))
    assert lite is not None
    assert lite.index_calls_per_minute == 0


async def test_an_agent_without_a_place_for_its_index_is_told(tmp_path: Path) -> None:
    box = cell(tmp_path, [FINISH_B])
    box.index = None

    with pytest.raises(RequestError, match="its toolbox has no place for one"):
        await run(box)


async def test_an_index_needs_the_models_of_its_store(tmp_path: Path) -> None:
    box = cell(tmp_path, [FINISH_B])
    settings = RoleSettings(role="orchestrator", model=script([]))
    box.index = IndexStore(folder=tmp_path / "i", scope="s", roles={"orchestrator": settings})

    with pytest.raises(
        RequestError, match="needs the observer, but its store names models for orch"
    ):
        await run(box)


def test_a_description_in_the_form_is_what_the_tests_use() -> None:
    assert "Scene 4" in str(numbered(4))
