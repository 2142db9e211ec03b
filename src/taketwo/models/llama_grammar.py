"""GBNF grammars: the forms in which a local language model may reply.

A grammar guarantees form, never content. Options are constrained by their texts, not by their
labels: small models choose better between texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from inspect_ai.tool import ToolInfo
from pydantic import JsonValue

__all__ = ["answer_grammar", "literal", "tool_grammar"]

_TERMINALS = r"""
string ::= "\"" char{0,200} "\""
char ::= [^"\\\x00-\x1F] | "\\" ["\\nt]
number ::= integer ("." [0-9]{1,3})?
integer ::= "-"? ("0" | [1-9] [0-9]{0,6})
boolean ::= "true" | "false"
"""


def literal(text: str) -> str:
    """Return `text` as a GBNF string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _json_literal(value: JsonValue) -> str:
    return literal(json.dumps(value, ensure_ascii=False))


def _value_rule(schema: Mapping[str, JsonValue]) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return "(" + " | ".join(_json_literal(choice) for choice in choices) + ")"
    kind = schema.get("type")
    if kind in {"string", "number", "integer", "boolean"}:
        return str(kind)
    if kind == "array":
        items = schema.get("items")
        item = (
            _value_rule(cast("Mapping[str, JsonValue]", items))
            if isinstance(items, dict)
            else "number"
        )
        return f'"[" ({item} (", " {item}){{0,15}})? "]"'
    return "string"


def _tool_rule(tool: ToolInfo) -> str:
    """Return the rule of one call: its parameters in the order of the schema, optional ones optional."""
    required = set(tool.parameters.required)
    fields: list[str] = []
    for name, param in tool.parameters.properties.items():
        schema = cast("dict[str, JsonValue]", param.model_dump(exclude_none=True))
        fields.append(f'{_json_literal(name)} ": " {_value_rule(schema)}')
        if name not in required:
            fields[-1] = "?" + fields[-1]
    head = literal('{"name": ' + json.dumps(tool.name) + ', "arguments": {')
    return f'{head} {_fields(fields)} "}}}}"'


def _fields(fields: Sequence[str]) -> str:
    """Return a comma-separated list in which fields marked with a leading `?` may be missing."""
    body = '""'
    # Written from the last to the first: what follows a present field starts with a comma.
    following = '""'
    for rule in reversed(fields):
        plain = rule.removeprefix("?")
        present, continued = f"{plain} {following}", f'", " {plain} {following}'
        if rule.startswith("?"):
            body, following = f"({present} | {body})", f"({continued} | {following})"
        else:
            body, following = f"({present})", f"({continued})"
    return body


def tool_grammar(tools: Sequence[ToolInfo], answer: str | None) -> str:
    """Return the grammar of one JSON tool call, or, where `answer` is a rule, of that instead.

    Parameters
    ----------
    tools
        What may be called; at least one, or an `answer`.
    answer
        Right side of the rule of a final answer; None where a call is required.

    Raises
    ------
    ValueError
        If neither a tool nor an answer is allowed.
    """
    names = [f"call{number}" for number in range(len(tools))]
    choices = [*names, *(["answer"] if answer is not None else [])]
    if not choices:
        raise ValueError("a reply needs a tool to call or an answer to give; neither is allowed")
    rules = [f"root ::= {' | '.join(choices)}"]
    rules += [f"{name} ::= {_tool_rule(tool)}" for name, tool in zip(names, tools, strict=True)]
    if answer is not None:
        rules.append(f"answer ::= {answer}")
    return "\n".join(rules) + _TERMINALS


def answer_grammar(options: Sequence[str]) -> str:
    """Return the right side of the rule of an answer: one of the option texts, or free text.

    Free text is one line of at most 300 characters. Spaces in a row count as one.
    """
    if options:
        return "(" + " | ".join(literal(_single_spaced(option)) for option in options) + ")"
    return "[^\\n\\x00-\\x1F]{1,300}"


def _single_spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
