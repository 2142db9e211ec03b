"""Agents of another framework, as their authors would write them on OpenAI's library."""

from __future__ import annotations

import base64
import json
from typing import Any

from openai import AsyncOpenAI

from taketwo.agents.answer import Answer
from taketwo.agents.external_bridge import bridged_models
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.toolbox import Toolbox

NOWHERE = "http://127.0.0.1:9"  # a request that is not bridged fails there and spends nothing
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Describe the video at a second.",
            "parameters": {
                "type": "object",
                "properties": {"second": {"type": "number", "description": "when"}},
                "required": ["second"],
            },
        },
    }
]


async def framework_loop(
    client: AsyncOpenAI, task: str, toolbox: Toolbox, *, turns: int = 5, **settings: Any
) -> str:
    """Stand for a framework: ask, run the tools that are called, ask again."""
    messages: list[Any] = [{"role": "user", "content": task}]
    for _ in range(turns):
        reply = await client.chat.completions.create(
            model="inspect", messages=messages, tools=TOOLS, **settings
        )
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            second = json.loads(call.function.arguments)["second"]
            seen = await look(client, toolbox, second)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": seen})
    return ""


async def look(client: AsyncOpenAI, toolbox: Toolbox, second: float) -> str:
    """Have the observer describe one frame."""
    (frame,) = await toolbox.primitives.extract_video_parts([second], max_side=320)
    uri = f"data:image/jpeg;base64,{base64.b64encode(frame.jpeg).decode()}"
    picture = {"type": "image_url", "image_url": {"url": uri}}
    asked = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    reply = await client.chat.completions.create(model="inspect/observer", messages=asked)
    return reply.choices[0].message.content or ""


async def on_openai(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Answer with a framework on OpenAI's library."""
    async with bridged_models(toolbox, tools_are_counted=True) as models:
        client = AsyncOpenAI(base_url=NOWHERE, api_key="none", max_retries=0)
        text = await framework_loop(client, question.text, toolbox, temperature=1.5)
    return models.answer(text, question)


on_openai.roles = ("orchestrator", "observer")  # type: ignore[attr-defined]
