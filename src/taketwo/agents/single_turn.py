"""`single_turn`: one look at the whole video, one generation; the baseline of every comparison.

The look is a number of evenly spread frames, or frames at a rate (all of them, or at most `cap`), or
the video itself where the orchestrator's provider sends video (`gemini-video`, `vllm-video`).

Where the publication leaves room, or is left on purpose:

- Frames reach both ends of the video and each stands after its time; the published cut of too many
  frames misses the end, and its frames have no times although the prompt asks for them.
- All models see frames of one resolution; published ones depend on the provider.
- A short video has as many different frames as it has: one that is shown at two of the times is
  handed over once, so that the times increase strictly.
- A rate without a cap may ask for more than the model's context holds. The cell then ends as `limit`,
  of the resource `context`: there is no reply, none is asked for again, and it counts as not answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self, cast

from inspect_ai.model import ChatMessageUser, Content, ContentText
from pydantic import BaseModel, ConfigDict, Field, model_validator

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.prompt_text import filled, template
from taketwo.agents.single_turn_presets import SINGLE_TURN_PRESETS
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.media.sampling import times_by_count, times_by_fps
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.extract_video_parts import frames_wanted
from taketwo.tools.fencing import fence, question_block, video_length_line
from taketwo.tools.native_video import video_content
from taketwo.tools.role_model import ModelRole
from taketwo.tools.sent_media import image_content
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.transcribe_speech import transcript_lines
from taketwo.tools.video_tool import Resolution, max_side_of

__all__ = ["SINGLE_TURN_LIMITS", "SPEC", "SingleTurn", "SingleTurnOptions", "single_turn_prompts"]

SINGLE_TURN_LIMITS = Limits(turns=1)
_MAX_TRANSCRIPT = 48_000
_FRAMES = 16
_VIDEO_FPS = 1.0


class SingleTurnOptions(BaseModel):
    """What the single look covers.

    `frames` is how many, spread evenly (16 where nothing is said); `fps` is how many a second
    instead, at most `cap` where one is given. `native_video` sends the video itself, for the model to
    sample at `fps` (1 where nothing is said). Naming two that exclude each other is refused; null
    takes back what a preset says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    frames: int | None = Field(default=None, ge=1, le=4096)
    fps: float | None = Field(default=None, gt=0, le=30, allow_inf_nan=False)
    cap: int | None = Field(default=None, ge=1, le=4096)
    native_video: bool = False
    resolution: Resolution = "medium"
    transcript: bool = False

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: object) -> object:
        """Write down what holds where nothing is said, so that a plan shows it."""
        if not isinstance(given, Mapping):
            return given
        options = dict(cast("Mapping[str, object]", given))
        if options.get("native_video") is True:
            if options.get("fps") is None:
                options["fps"] = _VIDEO_FPS
        elif options.get("frames") is None and options.get("fps") is None:
            options["frames"] = _FRAMES
        return options

    @model_validator(mode="after")
    def _one_kind_of_look(self) -> Self:
        if self.native_video and (self.frames is not None or self.cap is not None):
            raise ValueError(
                "native_video leaves the frames to the model: give fps, and no frames or cap"
            )
        if self.frames is not None and self.fps is not None:
            raise ValueError("give frames or fps, not both; null takes one back")
        if self.cap is not None and self.fps is None:
            raise ValueError("cap bounds the frames of a rate: give fps with it")
        return self

    def times_s(self, duration_s: float, most: int | None) -> tuple[float, ...]:
        """Return the seconds to look at, both ends among them, at most `most`."""
        if self.fps is None:
            count = self.frames or _FRAMES
            return times_by_count(0.0, duration_s, count if most is None else min(count, most))
        caps = [value for value in (self.cap, most) if value is not None]
        every = frames_wanted(0.0, duration_s, self.fps) + 1
        return times_by_fps(0.0, duration_s, self.fps, cap=min(caps, default=every))


def single_turn_prompts(options: SingleTurnOptions | None = None) -> Mapping[str, str]:
    """Return the templates by role."""
    is_video = options is not None and options.native_video
    names = (
        "single_turn_video" if is_video else "single_turn",
        "single_turn_last_line_mcq",
        "single_turn_last_line_open",
    )
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
        options = self.options
        content = self._video(toolbox) if options.native_video else await self._frames(toolbox)
        if options.transcript:
            content.append(ContentText(text=await _speech(toolbox)))
        prompt = filled(
            "single_turn_video" if options.native_video else "single_turn",
            question=question_block(question),
            length=video_length_line(toolbox.video.duration_s),
            with_speech=", and the transcript of its speech" if options.transcript else "",
            or_speech=" and the speech" if options.transcript else "",
            last_line=template(f"single_turn_last_line_{question.format}").strip(),
        )
        return [*content, ContentText(text=prompt)]

    def _video(self, toolbox: Toolbox) -> list[Content]:
        media = toolbox.primitives.media
        return [
            video_content(
                path=media.path,
                sha256=media.info.sha256,
                duration_s=media.info.duration_s,
                fps=self.options.fps or _VIDEO_FPS,
                resolution=self.options.resolution,
            )
        ]

    async def _frames(self, toolbox: Toolbox) -> list[Content]:
        duration_s = toolbox.video.duration_s
        left = toolbox.budget.left("frames")
        if left is not None and left < 1:
            raise BudgetExhausted("frames", toolbox.budget.used("frames"), 0)
        wanted = self.options.times_s(duration_s, None)
        times_s = self.options.times_s(duration_s, None if left is None else int(left))
        if len(times_s) < len(wanted):
            toolbox.note(f"{len(times_s)} frames instead of {len(wanted)}: the budget of frames")
        frames = await toolbox.primitives.extract_video_parts(
            times_s, max_side=max_side_of(self.options.resolution)
        )
        content: list[Content] = []
        shown_s = -1.0
        for frame in frames:
            if frame.time_s > shown_s:
                content.extend(image_content(frame.time_s, frame.jpeg))
                shown_s = frame.time_s
        return content


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


def _work(options: BaseModel) -> ExpectedWork:
    """Return the one turn and its frames, at a rate those of the video's length."""
    chosen = cast("SingleTurnOptions", options)
    return ExpectedWork(
        turns=1,
        orchestrator_frames=chosen.frames or 0,
        orchestrator_frames_per_s=chosen.fps or 0,
        orchestrator_frames_most=chosen.cap,
        transcriptions=1 if chosen.transcript else 0,
        calls_most=1,
    )


SPEC = AgentSpec(
    name="single_turn",
    summary="One model sees the video, or frames of all of it, and answers once.",
    roles=("orchestrator",),
    roles_of=_roles,
    options=SingleTurnOptions,
    limits=SINGLE_TURN_LIMITS,
    tools_of=lambda _: (),
    prompts_of=lambda options: single_turn_prompts(cast("SingleTurnOptions", options)),
    build_from=lambda options: SingleTurn(options=cast("SingleTurnOptions", options)),
    work_of=_work,
    presets=SINGLE_TURN_PRESETS,
)
