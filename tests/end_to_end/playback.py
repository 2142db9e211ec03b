"""A provider for child processes: `playback/<name>` answers at once, by what it is asked.

Imported there as a plugin. Model arguments say how it behaves: `fail` is the share of requests
that fail, in turn as HTTP 429 and 500, timeout, empty, malformed and refused; which ones is drawn
from `draw` and the process, so that another start fails elsewhere. `wait_s` is how long a reply
takes. `turns` is how many looks a planner takes before it answers. `calls` names a file to which
every request adds a line. `turned` names a file: until it exists the planner of `video_react`
answers C, from then on that of `single_turn`; without it both always answer A.
"""

from __future__ import annotations

import itertools
import os
import random
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

FAULTS = ("429", "500", "timeout", "empty", "malformed", "refused")


class Fault(Exception):
    """A provider's HTTP failure."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"HTTP {status_code}: played back")
        self.status_code = status_code


@modelapi(name="playback")
class Playback(ModelAPI):
    """Answers option A, after as many looks as it is told to take."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        fail: float = 0.0,
        draw: int = 0,
        wait_s: float = 0.0,
        turns: int = 1,
        calls: str | None = None,
        turned: str | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._fail = fail
        self._rng = random.Random(draw + os.getpid() * bool(fail))
        self._faults = itertools.cycle(FAULTS)
        self._wait_s = wait_s
        self._turns = turns
        self._calls = calls
        self._turned = None if turned is None else Path(turned)
        self._served = itertools.count()

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        if self._calls is not None:
            with Path(self._calls).open("a") as file:  # noqa: ASYNC230 one line, in a test
                file.write(f"{self.model_name}\n")
        if self._wait_s:
            await anyio.sleep(self._wait_s)
        request = self._request(input, tools, config)
        fault = next(self._faults) if self._rng.random() < self._fail else None
        if fault in {"429", "500"}:
            raise Fault(int(fault))
        if fault == "timeout":
            raise TimeoutError("played back")
        output = self._output(input, tools, fault)
        response = {"id": f"{os.getpid()}-{next(self._served)}", "system_fingerprint": "fp_1"}
        return output, ModelCall.create(request, response)

    def _request(
        self, messages: list[ChatMessage], tools: list[ToolInfo], config: GenerateConfig
    ) -> dict[str, object]:
        return {
            "model": self.model_name,
            "messages": [
                {
                    "role": message.role,
                    "content": message.text
                    if isinstance(message.content, str)
                    else [
                        {"type": "text", "text": part.text}
                        if part.type == "text"
                        else {"type": "image_url", "image_url": "<base64-data-removed>"}
                        for part in message.content
                    ],
                }
                for message in messages
            ],
            "tools": [{"name": tool.name, "description": tool.description} for tool in tools],
            "temperature": config.temperature,
            "seed": config.seed,
        }

    def _output(
        self, messages: list[ChatMessage], tools: list[ToolInfo], fault: str | None
    ) -> ModelOutput:
        looks = sum(message.role == "tool" for message in messages)
        names = {tool.name for tool in tools}
        reply = ChatMessageAssistant(content=self._text(messages))
        if "analyze_video" in names and looks < self._turns:
            arguments = {"start_time": 0.0, "end_time": 1.0 + looks, "fps": 1.0, "focus": "what"}
            call = ToolCall(id=f"look_{looks}", function="analyze_video", arguments=arguments)
            reply = ChatMessageAssistant(content="I look.", tool_calls=[call])
        if fault == "empty":
            reply = ChatMessageAssistant(content="")
        choice = ChatCompletionChoice(
            message=reply, stop_reason="content_filter" if fault == "refused" else "stop"
        )
        return ModelOutput(
            model=f"{self.model_name}-2026",
            choices=[] if fault == "malformed" else [choice],
            usage=ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110),
            metadata={"charged_s": 0.5},
        )

    def _text(self, messages: list[ChatMessage]) -> str:
        if self.model_name == "observer":
            return "Focus answer: a red circle\nObservations:\nCoverage: rich\nUncertainty: none"
        is_single = any("FINAL ANSWER" in message.text for message in messages)
        is_wrong = self._turned is not None and is_single == self._turned.exists()
        letter = "C" if is_wrong else "A"
        if is_single:
            return f"It is this.\nFINAL ANSWER: {letter}"
        return f'It is this.\n```json\n{{"answer": "{letter}", "reasoning": "seen"}}\n```'

    def should_retry(self, ex: Exception) -> bool:
        return False

    def connection_key(self) -> str:
        return self.model_name
