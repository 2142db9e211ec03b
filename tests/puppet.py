"""A model that does whatever a request asks of it, so that one script runs any agent.

    puppet = Puppet(wants=2)
    name = script([puppet.step("orchestrator")], repeat_last=True)

A request in a form gets an object that fits its schema, one that offers tools a call with arguments
that fit, any other an answer in the form that is asked for; as observer it says what it is told to
say. `instead` replaces single replies, so that a test can have it misbehave at call n.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import ModelOutput
from inspect_ai.tool import ToolCall, ToolFunction
from tests.scripted_model import Reply, Request, Step, calls, says

from taketwo.tools.clip_index import clock
from taketwo.tools.clip_index_captions import CAPTION_PROMPT
from taketwo.tools.clip_index_registry import MERGE_PROMPT
from taketwo.tools.speech import TRANSCRIPTION_PROMPT
from taketwo.tools.structured import FORM_HEADING

__all__ = ["Asked", "Puppet", "at", "filled"]

_FRAME = re.compile(r"\[frame at (\d+\.\d+) s\]")
_NO_TOOLS = re.compile(r"\bno (?:more )?(?:tool calls|tool|function) can be (?:made|called)", re.I)
_STAR_TOOL = re.compile(r"^- `([\w-]+)` \((?:temporal|spatial)\)", re.M)
_SCHEMA_LINE = re.compile(r'^\{"description".*$', re.M)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request with its place: `number` counts over all roles, `of_role` over its own, from 1."""

    number: int
    of_role: int
    role: str
    request: Request

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.request.messages[-1].text

    @property
    def is_of_index(self) -> bool:
        """Whether it is asked for an index of the video, which is no work of the cell."""
        return self.request.messages[0].text in {CAPTION_PROMPT, MERGE_PROMPT}


Instead = Callable[[Asked], Reply | None]


def at(reply: Reply, *numbers: int, role: str | None = None) -> Instead:
    """Return `reply` at these calls, counted over all roles or over one, or at every one of them."""

    def instead(asked: Asked) -> Reply | None:
        if role is not None and asked.role != role:
            return None
        number = asked.number if role is None else asked.of_role
        return reply if not numbers or number in numbers else None

    return instead


@dataclass(kw_only=True)
class Puppet:
    """The models of one cell.

    `answer` is what it answers. `wants` is how many calls it makes before, or which tools it must
    have called. `observed` is what it says as observer, with the number of the request in place of
    `#`; `sought` is what it writes into arguments and plans, with a second in it, which some tools
    need. `window` is the stretch that it asks for. A stubborn one never answers. `seconds` is how
    long it says that a reply took.
    """

    answer: str = "B"
    wants: float | tuple[str, ...] = 1
    observed: str = "a blue circle at 3 seconds, report #."
    sought: str = "the circle at 3 seconds"
    window: tuple[float, float] = (0.0, 6.0)
    seconds: float = 0.0
    is_stubborn: bool = False
    hears_for_index: bool = False
    instead: Instead = lambda _: None
    asked: list[Asked] = field(default_factory=list[Asked])
    called: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._ids = itertools.count(1)

    def step(self, role: str) -> Step:
        """Return what plays `role`."""
        return lambda request: self.reply(role, request)

    def of(self, role: str) -> list[Asked]:
        """Return what `role` was asked in the cell, without the work on an index."""
        return [one for one in self.own if one.role == role]

    @property
    def own(self) -> list[Asked]:
        """All requests of the cell itself."""
        return [
            one
            for one in self.asked
            if not (one.is_of_index or (self.hears_for_index and one.role == "transcriber"))
        ]

    def reply(self, role: str, request: Request) -> Reply:
        """Return the reply to a request."""
        of_role = 1 + sum(one.role == role for one in self.asked)
        asked = Asked(number=len(self.asked) + 1, of_role=of_role, role=role, request=request)
        self.asked.append(asked)
        reply = self.instead(asked)
        if reply is None:
            reply = self._orchestrated(asked) if role == "orchestrator" else self._seen(asked)
        if isinstance(reply, Exception):
            return reply
        output = says(reply) if isinstance(reply, str) else reply
        output.metadata = {"charged_s": self.seconds}
        return output

    def _seen(self, asked: Asked) -> Reply:
        observed = self.observed.replace("#", f"{asked.number}")
        if TRANSCRIPTION_PROMPT in asked.request.text:
            said = {"start": 0.0, "end": 1.0, "text": observed}
            return json.dumps({"segments": [said]})
        schema = form_of(asked)
        if schema is None:
            return observed
        times = [float(time) for time in _FRAME.findall(asked.request.messages[-1].text)]
        given: dict[str, Any] = {
            "start_s": 0.0,
            "end_s": 1.0,
            "final_answer": observed,
            "timestamp_start": 0.0,
            "timestamp_end": 1.0,
            "answers": [{"time_s": time, "answer": observed} for time in times],
            "counts": [{"time_s": time, "count": 1} for time in times],
        }
        return json.dumps(filled(schema, given, observed))

    def _orchestrated(self, asked: Asked) -> Reply:
        schema = form_of(asked)
        if schema is not None:
            return self._in_form(asked, schema)
        if "reply with the note only" in asked.last:
            return self._note()
        offered = {} if self._must_answer(asked) else offered_in(asked.request)
        name = None if "last turn" in asked.last else self._next(list(offered))
        if name is None and "finish" in offered and not self.is_stubborn:
            name = "finish"
        if name is None:
            return "I must look again." if self.is_stubborn else self._answer(asked)
        self.called.append(name)
        return self.calling(asked, (name, self.arguments(offered[name])))

    def _must_answer(self, asked: Asked) -> bool:
        return bool(_NO_TOOLS.search(asked.last)) and not self.is_stubborn

    def _is_done(self) -> bool:
        if self.is_stubborn:
            return False
        if isinstance(self.wants, tuple):
            return set(self.wants) <= set(self.called)
        return len(self.called) >= self.wants

    def _next(self, offered: list[str]) -> str | None:
        """Return the tool to call next: one that is wanted and was not called, else one in turn."""
        names = [name for name in offered if name != "finish"]
        if not names or self._is_done():
            return None
        new = [name for name in names if name not in self.called]
        return new[0] if new else names[len(self.called) % len(names)]

    def arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments that fit the schema of a tool, every text of it filled in."""
        start_s, end_s = self.window
        given = {
            **{
                name: self.sought[: part.get("maxLength")]
                for name, part in schema["properties"].items()
                if part.get("type") == "string" and not part.get("enum")
            },
            **dict.fromkeys(("start_time", "start"), start_s),
            **dict.fromkeys(("end_time", "end"), end_s),
            "time_ranges_hhmmss": [[clock(start_s), clock(end_s)]],
            "url": "https://example.org/page",
            "fps": 1,
            "answer": self.answer,
        }
        return filled(schema, given, self.sought)

    def calling(self, asked: Asked, *wanted: tuple[str, Mapping[str, Any]]) -> ModelOutput | str:
        """Return a reply that calls tools in the form of the request."""
        text = self._note() if "video_context" in asked.request.text else "I look."
        if asked.request.tools:
            made = [
                ToolCall(id=f"call_{next(self._ids)}", function=name, arguments=dict(arguments))
                for name, arguments in wanted
            ]
            return calls(*made, text=text)
        written = [json.dumps({"name": name, "arguments": given}) for name, given in wanted]
        return "\n".join([text, *(f"```json\n{call}\n```" for call in written)])

    def _in_form(self, asked: Asked, schema: Mapping[str, Any]) -> str:
        properties = schema["properties"]
        is_done = self._is_done()
        given: dict[str, Any] = {
            "sufficient": is_done,
            "info_sufficient": is_done,
            "confidence": 0.9,
            "load_mode": "region",
            "regions": [list(self.window)],
            "tool_input": self.sought,
        }
        if "steps" in properties:
            self.called.append("observe_video")
        if "tool_name" in properties:
            names = _STAR_TOOL.findall(asked.request.text)
            given["tool_name"] = self._next(names) or names[0]
            self.called += [] if is_done else [given["tool_name"]]
        labels = properties.get("selected_option", {}).get("enum", [])
        is_named = self.answer in labels and not self.is_stubborn
        is_open = labels == [None] and not self.is_stubborn
        given["selected_option"] = self.answer if is_named else None
        given["selected_option_text"] = self.answer if is_open else ""
        return json.dumps(filled(schema, given, self.sought))

    def _note(self) -> str:
        note = {"video_context": self.sought, "query_intent": self.sought}
        return f"```json\n{json.dumps(note)}\n```"

    def _answer(self, asked: Asked) -> str:
        if "FINAL ANSWER:" in asked.last:
            return f"It is seen.\nFINAL ANSWER: {self.answer}"
        said = {"answer": self.answer, "reasoning": "it is seen"}
        return f"It is seen.\n```json\n{json.dumps(said)}\n```"


def form_of(asked: Asked) -> Mapping[str, Any] | None:
    """Return the schema of the form that a request wants, or None."""
    _, heading, after = asked.last.rpartition(FORM_HEADING)
    return json.JSONDecoder().raw_decode(after.lstrip())[0] if heading else None


def offered_in(request: Request) -> dict[str, Mapping[str, Any]]:
    """Return the schemas of the tools that a request lets its model call, as it has them."""
    if request.tools:
        choice = request.tool_choice
        return {
            tool.name: tool.parameters.model_dump(exclude_none=True)
            for tool in request.tools
            if choice != "none"
            and (not isinstance(choice, ToolFunction) or tool.name == choice.name)
        }
    lines = _SCHEMA_LINE.findall(request.messages[0].text)
    return {tool["name"]: tool["parameters"] for tool in map(json.loads, lines)}


def filled(
    schema: Mapping[str, Any],
    given: Mapping[str, Any],
    words: str,
    whole: Mapping[str, Any] | None = None,
) -> Any:
    """Return a value that fits `schema`: what is `given` by name, `words` for texts, else the least."""
    whole = schema if whole is None else whole
    if "$ref" in schema:
        return filled(whole["$defs"][schema["$ref"].rpartition("/")[2]], given, words, whole)
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
        return filled(kinds[0], given, words, whole)
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        needed = schema.get("required") or []
        found = {
            name: given[name] if name in given else filled(part, given, words, whole)
            for name, part in (schema.get("properties") or {}).items()
            if name in given or name in needed
        }
        more = schema.get("additionalProperties")
        return found | (
            {"one": filled(more, given, words, whole)} if isinstance(more, dict) else {}
        )
    if kind == "array":
        item = filled(schema.get("items") or {"type": "string"}, given, words, whole)
        return [item] * max(1, schema.get("minItems") or 1)
    if kind in {"integer", "number"}:
        least = max(1, schema.get("minimum") or 1)
        return min(least, schema.get("maximum") or least)
    return True if kind == "boolean" else words[: schema.get("maxLength") or None]
