"""Requests in forms as agents send them, with painted frames, and the reply of an offline model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    get_model,
)
from pydantic import BaseModel
from tests.models.conftest import Shape, frame_parts, jpeg_of, paint

from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.fencing import question_block, video_length_line
from taketwo.tools.structured import form_request, read_in_form

Form = TypeVar("Form", bound=BaseModel)

WORD = VisibleQuestion(
    question_id="q1",
    text="Which word appears right after EXIT?",
    options=("RIVER", "LAMP", "STONE"),
    video_duration_s=24.0,
)
COUNT = VisibleQuestion(
    question_id="q2",
    text="How many red circles are shown while the sign shows LAMP?",
    options=("1", "2", "3", "4"),
    video_duration_s=24.0,
)
OPEN = VisibleQuestion(question_id="q3", text=WORD.text, options=(), video_duration_s=24.0)

_TWO: tuple[Shape, ...] = (("red", "circle", 150, 100, 30), ("red", "circle", 400, 100, 30))
FRAMES: dict[float, bytes] = {
    0.0: jpeg_of(paint((), "EXIT")),
    2.0: jpeg_of(paint((), "EXIT")),
    4.0: jpeg_of(paint(_TWO, "LAMP")),
    6.0: jpeg_of(paint(_TWO, "LAMP")),
    8.0: jpeg_of(paint((), "STONE")),
}
"""JPEG bytes by second: EXIT, then LAMP with two red circles, then STONE."""

EVIDENCE = """[Round 1; shown were 0.0-24.0 s, 24 frames, 1 a second, resolution low]
[0.0-2.0 s] text "EXIT"
[4.0-6.0 s] text "LAMP"
[4.0-6.0 s] 2 red circles
[8.0 s] text "STONE"
- 4.0-7.0 s: 2 red circles"""


def asked(question: VisibleQuestion) -> str:
    """Return the question and the length of the video as agents write them."""
    return f"{question_block(question)}\n\n{video_length_line(24.0)}"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Asks offline models; what was measured is kept in `store`."""

    store: Path

    def in_form(
        self,
        role: str,
        form: type[Form],
        text: str,
        *,
        system: str = "",
        times_s: Sequence[float] = (),
        temperature: float = 0.0,
        seed: int = 1,
    ) -> Form:
        """Return the first reply, which must fit `form` and be nothing but its object."""
        content: list[Content] = [ContentText(text=f"{text}\n\n{form_request(form)}")]
        for time_s in times_s:
            content += frame_parts(time_s, FRAMES[time_s])
        messages: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
        messages.append(ChatMessageUser(content=content))
        said = self.says(role, messages, temperature=temperature, seed=seed)
        assert isinstance(json.loads(said), dict)
        value, problem = read_in_form(said, form)
        assert value is not None, problem
        return value

    def says(
        self,
        role: str,
        messages: list[ChatMessage],
        *,
        temperature: float = 0.0,
        seed: int = 1,
    ) -> str:
        """Return what the model of the role says."""
        model = get_model(f"taketwo/offline-{role}", memoize=False, store=str(self.store))
        config = GenerateConfig(temperature=temperature, seed=seed)
        return asyncio.run(model.generate(messages, config=config)).completion
