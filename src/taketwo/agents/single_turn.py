"""`single_turn`: one look at evenly spread frames, one generation; the baseline of every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from inspect_ai.model import ChatMessageUser, Content, ContentText
from pydantic import BaseModel, ConfigDict, Field

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.prompt_text import filled, template
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.media.sampling import times_by_count
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.fencing import fence, question_block, video_length_line
from taketwo.tools.role_model import ModelRole
from taketwo.tools.sent_media import image_content
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.transcribe_speech import transcript_lines
from taketwo.tools.video_tool import Resolution, max_side_of

__all__ = ["SINGLE_TURN_LIMITS", "SPEC", "SingleTurn", "SingleTurnOptions", "single_turn_prompts"]

SINGLE_TURN_LIMITS = Limits(turns=1)
_MAX_TRANSCRIPT = 48_000


class SingleTurnOptions(BaseModel):
    """What the single look covers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    frames: int = Field(default=16, ge=1, le=512)
    resolution: Resolution = "medium"
    transcript: bool = False


def single_turn_prompts() -> Mapping[str, str]:
    """Return the templates by role."""
    names = ("single_turn", "single_turn_last_line_mcq", "single_turn_last_line_open")
    return {"orchestrator": "\n\f\n".join(template(name) for name in names)}


@dataclass(frozen=True, kw_only=True)
class SingleTurn:
    """Ask the orchestrator once, with frames over the whole video and, where wanted, the speech."""

    options: SingleTurnOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer; text from which none can be read is `unparsed`, never a guess."""
        try:
            content = await self._content(question, toolbox)
            output = await toolbox.model("orchestrator").generate([
                ChatMessageUser(content=content)
            ])
        except BudgetExhausted as error:
            return Answer(status="limit", text="", limit=error.resource)
        answer = parse_answer(output.completion, question)
        return answer if answer.status != "unparsed" else replace(answer, text=output.completion)

    async def _content(self, question: VisibleQuestion, toolbox: Toolbox) -> list[Content]:
        duration_s = toolbox.video.duration_s
        left = toolbox.budget.left("frames")
        count = self.options.frames if left is None else min(self.options.frames, int(left))
        if count < 1:
            raise BudgetExhausted("frames", toolbox.budget.used("frames"), 0)
        if count < self.options.frames:
            toolbox.note(f"{count} frames instead of {self.options.frames}: the budget of frames")
        frames = await toolbox.primitives.extract_video_parts(
            times_by_count(0.0, duration_s, count), max_side=max_side_of(self.options.resolution)
        )
        content: list[Content] = []
        for frame in frames:
            content.extend(image_content(frame.time_s, frame.jpeg))
        if self.options.transcript:
            content.append(ContentText(text=await _speech(toolbox)))
        with_speech = self.options.transcript
        prompt = filled(
            "single_turn",
            question=question_block(question),
            length=video_length_line(duration_s),
            with_speech=", and the transcript of its speech" if with_speech else "",
            or_speech=" and the speech" if with_speech else "",
            last_line=template(f"single_turn_last_line_{question.format}").strip(),
        )
        return [*content, ContentText(text=prompt)]


async def _speech(toolbox: Toolbox) -> str:
    speech = await toolbox.primitives.transcribe_speech(0.0, toolbox.video.duration_s)
    lines = transcript_lines(speech)
    shown, length = 0, 0
    while shown < len(lines) and length + len(lines[shown]) < _MAX_TRANSCRIPT:
        length += len(lines[shown]) + 1
        shown += 1
    text = fence("transcript", "\n".join(lines[:shown]) or "(no speech)")
    if shown < len(lines):
        toolbox.note(f"transcript cut: {shown} of {len(lines)} segments")
        text += f"\nThe transcript was cut: {shown} of {len(lines)} segments are shown."
    return text


def _roles(options: BaseModel) -> tuple[ModelRole, ...]:
    wants_speech = cast("SingleTurnOptions", options).transcript
    return ("orchestrator", "transcriber") if wants_speech else ("orchestrator",)


SPEC = AgentSpec(
    name="single_turn",
    summary="One model sees evenly spread frames, and the speech if wanted, and answers once.",
    roles=("orchestrator",),
    roles_of=_roles,
    options=SingleTurnOptions,
    limits=SINGLE_TURN_LIMITS,
    tools_of=lambda _: (),
    prompts_of=lambda _: single_turn_prompts(),
    build_from=lambda options: SingleTurn(options=cast("SingleTurnOptions", options)),
)
