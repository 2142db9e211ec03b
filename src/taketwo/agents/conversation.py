"""The conversation of an agent with its orchestrator: turns, visible calls, and their results.

Every call that the orchestrator makes gets exactly one result, in its order, whatever happens: as
tool messages in the native form, in one message of the user where calls are written in text. Calls
are executed, counted and logged by the toolbox alike in both forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentText,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolChoice

from taketwo.agents.called_in_text import CallForm, read_calls, tool_block
from taketwo.agents.prompt_text import filled
from taketwo.tools.fencing import fence
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_tool import ToolFailure

__all__ = ["CallForm", "Conversation", "Turn"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One reply of the orchestrator.

    `text` is what it says, `calls` what it wants done. `malformed` says what is wrong with a reply
    that tried to call a tool and cannot be read as a call; such a reply has no calls, and it is no
    attempt to answer. `unread` says what is wrong with an attempt beside readable calls. `offered`
    are the tools that could be called.
    """

    output: ModelOutput
    text: str
    calls: tuple[ToolCall, ...]
    malformed: str | None = None
    unread: str | None = None
    offered: tuple[str, ...] = ()

    @property
    def wants_tools(self) -> bool:
        """Return whether the reply calls tools or tried to: `Conversation.run` is what it waits for."""
        return bool(self.calls) or self.malformed is not None


@dataclass
class _CallNumbers:
    """How many calls were written in text in the cell so far; their ids are made of it."""

    made: int = 0


class Conversation:
    """The messages so far, and the three ways in which they grow: `tell`, `turn` and `run`.

        turn = await conversation.turn()
        if turn.wants_tools:
            await conversation.run(turn)

    Parameters
    ----------
    toolbox
        The cell's world.
    messages
        How the conversation begins.
    form
        `native` calls tools as the provider does; `text` has them written as JSON in the reply, by
        the rules of `taketwo.agents.called_in_text`.

    Attributes
    ----------
    messages : list[ChatMessage]
        What the next request sends. In the form `text` the rules of calling and the schemas of the
        tools on offer are added to the first system message when it is sent.
    said : str
        The last text that was not empty.
    """

    def __init__(
        self, toolbox: Toolbox, messages: Sequence[ChatMessage], *, form: CallForm = "native"
    ) -> None:
        self.messages = list(messages)
        self.said = ""
        self._toolbox = toolbox
        self._form: CallForm = form

    def tell(self, content: str | list[Content]) -> None:
        """Add a message of the user: text, or text and frames.

        In the form `text` it joins a message of the user that stands last, since some chat
        templates refuse two in a row.
        """
        last = self.messages[-1] if self.messages else None
        if self._form == "text" and isinstance(last, ChatMessageUser):
            joined = _joined(last.content, content)
            self.messages[-1] = last.model_copy(update={"content": joined})
        else:
            self.messages.append(ChatMessageUser(content=content))

    async def turn(
        self, *, tools: bool | Sequence[str] = True, tool_choice: ToolChoice = "auto"
    ) -> Turn:
        """Return the orchestrator's next reply, which becomes part of the conversation.

        Parameters
        ----------
        tools
            Which tools are on offer: all that work in this cell, none, or those named.
        tool_choice
            The engine's tool choice. `"none"` shows the tools and lets none be called. In the form
            `text` the others ask for nothing: nobody can make the model call.

        Raises
        ------
        BudgetExhausted, ProviderReplyError
            As `RoleModel.generate`.
        """
        offered = self._offered(tools)
        is_text = self._form == "text"
        output = await self._toolbox.model("orchestrator").generate(
            self._with_tools(offered) if is_text else self.messages,
            tools=() if is_text else offered,
            tool_choice=None if is_text else tool_choice,
        )
        self.messages.append(output.message)
        self.said = output.completion or self.said
        return self._read(output, offered, () if tool_choice == "none" else offered)

    async def run(self, turn: Turn) -> None:
        """Execute the calls of `turn` and add one result for each; a malformed one gets its error.

        Raises
        ------
        Exception
            The fault of a provider or of the media that ends the cell; a tool's own error never.
        """
        if turn.malformed is not None:
            self._toolbox.note(f"malformed call: {turn.malformed}")
            self.tell(_correction(self._form, turn.malformed))
        if not turn.calls:
            return
        if self._form == "native":
            self.messages += await self._toolbox.run_tool_calls(turn.output, offered=turn.offered)
            return
        results = await self._toolbox.run_tool_calls(_with_calls(turn), offered=turn.offered)
        self.tell(_results_told(results, turn))

    def _offered(self, tools: bool | Sequence[str]) -> tuple[str, ...]:
        if tools is False:
            return ()
        working = tuple(tool.name for tool in self._toolbox.working_tools())
        return working if tools is True else tuple(name for name in working if name in tools)

    def _with_tools(self, offered: Sequence[str]) -> list[ChatMessage]:
        """Return the messages with the rules of calling and the tools on offer in the system text."""
        if not offered:
            return self.messages
        block = tool_block(self._toolbox.tools[name] for name in offered)
        first = self.messages[0] if self.messages else None
        if not isinstance(first, ChatMessageSystem):
            return [ChatMessageSystem(content=block), *self.messages]
        joined = _joined(first.content, block)
        return [first.model_copy(update={"content": joined}), *self.messages[1:]]

    def _read(
        self, output: ModelOutput, shown: tuple[str, ...], callable_now: tuple[str, ...]
    ) -> Turn:
        text = output.completion
        if self._form == "native":
            calls = tuple(output.message.tool_calls or ())
            is_leaked = not calls and any(
                call.function in shown for call in read_calls(text, shown).calls
            )
            return Turn(
                output=output,
                text=text,
                calls=calls,
                malformed="a call stands in the text of the reply" if is_leaked else None,
                offered=callable_now,
            )
        if not shown:
            return Turn(output=output, text=text, calls=(), offered=callable_now)
        numbers = self._toolbox.state.get(_CallNumbers)
        written = read_calls(text, shown, first=numbers.made + 1)
        numbers.made += len(written.calls)
        return Turn(
            output=output,
            text=text,
            calls=written.calls,
            malformed=None if written.calls else written.problem,
            unread=written.problem if written.calls else None,
            offered=callable_now,
        )


def _with_calls(turn: Turn) -> ModelOutput:
    """Return the reply as if its calls had been native, for the toolbox to execute."""
    message = ChatMessageAssistant(content=turn.text, tool_calls=list(turn.calls))
    return ModelOutput(
        model=turn.output.model,
        choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls")],
    )


def _results_told(results: Sequence[ChatMessage], turn: Turn) -> str | list[Content]:
    """Return the results as one message of the user: each under its header, pictures after their times."""
    content: list[Content] = []
    for number, (result, call) in enumerate(zip(results, turn.calls, strict=True), start=1):
        name = call.function if call.function in turn.offered else "unknown tool"
        header = f"Result {number} of {len(results)} ({name}):"
        failed = isinstance(result, ChatMessageTool) and result.error is not None
        parts = _parts(fence("error", result.text) if failed else result.content)
        content += [ContentText(text=header), *parts]
    if turn.unread is not None:
        content.append(ContentText(text=f"Not called: {_error(turn.unread)}"))
    content.append(ContentText(text=filled("called_in_text_next")))
    return _as_text_alone(content)


def _correction(form: CallForm, problem: str) -> str:
    name = "called_in_text_malformed" if form == "text" else "called_natively_malformed"
    return filled(name, error=_error(problem))


def _error(problem: str) -> str:
    return fence("error", ToolFailure("malformed_call", problem, retryable=True).to_text())


def _parts(content: str | list[Content]) -> list[Content]:
    return [ContentText(text=content)] if isinstance(content, str) else list(content)


def _joined(first: str | list[Content], second: str | list[Content]) -> str | list[Content]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _as_text_alone(content: list[Content]) -> str | list[Content]:
    """Return one text where there are no pictures."""
    texts = [part.text for part in content if isinstance(part, ContentText)]
    return "\n\n".join(texts) if len(texts) == len(content) else content
