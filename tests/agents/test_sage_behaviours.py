"""The published loop's behaviours, one by one, and what this one does in their place.

Each test is a row: what the model does, what the published code was seen to do, and ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.event import InfoEvent
from inspect_ai.log import transcript
from inspect_ai.tool import ToolCall
from tests.agents.sage_cells import BLUE, FOUND, GROUND, cell, escalates, noted, sent
from tests.cells import COLOURS, LogTail
from tests.scripted_model import HttpError, Step, calls

from taketwo.agents.sage_run import FIRST_LOOK
from taketwo.benchmarks.question import VisibleQuestion


def published_turns(since: int) -> int:
    """Return `num_turns` as it was published: generations of the orchestrator after the first look."""
    events = [event for event in transcript().events[since:] if isinstance(event, InfoEvent)]
    data: list[Any] = [event.data for event in events]
    ends = [
        number
        for number, (event, said) in enumerate(zip(events, data, strict=True))
        if event.source == "taketwo.note" and said["text"].startswith(FIRST_LOOK)
    ]
    assert len(ends) == 1
    return sum(
        event.source == "taketwo.model" and said["role"] == "orchestrator"
        for event, said in list(zip(events, data, strict=True))[ends[0] :]
    )


async def test_a_first_look_that_answers_is_a_direct_answer(tmp_path: Path) -> None:
    """Published: the answer, 0 turns. Ours: the same; every generation counts, so 1 turn."""
    agent, box = cell(tmp_path, [noted(BLUE)])
    log, before = LogTail(), len(transcript().events)

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    assert box.budget.used("turns") == 1
    assert published_turns(before) == 0
    assert log.of("tool") == []
    assert {"text": "first look: answered"} in log.of("note")


async def test_a_call_and_then_an_answer(tmp_path: Path) -> None:
    """Published: the answer, 1 turn, 1 call. Ours: the same, 2 turns in all."""
    agent, box = cell(tmp_path, [escalates(), BLUE], [FOUND])
    log, before = LogTail(), len(transcript().events)

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    assert box.budget.used("turns") == 2
    assert published_turns(before) == 1
    assert [event["name"] for event in log.of("tool")] == ["ground_event"]


@pytest.mark.parametrize("stage", [0, 1])
async def test_an_error_of_the_provider(tmp_path: Path, stage: int) -> None:
    """Published: no answer at the first look; the error's text is committed at the reasoner. Ours: a fault."""
    agent, box = cell(tmp_path, [*[escalates()] * stage, *[HttpError(500)] * 2], [FOUND])

    with pytest.raises(HttpError):
        await agent(COLOURS, box)

    assert isinstance(box.failure, HttpError)


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_an_unknown_tool(tmp_path: Path, times: int) -> None:
    """Published: once is forgiven, twice ends the question. Ours: a typed error, and a further try, each time."""
    wrong = ("look_harder", {"where": "everywhere"})
    agent, box = cell(
        tmp_path, [escalates(wrong), *[calls(wrong)] * (times - 1), calls(GROUND), BLUE], [FOUND]
    )
    log = LogTail()

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    assert [event["error"] for event in log.of("tool")] == ["unknown_tool"] * times + [None]
    assert "there is no tool 'look_harder'" in sent(box)[1].text
    assert box.budget.used("visible_calls") == times + 1


async def test_two_calls_in_one_turn(tmp_path: Path) -> None:
    """Published: the second is dropped. Ours: both are made."""
    agent, box = cell(tmp_path, [escalates(GROUND, GROUND), BLUE], [FOUND, FOUND])
    log, before = LogTail(), len(transcript().events)

    await agent(COLOURS, box)

    assert [event["error"] for event in log.of("tool")] == [None, None]
    assert published_turns(before) == 1


@pytest.mark.parametrize(
    "guess",
    [
        '{"answerable": "false", "answer": "A"}',
        '{"answerable": {"verdict": "false", "reasoning": "unclear"}, "answer": "A"}',
        '{"answerable": false, "answer": "A"}',
    ],
)
async def test_a_guess_beside_not_answerable(tmp_path: Path, guess: str) -> None:
    """Published: the text "false" is true and the guess is committed. Ours: it is asked about, never committed."""
    agent, box = cell(tmp_path, [escalates(), guess, BLUE], [FOUND])
    second, second_box = cell(tmp_path, [escalates(), guess, guess], [FOUND])

    answer = await agent(COLOURS, box)
    stubborn = await second(COLOURS, second_box)

    assert answer.option_index == 1
    assert sent(box)[2].messages[-1].text.startswith("Your reply leaves the question open")
    assert (stubborn.status, stubborn.option_index) == ("abstained", None)


async def test_answerable_as_text_beside_an_answer_is_an_answer(tmp_path: Path) -> None:
    agent, box = cell(tmp_path, [escalates(), '{"answerable": "true", "answer": "B"}'], [FOUND])

    assert (await agent(COLOURS, box)).option_index == 1


async def test_a_model_that_never_answers(tmp_path: Path) -> None:
    """Published: 10 steps are allowed, 11 are reported, 11 calls are made and 10 recorded, and the answer
    is an apology. Ours: 10 steps, the last without tools; every call is counted; no text is an answer."""
    agent, box = cell(tmp_path, [escalates(), *[calls(GROUND)] * 10], [FOUND] * 11)
    log, before = LogTail(), len(transcript().events)

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, "turns")
    assert published_turns(before) == 10
    assert box.budget.used("turns") == 11
    assert len(log.of("tool")) == 10
    assert box.budget.used("visible_calls") == 10


async def test_an_answer_without_a_call_that_was_announced(tmp_path: Path) -> None:
    """Published: `needed` is true, the list of calls is empty, and the answer is taken. Ours: the same."""
    announced = noted('{"answer": "B", "recommended_tools": {"needed": true, "tool_calls": []}}')
    agent, box = cell(tmp_path, [announced])

    assert (await agent(COLOURS, box)).option_index == 1


@pytest.mark.parametrize("form", ["native", "text"])
async def test_a_placeholder_of_a_template_in_the_question(tmp_path: Path, form: str) -> None:
    """Published: it is expanded with internal text. Ours: it stays as it is, in every request."""
    question = VisibleQuestion(
        question_id="q",
        text="What does $tools or ${context} or {tools} cost?",
        options=("$fence_rule", "two", "three"),
        video_duration_s=24.0,
    )
    first: Step = (
        escalates()
        if form == "native"
        else noted('{"name": "ground_event", "arguments": {"event": "$question"}}')
    )
    agent, box = cell(
        tmp_path, [first, BLUE], [FOUND], question=question, options={"call_form": form}
    )

    await agent(question, box)

    for request in sent(box):
        assert "Question: What does $tools or ${context} or {tools} cost?" in request.text
        assert "A. $fence_rule" in request.text


@pytest.mark.parametrize("written", ["[]", "null", '"the circle"', "3", "{", ""])
async def test_arguments_that_are_no_object(tmp_path: Path, written: str) -> None:
    """Published: the whole question is aborted. Ours: a typed error that the model may correct."""
    wrong = ToolCall(
        id="c1", function="ground_event", arguments={}, parse_error=f"no object: {written}"
    )
    in_text = noted(f'{{"name": "ground_event", "arguments": {written or "[]"}}}')
    for form, first in (("native", calls(wrong, text=noted())), ("text", in_text)):
        right = (
            calls(GROUND)
            if form == "native"
            else '{"name": "ground_event", "arguments": {"event": "the circle"}}'
        )
        agent, box = cell(tmp_path, [first, right, BLUE], [FOUND], options={"call_form": form})
        log = LogTail()

        answer = await agent(COLOURS, box)

        assert answer.option_index == 1
        errors = [event["error"] for event in log.of("tool")]
        # Braces that are never closed are no call at all: they are sent back in writing.
        assert errors in (["invalid_arguments", None], [None])
        assert errors == ["invalid_arguments", None] or (form, written) == ("text", "{")


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "B",}',
        '{"answer": "B"',
        '{"answer": "B" // sure\n}',
        '{"answer": "B\n"}',
    ],
)
async def test_json_that_is_not_perfect_never_loses_its_answer_by_repair(
    tmp_path: Path, reply: str
) -> None:
    """Published: repair empties every text, so the answer is lost. Ours: read as it stands, or asked again."""
    agent, box = cell(tmp_path, [escalates(), reply, BLUE], [FOUND])

    answer = await agent(COLOURS, box)

    assert (answer.status, answer.option_index) == ("answered", 1)


async def test_plain_text_of_the_reasoner(tmp_path: Path) -> None:
    """Published: it is committed as the final answer. Ours: it is sent back."""
    open_question = VisibleQuestion(
        question_id="q", text="What?", options=(), video_duration_s=24.0
    )
    agent, box = cell(
        tmp_path,
        [escalates(), "I should look again.", '{"answer": "a circle"}'],
        [FOUND],
        question=open_question,
    )

    answer = await agent(open_question, box)

    assert (answer.status, answer.text) == ("answered", "a circle")


@pytest.mark.parametrize(
    "arguments",
    [
        {"event": ""},
        {"event": float("nan")},
        {"event": ["a", "b"]},
        {"event": "x" * 5000},
        {"event": "x", "start_time": float("inf")},
        {"event": "x", "start_time": 90, "end_time": 99},
        {"event": "x", "unknown": {}},
    ],
)
async def test_hostile_arguments_are_errors_and_not_the_end(
    tmp_path: Path, arguments: dict[str, object]
) -> None:
    agent, box = cell(
        tmp_path, [escalates(("ground_event", arguments)), calls(GROUND), BLUE], [FOUND]
    )
    log = LogTail()

    answer = await agent(COLOURS, box)

    assert answer.option_index == 1
    first, second = log.of("tool")
    assert first["error"] in {"invalid_arguments", "invalid_window"}
    assert second["error"] is None
