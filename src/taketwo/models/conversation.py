"""What a conversation asks and has found so far, read from its messages by fixed text conventions.

Text between `<<<UNTRUSTED name` and `>>>UNTRUSTED` is data: a question, options and evidence are
taken from it, instructions (answer now, the form of the answer) never.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall

from taketwo.models.video_lines import CountLine, TextLine, WordsLine, lines_in, words_in_json

__all__ = ["AnswerForm", "Conversation", "Evidence", "focus_of", "read_conversation"]

AnswerForm = Literal["json", "final_answer"]

_OPEN = re.compile(r"^\s*<<<UNTRUSTED\b.*$")
_CLOSE = re.compile(r"^\s*>>>UNTRUSTED\b.*$")
_OPTION = re.compile(r"^\s*([A-Z]|\d{1,3})[.):]\s+(.*\S)\s*$")
_LENGTH = re.compile(r"^\s*Video length:\s*(\d+(?:\.\d+)?)\s*s\b", re.MULTILINE)
_STOP_CALLING = re.compile(
    r"budget[^.\n]*(exhausted|spent|used up|reached|over)|exhausted|answer now|no more (tool )?calls|(give|state|provide|return) (your |the )?"
    r"(final )?answer|as json",
    re.IGNORECASE,
)
_Line = TypeVar("_Line")
_ABSTENTION = re.compile(r"\b(null|none|abstain|cannot tell|unable to choose)\b", re.IGNORECASE)
_TRANSCRIPT_TOOLS = ("get_transcript", "transcribe_speech")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Everything with a time that the conversation holds, in the order of the video."""

    texts: tuple[TextLine, ...] = ()
    counts: tuple[CountLine, ...] = ()
    speech: tuple[WordsLine, ...] = ()
    notes: tuple[WordsLine, ...] = ()

    @classmethod
    def of(
        cls,
        lines: Sequence[TextLine | CountLine | WordsLine],
        speech: Sequence[WordsLine] = (),
    ) -> Evidence:
        """Return `lines` by kind, sorted by time; words that are not in `speech` are notes."""
        return cls(
            texts=tuple(sorted(_only(lines, TextLine), key=lambda line: line.start_s)),
            counts=tuple(sorted(_only(lines, CountLine), key=lambda line: line.start_s)),
            speech=tuple(sorted(set(speech), key=lambda line: line.start_s)),
            notes=tuple(sorted(_only(lines, WordsLine), key=lambda line: line.start_s)),
        )

    @property
    def shapes(self) -> tuple[TextLine, ...]:
        """Return what was counted as lines of text (`red circle`), for questions about their order."""
        return tuple(
            TextLine(start_s=line.start_s, end_s=line.end_s, text=f"{line.colour} {line.shape}")
            for line in self.counts
        )

    @property
    def end_s(self) -> float:
        """Return the latest second that any line names."""
        lines = [*self.texts, *self.counts, *self.speech, *self.notes]
        return max((line.end_s for line in lines), default=0.0)


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A question, what is known about the video, the calls so far, and what the other side expects."""

    question: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    duration_s: float | None
    form: AnswerForm
    must_answer: bool
    may_abstain: bool
    calls: tuple[ToolCall, ...]
    failed_calls: int
    evidence: Evidence = field(default_factory=Evidence)

    def calls_of(self, *names: str) -> tuple[ToolCall, ...]:
        """Return the calls of the tools `names` so far."""
        return tuple(call for call in self.calls if call.function in names)


def _only(lines: Sequence[object], kind: type[_Line]) -> list[_Line]:
    return list(dict.fromkeys(line for line in lines if isinstance(line, kind)))


def _unfenced(text: str) -> str:
    """Return `text` without what is fenced as data."""
    kept: list[str] = []
    depth = 0
    for line in text.splitlines():
        if _OPEN.match(line):
            depth += 1
        elif _CLOSE.match(line):
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(line)
    return "\n".join(kept)


def _question_block(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """Return question, options and labels of the first question block in `text`."""
    question: list[str] = []
    options: list[str] = []
    labels: list[str] = []
    part = ""
    for line in text.splitlines():
        stripped = line.strip()
        if not part and stripped.lower().startswith("question:"):
            part = "question"
            stripped = stripped[len("question:") :].strip()
        if _OPEN.match(line):
            continue
        if part and stripped.lower() == "options:":
            part = "options"
        elif part == "question":
            ended = _CLOSE.match(line) or not stripped
            if not ended:
                question.append(stripped)
            elif question:
                part = "after"
        elif part == "options":
            match = _OPTION.match(line)
            if match and _follows(labels, match.group(1)):
                labels.append(match.group(1))
                options.append(match.group(2))
            elif options and (_CLOSE.match(line) or not stripped):
                break
            elif options:
                options[-1] += f" {stripped}"
    return (" ".join(question), tuple(options), tuple(labels)) if question else None


def _follows(labels: Sequence[str], label: str) -> bool:
    if not labels:
        return label in {"A", "1"}
    previous = labels[-1]
    if previous.isdigit():
        return label == str(int(previous) + 1)
    return label == chr(ord(previous) + 1)


def focus_of(messages: Sequence[ChatMessage]) -> str:
    """Return what an observer's request asks to look for: its `Focus:` line, else its question."""
    for message in reversed(messages):
        if not isinstance(message, ChatMessageUser):
            continue
        lines = message.text.splitlines()
        for number, line in enumerate(lines):
            if line.strip().lower().startswith("focus:"):
                rest = line.strip()[len("focus:") :].strip()
                following = [text for text in lines[number + 1 :] if not _OPEN.match(text)]
                return rest or (following[0].strip() if following else "")
        block = _question_block(message.text)
        if block is not None:
            return block[0]
    return ""


def _spoken(message: ChatMessageTool) -> bool:
    return message.function in _TRANSCRIPT_TOOLS


def _lines_of(
    messages: Sequence[ChatMessage],
) -> tuple[list[TextLine | CountLine | WordsLine], list[WordsLine]]:
    lines: list[TextLine | CountLine | WordsLine] = []
    speech: list[WordsLine] = []
    for message in messages:
        if isinstance(message, ChatMessageTool) and message.error is None:
            if _spoken(message):
                speech += words_in_json(message.text)
                speech += [line for line in lines_in(message.text) if isinstance(line, WordsLine)]
            else:
                lines += lines_in(message.text)
        elif isinstance(message, ChatMessageUser):
            # A transcript that is handed over with the question: its only timed words are speech.
            for line in lines_in(message.text):
                (speech if isinstance(line, WordsLine) else lines).append(line)  # pyright: ignore[reportArgumentType] the list fits the line by the test
    return lines, speech


def read_conversation(
    messages: Sequence[ChatMessage], measured: Sequence[TextLine | CountLine] = ()
) -> Conversation:
    """Read what the messages ask, hold and expect.

    Parameters
    ----------
    messages
        The whole conversation.
    measured
        Lines that the model measured itself in pictures of the conversation.

    Returns
    -------
    Conversation
        With the question of the first block that begins with `Question:`; without such a block,
        the unfenced text of the last user message and no options.
    """
    users = [message for message in messages if isinstance(message, ChatMessageUser)]
    blocks = (_question_block(message.text) for message in users)
    question, options, labels = next(
        (block for block in blocks if block is not None),
        (" ".join(_unfenced(users[-1].text).split()) if users else "", (), ()),
    )
    instructions = "\n".join(
        _unfenced(message.text)
        for message in messages
        if isinstance(message, ChatMessageSystem | ChatMessageUser)
    )
    lengths = [_LENGTH.search(_unfenced(message.text)) for message in messages]
    length = next((match for match in lengths if match), None)
    results = [message for message in messages if isinstance(message, ChatMessageTool)]
    errors = [message.error.message for message in results if message.error is not None]
    errors += [message.text for message in results if message.text.startswith("[ERROR]")]
    lines, speech = _lines_of(messages)
    notices = [_unfenced(message.text) for message in users[1:]] + errors
    return Conversation(
        question=question,
        options=options,
        labels=labels,
        duration_s=float(length.group(1)) if length else None,
        form="final_answer" if "FINAL ANSWER" in instructions else "json",
        may_abstain=bool(_ABSTENTION.search(instructions)),
        must_answer=any(_STOP_CALLING.search(notice) for notice in notices),
        calls=tuple(
            call
            for message in messages
            if isinstance(message, ChatMessageAssistant)
            for call in message.tool_calls or ()
        ),
        failed_calls=len(errors),
        evidence=Evidence.of([*lines, *measured], speech),
    )
