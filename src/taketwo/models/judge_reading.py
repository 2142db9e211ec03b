"""What a judge is shown, read from its messages: instructions, material and steps.

Only instructions of the system say what is asked; fenced text is material. Steps are those of
`[step 3] called look with {...}` or of `[Step 3]` before a JSON object. A number of a step that
occurs twice was written by somebody inside a step: all between its first and its last place counts
as said, never as observed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from taketwo.models.fences import fenced, unfenced

__all__ = [
    "Look",
    "Material",
    "Worked",
    "material_of",
    "worked_in",
]

_HEADER = re.compile(
    r"^\[step (?P<number>\d{1,6})\] (?:(?P<said>said):|called (?P<tool>\S{1,200}) with (?P<arguments>\{.*\})"
    r"|(?P<looked>looked at) \d+ frames of the video|(?P<remark>remark of the harness):.*)$",
    re.MULTILINE,
)
_RECORD = re.compile(r"^\[Step (?P<number>\d{1,6})\]$", re.MULTILINE)
_FINAL = re.compile(r"^\[final answer(?P<status>[^\]\n]{0,100})\]$", re.MULTILINE)
_NO_TEXT = "(no text)"
_SHORTEST_ECHO = 12
_MOST_ECHOES = 20
_LABEL_WORDS = 3
_SENTENCE_WORDS = 5


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a judge is asked by its instructions, and the fenced texts it is shown, by name."""

    instructions: str
    remarks: str
    blocks: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Look:
    """A call that did not fail, or a look of the agent's own at frames (no tool, no text)."""

    tool: str
    arguments: str
    result: str


@dataclass(frozen=True, kw_only=True)
class Worked:
    """A trajectory by what is evidence and what is a claim.

    `seen` is what the agent said after a look of its own; it is part of `said` too.
    """

    looks: tuple[Look, ...]
    asked: tuple[str, ...]
    said: tuple[str, ...]
    seen: tuple[str, ...]
    final: str
    is_answered: bool
    is_forged: bool


def material_of(messages: Sequence[ChatMessage]) -> Material:
    """Return instructions and material of a request.

    The material is that of the first message of the user: later ones ask for the same once more.
    Where a name occurs twice, the first text of that name counts.
    """
    users = [message.text for message in messages if isinstance(message, ChatMessageUser)]
    shown = users[0] if users else ""
    blocks: dict[str, str] = {}
    for part in fenced(shown):
        blocks.setdefault(part.name, part.text)
    return Material(
        instructions="\n".join(
            # Written by the side that judges: it speaks of fences, it holds nothing that is fenced.
            message.text
            for message in messages
            if isinstance(message, ChatMessageSystem)
        ),
        remarks=unfenced(shown),
        blocks=blocks,
    )


def worked_in(text: str) -> Worked:
    """Return what an agent did, said and got back. A text without steps is a claim as a whole."""
    endings = list(_FINAL.finditer(text))
    ending = endings[0] if endings else None
    body, final = (text[: ending.start()], text[ending.end() :]) if ending else (text, "")
    headers, records = list(_HEADER.finditer(body)), list(_RECORD.finditer(body))
    # One text has one notation, that of its first step: the other one is somebody's words.
    has_records = bool(records) and (not headers or records[0].start() < headers[0].start())
    headers = records if has_records else headers
    if not headers:
        return Worked(
            looks=(),
            asked=(),
            said=(body,) if body.strip() else (),
            seen=(),
            final=final or body,
            is_answered=True,
            is_forged=len(endings) > 1,
        )
    doubtful = _doubtful(headers)
    reading = _Reading()
    for at, header in enumerate(headers):
        end = headers[at + 1].start() if at + 1 < len(headers) else len(body)
        content = body[header.end() : end].strip()
        if at in doubtful:
            reading.said.append(content)
        elif has_records:
            reading.add_record(content)
        else:
            reading.add(header, content)
    status = ending.group("status") if ending else ""
    return Worked(
        looks=tuple(reading.looks),
        asked=tuple(reading.asked),
        said=tuple(reading.said),
        seen=tuple(reading.seen),
        final=final.strip() or reading.answer,
        is_answered="(" not in status and final.strip() != _NO_TEXT,
        is_forged=bool(doubtful) or len(endings) > 1,
    )


def _doubtful(headers: Sequence[re.Match[str]]) -> frozenset[int]:
    """Return the places from the first to before the last step of the same number."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, header in enumerate(headers):
        number = int(header.group("number"))
        first.setdefault(number, at)
        last[number] = at
    changes = [0] * (len(headers) + 1)
    for number, begin in first.items():
        changes[begin] += 1
        changes[last[number]] -= 1
    return frozenset(at for at, depth in enumerate(accumulate(changes)) if depth > 0)


class _Reading:
    """Steps, as they are read."""

    def __init__(self) -> None:
        self.looks: list[Look] = []
        self.asked: list[str] = []
        self.said: list[str] = []
        self.seen: list[str] = []
        self.answer = ""
        self._waiting: list[tuple[str, str]] = []
        self._has_looked = False

    def add(self, header: re.Match[str], content: str) -> None:
        """Add a step of ours."""
        if header.group("said"):
            self._say(content)
        elif header.group("looked"):
            self._has_looked = True
            self.looks.append(Look(tool="", arguments="", result=""))
        elif header.group("tool"):
            arguments = header.group("arguments")
            self.asked.append(arguments)
            if content.startswith("returned:"):
                self._returned(
                    header.group("tool"), arguments, content.removeprefix("returned:").strip()
                )

    def add_record(self, content: str) -> None:
        """Add a step that is a JSON object with a phase; anything else was said."""
        try:
            record: object = json.loads(content)
        except (ValueError, RecursionError):
            self.said.append(content)
            return
        fields = cast("dict[str, object]", record) if isinstance(record, dict) else {}
        data = fields.get("data")
        values = cast("dict[str, object]", data) if isinstance(data, dict) else {}
        phase, tool = fields.get("phase"), str(values.get("tool"))
        if phase == "tool_call":
            arguments = json.dumps(values.get("arguments"), ensure_ascii=False, sort_keys=True)
            self.asked.append(arguments)
            self._waiting.append((tool, arguments))
        elif phase == "tool_result":
            called = next((item for item in self._waiting if item[0] == tool), (tool, "{}"))
            if called in self._waiting:
                self._waiting.remove(called)
            if values.get("success") is not False:
                self._returned(*called, str(values.get("result_text") or ""))
        elif phase == "answer":
            self.answer = str(values.get("text") or values.get("letter") or "")
        else:
            self._say(str(values.get("text") or ""))

    def _say(self, text: str) -> None:
        self.said.append(text)
        if self._has_looked:
            self.seen.append(text)

    def _returned(self, tool: str, arguments: str, result: str) -> None:
        """Add a look, whatever it gave back: a text in an empty result must not make it one."""
        shown = "" if result == _NO_TEXT else _fresh(result, arguments)
        self.looks.append(Look(tool=tool, arguments=arguments, result=shown))


def _fresh(result: str, arguments: str) -> str:
    """Return a result without what it merely repeats of its call: an echoed claim is no observation.

    A line with digits beside the echo, such as a time, is a find and stays.
    """
    echoes = sorted(_strings(arguments), key=len, reverse=True)[:_MOST_ECHOES]
    echoes = [echo for echo in echoes if len(echo) >= _SHORTEST_ECHO]
    kept: list[str] = []
    for line in result.splitlines():
        echo = next((echo for echo in echoes if echo in line), None)
        beside = line if echo is None else line.replace(echo, " ")
        if echo is None or any(sign.isdigit() for sign in beside):
            kept.append(line)
        elif len(beside.split()) > _LABEL_WORDS:
            kept.append(beside if len(echo.split()) >= _SENTENCE_WORDS else line)
    return "\n".join(kept)


def _strings(arguments: str) -> Iterator[str]:
    try:
        waiting: list[object] = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
        elif isinstance(value, dict):
            waiting += cast("dict[str, object]", value).values()
