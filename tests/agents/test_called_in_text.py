from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.agents.called_in_text import call_form_prompts, read_calls, tool_block

Found = list[tuple[str, dict[str, object]]]

TOOLS = ("look", "hear")
LOOK = '{"name": "look", "arguments": {"from": 1}}'


def read(text: str) -> Found:
    return [(call.function, call.arguments) for call in read_calls(text, TOOLS).calls]


READ: list[tuple[str, Found]] = [
    (LOOK, [("look", {"from": 1})]),
    (f"PLAN: look\n```json\n{LOOK}\n```\n", [("look", {"from": 1})]),
    (f"<tool_call>\n{LOOK}\n</tool_call>", [("look", {"from": 1})]),
    (f"[{LOOK}]", [("look", {"from": 1})]),
    (
        f'{LOOK}\nthen ```\n{{"name": "hear", "arguments": {{}}}}\n```',
        [("look", {"from": 1}), ("hear", {})],
    ),
    (
        '{"name": "look", "arguments": {"focus": "a \\"}\\" and {"}}',
        [("look", {"focus": 'a "}" and {'})],
    ),
    ('{"arguments": {}, "name": " look "}', [("look", {})]),
    ('{"name": "look", "parameters": {"from": 1}}', [("look", {"from": 1})]),
    ('{"name": "look", "arguments": "{\\"from\\": 1}"}', [("look", {"from": 1})]),
    ('{"name": "look"}', [("look", {})]),
    ('{"name": "zoom", "arguments": {}}', [("zoom", {})]),
    (f"the set {{1, 2 is open. {LOOK}", [("look", {"from": 1})]),
    (f"$\\frac{{a}}{{b}}$ {LOOK}", [("look", {"from": 1})]),
    (f"{{plan: {{first}} {LOOK}}}", [("look", {"from": 1})]),
    (f"{{{LOOK}}}", [("look", {"from": 1})]),
]


@pytest.mark.parametrize(("text", "found"), READ)
def test_calls_are_read_wherever_they_stand(text: str, found: Found) -> None:
    result = read_calls(text, TOOLS)

    assert read(text) == found
    assert result.problem is None
    assert [call.parse_error for call in result.calls] == [None] * len(found)


DECIDED: list[tuple[str, Found]] = [
    (f'{LOOK} {{"answer": "B"}}', []),
    (f'{{"answer": "B"}} {LOOK}', [("look", {"from": 1})]),
    (f'{LOOK} {{"answer": null}} {{"name": "hear", "arguments": {{}}}}', [("hear", {})]),
    ('{"answer": "B", "name": "look", "arguments": {}}', []),
    ("{'answer': 'B', 'reasoning': 'cut", []),
    (f"<think>{LOOK}</think> It is blue.", []),
    (f'<think>{{"answer": "A"}}</think>{LOOK}', [("look", {"from": 1})]),
    (f"{LOOK}</think>no", []),
    (f"Blue. <think>but {LOOK}", []),
    (f"{LOOK} and once more {LOOK}", [("look", {"from": 1})]),
]


@pytest.mark.parametrize(("text", "found"), DECIDED)
def test_the_last_object_outside_of_thoughts_decides(text: str, found: Found) -> None:
    assert read(text) == found
    assert read_calls(text, TOOLS).problem is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"name": "look", "arguments": {"from": 1}', "begins like a call .* is not closed"),
        ('{"name": "look", "arguments": {from: 1}}', "no JSON: Expecting property name"),
        ("{'name': 'look', 'arguments': {}}", "begins like a call"),
        ('{"thought": "x", "name": "look", "arguments": {,}}', "begins like a call"),
        ('{"name": "look", "arguments": {"a": 1}, "arguments": {}}', "a key stands twice"),
        ('{"name": "look", "arguments": ' + '{"a":' * 70 + "1" + "}" * 71, "nested too deep"),
        ('{"name": "look", "arguments": {"a": ' + "9" * 5000 + "}}", "integer string conversion"),
        ('{"arguments": {}}', "no `name`"),
        ('{"name": 5, "arguments": {}}', "no `name`, or one that is no text"),
        ('{"name": "", "arguments": {}}', "no `name`, or one that is no text"),
        ('{"name": "look", "from": 1}', "call of look has no `arguments`"),
        ('{"name": "look", "arguments": {}, "parameters": {}}', "both `arguments` and"),
        ('{"look": {"from": 1}}', "`look` is a key of the object"),
        ('{"tool": "look", "args": {}}', "not at the top of the object, which has `tool`"),
        (f'{{"tool_calls": [{LOOK}]}}', "which has `tool_calls`"),
        ("<function=look><parameter=from>1</parameter></function>", "markup of another kind"),
        ("[TOOL_CALLS] look", "markup of another kind"),
        ("PLAN: see\nlook(from=1)", r"`look\(\.\.\.\)` is not JSON"),
        ('{"answer": "A"} {"name": "look", "arguments": {', "is not closed"),
        ('{"name": "look", "arguments": {"x": {"answer": "B"}', "is not closed"),
    ],
)
def test_an_attempt_that_cannot_be_read_is_malformed_and_no_call(text: str, problem: str) -> None:
    found = read_calls(text, TOOLS)

    assert found.calls == ()
    assert found.problem is not None
    assert re.search(problem, found.problem)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is blue.",
        '{"name": "John", "age": 3}',
        '{"answer": "B", "answer": "C"}',
        '{"name": "look", "description": "d", "parameters": {"type": "object"}}',
        "I would use `look` once more.",
        'PLAN: look(from=1)\n{"answer": "B"}',
    ],
)
def test_what_is_no_attempt_is_neither_a_call_nor_malformed(text: str) -> None:
    found = read_calls(text, TOOLS)

    assert (found.calls, found.problem) == ((), None)


def test_an_unreadable_attempt_beside_a_call_is_told() -> None:
    found = read_calls(f'{LOOK} {{"name": "hear", "arguments": {{"a"', TOOLS)

    assert [call.function for call in found.calls] == ["look"]
    assert found.problem == "an object begins like a call and is no JSON: it is not closed"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("[1, 2]", "not an object, found [1, 2]"),
        ("null", "not an object, found None"),
        ('"from 1"', "Expecting value at its character 0, found 'from 1'"),
        ('{"a": NaN}', "a: the number nan"),
        ('{"a": -Infinity}', "a: the number -inf"),
    ],
)
def test_arguments_that_cannot_be_used_are_kept_with_their_error(given: str, error: str) -> None:
    (call,) = read_calls(f'{{"name": "look", "arguments": {given}}}', TOOLS).calls

    assert call.parse_error == error


def test_ids_count_on_from_the_number_that_is_given() -> None:
    found = read_calls(f'{LOOK} {{"name": "hear", "arguments": {{}}}}', TOOLS, first=4)

    assert [call.id for call in found.calls] == ["call_text_4", "call_text_5"]


def test_a_lone_surrogate_in_an_argument_is_replaced() -> None:
    (call,) = read_calls('{"name": "look", "arguments": {"focus": "x\\ud800"}}', TOOLS).calls

    assert call.arguments == {"focus": "x\ufffd"}


@given(st.text(alphabet=st.sampled_from('{}"\\:[],1 nameargumtswerlok'), max_size=120))
def test_no_text_breaks_the_reader_and_reading_twice_is_the_same(text: str) -> None:
    assert read_calls(text, TOOLS) == read_calls(text, TOOLS)


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@pytest.mark.parametrize(
    "unit", ["{", "}", '"', "\\", "[", '{"', "{{}", "}{", '{"name":', '{"a":1}', "look(", "<think>"]
)
def test_long_replies_take_time_in_proportion(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    one_pass = seconds(lambda: sum(character == "x" for character in text))

    assert seconds(lambda: read_calls(text, TOOLS)) < 300 * one_pass


def test_the_block_has_one_schema_a_line_sorted_by_name() -> None:
    block = tool_block(["get_transcript", "analyze_video"])

    lines = block.splitlines()[-2:]
    assert lines[0].startswith('{"description": "Have an observer')
    assert '"name": "analyze_video"' in lines[0]
    assert '"name": "get_transcript"' in lines[1]


def test_the_prompts_to_hash_hold_the_schemas_where_calls_are_written() -> None:
    native = "\n".join(call_form_prompts("native", ["get_transcript"]))
    text = "\n".join(call_form_prompts("text", ["get_transcript"]))

    assert "get_transcript" not in native
    assert '"name": "get_transcript"' in text
    assert "$error" in native
    assert "$error" in text
