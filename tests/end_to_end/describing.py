"""A provider for child processes: `describing/<name>` describes clips and answers by `finish`.

Imported there as a plugin. `wait_s` is how long a reply takes, `calls` names a file to which every
request adds a line: the process, then the clip that is described, or what else is asked. While the
file `fails` exists, descriptions of the second clip fail as HTTP 503.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

MODEL = "describing/model"


class Fault(Exception):
    """A provider's HTTP failure."""

    def __init__(self) -> None:
        super().__init__("HTTP 503: played back")
        self.status_code = 503


@modelapi(name="describing")
class Describing(ModelAPI):
    """Answers option A after one search."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        wait_s: float = 0.0,
        calls: str | None = None,
        fails: str | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._wait_s = wait_s
        self._calls = calls
        self._fails = fails

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        text = "\n".join(message.text for message in input)
        clip = re.search(r"Clip (\d+) of", text)
        what = (
            f"clip {clip[1]}" if clip else "merge" if "registries, one a line" in text else "other"
        )
        if self._calls is not None:
            with Path(self._calls).open("a") as file:  # noqa: ASYNC230 one line, in a test
                file.write(f"{os.getpid()} {what}\n")
        await anyio.sleep(self._wait_s)
        if what == "clip 2" and self._fails is not None and Path(self._fails).exists():  # noqa: ASYNC240
            raise Fault
        reply = self._reply(what, tools, input)
        output = ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=reply, stop_reason="stop")],
            usage=ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110),
            metadata={"charged_s": 0.5},
        )
        request = {
            "model": self.model_name,
            "messages": [{"role": one.role, "content": _plain(one)} for one in input],
            "temperature": config.temperature,
        }
        return output, ModelCall.create(request, {"id": f"{os.getpid()}-{id(output)}-{what}"})

    def _reply(
        self, what: str, tools: list[ToolInfo], messages: list[ChatMessage]
    ) -> ChatMessageAssistant:
        if what == "merge":
            return ChatMessageAssistant(content='{"subject_registry": {}}')
        if what != "other":
            subject = {"name": what, "appearance": [], "identity": [], "first_seen": "0"}
            record = {
                "clip_start_time": "0",
                "clip_end_time": "1",
                "subject_registry": {"one": subject},
                "clip_description": f"A circle in {what}.",
            }
            return ChatMessageAssistant(content=json.dumps(record))
        has_looked = any(message.role == "tool" for message in messages)
        arguments = {"answer": "A"} if has_looked else {"event_description": "circle"}
        name = "finish" if has_looked else "clip_search_tool"
        assert name in {tool.name for tool in tools}
        call = ToolCall(id=f"call_{has_looked}", function=name, arguments=arguments)
        return ChatMessageAssistant(content="", tool_calls=[call])

    def should_retry(self, ex: Exception) -> bool:
        return False

    def connection_key(self) -> str:
        return self.model_name


def _plain(message: ChatMessage) -> object:
    if isinstance(message.content, str):
        return message.text
    return [
        {"type": "text", "text": part.text}
        if part.type == "text"
        else {"type": "image_url", "image_url": "<base64-data-removed>"}
        for part in message.content
    ]
