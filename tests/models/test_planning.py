from __future__ import annotations

import numpy as np
import pytest
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo, ToolParam, ToolParams

from taketwo.models.asked import understand
from taketwo.models.conversation import Conversation, Evidence
from taketwo.models.planning import MAX_CALLS, PlannedCall, next_call
from taketwo.models.video_lines import TextLine, WordsLine


def tool(name: str, required: tuple[str, ...] = (), **parameters: str) -> ToolInfo:
    properties = {key: ToolParam(type=kind) for key, kind in parameters.items()}  # pyright: ignore[reportArgumentType]
    return ToolInfo(
        name=name,
        description=name,
        parameters=ToolParams(properties=properties, required=list(required)),
    )


LOOK = tool("analyze_video", start_time="number", end_time="number", fps="number", focus="string")
LISTEN = tool("get_transcript", start_time="number", end_time="number")
EXTRACT = tool("extract_video_parts", start="string", end="string")


def planned(
    question: str,
    tools: list[ToolInfo],
    *,
    calls: tuple[ToolCall, ...] = (),
    evidence: Evidence | None = None,
    scores: tuple[float, ...] = (0.0, 0.0),
    choice: ToolChoice = "auto",
    temperature: float = 0.0,
    seed: int = 1,
    failed: int = 0,
    must_answer: bool = False,
) -> PlannedCall | None:
    conversation = Conversation(
        question=question,
        options=("A thing", "Another"),
        labels=("A", "B"),
        duration_s=24.0,
        form="json",
        must_answer=must_answer,
        may_abstain=False,
        calls=calls,
        failed_calls=failed,
        evidence=evidence or Evidence(),
    )
    rng = np.random.default_rng(seed)
    return next_call(understand(question), conversation, scores, tools, choice, temperature, rng)


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(id="1", function=name, arguments=dict(arguments))


COUNT = "How many red circles are shown?"
CUE = 'After the speaker says "the boat leaves", how many red circles are shown?'


def test_a_visual_question_starts_with_one_pass_over_the_whole_video() -> None:
    first = planned(COUNT, [LOOK, LISTEN])

    assert first is not None
    assert first.name == "analyze_video"
    assert first.arguments == {
        "start_time": 0.0,
        "end_time": 24.0,
        "fps": 1.0,
        "focus": "red circles",
    }


def test_a_spoken_cue_starts_with_the_transcript() -> None:
    first = planned(CUE, [LOOK, LISTEN])

    assert first is not None
    assert (first.name, first.arguments) == (
        "get_transcript",
        {"start_time": 0.0, "end_time": 24.0},
    )


def test_after_transcript_and_pass_the_window_of_the_cue_is_looked_at_closely() -> None:
    heard = Evidence(speech=(WordsLine(start_s=8.0, end_s=10.0, text="Now the boat leaves."),))

    third = planned(
        CUE,
        [LOOK, LISTEN],
        calls=(call("get_transcript"), call("analyze_video", start_time=0.0)),
        evidence=heard,
    )

    assert third is not None
    assert third.name == "analyze_video"
    assert third.arguments["start_time"] == 9.0
    assert third.arguments["end_time"] == 17.0
    assert third.arguments["fps"] == 2.0


def test_a_clear_lead_ends_the_search() -> None:
    seen = Evidence(texts=(TextLine(start_s=1, end_s=2, text="EXIT"),))

    looked = (call("analyze_video"),)

    assert planned(COUNT, [LOOK, LISTEN], calls=looked, evidence=seen, scores=(1.0, 0.2)) is None


@pytest.mark.parametrize(
    "reason",
    [
        {"choice": "none"},
        {"failed": 2},
        {"must_answer": True},
        {"calls": tuple(call("analyze_video") for _ in range(MAX_CALLS))},
    ],
)
def test_it_answers_when_it_must(reason: dict[str, object]) -> None:
    assert planned(COUNT, [LOOK, LISTEN], **reason) is None  # pyright: ignore[reportArgumentType]


def test_unknown_tools_and_unknown_required_arguments_are_left_alone() -> None:
    assert planned(COUNT, [tool("web_search", query="string")]) is None
    assert planned(COUNT, [tool("analyze_video", ("media_id",), media_id="string")]) is None


def test_arguments_take_the_names_and_types_of_the_schema() -> None:
    first = planned(COUNT, [EXTRACT])

    assert first is not None
    assert (first.name, first.arguments) == ("extract_video_parts", {"start": "0.0", "end": "24.0"})


def test_a_named_function_is_called() -> None:
    first = planned(COUNT, [LOOK, LISTEN], choice=ToolFunction(name="get_transcript"))

    assert first is not None
    assert first.name == "get_transcript"


def test_a_search_always_ends() -> None:
    for seed in range(20):
        calls: list[ToolCall] = []
        while (
            step := planned(CUE, [LOOK, LISTEN], calls=tuple(calls), temperature=5.0, seed=seed)
        ) is not None:
            calls.append(call(step.name, **step.arguments))
        assert len(calls) <= MAX_CALLS


def test_plans_vary_with_temperature_and_not_without() -> None:
    def plans(temperature: float) -> set[str]:
        return {
            str(planned(COUNT, [LOOK, LISTEN], temperature=temperature, seed=seed))
            for seed in range(30)
        }

    assert len(plans(0.0)) == 1
    assert len(plans(0.7)) > 1
