"""What SAGE's reasoner remembers: the results of earlier calls in their order, and their newest frames.

Each step is a fresh request, so this is all there is. The published code drops results in the order of
their names, which drops those of composite tools first, whatever their age; here the oldest go first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentImage,
    ContentText,
    ModelOutput,
)
from inspect_ai.tool import ToolCall

from taketwo.agents.conversation import Turn
from taketwo.tools.fencing import fence
from taketwo.tools.toolbox import Toolbox

__all__ = ["History", "KeptResult"]

_Picture = tuple[str, ContentImage]
"""A frame after its label."""


@dataclass(frozen=True, kw_only=True)
class KeptResult:
    """The result of one call: `step` 0 is the context stage, `number` counts over the question from 1."""

    step: int
    number: int
    call: ToolCall
    text: str
    is_error: bool
    pictures: tuple[_Picture, ...]

    def to_text(self) -> str:
        """Return the call and its result; what a model wrote is fenced."""
        arguments = json.dumps(self.call.arguments, ensure_ascii=False, sort_keys=True, default=str)
        where = "the first look" if self.step == 0 else f"step {self.step}"
        return "\n".join([
            f"Result {self.number} (called in {where}):",
            fence("call", f"{self.call.function} {arguments}"),
            fence("error", self.text) if self.is_error else self.text,
        ])


class History:
    """The results so far.

    Parameters
    ----------
    most
        How many results are shown, the newest ones.
    """

    def __init__(self, most: int) -> None:
        self.results: list[KeptResult] = []
        self._most = most
        self._unread: list[str] = []

    @property
    def shown(self) -> Sequence[KeptResult]:
        """Return the results that a request shows, in the order of their calls."""
        return self.results[-self._most :]

    async def run(self, turn: Turn, toolbox: Toolbox, *, step: int, most: int) -> None:
        """Execute the calls of a turn, at most `most` of them, and keep one result for each.

        Calls beyond that are counted and get an error, so that the model knows they were not made.

        Raises
        ------
        Exception
            The fault of a provider or of the media that ends the cell.
        """
        made, left = turn.calls[:most], turn.calls[most:]
        results = await toolbox.run_tool_calls(_reply(turn, made), offered=turn.offered)
        if left:
            results += await toolbox.run_tool_calls(_reply(turn, left), offered=())
        for call, result in zip(turn.calls, results, strict=True):
            self._keep(step, call, result)
        self._unread = [] if turn.unread is None else [turn.unread]

    def to_text(self) -> str:
        """Return what a request says about the results."""
        shown = self.shown
        parts = [one.to_text() for one in shown]
        left_out = len(self.results) - len(shown)
        if left_out:
            parts.insert(0, f"The {left_out} oldest results are left out here.")
        parts += [f"Not called in the last step:\n{fence('error', text)}" for text in self._unread]
        return "\n\n".join(parts) or "There are no results yet."

    def pictures(self, most: int) -> list[Content]:
        """Return up to `most` frames, each after its time: those of the newest results that have any.

        Of one result with more than fit, frames spread evenly over it are taken.
        """
        chosen: list[tuple[_Picture, ...]] = []
        seen: set[str] = set()
        for result in reversed(self.results):
            new = tuple(one for one in result.pictures if one[1].image not in seen)
            taken = tuple(_spread(new, most - len(seen)))
            seen |= {picture.image for _, picture in taken}
            chosen.insert(0, taken)
            if len(seen) >= most:
                break
        content: list[Content] = []
        for label, picture in (one for taken in chosen for one in taken):
            content += [ContentText(text=label), picture]
        return content

    def _keep(self, step: int, call: ToolCall, result: ChatMessage) -> None:
        content = result.content
        parts = [ContentText(text=content)] if isinstance(content, str) else content
        pictures = tuple(_pictures(parts))
        labels = {label for label, _ in pictures}
        self.results.append(
            KeptResult(
                step=step,
                number=len(self.results) + 1,
                call=call,
                text="\n".join(
                    part.text
                    for part in parts
                    if isinstance(part, ContentText) and part.text not in labels
                ),
                is_error=isinstance(result, ChatMessageTool) and result.error is not None,
                pictures=pictures,
            )
        )


def _pictures(parts: Sequence[Content]) -> Iterator[_Picture]:
    label = "[frame]"
    for part in parts:
        if isinstance(part, ContentText):
            label = part.text
        elif isinstance(part, ContentImage):
            yield label, part


def _spread(pictures: Sequence[_Picture], most: int) -> Iterator[_Picture]:
    """Yield at most `most` of the pictures, evenly spread, both ends among them where two fit."""
    count = len(pictures)
    if most >= count:
        yield from pictures
    elif most == 1:
        yield pictures[count // 2]
    else:
        yield from (pictures[round(number * (count - 1) / (most - 1))] for number in range(most))


def _reply(turn: Turn, calls: Sequence[ToolCall]) -> ModelOutput:
    """Return the turn's reply with these calls only, in the form in which a toolbox executes them."""
    message = ChatMessageAssistant(content=turn.text, tool_calls=list(calls))
    return ModelOutput(
        model=turn.output.model,
        choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls")],
    )
