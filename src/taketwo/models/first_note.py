"""A note on the video that instructions ask for, as a fenced JSON block before anything else is said."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)

from taketwo.models.asked import Asked
from taketwo.models.conversation import Conversation
from taketwo.models.fences import unfenced
from taketwo.models.reasons import intent, quoted_evidence

__all__ = ["Note", "note_of"]

_WANTED = re.compile(r'^\s*\{\s*"video_context"\s*:\s*"<', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Note:
    """The block, empty where none is wanted; `is_all` where nothing else is to be said."""

    text: str = ""
    is_all: bool = False


def note_of(messages: Sequence[ChatMessage], asked: Asked, conversation: Conversation) -> Note:
    """Return the note that is wanted: in the first reply, or alone where the last message asks for it."""
    last = messages[-1] if messages else None
    is_all = isinstance(last, ChatMessageUser) and _wants(last)
    has_spoken = any(isinstance(message, ChatMessageAssistant) for message in messages)
    systems = [message for message in messages if isinstance(message, ChatMessageSystem)]
    if not is_all and (has_spoken or not any(map(_wants, systems))):
        return Note()
    record = {
        "video_context": "\n".join(quoted_evidence(conversation.evidence))
        or "Nothing was recognised in these frames.",
        "query_intent": intent(asked),
    }
    return Note(text=f"```json\n{json.dumps(record, ensure_ascii=False)}\n```", is_all=is_all)


def _wants(message: ChatMessage) -> bool:
    return bool(_WANTED.search(unfenced(message.text)))
