from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput
from tests.agents.sage_cells import (
    BLUE,
    FOUND,
    GROUND,
    NOT_FOUND,
    NOTE,
    cell,
    escalates,
    noted,
    sent,
)
from tests.cells import COLOURS, LogTail, subtitles
from tests.scripted_model import HttpError, calls, empty, malformed, refuses, says

from taketwo.agents.sage import SPEC
from taketwo.agents.sage_options import SageOptions
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import ProviderReplyError

EXTRACT = ("extract_video_parts", {"start_time": 2, "end_time": 5, "count": 4})
SPEECH = ("transcribe_speech", {"start_time": 0, "end_time": 24})


async def test_the_first_look_sees_frames_of_the_whole_video_and_what_is_known_of_it(
    tmp_path: Path,
) -> None:
    agent, box = cell(tmp_path, [noted(BLUE)])

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index, answer.forced) == ("answered", 1, False)
    (request,) = sent(box)
    assert len(request.images) == 24  # one a second of 24 s
    for said in (
        "[frame at 0.00 s]",
        "[frame at 24.00 s]",
        "Question: Which colour is the circle?",
        "B. blue",
        "Video length: 24.0 s",
        "Picture: 640 x 360 pixels",
        "Sound: yes",
        '"video_context"',
    ):
        assert said in request.text


@pytest.mark.parametrize(
    ("duration_s", "wanted", "frames"),
    [(1.0, 64, 2), (0.5, 64, 2), (7200.0, 64, 64), (7200.0, 16, 16), (10.9, 64, 10)],
)
async def test_the_first_look_takes_one_frame_a_second_up_to_its_most(
    tmp_path: Path, duration_s: float, wanted: int, frames: int
) -> None:
    agent, box = cell(
        tmp_path,
        [noted(BLUE)],
        options={"context_frames": wanted},
        info={"duration_s": duration_s, "has_audio": False},
    )

    await agent(COLOURS, box)

    assert len(sent(box)[0].images) == frames
    assert "Sound: none" in sent(box)[0].text


async def test_an_escalation_carries_its_note_its_results_and_their_frames(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [escalates(EXTRACT), BLUE])

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    _, step = sent(box)
    assert [type(message) for message in step.messages] == [ChatMessageSystem, ChatMessageUser]
    for said in (
        "Question: Which colour is the circle?",
        NOTE["video_context"],
        "Result 1 (called in the first look):",
        'extract_video_parts {"count": 4, "end_time": 5, "start_time": 2}',
        "frames: 4",
        "The newest frames among the results:",
        "[frame at 2.00 s]",
        "[frame at 5.00 s]",
        "This is step 1 of at most 10.",
    ):
        assert said in step.text
    assert len(step.images) == 4


async def test_every_call_of_a_reply_is_made_in_its_order(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1, 2, "the circle is blue"))
    agent, box = cell(tmp_path, [escalates(GROUND, SPEECH), BLUE], [FOUND], subtitles_path=speech)

    await agent(COLOURS, box)

    text = sent(box)[1].text
    assert text.index("event: 3.0-5.0 s") < text.index("the circle is blue")
    assert "Result 2 (called in the first look):" in text
    assert box.budget.used("visible_calls") == 2


async def test_one_call_a_turn_makes_the_first_and_says_that_the_others_were_not_made(
    tmp_path: Path,
) -> None:
    agent, box = cell(
        tmp_path, [escalates(GROUND, SPEECH), BLUE], [FOUND], options={"calls_per_turn": 1}
    )

    await agent(COLOURS, box)

    text = sent(box)[1].text
    assert "transcribe_speech cannot be called in this turn" in text
    assert box.budget.used("visible_calls") == 2
    assert box.budget.used("primitive_ops") == 2  # the frames of the first look, one grounding


async def test_the_oldest_results_are_forgotten_first_whatever_their_names(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1, 2, "hello"))
    looks = [("extract_video_parts", {"start_time": n, "end_time": n + 1}) for n in range(12)]
    agent, box = cell(
        tmp_path,
        [escalates(("visual_verbal", {})), *(calls(look) for look in looks[:11]), BLUE],
        options={"library": "composites", "max_steps": 20},
        subtitles_path=speech,
    )

    await agent(COLOURS, box)

    last = sent(box)[-1].text
    assert "The 2 oldest results are left out here." in last
    assert "Result 2 (" not in last
    assert [
        f"Result {number} (called in step {number - 1}):" in last for number in range(3, 13)
    ] == [True] * 10
    assert last.index("Result 9 (") < last.index("Result 10 (") < last.index("Result 12 (")
    tenth = sent(box)[-3].text
    assert "Result 1 (called in the first look):" in tenth
    assert "left out" not in tenth


async def test_the_newest_frames_are_shown_again_and_thinned_evenly(tmp_path: Path) -> None:
    wide = ("extract_video_parts", {"start_time": 0, "end_time": 20, "count": 21})
    close = ("extract_video_parts", {"start_time": 22, "end_time": 23, "count": 2})
    agent, box = cell(tmp_path, [escalates(wide), calls(close), BLUE], options={"media_frames": 5})

    await agent(COLOURS, box)

    _, one, two = sent(box)
    times = [
        [
            float(line.split()[2])
            for line in request.text.splitlines()
            if line.startswith("[frame at")
        ]
        for request in (one, two)
    ]
    assert times == [[0.0, 5.0, 10.0, 15.0, 20.0], [0.0, 10.0, 20.0, 22.0, 23.0]]
    assert len(two.images) == 5


async def test_without_media_frames_the_steps_see_text_only(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [escalates(EXTRACT), BLUE], options={"media_frames": 0})

    await agent(COLOURS, box)

    assert sent(box)[1].images == []


async def test_calls_without_a_note_are_kept_and_the_note_is_asked_for(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [calls(GROUND), noted(), BLUE], [FOUND])

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    first, asked, step = sent(box)
    assert asked.tool_choice == "none"
    assert asked.messages[-1].text.startswith("You chose to call tools, but your reply has no note")
    assert asked.images == first.images
    assert NOTE["video_context"] in step.text
    assert box.budget.used("visible_calls") == 1


async def test_a_note_that_is_never_given_does_not_stop_the_question(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [calls(GROUND), "no", BLUE], [FOUND])
    log = LogTail()

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    assert "(none was given)" in sent(box)[2].text
    assert {"text": "no note on the video was given"} in log.of("note")


async def test_null_in_the_first_look_is_asked_about_once_and_then_taken(tmp_path: Path) -> None:
    null = noted('{"answer": null}')
    agent, box = cell(tmp_path, [null, null])

    answer = await agent(COLOURS, box)

    assert answer.status == "abstained"
    assert sent(box)[1].messages[-1].text.startswith("Your reply leaves the question open")


async def test_null_of_the_reasoner_is_an_abstention(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [escalates(), '{"answer": null}'], [NOT_FOUND])

    assert (await agent(COLOURS, box)).status == "abstained"


async def test_the_last_step_withholds_tools_and_forces_an_answer(tmp_path: Path) -> None:
    agent, box = cell(
        tmp_path, [escalates(), calls(GROUND), BLUE], [FOUND, FOUND], options={"max_steps": 2}
    )
    log = LogTail()

    answer = await agent(COLOURS, box)

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "turns")
    last = sent(box)[-1]
    assert last.tool_choice == "none"
    assert last.messages[-1].text.startswith("Your budget is used up (turns)")
    assert "Result 2 (called in step 1):" in last.text
    assert {"text": "last turn: the budget of turns is used up"} in log.of("note")


@pytest.mark.parametrize(
    ("limits", "resource", "requests"),
    [
        (Limits(turns=1), "turns", 1),
        (Limits(visible_calls=1), "visible_calls", 2),
        (Limits(visible_calls=0), "visible_calls", 1),
        (Limits(primitive_ops=2), "primitive_ops", 2),
        (Limits(primitive_ops=1), "primitive_ops", 1),
        (Limits(model_calls=3), "model_calls", 2),
    ],
)
async def test_the_end_of_a_countable_budget_forces_an_answer(
    tmp_path: Path, limits: Limits, resource: str, requests: int
) -> None:
    replies = [escalates()] * (requests - 1)
    agent, box = cell(tmp_path, [*replies, noted(BLUE)], [FOUND], limits=limits)

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index) == ("answered", 1)
    assert (answer.forced, answer.limit) == (True, resource)
    assert len(sent(box)) == requests


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(tokens=20), "tokens"),
        (Limits(latency_s=0.0), "latency_s"),
        (Limits(frames=0), "frames"),
        (Limits(primitive_ops=0), "primitive_ops"),
        (Limits(turns=0), "turns"),
    ],
)
async def test_any_other_end_of_a_budget_is_a_limit_without_an_answer(
    tmp_path: Path, limits: Limits, resource: str
) -> None:
    agent, box = cell(tmp_path, [escalates(), BLUE], [FOUND], limits=limits)

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, resource)


async def test_a_small_budget_of_frames_is_shared_out_and_never_exceeded(tmp_path: Path) -> None:
    agent, box = cell(
        tmp_path,
        [escalates(EXTRACT), BLUE],
        options={"context_frames": 8},
        limits=Limits(frames=10),
    )

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    assert [len(request.images) for request in sent(box)] == [8, 2]


async def test_a_reply_that_cannot_be_read_is_sent_back_and_never_an_answer(tmp_path: Path) -> None:
    vague = "It is hard to say."
    agent, box = cell(tmp_path, [escalates(), vague, vague, vague], [FOUND])

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index, answer.text) == ("unparsed", None, vague)
    assert sent(box)[2].messages[-1].text.startswith("Your reply neither calls a tool nor")
    assert len(sent(box)) == 4


async def test_a_forced_reply_that_cannot_be_read_is_sent_back_while_turns_are_left(
    tmp_path: Path,
) -> None:
    agent, box = cell(tmp_path, [escalates(), "hm", BLUE], [FOUND], limits=Limits(visible_calls=1))

    answer = await agent(COLOURS, box)

    assert (answer.option_index, answer.forced) == (1, True)
    assert sent(box)[-1].messages[-1].text.startswith("No answer could be read from your reply")


async def test_a_model_that_insists_on_calling_ends_as_limit(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [escalates()] * 3, [FOUND] * 3, options={"max_steps": 2})

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index) == ("limit", None)
    assert (answer.limit, answer.forced) == ("turns", True)


@pytest.mark.parametrize("failure", [HttpError(429), HttpError(500), TimeoutError("slow")])
@pytest.mark.parametrize("stage", ["first look", "reasoner", "observer"])
async def test_a_failing_provider_is_never_an_answer(
    tmp_path: Path, failure: Exception, stage: str
) -> None:
    plans = {
        "first look": ([failure] * 2, []),
        "reasoner": ([escalates(), failure, failure], [FOUND]),
        "observer": ([escalates(), BLUE], [failure] * 2),
    }
    agent, box = cell(tmp_path, *plans[stage])

    with pytest.raises(type(failure)):
        await agent(COLOURS, box)

    assert box.failure is failure


@pytest.mark.parametrize("reply", [empty(), malformed(), refuses()])
@pytest.mark.parametrize("stage", [0, 1])
async def test_a_reply_that_is_none_is_never_an_answer(
    tmp_path: Path, reply: ModelOutput, stage: int
) -> None:
    agent, box = cell(tmp_path, [*[escalates()] * stage, reply, reply], [FOUND])

    with pytest.raises(ProviderReplyError):
        await agent(COLOURS, box)


async def test_calls_in_text_work_as_native_ones_do(tmp_path: Path) -> None:
    called = noted('{"name": "ground_event", "arguments": {"event": "the circle"}}')
    broken = '{"name": "ground_event", "arguments": {"event": "the'
    agent, box = cell(tmp_path, [called, broken, BLUE], [FOUND], options={"call_form": "text"})

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    first, step, again = sent(box)
    assert (first.tools, step.tools) == ([], [])
    assert '"name": "ground_event"' in first.messages[0].text
    assert "event: 3.0-5.0 s" in step.text
    assert "Nothing was called" in again.messages[-1].text
    assert broken not in again.messages[-1].text.split("Nothing was called")[1]


@pytest.mark.parametrize(("count", "label", "index"), [(26, "Z", 25), (40, "31", 30)])
async def test_any_number_of_options_can_be_answered(
    tmp_path: Path, count: int, label: str, index: int
) -> None:
    question = VisibleQuestion(
        question_id="q",
        text="Which?",
        options=tuple(f"thing {number}" for number in range(count)),
        video_duration_s=24.0,
    )
    agent, box = cell(tmp_path, [noted(f'{{"answer": "{label}"}}')], question=question)

    assert (await agent(question, box)).option_index == index


async def test_an_open_question_is_answered_in_words(tmp_path: Path) -> None:
    question = VisibleQuestion(
        question_id="q", text="What is it?", options=(), video_duration_s=24.0
    )
    agent, box = cell(
        tmp_path, [escalates(), '{"answer": "a blue circle"}'], [FOUND], question=question
    )

    answer = await agent(question, box)

    assert (answer.status, answer.text, answer.option_index) == ("answered", "a blue circle", None)


async def test_the_observer_learns_of_the_question_only_where_an_option_says_so(
    tmp_path: Path,
) -> None:
    look = ("analyze", {"query": "the circle", "start_time": 1, "end_time": 2, "mode": "observe"})
    texts: list[str] = []
    for sees in (False, True):
        agent, box = cell(
            tmp_path,
            [escalates(look), BLUE],
            ["seen"],
            options={"observer_sees_question": sees},
        )
        await agent(COLOURS, box)
        texts.append(sent(box, "observer")[0].text)

    assert ["Which colour is the circle?" in text for text in texts] == [False, True]


async def test_tools_that_cannot_work_are_neither_told_of_nor_offered(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [noted(BLUE)])

    await agent(COLOURS, box)

    (request,) = sent(box)
    assert [tool.name for tool in request.tools] == [
        "analyze",
        "extract_video_parts",
        "ground_event",
        "transcribe_speech",
    ]
    assert "web_search" not in request.text
    assert "parse_website" not in request.text


def test_a_step_more_than_the_steps_is_the_limit_of_turns() -> None:
    limits = SPEC.limits_for(SPEC.checked({"max_steps": 25}))

    assert limits == Limits(turns=26)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context_frames": 65}, "context_frames: Input should be less than or equal to 64"),
        ({"library": "composite"}, "unknown library 'composite': did you mean 'composites'"),
        ({"library": "missing.yaml"}, "library missing.yaml: missing.yaml cannot be read"),
        ({"library": {"format": "other/1"}}, "format is 'other/1'"),
        ({"lib": 1}, "lib: Extra inputs are not permitted"),
    ],
)
def test_wrong_options_say_what_is_wrong(options: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        SPEC.checked(options)


def test_the_preset_of_the_paper_is_what_the_paper_states() -> None:
    preset = SPEC.preset("repair-paper")
    options = SPEC.checked(preset.options)

    assert isinstance(options, SageOptions)
    assert (options.context_frames, options.max_steps, options.library) == (64, 10, None)
    assert preset.models["orchestrator"] == preset.models["observer"] == "openai/gpt-4o"
    assert {fields["temperature"] for fields in preset.sampling.values()} == {0.0}
    assert preset.limits == Limits()


async def test_an_answer_beside_calls_waits_for_their_results(tmp_path: Path) -> None:
    both = says(noted('{"answer": "A"}'))
    both.choices[0].message.tool_calls = calls(GROUND).message.tool_calls
    agent, box = cell(tmp_path, [both, BLUE], [FOUND])

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
