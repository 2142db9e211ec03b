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

from taketwo.models.evidence_text import timed_text
from taketwo.models.fences import CLOSE, OPEN, fenced, unfenced
from taketwo.models.video_lines import CountLine, TextLine, WordsLine, lines_in, words_in_json
from taketwo.models.written_calls import calls_in_texts, errors_in_texts

__all__ = ["AnswerForm", "Conversation", "Evidence", "focus_of", "read_conversation"]

AnswerForm = Literal["json", "final_answer"]

_OPTION = re.compile(r"^\s*([A-Z]|\d{1,3})[.):]\s+(.*\S)\s*$")
_LENGTH = re.compile(
    r"^\s*(?:Video length|Length of the video):[^\n]*?\b(\d+(?:\.\d+)?)\s*s\b", re.MULTILINE
)
_STOP_CALLING = re.compile(
    r"last turn|budget[^.\n]*(exhausted|spent|used up|reached|over)|exhausted|answer now|no more (tool )?calls|(give|state|provide|return) (your |the )?"
    r"(final )?answer|as json",
    re.IGNORECASE,
)
# Where messages of the user are joined, a notice may stand in the first one, beside the task.
_NO_CALLS = re.compile(r"answer now|no more (tool )?calls|this is your last turn", re.IGNORECASE)
_Line = TypeVar("_Line")
_AnyLine = TextLine | CountLine | WordsLine
_ABSTENTION = re.compile(r"\b(null|none|abstain|cannot tell|unable to choose)\b", re.IGNORECASE)
_TRANSCRIPT_TOOLS = ("get_transcript", "transcribe_speech")
_SOUGHT = re.compile(r"^[ \t]*(?:focus|event|query):[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_SOUGHT_FENCES = ("focus", "event", "query", "request", "input")


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
        if OPEN.match(line):
            continue
        if part and stripped.lower() == "options:":
            part = "options"
        elif part == "question":
            ended = CLOSE.match(line) or not stripped
            if not ended:
                question.append(stripped)
            elif question:
                part = "after"
        elif part == "options":
            match = _OPTION.match(line)
            if match and _follows(labels, match.group(1)):
                labels.append(match.group(1))
                options.append(match.group(2))
            elif options and (CLOSE.match(line) or not stripped):
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
    """Return what a request asks to look for: its focus, event, query or input, else its question.

    They stand after a word and a colon (`Focus: a sign`) or in a fence of that name.
    """
    for message in reversed(messages):
        if not isinstance(message, ChatMessageUser):
            continue
        said = _SOUGHT.search(unfenced(message.text))
        if said:
            return said.group(1).strip()
        for part in fenced(message.text):
            if part.name in _SOUGHT_FENCES and part.text.strip():
                return " ".join(part.text.split())
        block = _question_block(message.text)
        if block is not None:
            return block[0]
    return ""


def _lines_of(messages: Sequence[ChatMessage]) -> tuple[list[_AnyLine], list[WordsLine]]:
    lines: list[_AnyLine] = []
    speech: list[WordsLine] = []
    for message in messages:
        if isinstance(message, ChatMessageTool) and message.error is None:
            if message.function in _TRANSCRIPT_TOOLS:
                speech += words_in_json(message.text)
                speech += [line for line in lines_in(message.text) if isinstance(line, WordsLine)]
                continue
            found = timed_text(message.text, is_speech=False)
        elif isinstance(message, ChatMessageUser):
            # Words beside the question that no fence names are a transcript that is handed over.
            found = timed_text(message.text, is_speech=True)
        else:
            continue
        lines += found.lines
        speech += found.speech
    return lines, speech


def read_conversation(
    messages: Sequence[ChatMessage],
    measured: Sequence[TextLine | CountLine] = (),
    *,
    otherwise: str = "",
) -> Conversation:
    """Read what the messages ask, hold and expect.

    Parameters
    ----------
    messages
        The whole conversation.
    measured
        Lines that the model measured itself in pictures of the conversation.
    otherwise
        The question where no message has one.

    Returns
    -------
    Conversation
        With the question of the first block that begins with `Question:`; without such a block,
        `otherwise`, else the unfenced text of the last user message, and no options.
    """
    users = [message for message in messages if isinstance(message, ChatMessageUser)]
    blocks = (_question_block(message.text) for message in users)
    question, options, labels = next(
        (block for block in blocks if block is not None),
        (otherwise or (" ".join(unfenced(users[-1].text).split()) if users else ""), (), ()),
    )
    instructions = "\n".join(
        unfenced(message.text)
        for message in messages
        if isinstance(message, ChatMessageSystem | ChatMessageUser)
    )
    lengths = [_LENGTH.search(unfenced(message.text)) for message in messages]
    length = next((match for match in lengths if match), None)
    results = [message for message in messages if isinstance(message, ChatMessageTool)]
    errors = [message.error.message for message in results if message.error is not None]
    errors += [message.text for message in results if message.text.startswith("[ERROR]")]
    errors += errors_in_texts(messages)
    lines, speech = _lines_of(messages)
    notices = [unfenced(message.text) for message in users[1:]] + errors
    return Conversation(
        question=question,
        options=options,
        labels=labels,
        duration_s=float(length.group(1)) if length else None,
        form="final_answer" if "FINAL ANSWER" in instructions else "json",
        may_abstain=bool(_ABSTENTION.search(instructions)),
        must_answer=any(_STOP_CALLING.search(notice) for notice in notices)
        or any(_NO_CALLS.search(unfenced(message.text)) for message in users[:1]),
        calls=tuple(
            call
            for message in messages
            if isinstance(message, ChatMessageAssistant)
            for call in message.tool_calls or ()
        )
        + tuple(calls_in_texts(messages)),
        failed_calls=len(errors),
        evidence=Evidence.of([*lines, *measured], speech),
    )
