"""A reply in a form: where a request asks for one JSON object that fits a schema, and which schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)

from taketwo.models.fences import unfenced
from taketwo.models.schema_fitting import Schema

__all__ = ["FORM_HEADING", "asked_form"]

FORM_HEADING = "Reply with one JSON object and nothing else. It must fit this JSON Schema:"
"""The line before the schema; the same as in `tools.structured`, which a test makes sure of."""


def asked_form(messages: Sequence[ChatMessage]) -> Schema | None:
    """Return the schema of the object that the next reply must be, None where none is asked for.

    A form counts for the reply that follows it: it stands after the last reply of the model, or
    anywhere where the model has not replied yet. Of several the last one counts, and none inside
    fenced text does.
    """
    replies = [n for n, message in enumerate(messages) if isinstance(message, ChatMessageAssistant)]
    found: Schema | None = None
    for message in messages[replies[-1] + 1 if replies else 0 :]:
        if isinstance(message, ChatMessageSystem | ChatMessageUser):
            found = _schema_in(message.text) or found
    return found


def _schema_in(text: str) -> Schema | None:
    if FORM_HEADING not in text:
        return None
    schema: Schema | None = None
    lines = unfenced(text).splitlines()
    for number, line in enumerate(lines):
        if line.strip().endswith(FORM_HEADING):
            following = next((other for other in lines[number + 1 :] if other.strip()), "")
            schema = _schema_of(following) or schema
    return schema


def _schema_of(line: str) -> Schema | None:
    try:
        record: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Schema", record) if isinstance(record, dict) and record else None
