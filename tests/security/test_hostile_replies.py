"""Replies that no log can hold: the evaluation ends, its log is read, other cells are as ever."""

from __future__ import annotations

import gc
import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tests.end_to_end.playback  # noqa: F401 registers its provider
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from tests.end_to_end.small_study import make_study

from taketwo.executions.log_zip import open_log_file
from taketwo.executions.logs import read_log
from taketwo.executions.plan import ModelSpec
from taketwo.executions.schedule import cell_order
from taketwo.executions.task import task_of_cells
from taketwo.executions.trajectory import Trajectory

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

WINDOW: dict[str, Any] = {"start_time": 0, "end_time": 1, "fps": 1.0, "focus": "what"}
FINAL = '{"answer": "A", "reasoning": "seen"}'


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels):
        inner = {"x": inner}
    return inner


def wants(arguments: dict[str, Any], name: str = "analyze_video", text: str = "") -> Any:
    call = ToolCall(id="c1", function=name, arguments=arguments)
    return ChatMessageAssistant(content=text, tool_calls=[call])


def replies() -> dict[str, ChatMessageAssistant]:
    """What each hostile model says first; afterwards it answers A."""
    thoughts = ContentReasoning(reasoning="I think \udc00", summary="\ud800")
    return {
        "lone-text": wants(WINDOW, text="I look \ud800."),
        "lone-reasoning": ChatMessageAssistant(
            content=[thoughts, ContentText(text="look")],
            tool_calls=[ToolCall(id="\ud800", function="analyze_video", arguments=WINDOW)],
        ),
        "lone-argument": wants(WINDOW | {"focus": "what \ud800"}),
        "lone-key": wants(WINDOW | {"\ud800": 1}),
        "lone-name": wants(WINDOW, name="look\ud800"),
        "deep-300": wants(nested(300)),
        "deep-60000": wants(nested(60_000)),
        "nan": wants(WINDOW | {"start_time": float("nan")}),
        "infinite": wants(WINDOW | {"end_time": float("inf")}),
        "huge-number": wants(WINDOW | {"fps": 10**5000}),
        "huge-argument": wants(WINDOW | {"focus": "x" * 2_000_000}),
        "long-name": wants({}, name="x" * 2_000_000),
        "wide": wants({"focus": [0] * 200_000}),
        "huge-text": ChatMessageAssistant(content="x" * 5_000_000 + FINAL),
        "escaped": ChatMessageAssistant(content='{"answer": "A", "reasoning": "\\ud800"}'),
    }


@modelapi(name="hostile-replies")
class HostileReplies(ModelAPI):
    """Says what its name stands for, then A; its raw response holds the same."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        if self.model_name == "lone-error":
            raise ValueError("refused \ud800") from KeyError("\udfff")
        is_first = not any(message.role in {"tool", "assistant"} for message in input)
        message = replies()[self.model_name] if is_first else ChatMessageAssistant(content=FINAL)
        call = ModelCall(request={"turn": len(input)}, response={"id": "r"})
        call.response = {
            "text": message.text,
            "arguments": [item.arguments for item in message.tool_calls or []],
        }
        usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        choice = ChatCompletionChoice(message=message)
        return ModelOutput(model="hostile", choices=[choice], usage=usage), call

    def should_retry(self, ex: Exception) -> bool:
        return False


@pytest.fixture(scope="module", name="ran")
def _ran(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[tuple[EvalLog, dict[str, Trajectory]]]:
    folder = tmp_path_factory.mktemp("hostile")
    plan = make_study(folder, questions=1)
    react = plan.arm("react")
    arms = [
        replace(
            react,
            name=name,
            models={**react.models, "orchestrator": ModelSpec(name=f"hostile-replies/{name}")},
        )
        for name in [*replies(), "lone-error"]
    ]
    plan = replace(plan, arms=(*plan.arms, *arms))
    (log,) = evaluate(
        task_of_cells(plan, 1, folder, cell_order(plan, 1), located=plan.questions),
        model=None,
        log_dir=str(folder / "logs"),
        display="none",
        score=False,
        log_model_api=True,
        log_images=False,
        log_realtime=False,
        ctl_server=False,
    )
    log = read_eval_log(log.location, resolve_attachments="full")
    yield log, {cell.arm: cell for cell in read_log(Path(log.location))}
    gc.collect()


Ran = tuple[EvalLog, dict[str, Trajectory]]


def test_the_evaluation_ends_and_every_cell_is_in_its_log(ran: Ran) -> None:
    log, cells = ran

    assert log.status == "success"
    assert set(cells) == {*replies(), "lone-error", "base", "react"}


@pytest.mark.parametrize("name", ["base", "react", *replies()])
def test_each_cell_has_its_answer(ran: Ran, name: str) -> None:
    cell = ran[1][name]

    assert (cell.run_status, cell.answer_index) == ("answered", 0), cell.failure


def test_an_error_with_a_lone_surrogate_is_one_cells_error(ran: Ran) -> None:
    failure = ran[1]["lone-error"].failure

    assert failure is not None
    assert failure.message == "refused \ufffd"
    assert ran[1]["lone-error"].run_status == "provider_error"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("lone-text", None),
        ("lone-reasoning", None),
        ("lone-argument", None),
        ("lone-key", "invalid_arguments"),
        ("lone-name", "unknown_tool"),
        ("deep-300", "invalid_arguments"),
        ("deep-60000", "invalid_arguments"),
        ("nan", "invalid_arguments"),
        ("infinite", "invalid_arguments"),
        ("huge-number", "invalid_arguments"),
        ("huge-argument", "invalid_arguments"),
        ("wide", "invalid_arguments"),
        ("long-name", "unknown_tool"),
    ],
)
def test_a_call_is_made_unless_cleaning_changed_what_it_means(
    ran: Ran, name: str, error: str | None
) -> None:
    (call,) = ran[1][name].tool_calls

    assert call.error == error


def test_the_log_stays_small_and_is_json_for_every_reader(ran: Ran) -> None:
    log, _ = ran

    assert Path(log.location).stat().st_size < 2_000_000
    members = open_log_file(Path(log.location))
    samples = [name for name in members.names if name.startswith("samples/")]
    assert len(samples) == len(replies()) + 3
    for name in samples:
        content = members.read(name)
        assert len(content) < 2_500_000, name
        json.loads(content, parse_constant=pytest.fail)


def test_the_log_says_what_was_cleaned(ran: Ran) -> None:
    notes = {
        str(sample.id).split(":")[0]: event.data["text"]
        for sample in ran[0].samples or []
        for event in sample.events
        if event.event == "info" and event.source == "taketwo.note" and isinstance(event.data, dict)
        if "cleaned" in str(event.data["text"])
    }

    assert set(notes) == set(replies()) - {"escaped"}
    assert str(notes["nan"]) == "reply 0 was cleaned: start_time: the number nan"
    assert str(notes["huge-text"]).startswith(
        "reply 0 was cleaned: text: 5000036 characters, cut to 200000 (sha256 "
    )
