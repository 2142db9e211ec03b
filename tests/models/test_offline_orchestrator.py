from __future__ import annotations

import json
import re
import time

import numpy as np
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

from taketwo.models.offline_orchestrator import Turn, generator_for, take_turn

SEEN = '[1.0-5.0 s] text "EXIT"\n[7.0-11.0 s] text "LAMP"\n[13.0-17.0 s] text "RIVER"'
SAID = "[2.0-4.0 s] the boat is late\n[14.0-16.0 s] we leave at noon"


def tools() -> list[ToolInfo]:
    window = {name: ToolParam(type="number") for name in ("start_time", "end_time", "fps")}
    return [
        ToolInfo(name=name, description=name, parameters=ToolParams(properties=window))
        for name in ("analyze_video", "get_transcript", "web_search")
    ]


def asking(question: str, *options: str) -> list[ChatMessage]:
    lines = "".join(f"{'ABCDEFG'[n]}. {option}\n" for n, option in enumerate(options))
    listed = f"Options:\n{lines}" if options else ""
    return [ChatMessageUser(content=f"Video length: 24.0 s\nQuestion: {question}\n{listed}")]


def conclude(
    messages: list[ChatMessage], temperature: float = 0.0, seed: int = 1
) -> tuple[Turn, list[str]]:
    """Play the tools until the model answers."""
    messages = list(messages)
    called: list[str] = []
    while True:
        turn = take_turn(
            messages,
            tools(),
            "auto",
            temperature=temperature,
            rng=np.random.default_rng([seed, len(called)]),
        )
        if turn.call is None:
            return turn, called
        called.append(turn.call.function)
        assert len(called) < 10
        result = SAID if turn.call.function == "get_transcript" else SEEN
        messages += [
            ChatMessageAssistant(content=turn.text, tool_calls=[turn.call]),
            ChatMessageTool(content=result, function=turn.call.function, tool_call_id=turn.call.id),
        ]


def answer_in(text: str) -> str | None:
    block = re.search(r"```json\n(.*)\n```", text, re.DOTALL)
    assert block is not None
    return json.loads(block.group(1))["answer"]


def test_it_calls_tools_then_answers_in_json_with_the_label() -> None:
    turn, called = conclude(asking('Which word appears right after "EXIT"?', "RIVER", "LAMP"))

    assert called[0] == "analyze_video"
    assert "web_search" not in called
    assert answer_in(turn.text) == "B"
    assert "[7.0-11.0 s] LAMP" in turn.text


def test_every_call_is_announced_and_has_its_own_id() -> None:
    turn = take_turn(
        asking("How many stars are shown?"), tools(), "auto", temperature=0.0,
        rng=np.random.default_rng(0),
    )  # fmt: skip

    assert turn.call is not None
    assert turn.call.id == "call_1_analyze_video"
    assert turn.text.startswith("PLAN: analyze_video(")
    assert "REASONING:" in turn.text


def test_a_multi_hop_question_listens_before_it_looks() -> None:
    question = 'What word is shown while the speaker says "we leave at noon"?'

    turn, called = conclude(asking(question, "EXIT", "LAMP", "RIVER"))

    assert called[:2] == ["get_transcript", "analyze_video"]
    assert answer_in(turn.text) == "C"


def test_the_single_turn_form_ends_with_the_final_line() -> None:
    messages = [
        *asking("Which of these words appears first?", "LAMP", "EXIT"),
        ChatMessageUser(content="End with FINAL ANSWER: <letter>"),
    ]

    turn = take_turn(
        messages, [], "none", temperature=0.0, rng=np.random.default_rng(0), own_report=SEEN
    )

    assert turn.text.splitlines()[-1] == "FINAL ANSWER: B"


def test_an_open_question_is_answered_in_words_and_abstained_from_without_evidence() -> None:
    turn, _ = conclude(asking("Which word appears right after EXIT?"))
    blank = take_turn(
        asking("What is it?"), [], "none", temperature=0.0, rng=np.random.default_rng(0)
    )

    assert answer_in(turn.text) == "LAMP"
    assert answer_in(blank.text) is None


def test_without_evidence_the_guess_is_even_and_said_to_be_one() -> None:
    messages = asking("Which word is shown?", "EXIT", "LAMP", "RIVER", "STONE")
    letters: list[str | None] = []
    for seed in range(200):
        turn = take_turn(messages, [], "none", temperature=0.0, rng=np.random.default_rng(seed))
        assert "is a guess" in turn.text
        letters.append(answer_in(turn.text))

    # 200 even draws from 4: each count is within 6 standard deviations of 50.
    assert all(50 - 37 < letters.count(letter) < 50 + 37 for letter in "ABCD")


def test_without_evidence_it_abstains_where_the_instructions_allow_it() -> None:
    messages = asking("Which word is shown?", "EXIT", "LAMP")
    messages.append(ChatMessageUser(content="If you are unable to choose, put null."))

    turn = take_turn(messages, [], "none", temperature=0.0, rng=np.random.default_rng(0))

    assert answer_in(turn.text) is None


def test_answers_differ_at_a_temperature_where_evidence_is_thin() -> None:
    question = asking("Which word is shown?", "LAMP", "EXIT", "RIVER")

    hot = {answer_in(conclude(question, temperature=1.0, seed=seed)[0].text) for seed in range(12)}

    assert len(hot) > 1


def test_draws_follow_seed_and_conversation() -> None:
    one, other = asking("Which word?", "A1", "B2"), asking("Which sign?", "A1", "B2")

    def number(seed: int | None, messages: list[ChatMessage]) -> float:
        return float(generator_for(seed, messages).random())

    assert number(7, one) == number(7, one)
    assert number(7, one) != number(8, one)
    assert number(7, one) != number(7, other)
    assert number(-3, one) == number(-3, one)
    assert number(None, one) != number(None, one)


def test_a_turn_costs_a_few_milliseconds() -> None:
    many = "\n".join(f'[{t}.0 s] text "W{t}"\n[{t}.0 s] {t % 7} red circles' for t in range(60))
    messages = asking("How many red circles are shown?", "1", "2", "3", "4")
    rng = np.random.default_rng(0)

    seconds: list[float] = []
    for _ in range(15):
        started = time.process_time()
        take_turn(messages, tools(), "auto", temperature=0.0, rng=rng, own_report=many)
        seconds.append(time.process_time() - started)

    assert sorted(seconds)[7] < 0.02  # median; the aim is 5 ms, the rest is for a busy machine
