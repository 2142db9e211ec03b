"""Tool calls that a model writes into its reply as JSON, for models without tool calling of their own.

A call is an object `{"name": ..., "arguments": {...}}`, fenced or bare, anywhere in the reply outside
of what the model thought between think tags. The rules, where a reply holds more than one object:

- An object with the key `answer` is an answer. If it stands last, nothing is called.
- Else all calls after the last answer are made, in their order; a call that stands there twice, name
  and arguments alike, is a draft and its fair copy, and is made once.
- An object that begins like a call and cannot be read is never passed over as an answer: where it is
  the only attempt, the reply is malformed; beside readable calls it is reported with their results.
- A name that no tool has, and arguments that are no object, are calls that get a typed error.

Nothing is repaired: an object that is not closed, or is no JSON, is not a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from inspect_ai.tool import ToolCall

from taketwo.agents.commitments import without_thoughts
from taketwo.agents.prompt_text import filled, template
from taketwo.tools.catalog import resolved_tools
from taketwo.tools.clean_replies import clean_call
from taketwo.tools.loggable import MAX_CHARACTERS
from taketwo.tools.video_tool import VideoTool

__all__ = ["CallForm", "WrittenCalls", "call_form_prompts", "read_calls", "tool_block"]

CallForm = Literal["native", "text"]
"""`native` calls tools as the provider does; `text` has them written as JSON in the reply."""

_MAX_DEPTH = 64
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.DOTALL)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_BEGINS = re.compile(
    r"""\{\s*+["']?(?:name|arguments|tool_calls?|function(?:_call)?|tool(?:_name)?|action)["']?\s*+:"""
)
_NAME = re.compile(r"""["']name["']\s*+:""")
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters)["']\s*+:""")
_ANSWER = re.compile(r"""["']answer["']\s*+:""")
_MARKUP = re.compile(
    r"<tool_?calls?>|<function(?:_calls?)?[=>]|<invoke\b|\[TOOL_CALLS\]|<\|tool|```tool_c",
    re.IGNORECASE,
)
_WRAPPERS = ("tool_call", "tool_calls", "function_call", "function", "tool", "tool_name", "action")


@dataclass(frozen=True, kw_only=True)
class WrittenCalls:
    """What a reply wants called.

    `problem` says what is wrong with an attempt that cannot be read; together with calls it is one
    beside them.
    """

    calls: tuple[ToolCall, ...] = ()
    problem: str | None = None


def tool_block(tools: Iterable[str | VideoTool]) -> str:
    """Return what the system text says about calling in writing: rules, and a schema a line by name."""
    lines = [
        json.dumps(tool.schema(), ensure_ascii=False, sort_keys=True)
        for tool in resolved_tools(tools)
    ]
    return filled("called_in_text", schemas="\n".join(lines))


def call_form_prompts(form: CallForm, tools: Iterable[str | VideoTool]) -> tuple[str, ...]:
    """Return the templates of a form of calling, the tools filled in, to be hashed with an agent's own."""
    if form == "native":
        return (template("called_natively_malformed"),)
    names = ("called_in_text_malformed", "called_in_text_next")
    return (tool_block(tools), *(template(name) for name in names))


def read_calls(text: str, names: Iterable[str], *, first: int = 1) -> WrittenCalls:
    """Return the calls that `text` makes of the tools `names`, by the rules of this module.

    Parameters
    ----------
    text
        The reply; of one longer than 200,000 characters the end is read.
    names
        The tools that may be called.
    first
        The number of the first call: ids are `call_text_<number>`.

    Examples
    --------
    >>> found = read_calls('Look: {"name": "look", "arguments": {"focus": "a } b"}}', ["look"])
    >>> found.calls[0].arguments
    {'focus': 'a } b'}
    >>> read_calls('{"name": "look", "arguments": {}} {"answer": "B"}', ["look"]).calls
    ()
    """
    known = frozenset(names)
    said = _without_open_thought(without_thoughts(text[-MAX_CHARACTERS:]))
    items = list(_items(said, known))
    last_answer = max((at for at, item in enumerate(items) if item is _ANSWERED), default=-1)
    attempts = items[last_answer + 1 :]
    calls = _distinct(item for item in attempts if isinstance(item, _Call))
    problems = [item.problem for item in attempts if isinstance(item, _Unread)]
    if not items and (markup := _other_markup(said, known)) is not None:
        problems.append(markup)
    return WrittenCalls(
        calls=tuple(
            clean_call(
                ToolCall(
                    id=f"call_text_{number}",
                    function=call.name,
                    arguments=dict(call.arguments),
                    parse_error=call.problem,
                )
            )
            for number, call in enumerate(calls, start=first)
        ),
        problem=problems[-1] if problems else None,
    )


@dataclass(frozen=True, kw_only=True)
class _Call:
    name: str
    arguments: Mapping[str, object]
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Unread:
    """An attempt at a call that cannot be read."""

    problem: str


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """An object that answers."""


_ANSWERED = _Answer()
_Item = _Call | _Unread | _Answer


def _distinct(calls: Iterable[_Call]) -> list[_Call]:
    found: dict[str, _Call] = {}
    for call in calls:
        key = json.dumps([call.name, call.arguments, call.problem], sort_keys=True)
        found.setdefault(key, call)
    return list(found.values())


def _without_open_thought(text: str) -> str:
    """Return `text` up to a think tag that is never closed: what follows was cut off while thinking."""
    match = _OPEN_THOUGHT.search(text)
    return text if match is None else text[: match.start()]


def _items(text: str, known: frozenset[str]) -> Iterator[_Item]:
    """Yield calls, unreadable calls and answers in the order of the text.

    Inside braces that are no JSON the search goes on, as long as it has passed over the text no more
    than four times. In what follows an unclosed call only calls count: an answer there may be part
    of its arguments.
    """
    position, is_open = 0, False
    rescans = 4 * len(text)
    while (start := text.find("{", position)) >= 0:
        end, is_deep = _closing(text, start)
        body = text[start:end]
        record, problem = (None, "nested too deep") if is_deep else _loaded(body)
        found = _understood(record, known) if problem is None else _broken(body, end, problem)
        if found is not None and not (is_open and found is _ANSWERED):
            yield found
        if problem is not None:
            rescans -= len(body)
        if end is None:
            is_open = is_open or isinstance(found, _Unread)
            if rescans < 0:
                return
        is_inside = problem is not None and (end is None or (found is None and rescans >= 0))
        position = start + 1 if is_inside or end is None else end


def _closing(text: str, start: int) -> tuple[int | None, bool]:
    """Return where the object that begins at `start` ends, and whether it is nested too deep."""
    braces, brackets, deepest = 0, 0, 0
    for match in _TOKEN.finditer(text, start):
        sign = text[match.start()]
        if sign == "{":
            braces += 1
        elif sign == "}":
            braces -= 1
            if braces == 0:
                return match.end(), deepest > _MAX_DEPTH
        elif sign == "[":
            brackets += 1
        elif sign == "]":
            brackets -= 1
        deepest = max(deepest, braces + brackets)
    return None, deepest > _MAX_DEPTH


def _loaded(body: str) -> tuple[Mapping[str, object] | None, str | None]:
    try:
        record: object = json.loads(body, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        return None, f"{error.msg} at its character {error.pos}"
    except (ValueError, RecursionError) as error:
        return None, f"{error!s:.200}"
    return cast("Mapping[str, object]", record), None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key stands twice")
    return record


def _understood(record: Mapping[str, object] | None, known: frozenset[str]) -> _Item | None:
    """Return what a JSON object is: an answer, a call, an attempt at one, or None for anything else."""
    if record is None:
        return None
    if "answer" in record:
        return _ANSWERED
    if {"description", "parameters"} <= record.keys():
        return None  # a schema that the model repeats
    name = record.get("name")
    given = [key for key in ("arguments", "parameters") if key in record]
    is_named = isinstance(name, str) and bool(name.strip())
    if is_named and len(given) == 1:
        return _call(str(name).strip(), record[given[0]])
    if set(record) == {"name"} and name in known:
        return _Call(name=str(name), arguments={})
    if is_named and given:
        return _Unread(problem="both `arguments` and `parameters` are given")
    if "arguments" in record or ("name" in record and given):
        return _Unread(problem="the object has no `name`, or one that is no text")
    if name in known:
        return _Unread(problem=f"the call of {name} has no `arguments`")
    return _wrapped(record, known)


def _call(name: str, given: object) -> _Call:
    if isinstance(given, str):
        # As some providers write them: JSON inside a string.
        record, problem = _loaded(given.strip())
        if problem is not None:
            return _Call(name=name, arguments={}, problem=f"{problem}, found {given!r:.100}")
        given = record
    if not isinstance(given, dict):
        return _Call(name=name, arguments={}, problem=f"not an object, found {given!r:.100}")
    return _Call(name=name, arguments=cast("dict[str, object]", given))


def _wrapped(record: Mapping[str, object], known: frozenset[str]) -> _Unread | None:
    """Return what is wrong with a call in a form of another convention."""
    for key in _WRAPPERS:
        value = record.get(key)
        if isinstance(value, (dict, list)) or (isinstance(value, str) and value in known):
            return _Unread(
                problem=f"`name` and `arguments` are not at the top of the object, which has `{key}`"
            )
    named = next((key for key in record if key in known), None)
    if named is None:
        return None
    return _Unread(problem=f"`{named}` is a key of the object instead of its `name`")


def _broken(body: str, end: int | None, problem: str) -> _Item | None:
    """Return what braces that are no JSON were meant as, by what stands in them before the next ones."""
    meant = body[: body.find("{", 1) + 1 or None]
    if _BEGINS.match(meant) or (_NAME.search(meant) and _ARGUMENTS.search(meant)):
        why = "it is not closed" if end is None else problem
        return _Unread(problem=f"an object begins like a call and is no JSON: {why}")
    return _ANSWERED if _ANSWER.search(meant) else None


def _other_markup(text: str, known: frozenset[str]) -> str | None:
    """Return what is wrong with a reply that calls a tool without any JSON object."""
    if _MARKUP.search(text):
        return "it has markup of another kind of tool calls"
    names = "|".join(re.escape(name) for name in sorted(known))
    written = names and re.search(rf"^[ \t`*>\[-]*+({names})[ \t]*+\(", text, re.MULTILINE)
    return f"`{written[1]}(...)` is not JSON" if written else None
