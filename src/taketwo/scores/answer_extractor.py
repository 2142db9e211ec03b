"""A model that reads which option an ambiguous reply means; asked about nothing that a rule can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict

from taketwo.agents.commitments import without_thoughts
from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.executions.plan import ModelSpec
from taketwo.scores.answer_parsing import parse_option
from taketwo.scores.extractions import (
    EXTRACTOR_SHA256,
    Extraction,
    ExtractRequest,
    extractor_prompt,
)
from taketwo.scores.judge_model import open_judge
from taketwo.scores.judged_in_parallel import ask_for_object, judged_in_parallel, object_in
from taketwo.scores.judgements import answer_string
from taketwo.tools.fencing import fence, question_block

__all__ = ["ExtractFailure", "extract_options"]

_SHOWN_AT_BEGIN = 1_000
_SHOWN_AT_END = 15_000


@dataclass(frozen=True, kw_only=True)
class ExtractFailure:
    """A reply that the extractor could not read; never a wrong answer, asked again by the next `score`."""

    key: str
    question_id: str
    cause: str


class _Reading(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    option: str | None
    reason: str


async def extract_options(
    requests: Sequence[ExtractRequest],
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    rescue: Callable[[Sequence[Extraction]], object] | None = None,
) -> tuple[tuple[Extraction, ...], tuple[ExtractFailure, ...]]:
    """Ask about each distinct reply once at temperature 0, in parallel.

    How often the model was used is the number of the extractions and failures together. A reply of
    it that is not the JSON object asked for, or names no option of the question, is asked for once
    more; after that it is a failure. `rescue` is handed the extractions so far where the asking is
    interrupted.

    Raises
    ------
    ValueError
        If a text is not ambiguous: what a rule can read is never sent to a model.
    """
    for request in requests:
        outcome = parse_option(request.text, request.question.for_agent()).outcome
        if outcome != "ambiguous":
            raise ValueError(
                f"the reply to {request.question.question_id!r} is no matter for the extractor: read by "
                f"rule it is {outcome!r}, not 'ambiguous'"
            )
    model = open_judge(spec, connections=connections, retries=retries, timeout_s=timeout_s)
    distinct = {request.key(spec.name): request for request in requests}

    async def ask(key: str, request: ExtractRequest) -> Extraction:
        return await _extract_one(model, spec.name, key, request)

    done = await judged_in_parallel(distinct, ask, connections=connections, rescue=rescue)
    failures = tuple(
        ExtractFailure(key=key, question_id=distinct[key].question.question_id, cause=cause)
        for key, cause in done.causes.items()
    )
    return tuple(done.results.values()), failures


async def _extract_one(
    model: Model, extractor: str, key: str, request: ExtractRequest
) -> Extraction:
    question, text = request.question, answer_string(request.text)
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=extractor_prompt()),
        ChatMessageUser(
            content="\n\n".join((
                question_block(question.for_agent()),
                fence("reply", _shown(without_thoughts(text))),
                "Reply with the JSON object only.",
            ))
        ),
    ]

    def read(reply: str) -> tuple[int | None, str]:
        reading = object_in(reply, _Reading)
        return _index(reading.option, question.labels), reading.reason

    asked = await ask_for_object(model, messages, read)
    option_index, reason = asked.value
    return Extraction(
        key=key,
        question_id=question.question_id,
        text_sha256=sha256_of_text(text),
        option_index=option_index,
        extractor=extractor,
        served_model=asked.served_model,
        prompt_sha256=EXTRACTOR_SHA256,
        reason=reason[:1000],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        input_tokens=asked.input_tokens,
        output_tokens=asked.output_tokens,
    )


def _index(label: str | None, labels: Sequence[str]) -> int | None:
    if label is None:
        return None
    wanted = label.strip().upper()
    if wanted not in labels:
        raise ValueError(f"`option` is none of {labels[0]} to {labels[-1]}, and not null")
    return labels.index(wanted)


def _shown(text: str) -> str:
    """Return the text with the middle left out where it is long; a commitment stands near an end."""
    left_out = len(text) - _SHOWN_AT_BEGIN - _SHOWN_AT_END
    if left_out <= 0:
        return text
    begin, end = text[:_SHOWN_AT_BEGIN], text[-_SHOWN_AT_END:]
    return f"{begin}\n[{left_out} characters left out]\n{end}"
