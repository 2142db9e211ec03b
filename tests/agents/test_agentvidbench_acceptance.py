"""What a re-implementation of the agents of AgentVidBench must not get wrong again."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from tests.cells import COLOURS, StubWorkers, model_name, toolbox
from tests.scripted_model import (
    HttpError,
    Request,
    Step,
    calls,
    empty,
    malformed,
    refuses,
    requests_of,
)

from taketwo.agents.answer import parse_answer
from taketwo.agents.called_in_text import CallForm
from taketwo.agents.single_turn import SingleTurn, SingleTurnOptions
from taketwo.agents.video_react import VideoReact, VideoReactOptions
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.executions.failures import failure_of
from taketwo.tools.toolbox import Toolbox

LETTERS = VisibleQuestion(
    question_id="q",
    text="Which?",
    options=(*(f"thing {number}" for number in range(24)), "12", "None of the above"),
    video_duration_s=24.0,
)


def looks(form: CallForm, *focuses: str) -> Step:
    """Return a reply that calls `analyze_video` once for each focus."""
    if form == "native":
        wanted: list[dict[str, object]] = [{"focus": focus} for focus in focuses]
        return calls(*[("analyze_video", arguments) for arguments in wanted])
    objects = [{"name": "analyze_video", "arguments": {"focus": focus}} for focus in focuses]
    return "\n".join(f"```json\n{json.dumps(item)}\n```" for item in objects)


def sent(box: Toolbox) -> list[Request]:
    return requests_of(model_name(box, "orchestrator"))


def assert_paired(request: Request) -> None:
    """Each call has exactly one result, in order, before anything else is said."""
    waiting: list[str] = []
    for message in request.messages:
        if isinstance(message, ChatMessageTool):
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert waiting == []
        if isinstance(message, ChatMessageAssistant):
            waiting = [call.id for call in message.tool_calls or []]
    assert waiting == []


@pytest.mark.parametrize("form", ["native", "text"])
async def test_the_15th_result_reaches_the_planner_and_a_16th_call_a_budget_error(
    tmp_path: Path, form: CallForm
) -> None:
    one_each = [looks(form, f"focus {number}") for number in range(1, 15)]
    two = looks(form, "focus 15", "focus 16")
    box = toolbox(
        tmp_path,
        orchestrator=[*one_each, two, '{"answer": "B"}'],
        observer=[f"report {number}" for number in range(1, 16)],
    )

    answer = await VideoReact(options=VideoReactOptions(call_form=form))(COLOURS, box)

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "visible_calls")
    last = sent(box)[-1]
    assert len(sent(box)) == 16
    for number in range(1, 16):
        assert last.text.count(f"report {number}\n") == 1
    assert last.text.count('"code": "budget_exhausted"') == 1
    assert "visible_calls budget is used up: 15 of 15" in last.text
    assert "Your budget is used up (visible calls)" in last.messages[-1].text
    assert len(requests_of(model_name(box, "observer"))) == 15
    for request in sent(box):
        assert_paired(request)


@pytest.mark.parametrize("form", ["native", "text"])
async def test_parallel_calls_do_not_overshoot(tmp_path: Path, form: CallForm) -> None:
    box = toolbox(
        tmp_path,
        orchestrator=[
            looks(form, *(f"focus {number}" for number in range(20))),
            '{"answer": "B"}',
        ],
        observer=[f"report {number}" for number in range(1, 16)],
    )

    await VideoReact(options=VideoReactOptions(call_form=form))(COLOURS, box)

    last = sent(box)[-1]
    assert "report 15\n" in last.text
    assert last.text.count('"code": "budget_exhausted"') == 5
    assert box.budget.used("visible_calls") == 15
    assert_paired(last)


@pytest.mark.parametrize("form", ["native", "text"])
async def test_20_turns_are_the_most_and_the_last_is_the_answer(
    tmp_path: Path, form: CallForm
) -> None:
    wrong: Step = calls(("zoom", {})) if form == "native" else '{"name": "analyze_vid'
    box = toolbox(tmp_path, orchestrator=[*[wrong] * 19, '{"answer": "B"}'])

    answer = await VideoReact(options=VideoReactOptions(call_form=form, max_calls=30))(COLOURS, box)

    assert len(sent(box)) == 20
    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "turns")


@pytest.mark.parametrize(
    "failure",
    [HttpError(429), HttpError(500), HttpError(400), TimeoutError("slow"), empty(), malformed()],
)
@pytest.mark.parametrize("form", ["native", "text"])
async def test_a_planner_that_fails_is_an_error_without_a_letter_and_is_run_again(
    tmp_path: Path, failure: Exception | ModelOutput, form: CallForm
) -> None:
    box = toolbox(
        tmp_path, orchestrator=[looks(form, "circle"), failure, failure], observer=["red"]
    )

    with pytest.raises(Exception) as raised:  # noqa: PT011 the class is the provider's
        await VideoReact(options=VideoReactOptions(call_form=form))(COLOURS, box)

    assert box.failure is raised.value
    ended = failure_of(raised.value, met_outside=box.failure)
    assert ended.status == "provider_error"
    assert ended.failure.retryable is ("400" not in str(failure))


async def test_a_refusal_is_an_error_without_a_letter(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[refuses("FINAL ANSWER: A")])

    with pytest.raises(Exception, match="content filter") as raised:
        await SingleTurn(options=SingleTurnOptions())(COLOURS, box)

    assert failure_of(raised.value).status == "provider_error"


@pytest.mark.parametrize(
    ("text", "status", "index"),
    [
        ("**FINAL ANSWER:** C", "answered", 2),
        ("**FINAL ANSWER: C**", "answered", 2),
        ("FINAL ANSWER: None of the above", "answered", 25),
        ("FINAL ANSWER: none", "abstained", None),
        ("final answer: c", "answered", 2),
        ("FINAL ANSWER: A\nNo, wait.\nFINAL ANSWER: C", "answered", 2),
        ('{"answer": "A"} and later {"answer": "C"}', "answered", 2),
        ('FINAL ANSWER: "Y) 12"', "answered", 24),
        ("FINAL ANSWER: 12", "answered", 24),
        ("the answer is a red car", "unparsed", None),
        ("", "unparsed", None),
        ("I cannot determine the answer.", "unparsed", None),
        ("I'm sorry, but I can't help with that.", "unparsed", None),
    ],
)
def test_a_letter_is_read_where_one_is_given_and_only_there(
    text: str, status: str, index: int | None
) -> None:
    answer = parse_answer(text, LETTERS)

    assert (answer.status, answer.option_index) == (status, index)


@pytest.mark.parametrize(
    ("duration_s", "options", "count"),
    [
        (1600.0, {"frames": 50}, 50),
        (49.5, {"frames": 50}, 50),
        (1.0, {"frames": 50}, 50),
        (0.04, {"frames": 50}, 41),
        (1600.0, {"fps": 1.0}, 1601),
        (1600.5, {"fps": 1.0}, 1602),
        (1600.0, {"fps": 1.0, "cap": 50}, 50),
        (30.0, {"fps": 1.0, "cap": 50}, 31),
        (1.0, {"fps": 1.0}, 2),
        (0.5, {"fps": 1.0}, 2),
    ],
)
async def test_frames_cover_both_ends_at_increasing_times(
    tmp_path: Path, duration_s: float, options: dict[str, float], count: int
) -> None:
    workers = StubWorkers()
    box = toolbox(
        tmp_path,
        orchestrator=["FINAL ANSWER: A"],
        workers=workers,
        info={"duration_s": duration_s},
    )

    await SingleTurn(options=SingleTurnOptions.model_validate(options))(COLOURS, box)

    (times_s,) = workers.calls
    assert (times_s[0], times_s[-1], len(times_s)) == (0.0, duration_s, count)
    assert all(earlier < later for earlier, later in pairwise(times_s))
    (request,) = sent(box)
    labels = [line for line in request.text.splitlines() if line.startswith("[frame at ")]
    assert len(labels) == len(request.images) == count
