"""The conversation of an agent with its orchestrator: turns, visible calls, and their results.

Every call that the orchestrator makes gets exactly one result, in its order, whatever happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ModelOutput
from inspect_ai.tool import ToolCall, ToolChoice

from taketwo.tools.toolbox import Toolbox

__all__ = ["CallForm", "Conversation", "Turn"]

CallForm = Literal["native", "text"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One reply of the orchestrator.

    `text` is what it says, `calls` what it wants done. `malformed` says what is wrong with a reply
    that tried to call a tool and cannot be read as a call; such a reply has no calls.
    """

    output: ModelOutput
    text: str
    calls: tuple[ToolCall, ...]
    malformed: str | None = None


class Conversation:
    """The messages so far, and the two ways in which they grow.

    Parameters
    ----------
    toolbox
        The cell's world.
    messages
        How the conversation begins.
    form
        `native` calls tools as the provider does; `text` has them written as JSON in the reply.

    Attributes
    ----------
    messages : list[ChatMessage]
        What the next request sends.
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
        """Add a message of the user: text, or text and frames."""
        self.messages.append(ChatMessageUser(content=content))

    async def turn(
        self, *, tools: bool | Sequence[str] = True, tool_choice: ToolChoice = "auto"
    ) -> Turn:
        """Return the orchestrator's next reply, which becomes part of the conversation.

        Raises
        ------
        BudgetExhausted, ProviderReplyError
            As `RoleModel.generate`.
        """
        output = await self._toolbox.model("orchestrator").generate(
            self.messages, tools=tools, tool_choice=tool_choice
        )
        self.messages.append(output.message)
        self.said = output.completion or self.said
        return Turn(
            output=output, text=output.completion, calls=tuple(output.message.tool_calls or ())
        )

    async def run(self, turn: Turn) -> None:
        """Execute the calls of `turn` and add one result for each."""
        self.messages += await self._toolbox.run_tool_calls(turn.output)
