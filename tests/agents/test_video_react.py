from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from tests.cells import COLOURS, LogTail, model_name, toolbox
from tests.scripted_model import (
    HttpError,
    Request,
    calls,
    empty,
    malformed,
    refuses,
    requests_of,
    says,
)

from taketwo.agents.video_react import VideoReact, VideoReactOptions
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import ProviderReplyError
from taketwo.tools.toolbox import Toolbox

LOOK = ("analyze_video", {"focus": "the circle"})
BLUE = says('The circle is blue.\n```json\n{"answer": "B", "reasoning": "seen"}\n```')


def agent(**options: object) -> VideoReact:
    return VideoReact(options=VideoReactOptions.model_validate(options))


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


async def test_evidence_reaches_the_planner_and_the_answer_is_read(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[calls(LOOK), BLUE], observer=["[3.0 s] 1 blue circle"])

    answer = await agent()(COLOURS, box)

    assert (answer.status, answer.option_index, answer.reasoning) == ("answered", 1, "seen")
    assert not answer.forced
    first, second = sent(box)
    assert [tool.name for tool in first.tools] == ["analyze_video", "get_transcript"]
    assert first.images == []
    assert "Question: Which colour is the circle?" in first.text
    assert "[3.0 s] 1 blue circle" in second.text
    assert_paired(second)


async def test_only_tools_that_exist_are_in_the_prompt(tmp_path: Path) -> None:
    box = toolbox(
        tmp_path,
        orchestrator=[calls(("get_transcript", {})), BLUE],
        tools=["get_transcript"],
        info={"has_audio": False},
    )

    await agent()(COLOURS, box)

    assert "`get_transcript(" in sent(box)[0].text
    assert "analyze_video" not in sent(box)[0].text


async def test_the_last_result_and_the_notice_arrive_together_without_tools(
    tmp_path: Path,
) -> None:
    box = toolbox(tmp_path, orchestrator=[calls(LOOK, LOOK, LOOK), BLUE], observer=["one", "two"])
    log = LogTail()

    answer = await agent(max_calls=2)(COLOURS, box)

    assert (answer.status, answer.option_index) == ("answered", 1)
    assert (answer.forced, answer.limit) == (True, "visible_calls")
    last = sent(box)[-1]
    assert "two" in last.text
    assert "budget_exhausted" in last.text
    assert last.messages[-1].text.startswith("Your budget is used up (visible calls)")
    assert last.tool_choice == "none"
    assert_paired(last)
    assert log.of("note") == [{"text": "last turn: the budget of visible_calls is used up"}]


async def test_the_last_turn_is_kept_for_the_answer(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[calls(LOOK), calls(LOOK), BLUE], observer=["one", "two"])

    answer = await agent(max_turns=3)(COLOURS, box)

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "turns")
    assert len(sent(box)) == 3


async def test_a_planner_that_never_answers_hits_the_limit_and_no_letter(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[calls(LOOK)] * 3, observer=["one", "two", "three"])

    answer = await agent(max_turns=3)(COLOURS, box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, "turns")


@pytest.mark.parametrize(
    ("limits", "resource"),
    [(Limits(tokens=20), "tokens"), (Limits(latency_s=0.5), "latency_s")],
)
async def test_a_budget_that_is_known_afterwards_ends_as_limit(
    tmp_path: Path, limits: Limits, resource: str
) -> None:
    seen = says("one")
    seen.metadata = {"charged_s": 1.0}
    box = toolbox(tmp_path, orchestrator=[calls(LOOK), BLUE], observer=[seen], limits=limits)

    answer = await agent()(COLOURS, box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, resource)


async def test_spent_model_calls_leave_one_for_the_answer(tmp_path: Path) -> None:
    box = toolbox(
        tmp_path,
        orchestrator=[calls(LOOK, LOOK), BLUE],
        observer=["one"],
        limits=Limits(model_calls=3),
    )

    answer = await agent()(COLOURS, box)

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "model_calls")
    assert "model_calls budget is used up" in sent(box)[-1].text


async def test_an_answer_without_a_look_is_sent_back_once(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[BLUE, BLUE])

    answer = await agent()(COLOURS, box)

    assert answer.option_index == 1
    assert sent(box)[1].messages[-1].text.startswith("You have not looked at the video yet.")


async def test_a_reply_without_an_answer_is_asked_again_and_then_unparsed(tmp_path: Path) -> None:
    vague = says("It is hard to say.")
    box = toolbox(tmp_path, orchestrator=[calls(LOOK), vague, vague, vague], observer=["one"])

    answer = await agent(asks=2)(COLOURS, box)

    assert (answer.status, answer.text) == ("unparsed", "It is hard to say.")
    assert len(sent(box)) == 4
    assert sent(box)[-1].messages[-1].text.startswith("No answer could be read from your reply.")


async def test_null_is_an_abstention(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[calls(LOOK), '{"answer": null}'], observer=["one"])

    assert (await agent()(COLOURS, box)).status == "abstained"


async def test_wrong_calls_are_corrected_by_the_planner(tmp_path: Path) -> None:
    box = toolbox(
        tmp_path,
        orchestrator=[calls(("look", {}), ("analyze_video", {"fps": "x"})), calls(LOOK), BLUE],
        observer=["one"],
    )

    answer = await agent()(COLOURS, box)

    assert answer.option_index == 1
    assert "unknown_tool" in sent(box)[1].text
    assert "invalid_arguments" in sent(box)[1].text
    assert_paired(sent(box)[1])
    assert box.budget.used("visible_calls") == 3


@pytest.mark.parametrize("failure", [HttpError(429), HttpError(500), TimeoutError("slow")])
@pytest.mark.parametrize("role", ["orchestrator", "observer"])
async def test_a_failing_provider_is_never_an_answer(
    tmp_path: Path, failure: Exception, role: str
) -> None:
    fails = role == "orchestrator"
    box = toolbox(
        tmp_path,
        orchestrator=[calls(LOOK), *([failure] * 2 if fails else [BLUE])],
        observer=["one"] if fails else [failure] * 2,
    )

    with pytest.raises(type(failure)):
        await agent()(COLOURS, box)

    assert box.failure is failure


@pytest.mark.parametrize("reply", [empty(), malformed(), refuses()])
async def test_a_reply_that_is_none_is_never_an_answer(tmp_path: Path, reply: ModelOutput) -> None:
    box = toolbox(tmp_path, orchestrator=[calls(LOOK), reply, reply], observer=["one"])

    with pytest.raises(ProviderReplyError):
        await agent()(COLOURS, box)
