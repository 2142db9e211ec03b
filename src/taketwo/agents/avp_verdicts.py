"""What AVP's reviewer and its last word are asked for, and the answer that is read from them.

The forms name the labels of the question at hand, however many there are. Nothing here ever makes up
an option: a reply that names none, or two different ones, gives none.
"""

from __future__ import annotations

import json
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from taketwo.agents.answer import Answer, option_index, parse_answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.structured import Structured

__all__ = [
    "Reflection",
    "Synthesis",
    "reflection_form",
    "reviewed_answer",
    "synthesis_form",
    "synthesised_answer",
]


def _none_as_empty(value: object) -> object:
    return "" if value is None else value


_OptionText = Annotated[
    str,
    BeforeValidator(_none_as_empty),
    Field(description="The text of that option; the answer itself where there are no options"),
]


class Reflection(BaseModel):
    """A review of the evidence."""

    sufficient: bool = Field(description="Whether the evidence settles the question")
    confidence: float = Field(ge=0, le=1, description="How firmly, 0 to 1")
    justification: str = Field(
        description="The answer and what carries it, or what is missing and where it may be"
    )
    reasoning: str = ""
    selected_option: str | None = None
    selected_option_text: _OptionText = ""


class Synthesis(BaseModel):
    """The final answer."""

    reasoning: str = ""
    selected_option: str | None = None
    selected_option_text: _OptionText = ""
    confidence: float = Field(default=0.0, ge=0, le=1, description="How firmly, 0 to 1")


def reflection_form(question: VisibleQuestion) -> type[Reflection]:
    """Return the form of a review of the evidence about `question`."""
    return create_model(
        "Reflection",
        __base__=Reflection,
        __doc__=Reflection.__doc__,
        selected_option=(_label_of(question), None),
    )


def synthesis_form(question: VisibleQuestion) -> type[Synthesis]:
    """Return the form of the final answer to `question`."""
    return create_model(
        "Synthesis",
        __base__=Synthesis,
        __doc__=Synthesis.__doc__,
        selected_option=(_label_of(question), None),
    )


def reviewed_answer(reflection: Structured[Reflection], question: VisibleQuestion) -> Answer | None:
    """Return the answer that a review carries, or None where it names none."""
    found = reflection.value
    if found is None:
        return None
    reasoning = f"{found.justification.strip()}\n{found.reasoning.strip()}"
    answer = _answer(found, reflection.text, reasoning, question)
    return answer if answer.status == "answered" else None


def synthesised_answer(synthesis: Structured[Synthesis], question: VisibleQuestion) -> Answer:
    """Return the final answer; from a reply outside the form, what it says as any other reply may."""
    found, text = synthesis.value, synthesis.text
    if found is not None:
        return _answer(found, text, found.reasoning, question)
    if "selected_option" in text:
        # Words inside a broken object are no commitment, whatever they say.
        return Answer(status="unparsed", text=text)
    return parse_answer(text, question)


def _answer(
    found: Reflection | Synthesis, text: str, reasoning: str, question: VisibleQuestion
) -> Answer:
    reasoning = reasoning.strip()
    said = found.selected_option_text.strip()
    if not question.options:
        read = parse_answer(json.dumps({"answer": said or None}), question)
        return Answer(
            status=read.status,
            text=read.text if read.status == "answered" else text,
            reasoning=reasoning,
        )
    named = None if found.selected_option is None else option_index(found.selected_option, question)
    by_text = option_index(said, question, is_alone=True) if said else None
    if named is not None and by_text is not None and named != by_text:
        return Answer(status="unparsed", text=text, reasoning=reasoning)
    index = by_text if named is None else named
    if index is None:
        return Answer(status="abstained", text=text, reasoning=reasoning)
    return Answer(status="answered", text=text, option_index=index, reasoning=reasoning)


def _label_of(question: VisibleQuestion) -> type[str | None]:
    """Return the type of a label of `question`, or null; any way of naming one option is read."""

    def label(value: object) -> object:
        if value is None or not question.options:
            return None
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str):
            raise ValueError("the label of one option, as a text, or null")  # noqa: TRY004 pydantic's
        if text.strip().casefold() in {"", "none", "null"}:
            return None
        index = option_index(text, question)
        if index is None:
            labels = question.labels
            raise ValueError(
                f"{text:.60} names no single option; the labels are {labels[0]} to {labels[-1]}"
            )
        return question.labels[index]

    labels: list[str | None] = [*question.labels, None] if question.options else [None]
    schema = {"enum": labels, "description": "The label of one option, or null"}
    labelled = Annotated[str | None, BeforeValidator(label), WithJsonSchema(schema)]
    return cast("type[str | None]", labelled)
